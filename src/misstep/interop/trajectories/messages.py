"""Message lists as OpenAI's interfaces have them: chat messages, and items of the Responses interface."""

from collections.abc import Iterator
from typing import Any, get_args

from misstep.core.transcript import Call, Ended
from misstep.interop.trajectories.trajectory import Trajectory, arguments_in, names_in, text_in

_LISTS = ("messages", "conversation", "items", "input", "output")
_ITEMS = ("message", "function_call", "function_call_output", "custom_tool_call", "reasoning")


def is_messages(value: Any) -> bool:
    """Whether it is a list of messages or items, or an object that holds one."""
    return bool(_messages(value))


def read_messages(value: Any, where: str) -> Trajectory:
    messages = _messages(value)
    calls = tuple(_calls(messages, _results(messages)))
    said = [text_in(each.get("content")) for each in messages if _role(each) == "assistant"]
    return Trajectory(
        where=where,
        calls=calls,
        names=names_in(value),
        request=next((text_in(each.get("content")) for each in messages if _role(each) == "user"), ""),
        ended=_ended(value),
        answer=said[-1] if said and _role(messages[-1]) == "assistant" else "",
    )


def _messages(value: Any) -> list[dict[str, Any]]:
    """All messages in their order; of a Responses object, what was asked before what was answered."""
    if isinstance(value, list):
        ours = value and all(isinstance(each, dict) and ("role" in each or _is_item(each)) for each in value)
        return value if ours else []
    if not isinstance(value, dict):
        return []
    found = list[dict[str, Any]]()
    for name in _LISTS:
        part = value.get(name)
        if name == "input" and isinstance(part, str):
            part = [{"role": "user", "content": part}]
        found += _messages(part) if isinstance(part, list) else []
    return found


def _is_item(value: dict[str, Any]) -> bool:
    return value.get("type") in _ITEMS


def _role(message: dict[str, Any]) -> str:
    return str(message.get("role", ""))


def _calls(messages: list[dict[str, Any]], results: dict[str, str]) -> Iterator[Call]:
    """In the order in which the model asked for them; those of one message, or in a row, are one turn.

    Where results are there at all, a call that has none was never carried out.
    """
    turn, is_open = 0, False
    for message in messages:
        if message.get("type") in ("function_call", "custom_tool_call"):
            turn += 0 if is_open else 1
            is_open = True
            given = message.get("arguments", message.get("input"))
            yield _call(message.get("name"), given, turn, _outcome(results, message.get("call_id")))
            continue
        is_open = is_open and message.get("type") == "reasoning"
        asked = _asked(message)
        turn += bool(asked)
        for name, given, id in asked:
            yield _call(name, given, turn, _outcome(results, id))


def _outcome(results: dict[str, str], id: Any) -> tuple[str, int]:
    """What came of a call, and whether it was carried out, as `Call.ran` says it."""
    if not results or not isinstance(id, str):
        return "", 0
    return (results[id], 0) if id in results else ("", -1)


def _asked(message: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """The name, the arguments and the id of each call of a chat message."""
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


def _call(name: Any, given: Any, turn: int, outcome: tuple[str, int]) -> Call:
    result, ran = outcome
    return Call(name if isinstance(name, str) else "", arguments_in(given), result, turn, ran=ran)


def _results(messages: list[dict[str, Any]]) -> dict[str, str]:
    """What was answered to calls, by their ids."""
    found = dict[str, str]()
    for message in messages:
        if message.get("type") in ("function_call_output", "custom_tool_call_output"):
            found[str(message.get("call_id"))] = text_in(message.get("output"))
        elif _role(message) in ("tool", "function"):
            id = message.get("tool_call_id", message.get("name"))
            found[str(id)] = text_in(message.get("content"))
    return found


def _ended(value: Any) -> Ended:
    """Messages don't tell of time that ran out; whoever wraps them up may."""
    told = value.get("ended") if isinstance(value, dict) else None
    return next((ended for ended in get_args(Ended) if ended == told), "answered")
