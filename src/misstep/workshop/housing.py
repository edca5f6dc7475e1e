"""Our side of a sandbox with tools in it: starts it, has tools loaded and called in it, ends it."""

import os
import re
import select
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from misstep.adapters.family import end_family
from misstep.adapters.subprocess.process import ENTRY
from misstep.adapters.subprocess.protocol import Unfit, Unloadable
from misstep.adapters.subprocess.worker import OLDEST
from misstep.errors import UsageError
from misstep.workshop.advice import advise
from misstep.workshop.conditions import Conditions
from misstep.workshop.line import Line, Lost
from misstep.workshop.protocol import (
    Guard,
    Load,
    Loaded,
    Overrun,
    Start,
    Stop,
    Stopped,
    from_warden,
    from_zygote,
)
from misstep.workshop.sandbox.places import is_server
from misstep.workshop.sandbox.sandbox import Sandbox
from misstep.workshop.serving.census import namespace

SERVING = "misstep.workshop.serving.warden"
GRACE = 3.0  # seconds for what should be a matter of milliseconds
SOON = 1.0  # seconds for what has happened already
KEPT = 4096  # bytes of what the process prints while tools are loaded; only the end is of interest
SHOWN = 12  # lines of it
LOAD_LIMIT = {"code": 30.0, "server": 120.0}  # seconds; a server may have to be downloaded first

_loading: msgspec.json.Decoder[Loaded | Unloadable] = msgspec.json.Decoder(Loaded | Unloadable)


