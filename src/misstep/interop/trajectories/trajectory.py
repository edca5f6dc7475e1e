"""A trajectory recorded by another tool, its case, and lists of messages (OpenAI's chat or Responses)."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

import msgspec

from misstep.core.case import Case, plain_order
from misstep.core.outcome import Call, Ended, Transcript, Usage, storable
from misstep.errors import UsageError, did_you_mean


class Trajectory(msgspec.Struct, frozen=True):
    where: str  # for messages
    calls: tuple[Call, ...]
    names: tuple[str, ...] = ()  # texts that may be the id of its case
    request: str = ""  # the text of its case
    ended: Ended = "answered"
    answer: str = ""
    error: str = ""
    usage: Usage = Usage()
    is_silent: bool = False  # the arguments of its calls are unknown


def names_in(value: Any) -> tuple[str, ...]:
    """Texts in an object that may be the id of a case, likeliest first."""
    if not isinstance(value, dict):
        return ()
    inner = [value.get("misstep"), value.get("metadata")]
    named = [value.get(key) for key in ("case", "case_id", "misstep.case", "id", "sample_id", "custom_id")]
    own = [each for each in named if isinstance(each, str)]
    return tuple(dict.fromkeys([*[name for each in inner for name in names_in(each)], *own]))


def text_in(content: Any) -> str:
    """The text of a message, however it is wrapped."""
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
    """The arguments of a call: an object, from JSON if possible, otherwise the text itself."""
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError):
        return given


def count_in(value: Any, *keys: str) -> int:
    """The first of these numbers that exists."""
    if not isinstance(value, dict):
        return 0
    found = [value[key] for key in keys if isinstance(value.get(key), int)]
    return max(0, found[0]) if found else 0


class Cases:
    """Cases by id and by text; `given` is for trajectories that identify no case."""

    def __init__(self, cases: Iterable[Case], source: str, given: str = "") -> None:
        self._known = {case.id: case for case in cases}
        self._texts = dict[str, list[Case]]()
        for case in self._known.values():
            self._texts.setdefault(_plain(case.query), []).append(case)
        self._source = source
        if given and given not in self._known:
            hint = did_you_mean(given, self._known)
            raise UsageError(f"no case '{given}' in {source}", hint, where="--case")
        self._given = given

    def transcript(self, trajectory: Trajectory) -> tuple[Case, Transcript]:
        case = self._find(trajectory)
        if trajectory.is_silent and trajectory.calls and plain_order(case) is None:
            raise UsageError(
                f"its calls have no arguments, which case {case.id} needs",
                "record them with --otlp-content, or in your own instrumentation",
                where=trajectory.where,
            )
        calls, ended, usage = trajectory.calls, trajectory.ended, trajectory.usage
        answer, error = storable(trajectory.answer), storable(trajectory.error)
        return case, Transcript(case.id, calls, ended, answer, error, usage)

    def _find(self, trajectory: Trajectory) -> Case:
        """By a known name, by the exact text of the request, or else the given one."""
        for name in trajectory.names:
            if name in self._known:
                return self._known[name]
        alike = self._texts.get(_plain(trajectory.request), [])
        if len(alike) == 1:
            return alike[0]
        if self._given:
            return self._known[self._given]
        if alike:
            ids = ", ".join(case.id for case in alike[:3])
            hint = f"the request belongs to {ids}: name one in the metadata, or with --case"
            raise UsageError("belongs to one of several cases", hint, where=trajectory.where)
        named = f" ({', '.join(trajectory.names[:3])})" if trajectory.names else ""
        raise UsageError(
            f"does not belong to a known case{named}",
            f"{self._source} has {len(self._known)} cases; they are found by their id in the metadata or by "
            "the text of the request",
            "name it with --case ID",
            where=trajectory.where,
        )


def _plain(text: str) -> str:
    return " ".join(text.split())


_LISTS = ("messages", "conversation", "items", "input", "output")
_CALLS = ("function_call", "custom_tool_call")
_ITEMS = ("message", "function_call_output", "reasoning", *_CALLS)


def is_messages(value: Any) -> bool:
    """Whether it is a list of messages or items, or an object that holds one."""
    return bool(_messages(value))


def read_messages(value: Any, where: str) -> Trajectory:
    messages = _messages(value)
    calls = tuple(_calls(messages, _results(messages)))
    said = [text_in(each.get("content")) for each in messages if _role(each) == "assistant"]
    # Messages don't record timeouts, but an object around them may.
    told = value.get("ended") if isinstance(value, dict) else None
    return Trajectory(
        where=where,
        calls=calls,
        names=names_in(value),
        request=next((text_in(each.get("content")) for each in messages if _role(each) == "user"), ""),
        ended=next((ended for ended in get_args(Ended) if ended == told), "answered"),
        answer=said[-1] if said and _role(messages[-1]) == "assistant" else "",
    )


def _messages(value: Any) -> list[dict[str, Any]]:
    """All messages in order; for a Responses object, the input before the output."""
    if isinstance(value, list):
        known = [isinstance(each, dict) and ("role" in each or each.get("type") in _ITEMS) for each in value]
        return value if known and all(known) else []
    if not isinstance(value, dict):
        return []
    found = list[dict[str, Any]]()
    for name in _LISTS:
        part = value.get(name)
        if name == "input" and isinstance(part, str):
            part = [{"role": "user", "content": part}]
        found += _messages(part) if isinstance(part, list) else []
    return found


def _role(message: dict[str, Any]) -> str:
    return str(message.get("role", ""))


def _calls(messages: list[dict[str, Any]], results: dict[str, str]) -> Iterator[Call]:
    """The calls in the order of the model's requests; those in one message, or in a row, are one turn.

    If there are any results, a call without one was never executed.
    """
    turn, is_open = 0, False
    for message in messages:
        asked, kind = _asked(message), message.get("type")
        turn += bool(asked) and not (kind in _CALLS and is_open)
        is_open = kind in _CALLS or (is_open and kind == "reasoning")
        for name, given, id in asked:
            known = results if isinstance(id, str) else {}
            ran = -1 if known and id not in known else 0
            tool = name if isinstance(name, str) else ""
            yield Call(tool, arguments_in(given), known.get(id, ""), turn, ran=ran)


def _asked(message: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """The name, arguments and id of each call of a message."""
    if message.get("type") in _CALLS:
        given = message.get("arguments", message.get("input"))
        return [(message.get("name"), given, message.get("call_id"))]
    found = list[tuple[Any, Any, Any]]()
    listed = message.get("tool_calls")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict):
            inner = each.get("function", each.get("custom"))
            function = inner if isinstance(inner, dict) else {"name": inner, **each}
            given = each.get("parse_error") or function.get("arguments", function.get("input"))
            found.append((function.get("name"), given, each.get("id")))
    single = message.get("function_call")
    if isinstance(single, dict):
        found.append((single.get("name"), single.get("arguments"), single.get("name")))
    return found


def _results(messages: list[dict[str, Any]]) -> dict[str, str]:
    found = dict[str, str]()
    for message in messages:
        if message.get("type") in ("function_call_output", "custom_tool_call_output"):
            found[str(message.get("call_id"))] = text_in(message.get("output"))
        elif _role(message) in ("tool", "function"):
            id = message.get("tool_call_id", message.get("name"))
            found[str(id)] = text_in(message.get("content"))
    return found
