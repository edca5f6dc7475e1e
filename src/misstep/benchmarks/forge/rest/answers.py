"""What the interface answers: values, or refusals in GitHub's words."""

from typing import Any

import msgspec

DOCUMENTATION = "https://docs.github.com/rest"


class Answer(msgspec.Struct, frozen=True):
    """A value; with `is_list` it is a whole list, of which a page is sent."""

    value: Any = None
    status: int = 200
    is_list: bool = False
    wrapped: str = ""  # a list goes under this name, beside its length
    text: bytes | None = None  # sent as it is, instead of a value


class Refusal(Exception):
    """An answer that says no, with the body that GitHub gives it."""

    def __init__(self, status: int, message: str, errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"message": message}
        if errors is not None:
            self.body["errors"] = errors
        self.body |= {"documentation_url": DOCUMENTATION, "status": str(status)}


def not_found(message: str = "Not Found") -> Refusal:
    return Refusal(404, message)


def unprocessable(message: str) -> Refusal:
    return Refusal(422, message)


def not_supplied(field: str) -> Refusal:
    return Refusal(422, f'Invalid request.\n\n"{field}" wasn\'t supplied.')


def wrong_type(field: str, expected: str) -> Refusal:
    return Refusal(422, f"Invalid request.\n\nFor 'properties/{field}', the value given is not {expected}.")


def invalid(resource: str, field: str, code: str = "invalid") -> Refusal:
    """GitHub's way to blame one field."""
    return Refusal(422, "Validation Failed", [{"resource": resource, "code": code, "field": field}])


def objection(resource: str, message: str) -> Refusal:
    """GitHub's way to say something about the whole."""
    return Refusal(422, "Validation Failed", [{"resource": resource, "code": "custom", "message": message}])
