"""Lists and calls tools of MCP servers."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from misstep.adapters.loading.source import settled
from misstep.adapters.mcp.connections import PATIENCE, Connection
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.offers import Question, offers_of, parts_of
from misstep.adapters.mcp.requests import ask, call_tool
from misstep.adapters.mcp.server import require_mcp
from misstep.adapters.mcp.server_code import ServerCode
from misstep.adapters.toolset.calling import (
    MOST,
    ArgumentsRefused,
    BoundTool,
    Garbled,
    Loop,
    Returned,
    ServerError,
    ServerGone,
    Toolset,
    told,
)
from misstep.adapters.toolset.found import LONGEST_NAME, FoundTool, is_tool_name, usable
from misstep.core.secrets import Redactor
from misstep.core.text import in_words
from misstep.core.tool import UNLISTED, Described, Promises


def tools_of_servers(
    servers: Sequence[McpServer],
    patience: float = PATIENCE,
    notes: list[str] | None = None,
    beside: bool = False,
) -> list[FoundTool]:
    """The tools of all servers, oddities in `notes`; with `beside`, also what they offer besides tools.

    Raises `UsageError` if a server does not list them.
    """
    require_mcp()
    kept = [] if notes is None else notes
    return [found for server in servers for found in settled(_asked(server, patience, kept, beside))]


def found_on(server: McpServer, tools: Sequence[Any]) -> list[FoundTool]:
    """Tools from SDK objects; `server` is where they were found."""
    return [
        FoundTool(
            f"server {server.name}",
            tool.name,
            tool.description,
            tool.input_schema,
            "mcp",
            output=tool.output_schema,
            promises=_promises(tool.annotations),
        )
        for tool in tools
    ]


async def _asked(server: McpServer, patience: float, notes: list[str], beside: bool) -> list[FoundTool]:
    connection = Connection(server)
    try:
        await connection.start(patience)
        found = await _found(connection, patience, notes, beside)
        notes += connection.notes
        return found
    finally:
        await connection.stop()
        connection.close()


async def _found(connection: Connection, patience: float, notes: list[str], beside: bool) -> list[FoundTool]:
    found = found_on(connection.server, await connection.tools(patience))
    if not found:
        notes.append(f"the server {connection.redact(connection.server.name)} has no tools")
    if beside:
        taken = {tool.name for tool in found}
        for offer in await offers_of(connection, patience, notes):
            if offer.name in taken or not is_tool_name(offer.name):
                notes.append(
                    f"{offer.name[:LONGEST_NAME]!r} is left out: its name is taken, or not a valid one"
                )
            else:
                taken.add(offer.name)
                found.append(offer)
    return found


def _promises(annotations: Any) -> Promises:
    names = ("read_only", "destructive", "idempotent", "open_world")
    return Promises(**{name: getattr(annotations, f"{name}_hint", None) for name in names})


INVALID_PARAMS, PARSE_ERROR, CONNECTION_CLOSED = -32602, -32700, -32000


def bind_servers(servers: Sequence[McpServer], spec: str, beside: bool = False) -> Toolset:
    """The tools of some servers, whose state is reset by restarting them; `beside` as above."""
    loop, connections, code = Loop(), list[Connection](), ServerCode()
    skipped, notes = list[str](), list[str]()

    def close() -> None:
        for connection in connections:
            loop.settle(connection.stop())
            connection.close()
        connections.clear()
        loop.close()
        code.close()

    found = list[tuple[FoundTool, Connection]]()
    try:
        for server in servers:
            connection = Connection(server, code)
            connections.append(connection)
            loop.settle(connection.start())
            code.begin()  # empties the pipe, so that what is left of the start isn't due to a call
            offered = loop.settle(_found(connection, PATIENCE, notes, beside))
            found += [(each, connection) for each in offered]
        pairs = usable([each for each, _ in found], spec, skipped, notes) if found else []
    except BaseException:
        close()
        raise
    homes = {id(each): connection for each, connection in found}
    bounds = list[BoundTool]()
    silent = {*connections}  # whose instructions belong to no tool yet
    for tool, each in pairs:
        home = homes[id(each)]
        says = home.instructions if home in silent else ""
        silent.discard(home)
        bounds.append(_bound(replace(tool, server_says=says), each, loop, home))
    notes += [note for each in connections for note in each.notes]
    about = [each.about for each in connections]
    return Toolset(bounds, False, close, skipped, notes, about, code)


SOON = 0.003  # seconds in which most servers reply


def _bound(described: Described, found: FoundTool, loop: Loop, connection: Connection) -> BoundTool:
    def begin(
        arguments: dict[str, Any], meanwhile: Callable[[], None] = lambda: None
    ) -> Callable[[float | None], Returned]:
        def started() -> "asyncio.Task[Returned]":
            return loop.open().create_task(_called(connection, found, arguments))

        task = started()
        waiting = loop.open().call_later(SOON, meanwhile)
        task.add_done_callback(lambda _: waiting.cancel())

        def finish(patience: float | None) -> Returned:
            if patience is None:
                return loop.open().run_until_complete(task)
            ending = _timed_out(task, patience) if patience else _cancelled(task, started)
            return loop.open().run_until_complete(ending)

        return finish

    def call_unlisted(arguments: dict[str, Any]) -> Returned:
        return loop.open().run_until_complete(_called_unlisted(connection, arguments))

    return BoundTool(
        described, lambda arguments: begin(arguments)(None), begin=begin, call_unlisted=call_unlisted
    )


# Turns of the event loop until a call is cancelled: first so many that its request is certainly on its way,
# then fewer, since a fast server has replied by then.
TURNS = range(20, 1, -2)


async def _cancelled(
    task: "asyncio.Task[Returned]", started: Callable[[], "asyncio.Task[Returned]"]
) -> Returned:
    """Cancel a request once it is sent, which the SDK tells the server.

    A reply may come first; then the call is made again.
    """
    for tried, turns in enumerate(TURNS):
        if tried:
            task = started()
        for _ in range(turns):
            if not task.done():
                await asyncio.sleep(0)
        task.cancel()
        try:
            returned = await task
        except asyncio.CancelledError:
            return Returned("", 0)
    return returned


async def _timed_out(task: "asyncio.Task[Returned]", patience: float) -> Returned:
    """The result of a request, which is cancelled if that takes longer."""
    await asyncio.wait([task], timeout=patience)
    task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return Returned("", 0)


async def _called(connection: Connection, found: FoundTool, arguments: dict[str, Any]) -> Returned:
    from mcp import MCPError
    from pydantic import ValidationError

    try:
        if found.value is None:
            return _returned(await call_tool(connection, found.name, arguments), connection.redact)
        request, result = _question(found.value, arguments)
        return _returned(await ask(connection, request, result, arguments), connection.redact)
    except MCPError as error:
        meaning = await _meaning(connection, error)
        if found.value is None or isinstance(meaning, Garbled | ServerGone):
            raise meaning from error
        # No schema of the server says what it accepts, and no other form of result says what was wrong.
        return told(connection.redact(in_words(error.message)), flagged=True)
    except ValidationError as error:
        message = f"a result that breaks the protocol: {connection.redact(in_words(error))}"
        raise Garbled(message) from error


async def _called_unlisted(connection: Connection, arguments: dict[str, Any]) -> Returned:
    """The reply to a call of a tool that the server does not list, at least not now."""
    unlisted = FoundTool("", UNLISTED, "", None, "mcp")
    if any(tool.name == UNLISTED for tool in await connection.tools()):
        raise ArgumentsRefused(f"the server lists {UNLISTED}")
    return await _called(connection, unlisted, arguments)


def _question(make: Question, arguments: dict[str, Any]) -> tuple[Any, type]:
    try:
        return make(arguments)
    except (LookupError, TypeError, ValueError) as error:  # includes the errors of Pydantic
        raise ArgumentsRefused(f"no request for the server: {in_words(error)}") from error


async def _meaning(connection: Connection, error: Any) -> Exception:
    """The exception for a JSON-RPC error; some are the SDK's own messages for other problems."""
    code, message = int(error.code), connection.redact(in_words(error.message))
    if code == INVALID_PARAMS:
        return ArgumentsRefused(message)
    if code == PARSE_ERROR and message.startswith("Failed to parse"):
        return Garbled(message)
    if code == CONNECTION_CLOSED and (connection.ended or message.startswith(("Connection closed", "SSE"))):
        return await connection.gone()
    return ServerError(code, message)


def _returned(result: Any, redact: Redactor) -> Returned:
    """The result without secrets that the server was given."""
    text = redact("\n".join(_shown(each) for each in parts_of(result)))
    structured = getattr(result, "structured_content", None)
    written = None if structured is None else redact(json.dumps(structured, ensure_ascii=True))
    return Returned(text[:MOST], len(text), written, bool(getattr(result, "is_error", False)))


def _shown(content: Any) -> str:
    """A part of a result as text: texts unchanged, the type of anything else."""
    resource = getattr(content, "resource", content)
    for text in (getattr(content, "text", None), getattr(resource, "text", None)):
        if isinstance(text, str):
            return text
    data = getattr(content, "data", None) or getattr(resource, "blob", None) or ""
    return f"({getattr(content, 'type', 'blob')}, {len(data)} characters)"
