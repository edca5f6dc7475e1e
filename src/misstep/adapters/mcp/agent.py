"""Runs any MCP client program as an agent: one process per case, which gets our tools over MCP."""

import asyncio
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from misstep.adapters.hosting import LOOPBACK
from misstep.adapters.mcp import link
from misstep.adapters.mcp.server import SERVER_NAME, McpToolServer, require_mcp
from misstep.adapters.mcp.transports import Switchboard, Web, secret_path
from misstep.adapters.processes import current_addresses, kill_process_tree
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.secrets import Redactor, secrets_in
from misstep.errors import MisstepError, UsageError

PLACEHOLDER = re.compile(r"\{(config|request|url|tools)\}")
EXAMPLE = "for example mcp:my-client --mcp-config {config} --prompt {request}"


def split_command(command: str) -> tuple[str, ...]:
    """Split a command like a shell; no shell is used."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"can't parse the command of the MCP client: {error}", f"given: {command}") from None
    if not words:
        raise UsageError("the command of the MCP client is empty", EXAMPLE)
    return words


def link_entry(address: Path) -> dict[str, Any]:
    """Starts a link to the address in this file, so that no secret is visible in the process list."""
    # The program is given as a file, because clients don't pass on the environment for finding modules.
    return {"command": sys.executable, "args": ["-I", "-S", str(link.__file__), str(address)], "env": {}}


def write_private(path: Path, text: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


KEPT = 1 << 18  # bytes of a client's output; only the end matters
GRACE = 5.0  # seconds until killed processes are gone


class Output(asyncio.SubprocessProtocol):
    """The last output of a process, and whether it has ended."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.code: int | None = None
        self.stdout, self.stderr = bytearray(), bytearray()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        kept = self.stdout if fd == 1 else self.stderr
        kept += data
        if len(kept) > 2 * KEPT:
            del kept[:-KEPT]

    def process_exited(self) -> None:
        self.exited.set_result(None)

    def connection_lost(self, _error: Exception | None) -> None:
        self.closed.set_result(None)


@asynccontextmanager
async def running(
    words: Sequence[str], environment: Mapping[str, str], told: str | None
) -> AsyncIterator[Output]:
    """Run a program without a shell, in a separate session, with `told` as its standard input.

    Whatever is left of that session at the end of the block is killed, also on cancellation.
    """
    starting = asyncio.create_task(_start(words, environment, told))
    try:
        transport, output = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # A process that is just starting can only be ended once it has an id.
        transport, output = await starting
        await _end(transport, output)
        raise
    try:
        yield output
    finally:
        await _end(transport, output)


