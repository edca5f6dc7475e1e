"""What a reply of a model says, whatever the protocol it came in.

Server-sent events, apart from the chunks they happen to arrive in.
"""

import json
import re
from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any, Protocol

import msgspec

from misstep.core.outcome import Usage


class ModelCall(msgspec.Struct, frozen=True):
    """A call as the model wrote it; `arguments` are the text it gave, or JSON where the protocol has that."""

    name: str
    arguments: Any


class ModelTurn(msgspec.Struct, frozen=True):
    """One reply of a model.

    `key` names a reply that can be fetched more than once. `counts` is False where the model did not get to
    say anything, yet used tokens.
    """

    reply: Any
    calls: tuple[ModelCall, ...] = ()
    usage: Usage = Usage()
    key: str = ""
    counts: bool = True


def decode(raw: bytes | str) -> Any:
    """What a JSON text means; None for anything else."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decode_leniently(raw)


def _decode_leniently(raw: bytes | str) -> Any:
    """The same with halves of surrogate pairs and numbers out of range, which clients let pass."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def tokens(usage: Any) -> Usage:
    """Tokens as OpenAI's protocols count them, under either of their names; none where they aren't told."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    return Usage(
        number(usage.get("prompt_tokens")) or number(usage.get("input_tokens")),
        number(usage.get("completion_tokens")) or number(usage.get("output_tokens")),
        number(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def number(value: Any) -> int:
    """A count; nothing that can't be one."""
    return value if type(value) is int and value > 0 else 0


BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class Event:
    """One event: the bytes it came in, and the data in them."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        fields = [line.partition(b":") for line in raw.splitlines()]  # of bytes, which knows fewer line ends
        data = [value.removeprefix(b" ") for name, _, value in fields if name == b"data"]
        self.data = b"\n".join(data).decode("utf-8", "replace")

    @cached_property
    def json(self) -> Any:
        """What the data means as a JSON object; an empty one for anything else."""
        found = decode(self.data)
        return found if isinstance(found, dict) else {}


class StreamReader(Protocol):
    """Puts a reply together from its events.

    `holds` becomes True with the event that a client could take for the end of a call or of the reply: from
    there on nothing may reach the client before the reply is recorded. `ended` becomes True with the last
    event that says anything.
    """

    holds: bool
    ended: bool

    def feed(self, event: Event) -> None: ...

    def turn(self) -> ModelTurn | None:
        """The reply so far; None if there is none."""
        ...


async def events_in(chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """The events as soon as each is complete. Their bytes, put together, are those of the chunks."""
    waiting = b""
    async for chunk in chunks:
        waiting += chunk
        begin = 0
        for end in BLANK_LINE.finditer(waiting):
            yield Event(waiting[begin : end.end()])
            begin = end.end()
        waiting = waiting[begin:]
    if waiting:
        yield Event(waiting)
