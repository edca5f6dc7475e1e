"""One API request as handlers see it: caller, parameters, answers, and refusals in GitHub's words."""

import base64
import binascii
import hmac
import secrets
import time
from typing import Any, Literal, TypeVar

import msgspec

from misstep.benchmarks.forge.repository import Repository
from misstep.benchmarks.forge.rest.signatures import PublicKey, read_claims
from misstep.benchmarks.forge.rest.views import Views
from misstep.benchmarks.forge.state import ForgeRecords, IssueThread, Person, Project, PullProposal, told

DOCUMENTATION = "https://docs.github.com/rest"

T = TypeVar("T")


class RestAnswer(msgspec.Struct, frozen=True):
    """A value; with `is_list` it is a whole list, of which one page is sent."""

    value: Any = None
    status: int = 200
    is_list: bool = False
    wrapped: str = ""  # a list is sent under this key, beside its length
    text: bytes | None = None  # sent as it is, instead of a value


class RestRefusal(Exception):
    """An error response with the body that GitHub gives it."""

    def __init__(self, status: int, message: str, errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"message": message}
        if errors is not None:
            self.body["errors"] = errors
        self.body |= {"documentation_url": DOCUMENTATION, "status": str(status)}


def existing(value: T | None, message: str = "Not Found", status: int = 404) -> T:
    """The value, or a refusal if there is none."""
    if value is None:
        raise RestRefusal(status, message)
    return value


def not_supplied(field: str) -> RestRefusal:
    return RestRefusal(422, f'Invalid request.\n\n"{field}" wasn\'t supplied.')


def wrong_type(field: str, expected: str) -> RestRefusal:
    problem = f"For 'properties/{field}', the value given is not {expected}."
    return RestRefusal(422, f"Invalid request.\n\n{problem}")


def invalid(resource: str, field: str, code: str = "invalid") -> RestRefusal:
    """GitHub's error for a single field."""
    return RestRefusal(422, "Validation Failed", [{"resource": resource, "code": code, "field": field}])


LASTS = 3600  # seconds that an app's token is valid

Kind = Literal["nobody", "user", "reader", "app", "installation"]


class Visitor(msgspec.Struct, frozen=True):
    kind: Kind

    @property
    def may_see(self) -> bool:
        """Whether private data may be read too."""
        return self.may_write or self.kind == "reader"

    @property
    def may_write(self) -> bool:
        return self.kind in ("user", "installation")

    def require_write(self) -> None:
        if self.kind == "nobody":
            raise RestRefusal(401, "Requires authentication")
        if self.kind == "reader":
            raise RestRefusal(403, "Resource not accessible by personal access token")
        if self.kind == "app":
            raise RestRefusal(403, "Resource not accessible by integration")


class Keys:
    """All tokens accepted by this forge; `app` is an app's public key."""

    def __init__(self, app: PublicKey | None = None) -> None:
        self.write = f"ghp_{secrets.token_hex(18)}"
        self.read = f"ghp_{secrets.token_hex(18)}"
        self._app = app
        self._lent = dict[str, float]()

    def lend(self) -> tuple[str, str]:
        """Create a token for an installation of the app; returns it with its expiry."""
        token, ends = f"ghs_{secrets.token_hex(18)}", time.time() + LASTS
        self._lent[token] = ends
        return token, told(int(ends))

    def visitor(self, authorization: str | None) -> Visitor:
        """Identify the caller by the Authorization header; raises GitHub's error if it is wrong."""
        if not authorization:
            return Visitor("nobody")
        token = _token(authorization)
        if token.count(".") == 2:
            if self._app is None or read_claims(token, self._app) is None:
                raise RestRefusal(401, "A JSON web token could not be decoded")
            return Visitor("app")
        if _same(token, self.write):
            return Visitor("user")
        if _same(token, self.read):
            return Visitor("reader")
        if any([_same(token, each) for each, ends in self._lent.items() if ends > time.time()]):
            return Visitor("installation")
        raise RestRefusal(401, "Bad credentials")


def _token(authorization: str) -> str:
    """The token in the header. Git and curl send it as a password with any user name, or as the user name."""
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


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20


class RestCall(msgspec.Struct, frozen=True):
    """An authorized request. `place` are the variable parts of its path."""

    views: Views
    keys: Keys
    visitor: Visitor
    place: dict[str, str]
    query: dict[str, str]
    body: dict[str, Any]

    @property
    def project(self) -> Project:
        return self.views.project

    @property
    def repository(self) -> Repository:
        return self.views.repository

    @property
    def records(self) -> ForgeRecords:
        return self.views.records

    @property
    def me(self) -> Person:
        """The user in whose name things are done."""
        person = self.project.person(self.project.account)
        assert person is not None
        return person

    def text(self, field: str) -> str:
        value = self.body.get(field)
        if value is None:
            raise not_supplied(field)
        if not isinstance(value, str):
            raise wrong_type(field, "a string")
        return value

    def text_or(self, field: str, default: str) -> str:
        return default if self.body.get(field) is None else self.text(field)

    def flag(self, field: str) -> bool:
        value = self.body.get(field)
        if not isinstance(value, bool | None):
            raise wrong_type(field, "a boolean")
        return bool(value)

    def texts(self, field: str) -> list[str] | None:
        """A list of texts, each once, or None if it is missing."""
        value = self.body.get(field)
        if value is None:
            return None
        if not isinstance(value, list) or not all([isinstance(each, str) for each in value]):
            raise wrong_type(field, "an array of strings")
        return list(dict.fromkeys(value))

    def thread(self) -> IssueThread:
        number = self.place["number"]
        return existing(self.records.threads.get(int(number)) if is_number(number) else None)

    def pull(self) -> tuple[IssueThread, PullProposal]:
        """The pull request whose number is in the path, as an issue and what makes it more."""
        thread = self.thread()
        return thread, existing(thread.pull)

    def person(self, login: str) -> Person:
        return existing(self.project.person(login))
