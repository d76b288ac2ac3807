"""One file from a platform over HTTP, bounded in size and time. The platform's own hosts alone are asked,
over https and at public addresses, and they alone get the token."""

from __future__ import annotations

import asyncio
import ipaddress
import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import structlog
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from adapters.ports import Refused

log = structlog.get_logger()

_REDIRECTS: Final = 5
_CHUNK: Final = 1 << 18
_PAUSES: Final = (0.5, 2.0, 6.0)
#: Seconds that a "later" is waited for, and for all tries together.
_LONGEST_WAIT: Final = 30.0
_WITHIN: Final = 900.0


class _Again(Exception):
    """Worth another try; `seconds` is when, where the platform told."""

    def __init__(self, status: int, seconds: float | None = None) -> None:
        self.seconds = seconds
        super().__init__(f"status {status}")


@dataclass(frozen=True, kw_only=True)
class Download:
    """`name` is for sentences, as is `platform`; `no_access` says what an admin has to do."""

    name: str
    url: str
    platform: str
    no_access: str
    #: Which addresses may be asked: https hosts of the platform.
    hosts: tuple[str, ...]
    #: Origins that are asked whatever they are: where the platform's API itself is reached.
    trusted: tuple[str, ...] = ()
    #: Hosts that it leads to where a login is needed.
    logins: tuple[str, ...] = ()
    #: Go with the token, to every address that is asked.
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Seconds without a byte.
    timeout: float
    max_bytes: int
    #: What the platform tells, 0 where it does not.
    size: int = 0
    #: The file is a page itself.
    html: bool = False
    #: For `ClientSession.get`, such as a proxy.
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Whether the headers go to that address; by default to all that may be asked.
    tells: Callable[[URL], bool] = lambda _: True

    async def to(self, path: Path) -> int:
        """Bytes written. Raises `Refused`; what was written by then is the caller's to remove."""
        if self.size > self.max_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(_WITHIN):
                return await self._surely(path)
        except TimeoutError as error:
            raise self._later() from error

    async def _surely(self, path: Path) -> int:
        for pause in (*_PAUSES, None):
            try:
                return await self._once(path)
            except (_Again, TimeoutError, aiohttp.ClientError) as error:
                log.info("download_again", error=type(error).__name__, last=pause is None)
                told = error.seconds if isinstance(error, _Again) else None
                if pause is None or (told is not None and told > _LONGEST_WAIT):
                    raise self._later() from error
                wait = pause if told is None else max(told, pause)
                await asyncio.sleep(wait * random.uniform(1.0, 1.3))  # noqa: S311
        raise AssertionError("unreachable")

    async def _once(self, path: Path) -> int:
        """Follows redirects by hand: each address is looked at before the token goes there."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=self.timeout)
        url = self._checked(self.url)
        async with aiohttp.ClientSession(
            timeout=timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(resolver=PublicOnly(self.trusted)),
        ) as session:
            for _ in range(_REDIRECTS + 1):
                headers = dict(self.headers) if self.tells(url) else {}
                async with session.get(
                    url, headers=headers, allow_redirects=False, **self.options
                ) as response:
                    if response.status not in (301, 302, 303, 307, 308):
                        return await self._take(response, path)
                    url = self._checked(response.headers.get("Location", ""), url)
        raise Refused(
            f"“{self.name}” can't be downloaded: {self.platform} leads round in circles. Upload it again."
        )

    def _checked(self, address: str, base: URL | None = None) -> URL:
        url = URL()
        try:
            url = URL(address) if base is None else base.join(URL(address))
            if base is not None and allowed(url, self.logins):
                log.warning("download_refused", redirect=True)
                raise self._login()
            fine = allowed(url, self.hosts, self.trusted)
        except ValueError:
            fine = False
        if not fine:
            log.warning("download_elsewhere", host=(url.host or "")[:80], redirect=base is not None)
            raise Refused(
                f"“{self.name}” can't be downloaded: it does not lie on {self.platform}. "
                "Upload the file itself."
            )
        return url

    async def _take(self, response: aiohttp.ClientResponse, path: Path) -> int:
        if response.status == 429 or response.status >= 500:
            raise _Again(response.status, _seconds(response.headers.get("Retry-After")))
        if response.status in (404, 410):
            raise Refused(f"“{self.name}” was deleted meanwhile. Upload it again.")
        page = response.content_type == "text/html"
        if response.status != 200 or (page and not self.html):
            log.warning("download_refused", status=response.status, page=page)
            raise self._login()
        if (response.content_length or 0) > self.max_bytes:
            raise self._too_large()
        written = await self._write(response, path)
        if page and self.size and written != self.size:
            log.warning("download_refused", status=response.status, page=page, written=written)
            raise self._login()
        return written

    async def _write(self, response: aiohttp.ClientResponse, path: Path) -> int:
        written = 0
        try:
            # Opened here: a thread would make the file even when this was cancelled and all was removed.
            with path.open("wb") as handle:
                async for chunk in response.content.iter_chunked(_CHUNK):
                    written += len(chunk)
                    if written > self.max_bytes:
                        raise self._too_large()
                    await asyncio.to_thread(handle.write, chunk)
        except OSError as error:
            if isinstance(error, aiohttp.ClientError | TimeoutError):
                raise
            log.error("spool_failed", error=error.strerror)
            raise Refused(
                f"“{self.name}” can't be kept here ({error.strerror}). Tell whoever runs this server."
            ) from error
        return written

    def _too_large(self) -> Refused:
        most = f"{self.max_bytes >> 20} MB" if self.max_bytes >= 1 << 20 else f"{self.max_bytes} bytes"
        return Refused(f"“{self.name}” is too large: at most {most}.")

    def _login(self) -> Refused:
        return Refused(
            f"“{self.name}” can't be downloaded: {self.platform} asks for a login. {self.no_access}"
        )

    def _later(self) -> Refused:
        return Refused(f"“{self.name}” can't be downloaded from {self.platform} just now. Try again.")


def allowed(url: URL, hosts: tuple[str, ...], trusted: tuple[str, ...] = ()) -> bool:
    """Those hosts, and what is under them, over https; and the trusted origins."""
    if not url.absolute or url.user is not None or url.password is not None:
        return False
    if any(same_origin(url, own) for own in trusted):
        return True
    host = (url.host or "").lower()
    standard = url.scheme == "https" and url.port == 443
    return standard and any(host == own or host.endswith(f".{own}") for own in hosts)


def same_origin(url: URL | str, other: str) -> bool:
    try:
        return URL(url).origin() == URL(other).origin()
    except ValueError:
        return False


class PublicOnly(AbstractResolver):
    """Names lead to public addresses only: a name that somebody controls may lead anywhere. Hosts of the
    trusted origins are resolved as they are."""

    def __init__(self, trusted: tuple[str, ...] = ()) -> None:
        self._trusted = {URL(own).host for own in trusted}
        self._resolver = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        if host in self._trusted:
            return found
        public = [one for one in found if ipaddress.ip_address(one["host"].split("%")[0]).is_global]
        if not public:
            raise OSError(None, f"{host} leads to no public address")
        return public

    async def close(self) -> None:
        await self._resolver.close()


def _seconds(told: str | None) -> float | None:
    try:
        return None if told is None else max(0.0, float(told))
    except ValueError:
        return None
