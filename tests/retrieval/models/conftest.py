"""The doubles speak plain HTTP, so the SDKs need no certificates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

_END = "-----END CERTIFICATE-----\n"


@pytest.fixture(autouse=True, scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A bundle of one instead of 140: each client would read them all again, for 0.1 s of processor."""
    bundle = Path(certifi.where()).read_text("utf-8")
    begin = bundle.index("-----BEGIN CERTIFICATE-----")
    first = tmp_path_factory.mktemp("tls") / "one.pem"
    first.write_text(bundle[begin : bundle.index(_END, begin) + len(_END)], "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(first))
        yield
