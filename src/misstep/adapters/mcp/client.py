"""Any program that speaks MCP as an agent: one process per case, of which we see the calls it makes."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from misstep.adapters.addresses import current_addresses
from misstep.adapters.hosting import LOOPBACK
from misstep.adapters.mcp.config import (
    EXAMPLE,
    check_program,
    fill,
    http_entry,
    link_entry,
    placeholders,
    split_command,
    unknown_placeholders,
    write_config,
    write_private,
)
from misstep.adapters.mcp.process import Output, running
from misstep.adapters.mcp.serve import secret_path
from misstep.adapters.mcp.server import ToolServer, require_mcp
from misstep.adapters.mcp.switchboard import Switchboard
from misstep.adapters.mcp.web import Web
from misstep.core.agent import Answer, Assignment, Toolbox
from misstep.core.secrets import Redactor, secrets_in
from misstep.errors import MisstepError, UsageError

Transport = Literal["http", "stdio"]
LONGEST_ANSWER = 100_000  # characters, from the end
LONGEST_COMPLAINT = 2_000
PATIENCE = 10.0  # seconds for runs that nobody waits for any more to leave nothing behind


class ClientFailed(MisstepError):
    """The client broke down; never the agent's failure."""


class McpAgent:
    """Starts `command` for every case, with these placeholders in it filled in:

    `{config}` is the path of an `mcp.json` for this case, `{url}` the address of its tools (HTTP only),
    `{tools}` their names with commas between, `{request}` the request; where that one doesn't occur, the
    request goes to standard input. What the client prints is its answer.

    `environment` is added to our own, which the client gets as well. A client that never asks for the tools
    is not set up as it should be, which is an error, unless it is `lazy` and connects when it needs one.
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
        self._transport = transport
        self._environment = dict(environment or {})
        self._web = Web()
        self._switchboard = Switchboard()
        self._runs: set[asyncio.Task[Any]] = set()

    async def prepare(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise what is wrong with the command or the installation, before the first case does."""
        require_mcp()
        check_program(self._words[0])
        for name in sorted(unknown_placeholders(self._words)):
            raise UsageError(f"nothing is known for {{{name}}} in the client's command", EXAMPLE)
        known = placeholders(self._words)
        if "url" in known and self._transport == "stdio":
            raise UsageError("there is no {url} where the client starts its server itself", "use {config}")
        if not known & {"config", "url"}:
            raise UsageError("the client can't find the tools: its command has no {config}", EXAMPLE)

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self.check()
        self._keep_in_mind(asyncio.current_task())
        server = ToolServer(toolbox)
        with TemporaryDirectory(prefix="misstep-", ignore_cleanup_errors=True) as folder:
            async with self._serving(server, Path(folder)) as entry:
                values = {
                    "config": str(write_config(Path(folder), entry)),
                    "url": entry.get("url", ""),
                    "tools": ",".join(server.offered),
                    "request": assignment.request,
                }
                output = await self._until_over(server, values)
        if server.exhausted.is_set():
            return Answer(ended="iterations")
        answer = self._answer(output)
        if not server.visited and not self._lazy:
            raise ClientFailed(
                "the client never asked for the tools", "does it read {config}? if it may not: -A lazy=true"
            )
        return Answer(answer)

    async def close(self) -> None:
        if self._runs:
            await asyncio.wait(self._runs, timeout=PATIENCE)
        await self._web.close()
        await self._switchboard.close()

    def _keep_in_mind(self, run: "asyncio.Task[Any] | None") -> None:
        """A run that was cancelled may take its time on a busy machine."""
        if run is not None:
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)

    @property
    def _variables(self) -> dict[str, str]:
        """The client's environment, in which no proxy stands between it and us."""
        variables = os.environ | self._environment | dict(current_addresses.get())
        spared = variables.get("no_proxy") or variables.get("NO_PROXY") or ""
        spared = ",".join(filter(None, [spared, LOOPBACK[0]]))
        return variables | {"no_proxy": spared, "NO_PROXY": spared}

    @asynccontextmanager
    async def _serving(self, server: ToolServer, folder: Path) -> AsyncIterator[dict[str, Any]]:
        """Serve the tools; gives the client's entry for them."""
        if self._transport == "http":
            async with self._web.serving(server, secret_path()) as url:
                yield http_entry(url)
        else:
            async with self._switchboard.serving(server) as address:
                yield link_entry(write_private(folder / "address", address))

    async def _until_over(self, server: ToolServer, values: Mapping[str, str]) -> Output:
        """What the client printed until it ended, or went on past its last turn."""
        told = None if "request" in placeholders(self._words) else values["request"]
        exhausted: asyncio.Future[Any] = asyncio.create_task(server.exhausted.wait())
        try:
            async with running(fill(self._words, values), self._variables, told) as output:
                await asyncio.wait([output.exited, exhausted], return_when=asyncio.FIRST_COMPLETED)
        finally:
            exhausted.cancel()
        return output

    def _answer(self, output: Output) -> str:
        redact = Redactor(secrets_in(self._variables))
        if output.code == 0:
            return redact(output.stdout).strip()[-LONGEST_ANSWER:]
        complaint = redact(output.stderr).strip()[-LONGEST_COMPLAINT:]
        raise ClientFailed(f"the client {_fate(output.code)}", complaint)


def _fate(code: int | None) -> str:
    if code is None:
        return "could not be ended"
    return f"ended with code {code}" if code > 0 else f"was killed by signal {-code}"
