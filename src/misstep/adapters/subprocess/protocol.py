"""The messages between misstep and an agent's process, one JSON object per line."""

import contextlib
import select
import socket
import threading
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec

from misstep.core.agent import Answer, Assignment, Tool
from misstep.core.outcome import Usage

LONGEST = 1 << 24  # bytes of one line; longer ones end the connection
LONGEST_WAIT = 86_400.0
Count = Annotated[int, msgspec.Meta(ge=0)]
T = TypeVar("T")


class _Message(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, forbid_unknown_fields=True):
    pass


class LoadAgent(_Message, frozen=True, tag="load"):
    spec: str
    name: str


class TryCase(_Message, frozen=True, tag="work"):
    """Let the agent work on a case; `case` numbers the cases of one process."""

    case: int
    assignment: Assignment
    tools: tuple[Tool, ...]
    max_steps: int


class QuestionReply(_Message, frozen=True, tag="reply"):
    """The reply to a question: a turn number, the result of a call, or that no turns are left."""

    question: int
    turn: int = 0
    result: str = ""
    exhausted: bool = False


class Unfit(_Message, frozen=True):
    """The interpreter is unsuitable: its version is too old, or a module is missing."""

    problem: str
    detail: str = ""


class Unloadable(_Message, frozen=True):
    message: str
    hints: tuple[str, ...] = ()
    where: str = ""


class AgentLoaded(_Message, frozen=True, tag="loaded"):
    """The agent is loaded."""


class _OfCase(_Message, frozen=True):
    case: int


class BeginTurn(_OfCase, frozen=True):
    question: int


class Ask(_OfCase, frozen=True):
    question: int
    tool: str
    arguments: Any
    turn: int | None = None


class CallTool(_OfCase, frozen=True):
    question: int
    tool: str
    arguments: Any
    turn: int | None = None


class Misread(_OfCase, frozen=True):
    pass


class SpendUsage(_OfCase, frozen=True):
    input: Count
    output: Count
    cached: Count

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.output, self.cached)


class Wait(_OfCase, frozen=True):
    seconds: Annotated[float, msgspec.Meta(ge=-LONGEST_WAIT, le=LONGEST_WAIT)]


class Note(_OfCase, frozen=True):
    message: Any


class Warn(_OfCase, frozen=True):
    text: str


class Finished(_OfCase, frozen=True):
    answer: Answer


class Exhausted(_OfCase, frozen=True):
    """The agent let `StepsExhausted` propagate, as it should."""


class AgentRaised(_OfCase, frozen=True):
    error: str


Question: TypeAlias = BeginTurn | Ask | CallTool
Remark: TypeAlias = Misread | SpendUsage | Wait | Note | Warn
Ending: TypeAlias = Finished | Exhausted | AgentRaised
FromWorker: TypeAlias = Unfit | Unloadable | AgentLoaded | Question | Remark | Ending
ToWorker: TypeAlias = LoadAgent | TryCase | QuestionReply

from_worker: msgspec.json.Decoder[FromWorker] = msgspec.json.Decoder(FromWorker)
to_worker: msgspec.json.Decoder[ToWorker] = msgspec.json.Decoder(ToWorker)


class LinkLost(Exception):
    """The other side is gone."""


class ProcessLink:
    """One end of the connection between two processes. Any thread may send, only one may receive."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._incoming = line.makefile("rb")
        self._sending = threading.Lock()

    def send(self, message: FromWorker | ToWorker) -> None:
        """Raises `LinkLost`, or ValueError or TypeError for a message that cannot be encoded."""
        data = msgspec.json.encode(message) + b"\n"
        if len(data) > LONGEST:
            raise ValueError(f"{len(data)} bytes are too many for one message")
        try:
            with self._sending:
                self._line.sendall(data)
        except OSError as error:
            raise LinkLost from error

    def receive(self, decoder: msgspec.json.Decoder[T]) -> T:
        """The next message. Raises `LinkLost`, or ValueError for an invalid one."""
        try:
            data = self._incoming.readline(LONGEST + 1)
        except TimeoutError:
            raise
        except OSError as error:
            raise LinkLost from error
        if not data.endswith(b"\n"):
            if len(data) > LONGEST:
                raise ValueError("a line that is too long")
            raise LinkLost
        try:
            return decoder.decode(data)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(str(error)) from error

    def has_news(self, seconds: float) -> bool:
        """Whether the other side has sent something, or has gone, within `seconds`."""
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        return bool(poll.poll(max(0.0, seconds) * 1000))

    def be_patient(self, seconds: float | None) -> None:
        """Set how long to wait for the other side before a TimeoutError; None is forever."""
        self._line.settimeout(seconds)

    def hang_up(self) -> None:
        """Shut down the connection, which wakes up anyone waiting for the other side."""
        with contextlib.suppress(OSError):  # the other side may have closed it first
            self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._incoming.close()
        self._line.close()
