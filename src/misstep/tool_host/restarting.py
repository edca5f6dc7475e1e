"""Hosts tools in a sandbox and loads them again whenever their process has ended.

Tools that are only described, not called, are loaded in a separate process too, because loading runs code.
"""

import os
import time
from collections.abc import Callable

from msgspec.structs import replace

from misstep.adapters.toolset.spec import file_of
from misstep.core.results.fixing import reworded
from misstep.core.tool import Described, Reaction
from misstep.errors import UsageError
from misstep.tool_host.channel import Channel, ChannelLost
from misstep.tool_host.load_waiter import GivenUp
from misstep.tool_host.protocol import CallConditions, CallerStopped, Overrun, ToolsLoaded
from misstep.tool_host.sandbox.places import anchored, is_server
from misstep.tool_host.sandbox.sandbox import Sandbox, refuse_remote, sandbox_for
from misstep.tool_host.sandbox_process import SOON, SandboxProcess, never

PAUSE = 5.0  # seconds before an unreachable server is tried again


class RestartingHost:
    """The tools of `spec` in a sandbox; `line` is the channel to the copy that accepts calls, if any.

    `tools`, `files`, `skipped` and `notes` are from the last time they were loaded.
    """

    def __init__(self, spec: str, conditions: CallConditions) -> None:
        self.spec = anchored(spec)
        refuse_remote(self.spec, conditions)
        self._conditions = conditions
        self.sandbox: Sandbox = sandbox_for(self.spec, conditions)
        self._is_server = self.is_apart = is_server(spec)
        self.is_over: Callable[[], bool] = never
        self.sandbox_process: SandboxProcess | None = None
        self.line: Channel | None = None
        self.tools: tuple[Described, ...] = ()
        self.files: tuple[str, ...] = ()
        self.skipped: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self._gone: Reaction | None = None
        self._gone_at = 0.0

    def start(self) -> None:
        """Load the tools and open them to calls."""
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def watch(self, busy: bool) -> None:
        """Tell the supervisor whether calls are in flight."""
        if self.sandbox_process is not None:
            self.sandbox_process.watch(busy)

    def close(self) -> None:
        """End all processes and remove all files."""
        self.abandon()
        self.sandbox.remove()

    def begin_again(self) -> Reaction | None:
        """Open a copy of the tools to calls. Returns the reaction to all calls if their server is gone.

        Raises `GivenUp` if it is over before they are loaded.
        """
        if self._gone is not None and time.monotonic() - self._gone_at < PAUSE:
            return self._gone
        self._gone = None
        try:
            self._begin()
        except GivenUp:
            self.abandon()
            raise
        except UsageError as error:
            if not self._is_server:
                raise
            self.abandon()
            self._gone = Reaction("died", detail=f"the server can't be reached: {error.message}")
            self._gone_at = time.monotonic()
        return self._gone

    def end(self, by_itself: bool = False) -> CallerStopped | Overrun | None:
        """End the copy, or let it end by itself; if that fails, end the sandbox."""
        if self.line is None or self.sandbox_process is None:
            return None
        self.line.close()
        self.line = None
        stopped = self.sandbox_process.stopped(SOON) if by_itself else None
        ended = stopped or self.sandbox_process.stop() or self.sandbox_process.overrun()
        if not isinstance(ended, CallerStopped) or not ended.restored:
            self.abandon()
        return ended

    def abandon(self) -> None:
        """End the sandbox."""
        if self.line is not None:
            self.line.close()
        if self.sandbox_process is not None:
            self.sandbox_process.kill()
        self.line = self.sandbox_process = None

    def _open(self) -> None:
        if self.sandbox.command:  # the files to hide may have changed
            self.sandbox = sandbox_for(self.spec, self._conditions)
        self.sandbox.prepare()
        self.sandbox_process = SandboxProcess(
            self.spec, self._conditions, self.sandbox, self.is_apart, is_over=self.is_over
        )
        loaded = self.sandbox_process.load()
        if not loaded.forkable and not self.is_apart:
            self.is_apart = True
            self.abandon()
            return self._open()
        self._take(loaded)
        self._begin()
        return None

    def _begin(self) -> None:
        """Open a copy of the tools to calls, in a new sandbox if this one is gone."""
        assert self.line is None
        if self.sandbox_process is None:
            return self._open()
        try:
            self.line = self.sandbox_process.start()
        except ChannelLost:
            self.abandon()
            return self._open()
        if self.is_apart:
            self._take(self.sandbox_process.introduced(self.line))
        return None

    def _take(self, loaded: ToolsLoaded) -> None:
        self.files = loaded.files
        self.tools = tuple([reworded(each, self._conditions.wordings) for each in loaded.tools])
        self.skipped, self.notes = loaded.skipped, loaded.notes


PLACES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def read_apart(spec: str, conditions: CallConditions) -> ToolsLoaded:
    """The descriptions of the tools of a spec. Raises `UsageError` if there are none."""
    whole = anchored(spec)
    sandbox = sandbox_for(whole, conditions)
    sandbox.prepare()
    try:
        sandbox_process = SandboxProcess(whole, conditions, sandbox, read=True)
        try:
            loaded = sandbox_process.load()
        finally:
            sandbox_process.kill()
    finally:
        sandbox.remove()
    tools = [replace(tool, where=tool.where.replace(file_of(whole), file_of(spec))) for tool in loaded.tools]
    return replace(loaded, tools=tuple(tools)) if file_of(spec) else loaded


def whole_environment(at_home: bool) -> dict[str, str]:
    """All our environment variables; those for file locations only if `at_home`."""
    return {name: value for name, value in os.environ.items() if at_home or name not in PLACES}
