"""Writes the calls of a finding as messages of the protocol."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, assert_never

from misstep.adapters.mcp.offers import OfferKind, offer_named
from misstep.adapters.mcp.replies import wants_progress
from misstep.core.tool import UNLISTED, Invocation, arguments_of
from misstep.fuzzing.returned import may_have_markers

REVISION = "2025-11-25"  # of the protocol; servers that know only older ones say so
CANCELLED = ("cancelled", "timed out")  # ways of sending a call that is not left to end
LONGEST_MESSAGE = 4_000  # characters


def messages_of(calls: Sequence[Invocation], is_stdio: bool) -> str:
    """The calls as JSON-RPC, a line each; with the handshake if it has to be sent first.

    Empty if they are too long, use what others return, or need several starts of the server.
    """
    if any(may_have_markers(call.arguments) for call in calls) or len(starts_of(calls)) > 1:
        return ""
    handshake = [
        {
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": REVISION,
                "capabilities": {},
                "clientInfo": {"name": "repro", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
    ]
    try:
        requests = [each for number, call in enumerate(calls, 1) for each in _sent(number, call)]
    except (ImportError, ValueError, TypeError):  # arguments that a template does not take
        return ""
    lines = [json.dumps({"jsonrpc": "2.0", **each}) for each in [*(handshake if is_stdio else ()), *requests]]
    return "\n".join(lines) if max(map(len, lines)) <= LONGEST_MESSAGE else ""


def _sent(number: int, call: Invocation) -> Iterator[dict[str, Any]]:
    """The request for a call, and its cancellation."""
    method, given = _request(call)
    meta = {"_meta": {"progressToken": number}} if asks_for_progress(call) else {}
    yield {"id": number, "method": method, "params": {**given, **meta}}
    if call.sent in CANCELLED:
        yield {"method": "notifications/cancelled", "params": {"requestId": number}}


def _request(call: Invocation) -> tuple[str, dict[str, Any]]:
    """The method and parameters of a call. Raises an error if they can't be known here."""
    (kind, about), given = meant(call), arguments_of(call)
    match kind:
        case "tool":
            return "tools/call", {"name": about, "arguments": given}
        case "prompt":
            return "prompts/get", {"name": about, "arguments": given}
        case "resources/read":
            return "resources/read", {"uri": given.get("uri", "")}
        case "resource":
            from mcp.shared.uri_template import UriTemplate

            return "resources/read", {"uri": UriTemplate.parse(about).expand(given)}
        case "completion":
            of, name = offer_named(about)
            key = "name" if of == "prompt" else "uri"
            return "completion/complete", {
                "ref": {"type": f"ref/{of}", key: name},
                "argument": typed_in(given),
            }
    assert_never(kind)


def sending_in_words(calls: Sequence[Invocation], limit: float) -> list[str]:
    """How to send the messages of calls that are not made one after the other."""
    told = list[str]()
    for number, call in enumerate(calls, 1):
        if call.sent == "together" and number < len(calls):
            told.append(f"Send request {number + 1} without waiting for the reply to {number}.")
        elif call.sent == "cancelled":
            told.append(f"Cancel request {number} at once.")
        elif call.sent == "timed out":
            told.append(f"Cancel request {number} after {limit / 2:g} s.")
    return told


def meant(call: Invocation) -> tuple[OfferKind, str]:
    return ("tool", UNLISTED) if call.sent == "unlisted" else offer_named(call.tool)


def asks_for_progress(call: Invocation) -> bool:
    """Whether the call that showed the finding asked the server for reports of progress."""
    kind, name = meant(call)
    return kind == "tool" and wants_progress(name, arguments_of(call))


def typed_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be completed, as the protocol names it."""
    return {"name": given.get("argument", ""), "value": given.get("value", "")}


def starts_of(calls: Sequence[Invocation]) -> list[Sequence[Invocation]]:
    """The calls of each start of the server."""
    fresh = {place for place, call in enumerate(calls) if call.sent == "afresh"}
    return [calls[start:end] for start, end in pairwise(sorted({0, *fresh, len(calls)}))]
