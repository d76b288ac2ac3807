"""A strict double of the part of S3 that the file store uses: one bucket, path-style addresses.

It checks that requests are signed and that what is uploaded arrives as its checksum says.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Self
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape, unescape

from aiohttp import web

KEY = "AKIDEXAMPLE"


@dataclass
class S3Double:
    bucket: str
    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])
    #: Answer so many requests with 503 first.
    busy: int = 0
    _parts: dict[str, dict[int, bytes]] = field(default_factory=dict[str, dict[int, bytes]])
    _runner: web.AppRunner | None = None
    url: str = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        if f"AWS4-HMAC-SHA256 Credential={KEY}/" not in request.headers.get("Authorization", ""):
            return _error(403, "AccessDenied")
        if self.busy:
            self.busy -= 1
            return _error(503, "SlowDown")
        bucket, _, key = urlsplit(str(request.rel_url)).path.lstrip("/").partition("/")
        if bucket != self.bucket:
            return _error(404, "NoSuchBucket")
        query = {name: values[0] for name, values in parse_qs(request.query_string, True).items()}
        body = await request.read()
        sent = request.headers.get("x-amz-content-sha256", "UNSIGNED-PAYLOAD")
        if sent != "UNSIGNED-PAYLOAD" and sent != hashlib.sha256(body).hexdigest():
            return _error(400, "XAmzContentSHA256Mismatch")
        match request.method:
            case "GET" if not key:
                return self._list(query.get("prefix", ""))
            case "GET" | "HEAD":
                return self._get(key, request.headers.get("Range"))
            case "PUT" if "uploadId" in query:
                self._parts[query["uploadId"]][int(query["partNumber"])] = body
                return web.Response(headers={"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
            case "PUT" if "x-amz-copy-source" in request.headers:
                source = request.headers["x-amz-copy-source"].lstrip("/").partition("/")[2]
                if source not in self.objects:
                    return _error(404, "NoSuchKey")
                self.objects[key] = self.objects[source]
                return _xml("<CopyObjectResult><ETag>x</ETag></CopyObjectResult>")
            case "PUT":
                self.objects[key] = body
                return web.Response(headers={"ETag": '"x"'})
            case "POST" if "uploads" in query:
                upload = str(len(self._parts))
                self._parts[upload] = {}
                return _xml(
                    "<InitiateMultipartUploadResult>"
                    f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
                )
            case "POST" if "uploadId" in query:
                parts = self._parts.pop(query["uploadId"])
                self.objects[key] = b"".join(parts[number] for number in sorted(parts))
                return _xml("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
            case "POST" if "delete" in query:
                keys = [unescape(found) for found in re.findall("<Key>(.*?)</Key>", body.decode())]
                for each in keys:
                    self.objects.pop(each, None)
                deleted = "".join(f"<Deleted><Key>{escape(each)}</Key></Deleted>" for each in keys)
                return _xml(f"<DeleteResult>{deleted}</DeleteResult>")
            case _:
                return _error(405, "MethodNotAllowed")

    def _get(self, key: str, wanted: str | None) -> web.Response:
        if key not in self.objects:
            return _error(404, "NoSuchKey")
        data = self.objects[key]
        headers = {"ETag": '"x"', "Last-Modified": format_datetime(datetime.now(UTC), usegmt=True)}
        if wanted is None:
            return web.Response(body=data, headers=headers)
        first, last = wanted.removeprefix("bytes=").split("-")
        start, end = int(first), min(int(last), len(data) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        return web.Response(status=206, body=data[start : end + 1], headers=headers)

    def _list(self, prefix: str) -> web.Response:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{at}</LastModified>"
            f"<ETag>x</ETag><Size>{len(data)}</Size></Contents>"
            for key, data in sorted(self.objects.items())
            if key.startswith(prefix)
        )
        return _xml(f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>")


def _xml(body: str, status: int = 200) -> web.Response:
    return web.Response(status=status, text=f'<?xml version="1.0"?>{body}', content_type="application/xml")


def _error(status: int, code: str) -> web.Response:
    return _xml(f"<Error><Code>{code}</Code><Message>{code}</Message></Error>", status)
