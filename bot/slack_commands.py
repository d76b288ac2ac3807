"""`kb slack-manifest`: the Slack app, to paste where Slack asks for its manifest."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer
import yaml

from adapters.ports import Refused
from bot.console import fail

_HEAD = "# The Slack app{how}: paste it at https://api.slack.com/apps > Create New App > From a manifest.\n"
_URL = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*", re.ASCII)


class _Indented(yaml.SafeDumper):
    """Lists stand under their key, as people write them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:  # noqa: ARG002
        return super().increase_indent(flow, False)


def manifest_text(url: str | None = None) -> str:
    """YAML. Raises `Refused` for an address that Slack would not call."""
    from adapters.slack.manifest import manifest

    if url is not None:
        url = url.rstrip("/")
        if not _URL.fullmatch(url):
            raise Refused(
                f"“{url}” is no address that Slack can call. It looks like https://kb.example.com"
            )
    how = " in Socket Mode" if url is None else " over HTTP, for any number of workspaces"
    body = yaml.dump(manifest(url), Dumper=_Indented, sort_keys=False, allow_unicode=True, width=100)
    return _HEAD.format(how=how) + body


def register(app: typer.Typer) -> None:
    @app.command(name="slack-manifest")
    def slack_manifest(  # pyright: ignore[reportUnusedFunction]
        url: Annotated[
            str | None,
            typer.Option(
                help="Where this server is reached, e.g. https://kb.example.com. Without: Socket Mode."
            ),
        ] = None,
    ) -> None:
        """Print the manifest of the Slack app."""
        try:
            typer.echo(manifest_text(url), nl=False)
        except Refused as error:
            fail(str(error))
