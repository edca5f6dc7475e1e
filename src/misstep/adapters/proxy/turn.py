"""A model's reply in a protocol-independent form, and the server-sent events it is streamed in."""

import json
import re
from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any, Protocol

import msgspec

from misstep.core.outcome import Usage


class ModelCall(msgspec.Struct, frozen=True):
    """A call as the model wrote it; `arguments` is its text, or JSON if the protocol uses that."""

    name: str
    arguments: Any


class ModelTurn(msgspec.Struct, frozen=True):
    """One reply of a model."""

    reply: Any
    calls: tuple[ModelCall, ...] = ()
    usage: Usage = Usage()
    key: str = ""  # identifies a reply that can be fetched more than once
    counts: bool = True  # False if the model used tokens without a reply


def decode(raw: bytes | str) -> Any:
    """Decode JSON; None if it is invalid."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(raw)  # allows lone surrogates and out-of-range numbers, which clients accept
    except (ValueError, RecursionError):
        return None


def tokens(usage: Any) -> Usage:
    """Token counts in OpenAI's formats, under either name; none if missing."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    return Usage(
        number(usage.get("prompt_tokens")) or number(usage.get("input_tokens")),
        number(usage.get("completion_tokens")) or number(usage.get("output_tokens")),
        number(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def number(value: Any) -> int:
    """A count; 0 for anything else."""
    return value if type(value) is int and value > 0 else 0


BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class Event:
    """One event: its raw bytes and its data."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        fields = [line.partition(b":") for line in raw.splitlines()]  # bytes have fewer line ends
        data = [value.removeprefix(b" ") for name, _, value in fields if name == b"data"]
        self.data = b"\n".join(data).decode("utf-8", "replace")

    @cached_property
    def json(self) -> Any:
        """The data as a JSON object; empty for anything else."""
        found = decode(self.data)
        return found if isinstance(found, dict) else {}


class StreamReader(Protocol):
    """Assembles a reply from its events.

    `holds` becomes True with the event that a client could take as the end of a call or reply: from then on
    nothing may be sent to the client before the reply is recorded. `ended` becomes True with the last
    meaningful event.
    """

    holds: bool
    ended: bool

    def feed(self, event: Event) -> None: ...

    def turn(self) -> ModelTurn | None:
        """The reply so far; None if there is none."""


async def events_in(chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """The events, each as soon as it is complete. Joined together, they are the bytes of the chunks."""
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
