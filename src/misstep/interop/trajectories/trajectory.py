"""A trajectory from outside: what an agent did, and whatever may say with which case."""

from typing import Any

import msgspec

from misstep.core.transcript import Call, Ended, Usage


class Trajectory(msgspec.Struct, frozen=True):
    """`names` may be the id of its case, `request` may be the text; `where` is for messages.

    `is_silent` if nothing is known of the arguments of its calls.
    """

    where: str
    calls: tuple[Call, ...]
    names: tuple[str, ...] = ()
    request: str = ""
    ended: Ended = "answered"
    answer: str = ""
    error: str = ""
    usage: Usage = Usage()
    is_silent: bool = False


def names_in(value: Any) -> tuple[str, ...]:
    """Texts that may be the id of a case, the likeliest first, out of an object that describes it."""
    if not isinstance(value, dict):
        return ()
    inner = [value.get("misstep"), value.get("metadata")]
    named = [value.get(key) for key in ("case", "case_id", "misstep.case", "id", "sample_id", "custom_id")]
    own = [each for each in named if isinstance(each, str)]
    return tuple(dict.fromkeys([*[name for each in inner for name in names_in(each)], *own]))


def text_in(content: Any) -> str:
    """The text of a message, however it is wrapped up."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    parts = [
        part.get("text", part.get("content", "")) if isinstance(part, dict) else part for part in content
    ]
    return "".join(part for part in parts if isinstance(part, str))


def arguments_in(given: Any) -> Any:
    """The arguments of a call: an object, its JSON text, or the text as it is where it is no JSON."""
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError):
        return given


def count_in(value: Any, *keys: str) -> int:
    """The first of these numbers that is there."""
    if not isinstance(value, dict):
        return 0
    found = [value[key] for key in keys if isinstance(value.get(key), int)]
    return max(0, found[0]) if found else 0