class Housing:
    """A sandbox in which `spec` is loaded. One copy of the tools at a time is open to calls.

    If tools are only `read`, there are none.
    """

    def __init__(
        self, spec: str, conditions: Conditions, sandbox: Sandbox, apart: bool, read: bool = False
    ) -> None:
        self._spec = spec
        self._named = _from_here(spec)
        self._conditions = conditions
        self._limit = conditions.load_limit or LOAD_LIMIT["server" if is_server(spec) else "code"]
        ours, theirs = socket.socketpair()
        self._line = Line(ours)
        with theirs:
            self._process = self._launch(sandbox, theirs)
        ours, self._zygotes = socket.socketpair()
        self.control = Line(ours)
        self._printed = bytearray()
        self._guard = Guard(conditions.limits, namespace(), () if sandbox.command else sandbox.roots)
        self._load = Load(
            spec,
            conditions.limits,
            sandbox.folder,
            sandbox.roots,
            os.path.abspath(conditions.workspace) if conditions.workspace else "",
            os.getcwd(),
            conditions.watched,
            apart,
            read,
        )

    def _launch(self, sandbox: Sandbox, theirs: socket.socket) -> subprocess.Popen[bytes]:
        number = theirs.fileno()
        try:
            return subprocess.Popen(
                [*sandbox.command, self._program(), str(ENTRY), SERVING, str(number)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[number],
                env=sandbox.environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self._line.close()
            raise self._no_python(error.strerror or str(error)) from error

    def _program(self) -> str:
        """The interpreter's whole path: nobody starts from here."""
        found = shutil.which(os.path.expanduser(self._conditions.python))
        if found is None:
            self._line.close()
            raise self._no_python("there is no such program")
        return os.path.abspath(found)

    def _no_python(self, why: str) -> UsageError:
        hint = "give the path of the python in the environment that the tools are installed in"
        return UsageError(f"'{self._conditions.python}' can't be run: {why}", hint)

    def load(self) -> Loaded:
        """Load the tools. A `UsageError` says why they can't be."""
        with suppress(Lost), self._zygotes:  # what is wrong is found out by listening
            self._line.send(self._guard, self._zygotes.fileno())
        with suppress(Lost):
            self.control.send(self._load)
        return self._heard(self.control)

    def start(self) -> Line:
        """Open a copy of the tools to calls, over the line that is returned. Raises `Lost`."""
        ours, theirs = socket.socketpair()
        with theirs:
            self.control.send(Start(), theirs.fileno())
        return Line(ours)

    def introduced(self, line: Line) -> Loaded:
        """What a copy that loads its tools for itself says about them."""
        return self._heard(line)

    def stop(self) -> Stopped | None:
        """End the copy with all that it has started; None if that took everything else with it."""
        with suppress(Lost):
            self.control.send(Stop())
        return self.stopped(GRACE)

    def stopped(self, patience: float) -> Stopped | None:
        """How the copy ended, if that is heard within so many seconds."""
        try:
            message = self.control.receive(from_zygote, patience)
        except (Lost, TimeoutError, ValueError):
            return None
        return message if isinstance(message, Stopped) else None

    @property
    def has_news(self) -> bool:
        """Whether the copy, or more than that, has come to an end."""
        return self.control.wait(0)

    def overrun(self) -> Overrun | None:
        """What the warden had to end everything for, if it had to."""
        try:
            message = self._line.receive(from_warden, SOON)
        except (Lost, TimeoutError, ValueError):
            return None
        return message if isinstance(message, Overrun) else None

    def kill(self) -> None:
        """End everything in the sandbox, and the sandbox."""
        if self._process.returncode is not None:
            return  # its number may be another's by now
        end_family(self._process.pid)
        self._line.close()
        self.control.close()
        self._zygotes.close()
        if self._process.stderr:
            self._process.stderr.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)

    def _heard(self, line: Line) -> Loaded:
        """The news about the tools that comes over a line, within the time that loading may take."""
        until = time.monotonic() + self._limit
        try:
            row = self._next_row(line, until)
            news = _loading.decode(row)
        except TimeoutError:
            message = f"'{self._named}' was not loaded within {self._limit:g} seconds"
            problem = UsageError(message, *self._last_words())
        except (Lost, msgspec.MsgspecError, RecursionError):
            problem = self._obituary()
        else:
            if isinstance(news, Loaded):
                return news
            message = _plain(news.message)
            hints = [*map(_plain, news.hints), *advise(message, self._spec)]
            problem = UsageError(message, *hints, where=_from_here(_plain(news.where)))
        self.kill()
        raise problem

    def _next_row(self, line: Line, until: float) -> bytes:
        """The next row, while what is printed is read as well, so that nobody has to wait for that."""
        assert self._process.stderr is not None
        printed = self._process.stderr.fileno()
        poll = select.poll()
        poll.register(line, select.POLLIN)
        poll.register(printed, select.POLLIN)
        while (row := line.take()) is None:
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError
            for file, _ in poll.poll(left * 1000):
                if file == line.fileno():
                    line.read()
                elif not self._read_printed():
                    poll.unregister(printed)
        return row

    def _read_printed(self) -> bool:
        assert self._process.stderr is not None
        data = os.read(self._process.stderr.fileno(), 1 << 16)
        self._printed += data
        del self._printed[:-KEPT]
        return bool(data)

    def _obituary(self) -> UsageError:
        """Why the tools are not there, as far as anybody can tell."""
        with suppress(Lost, TimeoutError, ValueError):
            message = self._line.receive(from_warden, GRACE)
            if isinstance(message, Unfit):
                return self._unfit(message)
            return UsageError(f"'{self._named}' needs too many {message.what} while it is loaded")
        return UsageError(f"the process broke off while '{self._named}' was loaded", *self._last_words())

    def _unfit(self, message: Unfit) -> UsageError:
        python = self._conditions.python
        if message.problem == "python":
            hint = f"tools need Python {'.'.join(map(str, OLDEST))} or newer"
            return UsageError(f"'{python}' is Python {_plain(message.detail)}", hint)
        return UsageError(f"'{python}' has no {_plain(message.problem)}", f"{python} -m pip install msgspec")

    def _last_words(self) -> Sequence[str]:
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        with suppress(BlockingIOError):
            while self._read_printed():
                pass
        text = _plain(bytes(self._printed).decode("utf-8", "replace"))
        return [line for line in text.splitlines() if line.strip()][-SHOWN:]


def _from_here(place: str) -> str:
    """A place as somebody names it who is in our folder."""
    return place.removeprefix(os.getcwd() + os.sep)


def _plain(text: str) -> str:
    """Text from the process without what would move a terminal's cursor."""
    text = re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]", "", text)
    return "".join(letter for letter in text if letter.isprintable() or letter == "\n")
