"""Where files that people share in Teams lie."""

from __future__ import annotations

from typing import Final

#: OneDrive for work and SharePoint, with their clouds for governments and for China.
HOSTS: Final = (
    "sharepoint.com", "sharepoint-df.com", "sharepoint.us", "sharepoint.cn", "sharepoint-mil.us",
    "onedrive.com", "1drv.com", "1drv.ms", "svc.ms", "graph.microsoft.com", "graph.microsoft.us",
    "dod-graph.microsoft.us", "microsoftgraph.chinacloudapi.cn",
)  # fmt: skip
#: Pictures that are pasted into a message, and the Bot Connector's own attachments.
PICTURES: Final = (
    "smba.trafficmanager.net", "botframework.com", "botframework.us", "asm.skype.com",
    "teams.microsoft.com", "infra.gov.teams.microsoft.us",
)  # fmt: skip
#: Where an address leads that asks for a login.
LOGINS: Final = (
    "login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
    "login.windows.net", "login.live.com",
)  # fmt: skip
