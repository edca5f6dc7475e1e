"""A channel between two processes: one JSON message per line, which can carry open files."""

import array
import fcntl
import json
import os
import select
import socket
import time
from collections.abc import Iterator
from typing import TypeVar

import msgspec

LONGEST = 1 << 24  # bytes of a message; neither side has to buffer more than that
CHUNK = 1 << 18
MOST_FILES = 4  # per message

T = TypeVar("T")


_encoder = msgspec.json.Encoder()


def encoded(message: msgspec.Struct) -> bytes:
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:  # lone surrogates become question marks
        return json.dumps(msgspec.to_builtins(message), ensure_ascii=False).encode("utf-8", "replace")


class ChannelLost(Exception):
    """The other side is gone."""


class Channel:
    """One end of a channel. `put` and `flush` never block, so that both ends can send at once.

    An end that is not `trusting` accepts no open files: tools could send more than a process may have.
    """

    def __init__(self, end: socket.socket, trusting: bool = False) -> None:
        self._end = end
        self._room = socket.CMSG_SPACE(MOST_FILES * array.array("i").itemsize) if trusting else 0
        self._arrived = bytearray()
        self._searched = 0
        self._leaving = bytearray()
        self.held = 0  # messages
        self.files = list[int]()  # files received, oldest first; the receiver has to close them

    def fileno(self) -> int:
        return self._end.fileno()

    def moved(self, number: int) -> "Channel":
        """The same end with a file descriptor of at least `number`; this object is closed."""
        with self._end as end:
            return Channel(socket.socket(fileno=fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, number)))

    def close(self) -> None:
        self._end.close()
        for file in self.files:
            os.close(file)
        self.files.clear()

    def rows(self) -> Iterator[bytes]:
        """All messages until the other side closes, for an end that only waits."""
        rest = b""
        while chunk := self._next_chunk():
            *whole, rest = (rest + chunk).split(b"\n") if rest else chunk.split(b"\n")
            yield from whole

    def _next_chunk(self) -> bytes:
        self.say_held()
        return self._end.recv(CHUNK)

    def say(self, message: msgspec.Struct) -> None:
        """Send a message; blocks until it is sent."""
        self.hold(message)
        self.say_held()

    def hold(self, message: msgspec.Struct) -> None:
        """Send a message a little later: with `say_held` or `say`, or before the next rows are awaited."""
        self._leaving += encoded(message) + b"\n"
        self.held += 1

    def say_held(self) -> None:
        if self._leaving:
            self._end.sendall(self._leaving)
            self._leaving.clear()
            self.held = 0

    def send(self, message: msgspec.Struct, *files: int) -> None:
        """Send a message, with open files if needed. Raises `ChannelLost`."""
        data = memoryview(encoded(message) + b"\n")
        attached = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        try:
            sent = self._end.sendmsg([data], attached)
            self._end.sendall(data[sent:])
        except OSError as error:
            raise ChannelLost from error

    def receive(self, decoder: msgspec.json.Decoder[T], patience: float | None = None) -> T:
        """The next message. Raises `ChannelLost`, TimeoutError, or ValueError for an invalid one."""
        until = None if patience is None else time.monotonic() + patience
        while (row := self.take()) is None:
            self.wait(None if until is None else max(until - time.monotonic(), 0.0))
            if not self.read() and until is not None and time.monotonic() >= until:
                raise TimeoutError
        try:
            return decoder.decode(row)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(str(error)) from error

    def wait(self, patience: float | None) -> bool:
        """Wait for the other side. Returns whether there is anything to read, including the end."""
        poll = select.poll()
        poll.register(self, select.POLLIN)
        return bool(poll.poll(None if patience is None else patience * 1000))

    def read(self) -> bool:
        """Read what has arrived, without waiting; whether there was anything. Raises `ChannelLost`."""
        try:
            data, attached, _flags, _sender = self._end.recvmsg(CHUNK, self._room, socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            raise ChannelLost from error
        for level, kind, content in attached:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self.files += array.array("i", content[: len(content) // 4 * 4])
        if not data:
            raise ChannelLost
        self._arrived += data
        if len(self._arrived) > LONGEST:
            raise ChannelLost
        return True

    def take(self) -> bytes | None:
        """The next complete message that has arrived."""
        end = self._arrived.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._arrived)
            return None
        row = bytes(self._arrived[:end])
        del self._arrived[: end + 1]
        self._searched = 0
        return row

    def take_all(self) -> list[bytes]:
        end = self._arrived.rfind(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._arrived)
            return []
        rows = bytes(self._arrived[:end]).split(b"\n")
        del self._arrived[: end + 1]
        self._searched = len(self._arrived)
        return rows

    def put(self, data: bytes) -> None:
        self._leaving += data
        self.flush()

    @property
    def busy(self) -> bool:
        return bool(self._leaving)

    def flush(self) -> None:
        """Send as much as possible now; errors show up when reading."""
        try:
            while self._leaving:
                sent = self._end.send(self._leaving, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
                del self._leaving[:sent]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._leaving.clear()
