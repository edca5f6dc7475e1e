"""What all of OpenAI's endpoints have in common: the form of ids, token counts, texts, errors."""

import hashlib
import itertools
import re
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

CREATED = 1_750_000_000


class ApiError(Exception):
    """An answer that OpenAI gives as an error."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": type, "param": param, "code": code}}


class Ids:
    """Ids that look like OpenAI's; no two of one server are the same."""

    def __init__(self) -> None:
        self._count = itertools.count()

    def new(self, prefix: str) -> str:
        return prefix + hashlib.sha256(f"{prefix}{next(self._count)}".encode()).hexdigest()[:24]


def words(value: object) -> int:
    """The server's tokens: the words in all strings of a JSON value, keys left out."""
    if isinstance(value, str):
        return len(value.split())
    if isinstance(value, dict):
        return sum(words(each) for each in value.values())
    return sum(words(each) for each in value) if isinstance(value, list) else 0


def text_of(content: object) -> str:
    """The text of a message, which may come as a string or as parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def pieces(text: str) -> list[str]:
    """A text as it is streamed: word by word."""
    return re.findall(r"\S+\s*|^\s+", text)


def halves(text: str) -> tuple[str, str]:
    """Arguments as they are streamed: in two parts, neither of which is JSON."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def cut(text: str, stop: str | Sequence[str] | None) -> str:
    """The text up to the first of the stop sequences."""
    stops = [stop] if isinstance(stop, str) else stop or []
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]


def function_names(tools: list[Json] | None, nested: bool = True) -> list[str]:
    """Names of function tools, which chat nests one level deeper than the Responses API does."""
    names = list[str]()
    for index, tool in enumerate(tools or ()):
        if tool.get("type") == "function":
            place = f"tools[{index}].function" if nested else f"tools[{index}]"
            names.append(checked_name((tool.get("function") or {}) if nested else tool, place))
    return names


def checked_name(function: Json, place: str) -> str:
    """OpenAI takes no names with dots or spaces."""
    param = f"{place}.name"
    if not isinstance(name := function.get("name"), str):
        raise ApiError(
            400, f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter"
        )
    if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
        message = (
            f"Invalid '{param}': string does not match pattern. Expected a string that matches the pattern"
        )
        raise ApiError(400, f"{message} '^[a-zA-Z0-9_-]+$'.", param=param, code="invalid_value")
    return name


def need(body: Json, *names: str) -> None:
    for name in names:
        if body.get(name) is None:
            message = f"Missing required parameter: '{name}'."
            raise ApiError(400, message, param=name, code="missing_required_parameter")


def check_objects(given: object, param: str, *names: str) -> None:
    """A list of objects that have the keys named, at least one of them."""
    if not isinstance(given, list) or not given:
        raise ApiError(400, f"Invalid '{param}': expected an array of at least one object.", param=param)
    for index, each in enumerate(given):
        if not isinstance(each, dict):
            raise ApiError(400, f"Invalid type for '{param}[{index}]': expected an object.", param=param)
        need(each, *names)
