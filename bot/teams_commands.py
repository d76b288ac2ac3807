"""`kb teams-package`: the Teams app as a zip file, to upload in Teams or in its admin center."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final

import typer

from adapters.ports import Refused
from bot import __version__
from bot.console import fail, out

_URL: Final = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*", re.ASCII)
_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DEVELOPER: Final = 32


def package_bytes(
    url: str, app_id: str, *, developer: str = "Footnote", privacy_url: str = "", terms_url: str = ""
) -> bytes:
    """Raises `Refused` for what Teams would not take."""
    from adapters.teams.package import manifest, package

    url = url.rstrip("/")
    for address in filter(None, (url, privacy_url, terms_url)):
        if not _URL.fullmatch(address):
            raise Refused(
                f"“{address}” is no address that Teams takes. It looks like https://kb.example.com"
            )
    if not _GUID.fullmatch(app_id):
        raise Refused(
            f"“{app_id}” is no app id. It is the Microsoft App ID in Azure portal > your bot > "
            "Configuration, such as 00000000-0000-0000-0000-000000000000."
        )
    if not 0 < len(developer.strip()) <= _DEVELOPER:
        raise Refused(f"The developer's name has 1 to {_DEVELOPER} characters.")
    made = manifest(
        url,
        app_id.lower(),
        version=__version__,
        developer=developer.strip(),
        privacy_url=privacy_url or url,
        terms_url=terms_url or url,
    )
    return package(made)


def register(app: typer.Typer) -> None:
    @app.command(name="teams-package")
    def teams_package(  # pyright: ignore[reportUnusedFunction]
        url: Annotated[
            str, typer.Option(help="Where this server is reached, e.g. https://kb.example.com.")
        ],
        app_id: Annotated[str, typer.Option(help="The Microsoft App ID of the bot.")],
        to: Annotated[Path, typer.Option(help="The file to write.")] = Path("footnote-teams.zip"),
        developer: Annotated[str, typer.Option(help="Who runs this bot, as Teams shows it.")] = "Footnote",
        privacy_url: Annotated[str, typer.Option(help="Your privacy page; without: the server.")] = "",
        terms_url: Annotated[str, typer.Option(help="Your terms of use; without: the server.")] = "",
    ) -> None:
        """Write the package of the Teams app."""
        try:
            content = package_bytes(
                url, app_id, developer=developer, privacy_url=privacy_url, terms_url=terms_url
            )
            to.write_bytes(content)
        except (Refused, OSError) as error:
            fail(str(error))
        out.print(f"Wrote {to}. Upload it in Teams: Apps > Manage your apps > Upload an app.")
