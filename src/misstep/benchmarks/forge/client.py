"""A client for the forge given in the environment, using only the standard library."""

import base64
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

PATIENCE = 30.0  # seconds
PER_PAGE = 100
MOST_PAGES = 50


class ForgeError(Exception):
    """The forge refused a request."""


def ask(method: str, path: str, given: Mapping[str, Any] | None = None, /, **query: str) -> Any:
    """Send a request and return the response. A path without a leading slash is below the repository."""
    url, token, repository = (_named(name) for name in ("URL", "TOKEN", "REPOSITORY"))
    whole = path if path.startswith("/") else f"/repos/{repository}/{path}"
    data = json.dumps(dict(given)).encode() if given is not None else None
    request = urllib.request.Request(
        f"{url}{whole}{'?' if query else ''}{urlencode(query)}",
        data,
        {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
        method=method,
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is on this machine
    try:
        with opener.open(request, timeout=PATIENCE) as response:
            return json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            raise ForgeError(_words(error)) from None


def ask_all(path: str, **query: str) -> list[Any]:
    """All pages of a list."""
    found = list[Any]()
    for page in range(1, MOST_PAGES + 1):
        part = ask("GET", path, None, **query, per_page=str(PER_PAGE), page=str(page))
        items = part["items"] if isinstance(part, dict) else part
        found.extend(items)
        if len(items) < PER_PAGE:
            break
    return found


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def decoded(content: str) -> str:
    return base64.b64decode(content).decode("utf-8", "backslashreplace")


def _named(name: str) -> str:
    value = os.environ.get(f"MISSTEP_FORGE_{name}", "")
    if not value:
        raise ForgeError(f"MISSTEP_FORGE_{name} is not set: there is no forge to talk to")
    return value.rstrip("/")


def _words(error: urllib.error.HTTPError) -> str:
    """The status, and the messages in the body."""
    try:
        body = json.loads(error.read())
        reasons = [
            each.get("message") or f"{each['field']}: {each['code']}" for each in body.get("errors", [])
        ]
        return f"{error.code} " + "; ".join([body["message"], *reasons])
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{error.code} {error.reason}"
