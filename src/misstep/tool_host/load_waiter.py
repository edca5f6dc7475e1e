"""Waits until tools are loaded, or explains why they cannot be."""

import os
import select
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

import msgspec

from misstep.adapters.processes import LOOK, Patience, family_seconds
from misstep.adapters.subprocess.protocol import Unfit, Unloadable
from misstep.adapters.subprocess.worker import OLDEST
from misstep.adapters.toolset.spec import file_of
from misstep.core.text import readable
from misstep.errors import UsageError
from misstep.tool_host.channel import Channel, ChannelLost
from misstep.tool_host.protocol import ToolsLoaded, from_supervisor
from misstep.tool_host.sandbox.places import is_server

RELATIVE = "attempted relative import"
READ_ONLY = "Read-only file system"
WRITES = (
    "the sandbox keeps it from writing: let it write to a copy of a folder, with --workspace DIR,",
    "or do without the sandbox, with --sandbox none",
)


def advise(message: str, spec: str) -> list[str]:
    """Hints for an error in the user's code; usually none."""
    if READ_ONLY in message:
        return [*WRITES]
    file = file_of(spec)
    return [_as_module(file, spec)] if RELATIVE in message and file.endswith(".py") else []


def _as_module(file: str, spec: str) -> str:
    """How to specify the file as a module of its package."""
    here, folder = os.getcwd(), os.path.dirname(file)
    top = folder
    while os.path.exists(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    if top == folder:  # a package without __init__.py
        top = here if file.startswith(here + os.sep) and folder != here else os.path.dirname(folder)
    dotted = os.path.relpath(file, top).removesuffix(".py").replace(os.sep, ".")
    where = "" if top == here else f", in the folder {top}"
    return f"it is part of a package: give {dotted}{spec.removeprefix(file)}{where}"


GRACE = 3.0  # seconds to receive the reason
KEPT = 4096  # bytes of the process's output; only the end matters
SHOWN = 12  # lines of it

_loading: msgspec.json.Decoder[ToolsLoaded | Unloadable] = msgspec.json.Decoder(ToolsLoaded | Unloadable)


class GivenUp(Exception):
    """The caller no longer waits for a result."""


class LoadWaiter:
    """Waits for the tools of `spec`; the channel to the supervisor (`supervisor`) reports failures.

    The first `guards` generations of processes load nothing: bubblewrap, if used, and the supervisor.

    It gives up when the process has neither used the CPU nor printed anything for `limit` seconds, and after
    a maximum time in any case. Raises `GivenUp` as soon as `is_over`.
    """

    def __init__(
        self,
        spec: str,
        python: str,
        limit: float,
        is_over: Callable[[], bool],
        supervisor: Channel,
        guards: int,
    ) -> None:
        self._spec = spec
        self._named = _from_here(spec)
        self._python = python
        self._limit = limit
        self._is_over = is_over
        self._supervisor = supervisor
        self._printed = bytearray()
        self._bytes = 0
        self._guards = guards

    def await_tools(self, line: Channel, process: subprocess.Popen[bytes]) -> ToolsLoaded:
        """The tools as reported over the channel. Raises `UsageError` with the reason if there are none."""
        assert process.stderr is not None
        patience = Patience(self._limit, lambda: self._progress(process.pid))
        try:
            news = _loading.decode(self._next_row(line, process.stderr, patience))
        except TimeoutError:
            message = f"'{self._named}' {patience.outcome}"
            raise UsageError(message, *self._printed_lines(process.stderr), self._what_to_do()) from None
        except (ChannelLost, msgspec.MsgspecError, RecursionError):
            raise self._why_not_loaded(process.stderr) from None
        if isinstance(news, ToolsLoaded):
            return news
        message = readable(news.message)
        hints = [*map(readable, news.hints), *advise(message, self._spec)]
        raise UsageError(message, *hints, where=_from_here(readable(news.where)))

    def _what_to_do(self) -> str:
        """A hint for a timeout."""
        if is_server(self._spec):
            return "does the command start an MCP server? start it by hand to see what it waits for"
        return "see what its import waits for: tools have to be there soon after it"

    def _progress(self, process: int) -> float:
        """A number that changes while the tools are being loaded."""
        return family_seconds(process, self._guards) + self._bytes

    def _next_row(self, line: Channel, printed: IO[bytes], patience: Patience) -> bytes:
        """The next message; output is read meanwhile, so that the process does not block on it."""
        poll = select.poll()
        poll.register(line, select.POLLIN)
        poll.register(printed, select.POLLIN)
        while (row := line.take()) is None:
            if (left := patience.left()) <= 0:
                raise TimeoutError
            if self._is_over():
                raise GivenUp
            for file, _ in poll.poll(min(left, LOOK) * 1000):
                if file == line.fileno():
                    line.read()
                elif not self._read(printed):
                    poll.unregister(printed)
        return row

    def _read(self, printed: IO[bytes]) -> bool:
        data = os.read(printed.fileno(), 1 << 16)
        self._printed += data
        self._bytes += len(data)
        del self._printed[:-KEPT]
        return bool(data)

    def _why_not_loaded(self, printed: IO[bytes]) -> UsageError:
        """Why there are no tools, as far as known."""
        with suppress(ChannelLost, TimeoutError, ValueError):
            message = self._supervisor.receive(from_supervisor, GRACE)
            if isinstance(message, Unfit):
                return self._unfit(message)
            return UsageError(f"'{self._named}' needs too many {message.what} while it is loaded")
        words = self._printed_lines(printed)
        hint = f"is '{self._python}' a Python interpreter, or does the code end its own process?"
        problem = f"the process broke off while '{self._named}' was loaded"
        return UsageError(problem, *(words or [f"it said nothing: {hint}"]))

    def _unfit(self, message: Unfit) -> UsageError:
        python = self._python
        if message.problem == "python":
            hint = f"tools need Python {'.'.join(map(str, OLDEST))} or newer"
            return UsageError(f"'{python}' is Python {readable(message.detail)}", hint)
        problem = f"'{python}' has no {readable(message.problem)}"
        return UsageError(problem, f"{python} -m pip install msgspec")

    def _printed_lines(self, printed: IO[bytes]) -> Sequence[str]:
        os.set_blocking(printed.fileno(), False)
        with suppress(BlockingIOError):
            while self._read(printed):
                pass
        text = readable(bytes(self._printed).decode("utf-8", "replace"))
        return [line for line in text.splitlines() if line.strip()][-SHOWN:]


def _from_here(place: str) -> str:
    """The path relative to the working directory."""
    return place.removeprefix(os.getcwd() + os.sep)
