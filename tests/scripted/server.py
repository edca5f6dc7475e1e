"""A real server on loopback that speaks OpenAI's protocol, so that nothing in front of it needs a stand-in."""

import asyncio
import contextlib
import socket
import threading
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from tests.scripted.api import Api, asks_model
from tests.scripted.faults import perform
from tests.scripted.parts import ApiError
from tests.scripted.script import Fault, Script
from tests.scripted.usage import reported
from tests.scripted.wire import Recorded, Reply, read_request, write_reply

BUFFER = 1 << 20
BACKLOG = 1024


def listen() -> socket.socket:
    """An address on loopback that nobody else has."""
    return socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)


class ScriptedServer:
    """Serves one script while its `with` block runs, from a thread with a loop of its own.

    An exception in the script itself is answered with 500, then raised at the end of the block. A socket that
    listens already stays open afterwards, so that the next server can have the same address.
    """

    def __init__(self, script: Script | None = None, listener: socket.socket | None = None) -> None:
        self._script = script or Script()
        self._lent = listener
        self._api = Api(self._script)
        self._faults = deque[Fault | None](self._script.faults)
        self._requests = list[Recorded]()
        self._errors = list[Exception]()
        self._tasks = set[asyncio.Task[None]]()
        self._made = 0
        self._asked = 0
        self._most_asked = 0
        self._tokens = dict[str, tuple[int, int]]()
        self._changed = threading.Condition()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> list[Recorded]:
        """All requests so far, in order of arrival."""
        return list(self._requests)

    @property
    def model_requests(self) -> list[Recorded]:
        """The requests in which the model was to speak."""
        return [request for request in self.requests if asks_model(request)]

    @property
    def connections_open(self) -> int:
        return len(self._tasks)

    @property
    def connections_made(self) -> int:
        return self._made

    @property
    def most_at_once(self) -> int:
        """The most requests in which the model was to speak that were unanswered at one time."""
        return self._most_asked

    @property
    def faults_left(self) -> int:
        return len(self._faults)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens of input and output that clients have been told of, each reply counted once."""
        return sum(each[0] for each in self._tokens.values()), sum(each[1] for each in self._tokens.values())

    @property
    def undeleted(self) -> list[str]:
        """Ids of assistants, then of threads, that nobody has deleted."""
        return self._api.assistants.undeleted

    def wait_until_idle(self, seconds: float = 10.0) -> bool:
        """Wait for all connections to close, which clients do a moment before the server sees it."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._tasks, seconds)

    def wait_for_requests(self, count: int = 1, seconds: float = 10.0) -> bool:
        """Wait until so many requests have come in, answered or not."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._requests) >= count, seconds)

    def wait_for_turns(self, count: int, seconds: float = 10.0) -> bool:
        """Wait until the model was to speak so many times, answered or not."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.model_requests) >= count, seconds)

    def __enter__(self) -> Self:
        self._listener = self._lent.dup() if self._lent else listen()
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(started)), name="scripted-server"
        )
        self._thread.start()
        started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._errors and error is None:
            raise self._errors[0]
        if self._errors and error is not None:
            error.add_note(f"the script failed on the server: {self._errors[0]!r}")

    async def _serve(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._loop.add_reader(self._listener, self._accept)
        started.set()
        await self._stop.wait()
        self._loop.remove_reader(self._listener)
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self) -> None:
        """Take one connection. asyncio's own servers lose those that come in just while they close."""
        with contextlib.suppress(BlockingIOError, ConnectionError):
            link, _ = self._listener.accept()
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or every stream waits for its peer
            task = self._loop.create_task(self._converse(link))
            self._tasks.add(task)
            self._made += 1
            task.add_done_callback(lambda task: self._part(task, link))

    def _part(self, task: asyncio.Task[None], link: socket.socket) -> None:
        link.close()  # for tasks that were cancelled before they began
        with self._changed:
            self._tasks.discard(task)
            self._changed.notify_all()

    async def _converse(self, link: socket.socket) -> None:
        link.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=link, limit=BUFFER)
        try:
            while await self._exchange(reader, writer):
                pass
            writer.close()
            await writer.wait_closed()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except Exception as error:
            self._errors.append(error)
        finally:
            writer.transport.abort()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request, answer it; says whether another may follow on the same connection."""
        try:
            request = await read_request(reader)
        except (ValueError, asyncio.LimitOverrunError):
            error = ApiError(400, "This server does not understand the request.")
            await write_reply(writer, Reply(error.body, error.status))
            return False
        if request is None:
            return False
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        with self._asking(asks_model(request)):
            fault = self._faults.popleft() if self._faults and asks_model(request) else None
            lives = await perform(fault, request, lambda: self._answer(request), reader, writer)
        return lives and request.headers.get("connection", "").lower() != "close"

    @contextlib.contextmanager
    def _asking(self, counts: bool) -> Iterator[None]:
        """Count a request for as long as it is unanswered."""
        self._asked += counts
        self._most_asked = max(self._most_asked, self._asked)
        try:
            yield
        finally:
            self._asked -= counts

    def _answer(self, request: Recorded) -> Reply:
        try:
            reply = self._api.answer(request)
            key, tokens = reported(reply)
            self._tokens.setdefault(key, tokens)
            return reply
        except Exception as error:
            self._errors.append(error)
            body = ApiError(500, f"the script failed: {error!r}", type="server_error").body
            return Reply(body, 500, {"x-should-retry": "false"})
