"""Server-sent events, apart from the chunks they happen to arrive in."""

import re
from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any, Protocol

from misstep.adapters.proxy.reading.turn import Turn, decode

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

    def turn(self) -> Turn | None:
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
