"""Who makes a request, and what they may do."""

import base64
import binascii
import hmac
import secrets
import time
from typing import Literal

import msgspec

from misstep.benchmarks.forge.ledger import told
from misstep.benchmarks.forge.rest.answers import Refusal
from misstep.benchmarks.forge.rest.signatures import PublicKey, read_claims

LASTS = 3600  # seconds that an app's token is good for

Kind = Literal["nobody", "user", "reader", "app", "installation"]


class Visitor(msgspec.Struct, frozen=True):
    kind: Kind

    @property
    def may_see(self) -> bool:
        """Also what is hidden from the public."""
        return self.kind in ("user", "reader", "installation")

    def require_write(self) -> None:
        if self.kind == "nobody":
            raise Refusal(401, "Requires authentication")
        if self.kind == "reader":
            raise Refusal(403, "Resource not accessible by personal access token")
        if self.kind == "app":
            raise Refusal(403, "Resource not accessible by integration")


class Keys:
    """All secrets that open this forge; `app` is the public half of an app's key."""

    def __init__(self, app: PublicKey | None = None) -> None:
        self.write = f"ghp_{secrets.token_hex(18)}"
        self.read = f"ghp_{secrets.token_hex(18)}"
        self._app = app
        self._lent = dict[str, float]()

    def lend(self) -> tuple[str, str]:
        """A token for an installation of the app, and when it ends."""
        token, ends = f"ghs_{secrets.token_hex(18)}", time.time() + LASTS
        self._lent[token] = ends
        return token, told(int(ends))

    def visitor(self, authorization: str | None) -> Visitor:
        """From the header of that name; GitHub's refusal where it is wrong."""
        if not authorization:
            return Visitor("nobody")
        token = _token(authorization)
        if token.count(".") == 2:
            return self._signed(token)
        if _same(token, self.write):
            return Visitor("user")
        if _same(token, self.read):
            return Visitor("reader")
        if any([_same(token, each) for each, ends in self._lent.items() if ends > time.time()]):
            return Visitor("installation")
        raise Refusal(401, "Bad credentials")

    def _signed(self, token: str) -> Visitor:
        if self._app is None or read_claims(token, self._app) is None:
            raise Refusal(401, "A JSON web token could not be decoded")
        return Visitor("app")


def _token(authorization: str) -> str:
    """The secret in it. Git and curl send it as the password of anybody, or as the name."""
    scheme, _, rest = authorization.strip().partition(" ")
    if scheme.lower() != "basic":
        return rest.strip()
    try:
        name, _, password = base64.b64decode(rest, validate=True).decode("utf-8", "replace").partition(":")
    except (binascii.Error, ValueError):
        return ""
    return password if password not in ("", "x-oauth-basic") else name


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