async def _start(
    words: Sequence[str], environment: Mapping[str, str], told: str | None
) -> tuple[asyncio.SubprocessTransport, Output]:
    transport, output = await asyncio.get_running_loop().subprocess_exec(
        Output,
        *words,
        stdin=asyncio.subprocess.DEVNULL if told is None else asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    stdin = transport.get_pipe_transport(0)
    if told is not None and isinstance(stdin, asyncio.WriteTransport):
        stdin.write(told.encode("utf-8", "replace"))
        stdin.write_eof()
    return transport, output


async def _end(transport: asyncio.SubprocessTransport, output: Output) -> None:
    kill_process_tree(transport.get_pid())
    try:
        await asyncio.wait([output.closed], timeout=GRACE)
    finally:
        output.code = transport.get_returncode()
        transport.close()


Transport = Literal["http", "stdio"]
LONGEST_ANSWER = 100_000  # characters, from the end
LONGEST_COMPLAINT = 2_000
PATIENCE = 10.0  # seconds for cancelled runs to clean up


class ClientFailed(MisstepError):
    """The client failed; this is not the agent's failure."""


class McpAgent:
    """Starts `command` for every case, with placeholders filled in.

    `{config}` is the path of an `mcp.json` for this case, `{url}` the address of its tools (HTTP only),
    `{tools}` their names separated by commas, and `{request}` the request; without that one, the request goes
    to standard input. What the client prints is its answer.

    `environment` is added to our own, which the client inherits. A client that never lists the tools is an
    error, because it is probably misconfigured, unless it is `lazy` and connects only when it needs a tool.
    """

    def __init__(
        self,
        command: str,
        name: str,
        transport: Transport = "http",
        environment: Mapping[str, str] | None = None,
        lazy: bool = False,
    ) -> None:
        self.name = name
        self._lazy = lazy
        self._words = split_command(command)
        self._placeholders = {name for word in self._words for name in PLACEHOLDER.findall(word)}
        self._transport = transport
        self._environment = dict(environment or {})
        self._web = Web()
        self._switchboard = Switchboard()
        self._runs: set[asyncio.Task[Any]] = set()

    async def prepare(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise errors in the command or the installation before the first case."""
        require_mcp()
        program = self._words[0]
        if not shutil.which(program):
            if Path(program).is_file():
                hint = f"chmod +x {shlex.quote(program)}"
                raise UsageError(f"the client '{program}' can't be executed", hint)
            raise UsageError(f"MCP client '{program}' not found", EXAMPLE)
        braced = {name for word in self._words for name in re.findall(r"\{([a-z_]+)\}", word)}
        for name in sorted(braced - self._placeholders):
            raise UsageError(f"unknown placeholder {{{name}}} in the client's command", EXAMPLE)
        if "url" in self._placeholders and self._transport == "stdio":
            message = "{url} is not available when the client starts the server itself"
            raise UsageError(message, "use {config}")
        if not self._placeholders & {"config", "url"}:
            message = "the client can't find the tools: its command does not contain {config}"
            raise UsageError(message, EXAMPLE)

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self.check()
        if run := asyncio.current_task():  # on a busy machine, a cancelled one may take a while to end
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)
        server = McpToolServer(toolbox)
        with TemporaryDirectory(prefix="misstep-", ignore_cleanup_errors=True) as folder:
            async with self._serving(server, Path(folder)) as entry:
                config = json.dumps({"mcpServers": {SERVER_NAME: entry}}, indent=2)
                values = {
                    "config": str(write_private(Path(folder, "mcp.json"), config)),
                    "url": entry.get("url", ""),
                    "tools": ",".join(server.offered),
                    "request": assignment.request,
                }
                output = await self._until_over(server, values)
        if server.exhausted.is_set():
            return Answer(ended="iterations")
        answer = self._answer(output)
        if not server.visited and not self._lazy:
            hint = "does it read {config}? if it lists tools only when it needs them, add -A lazy=true"
            raise ClientFailed("the client never listed the tools", hint)
        return Answer(answer)

    async def close(self) -> None:
        if self._runs:
            await asyncio.wait(self._runs, timeout=PATIENCE)
        await self._web.close()
        await self._switchboard.close()

    @property
    def _variables(self) -> dict[str, str]:
        """The client's environment, without an HTTP proxy between it and us."""
        variables = os.environ | self._environment | dict(current_addresses.get())
        spared = variables.get("no_proxy") or variables.get("NO_PROXY") or ""
        spared = ",".join(filter(None, [spared, LOOPBACK[0]]))
        return variables | {"no_proxy": spared, "NO_PROXY": spared}

    @asynccontextmanager
    async def _serving(self, server: McpToolServer, folder: Path) -> AsyncIterator[dict[str, Any]]:
        """Serve the tools, and yield the client's configuration entry for them."""
        if self._transport == "http":
            async with self._web.serving(server, secret_path()) as url:
                yield {"type": "http", "url": url}
        else:
            async with self._switchboard.serving(server) as address:
                yield link_entry(write_private(folder / "address", address))

    async def _until_over(self, server: McpToolServer, values: Mapping[str, str]) -> Output:
        """The client's output until it ended or exceeded its turns."""
        told = None if "request" in self._placeholders else values["request"]
        # A word stays one word, whatever is inserted.
        words = [PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in self._words]
        exhausted: asyncio.Future[Any] = asyncio.create_task(server.exhausted.wait())
        try:
            async with running(words, self._variables, told) as output:
                await asyncio.wait([output.exited, exhausted], return_when=asyncio.FIRST_COMPLETED)
        finally:
            exhausted.cancel()
        return output

    def _answer(self, output: Output) -> str:
        redact = Redactor(secrets_in(self._variables))
        if output.code == 0:
            return redact(output.stdout.decode("utf-8", "replace")).strip()[-LONGEST_ANSWER:]
        fate = "could not be ended"
        if output.code is not None:
            killed = output.code < 0
            fate = f"was killed by signal {-output.code}" if killed else f"ended with code {output.code}"
        complaint = redact(output.stderr.decode("utf-8", "replace")).strip()[-LONGEST_COMPLAINT:]
        raise ClientFailed(f"the client {fate}", complaint)
