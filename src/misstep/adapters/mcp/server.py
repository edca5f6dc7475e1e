"""The tools of one case as an MCP server, whatever the transport."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from misstep.adapters.mcp.names import offered_names
from misstep.core.agent import StepsExhausted, Toolbox
from misstep.errors import MissingExtra

SERVER_NAME = "misstep"
OVER = "Error: no turns are left, the case is over."
AS_SENT = "misstep/as-sent"  # where a call travels past the checks of the SDK
RESERVED = "io.modelcontextprotocol/"  # keys that the protocol itself needs
QUIET = logging.NullHandler()  # else Python prints the libraries' warnings where nobody set up logging


def require_mcp() -> None:
    """Raise unless the MCP SDK is installed in a version that we speak to."""
    try:
        from mcp.server import MCPServer  # noqa: F401 -- a name that the versions before 2 don't have
    except ImportError:
        raise MissingExtra("mcp 2", "mcp") from None
    for library in ("mcp", "uvicorn"):
        logging.getLogger(library).addHandler(QUIET)


class ToolServer:
    """Serves a toolbox to any number of connections.

    Every call goes to the toolbox in the order of arrival, also one to an unknown tool or with arguments
    that are no object. What is wrong with it is said in the result, where the client's model can see it.
    `exhausted` is set by a call past the last turn.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        require_mcp()
        from mcp.server import Server

        self._toolbox = toolbox
        self._real_names = offered_names(tool.name for tool in toolbox.tools)
        self.exhausted = asyncio.Event()
        self.visited = False  # some client has spoken to us
        sdk: Any = Server(SERVER_NAME, on_list_tools=self._list, on_call_tool=self._call)
        sdk.middleware = [self._notice, _let_odd_calls_in]
        self.sdk = sdk

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools as clients see them."""
        return tuple(self._real_names)

    async def _notice(self, context: Any, call_next: Any) -> Any:
        self.visited = True
        return await call_next(context)

    async def _list(self, _context: Any, _params: Any) -> Any:
        from mcp.types import ListToolsResult, Tool

        described = zip(self._real_names, self._toolbox.tools, strict=True)
        tools = [
            Tool(name=name, description=tool.description, input_schema={"type": "object", **tool.parameters})
            for name, tool in described
        ]
        return ListToolsResult(tools=tools)

    async def _call(self, context: Any, _params: Any) -> Any:
        from mcp.types import CallToolResult, TextContent

        text = self._answer(*context.params[AS_SENT])
        said = TextContent(type="text", text=text)
        return CallToolResult(content=[said], is_error=text.startswith("Error"))

    def _answer(self, name: str, arguments: Any) -> str:
        try:
            return self._toolbox.call(self._real_names.get(name, name), arguments)
        except StepsExhausted:
            self.exhausted.set()
            return OVER


async def _let_odd_calls_in(context: Any, call_next: Any) -> Any:
    """Take a call past the SDK, which answers one that doesn't fit the protocol before we have seen it."""
    if context.method == "tools/call":
        context = replace(context, params=_fitting(context.params or {}))
    return await call_next(context)


def _fitting(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that fit the protocol, with the call as it was sent among them."""
    name, arguments, meta = params.get("name", ""), params.get("arguments"), params.get("_meta")
    sent = (name if isinstance(name, str) else repr(name), {} if arguments is None else arguments)
    envelope = meta if isinstance(meta, Mapping) else {}
    return {
        "name": "tool",
        "_meta": {key: value for key, value in envelope.items() if key.startswith(RESERVED)},
        AS_SENT: sent,
    }
