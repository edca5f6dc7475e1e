"""Bare requests to a forge, for what no client would send."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import msgspec

from misstep.benchmarks.forge.forge import Forge


class Got(msgspec.Struct):
    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.data)


def ask(
    forge: Forge,
    method: str,
    path: str,
    body: Any = None,
    token: str | None = "",
    headers: dict[str, str] | None = None,
) -> Got:
    """One request on a connection of its own; ~ stands for the repository, no token for the one that may write."""
    place = urlsplit(forge.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    sent = {"Authorization": f"token {token or forge.token}"} if token is not None else {}
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    try:
        connection.request(
            method, path.replace("~", f"/repos/{forge.repository}", 1), data, sent | (headers or {})
        )
        response = connection.getresponse()
        return Got(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()
