"""Repeat the calls of each cause with the official client, from a fresh start of the server.

    python field-study/repeat.py [--only NAME]...

The server runs in bubblewrap: without a network, with the workspace that `misstep` makes for its tools. Calls
are sent the same way: several together, cancelled, under a name that is not listed, or to a new process. What
the server replied is stored with what its tools say about themselves, so that people can judge each cause.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from packages import PLACE, Package, cut, packages, write_lines

from misstep.adapters.mcp.connections import Connection
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.offers import Question, offers_of, parts_of
from misstep.adapters.mcp.replies import wants_progress
from misstep.core.tool import UNLISTED, Described, Reaction, Tool
from misstep.fuzzing.returned import filled_in, remember
from misstep.runs.setup.workspace import make_workspace

PATIENCE = 30.0  # seconds for a reply
PATIENCES = {"cancelled": 0.0, "timed out": 5.0}  # seconds, until calls that were sent so are cancelled
# Turns of the event loop until a call is cancelled, in several tries: a fast server may have replied by then.
TURNS = range(20, 4, -2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="Package; repeatable (default: all).")
    for package in packages(tuple(parser.parse_args().only)):
        result = package.result()
        if result and result["causes"]:
            evidence = asyncio.run(_evidence(package, result["causes"]))
            write_lines(package.evidence_file, evidence)
            print(f"{package.name}: {len(evidence['causes'])} causes", flush=True)


async def _evidence(package: Package, causes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    server = package.server()
    tools = await tools_of(server)
    called = {call["tool"] for cause in causes for call in cause["calls"]}
    repeated = [
        {"id": cause["id"], "replies": await _replies(server, tools, cause["calls"])} for cause in causes
    ]
    return {
        "package": package.name,
        "version": package.version,
        "tools": [_brief(tool) for tool in tools if tool["name"] in called],
        "causes": repeated,
    }


async def tools_of(server: McpServer) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as root, open("/dev/null", "w") as nowhere:
        async with Client(stdio_client(parameters_of(server, Path(root)), nowhere)) as client:
            listed = await client.list_tools()
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]


async def _replies(
    server: McpServer, tools: Sequence[dict[str, Any]], calls: Sequence[dict[str, Any]]
) -> list[str]:
    """What the official client gets for each call; ends when the connection does."""
    replies = list[str]()
    try:
        for part in _divided(calls, lambda _, after: after.get("sent") == "afresh"):
            await _call_afresh(server, tools, part, replies)
    except* Exception as group:
        replies.append(f"the connection ended: {cut(repr(group.exceptions[0]))}")
    return replies


def _divided(
    calls: Sequence[dict[str, Any]], is_end: Callable[[dict[str, Any], dict[str, Any]], bool]
) -> list[list[dict[str, Any]]]:
    """The calls in parts, which end between two calls of which `is_end` is true."""
    parts = [[*calls[:1]]]
    for before, after in pairwise(calls):
        if is_end(before, after):
            parts.append([])
        parts[-1].append(after)
    return parts


async def _call_afresh(
    server: McpServer, tools: Sequence[dict[str, Any]], calls: Sequence[dict[str, Any]], replies: list[str]
) -> None:
    """Add the replies to calls from a fresh start of the server."""
    latest = dict[str, str | int]()
    with _folder() as root, open("/dev/null", "w") as nowhere:
        parameters = parameters_of(server, Path(root))
        make_files(tools, Path(root) / "work")
        async with Client(stdio_client(parameters, nowhere), raise_exceptions=False) as client:
            requests = await _requests(client, server, tools, calls)
            for group in _divided(calls, lambda before, _: before.get("sent") != "together"):
                sent = [
                    asyncio.create_task(_reply(client, requests, call, filled_in(call["arguments"], latest)))
                    for call in group
                ]
                for call, task in zip(group, sent, strict=True):
                    reply, returned = await task
                    replies.append(reply)
                    remember(latest, call["tool"], returned)


async def _requests(
    client: Client, server: McpServer, tools: Sequence[dict[str, Any]], calls: Sequence[dict[str, Any]]
) -> dict[str, Question]:
    """What makes the requests for prompts and the like from arguments, by name, if any are asked for."""
    known = {tool["name"] for tool in tools}
    if all(call["tool"] in known for call in calls):
        return {}
    found = await offers_of(cast(Connection, _Listing(client, server)), PATIENCE, [])
    return {offer.name: offer.value for offer in found if offer.name not in known}


class _Listing:
    """What `offers_of` needs of a connection, from the official client."""

    def __init__(self, client: Client, server: McpServer) -> None:
        self.server = server
        self.capabilities = client.server_capabilities
        self._session = client.session

    async def listed(self, what: str, patience: float) -> list[Any]:
        try:
            async with asyncio.timeout(patience):
                return list(getattr(await getattr(self._session, f"list_{what}")(), what))
        except MCPError:
            return []  # it declares more than it has


@contextmanager
def _folder() -> Iterator[str]:
    """A temporary folder; some servers leave more nested folders in it than Python can remove."""
    root = tempfile.mkdtemp()
    try:
        yield root
    finally:
        subprocess.run(["rm", "-rf", root], check=False)


async def _ignored(*_: Any) -> None:
    """Asks for progress, as misstep does: some servers fail only then."""


async def _reply(
    client: Client, requests: Mapping[str, Question], call: dict[str, Any], arguments: dict[str, Any]
) -> tuple[str, Reaction]:
    """The reply in words, and as what later calls take values from."""
    sent = call.get("sent", "in turn")
    name = UNLISTED if sent == "unlisted" else call["tool"]
    for turns in TURNS if sent == "cancelled" else TURNS[:1]:
        task = asyncio.ensure_future(_asked(client, requests.get(name), name, arguments))
        for _ in range(turns):
            await asyncio.sleep(0)
        await asyncio.wait([task], timeout=PATIENCES.get(sent, PATIENCE))
        task.cancel()
        await asyncio.wait([task])
        if task.cancelled():
            break
    try:
        reply = await task
    except asyncio.CancelledError:
        return sent if sent in PATIENCES else f"no reply within {PATIENCE:g} s", Reaction("hung")
    except Exception as error:
        return f"{type(error).__name__}: {cut(str(error))}", Reaction("raised")
    return _told(reply)


async def _asked(client: Client, request: Question | None, name: str, arguments: dict[str, Any]) -> Any:
    if request is None:
        progress = _ignored if wants_progress(name, arguments) else None
        return await client.call_tool(name, arguments, progress_callback=progress)
    return await client.session.send_request(*request(arguments))


def _told(reply: Any) -> tuple[str, Reaction]:
    said = "\n".join(getattr(part, "text", f"<{getattr(part, 'type', 'blob')}>") for part in parts_of(reply))
    found, is_error = getattr(reply, "structured_content", None), getattr(reply, "is_error", False)
    structured = f"\nstructured: {cut(repr(found))}" if found else ""
    told = ("error: " if is_error else "") + cut(said) + structured
    returned = Reaction("returned", said, structured=json.dumps(found) if found else None)
    return told, Reaction("raised") if is_error else returned


def make_files(tools: Sequence[dict[str, Any]], folder: Path) -> None:
    described = [
        Described(Tool(each["name"], each.get("description", ""), each["inputSchema"]), "mcp")
        for each in tools
    ]
    make_workspace(described, folder)
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret\n")


def parameters_of(server: McpServer, root: Path) -> StdioServerParameters:
    bubblewrap, environment = _in_sandbox(server, root)
    command = (*bubblewrap, *server.command)
    return StdioServerParameters(command=command[0], args=list(command[1:]), env=environment)


def _in_sandbox(server: McpServer, root: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """The start of a command in a sandbox that can write to folders in `root`, and its variables."""
    for name in ("work", "home"):
        (root / name).mkdir()
    (root / "files").symlink_to("work")  # what the results call it
    places = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp")
    places = (*places, "--bind", str(root), PLACE)
    program = Path(server.command[0]).resolve()
    if own := next((each for each in program.parents if (each / "package.json").exists()), None):
        shutil.copytree(own, root / "own", symlinks=True)  # some servers write beside their code
        places = (*places, "--bind", str(root / "own"), str(own))
    environment = {**server.environment, "HOME": f"{PLACE}/home", "PATH": "/usr/local/bin:/usr/bin:/bin"}
    variables = (word for pair in environment.items() for word in ("--setenv", *pair))
    limits = ("--unshare-all", "--die-with-parent", "--chdir", f"{PLACE}/work")
    return ("bwrap", *places, *limits, *variables), environment


def _brief(tool: dict[str, Any]) -> dict[str, Any]:
    kept = ("name", "description", "inputSchema", "annotations", "outputSchema")
    return {name: cut(tool[name]) if name == "description" else tool[name] for name in kept if name in tool}


if __name__ == "__main__":
    sys.exit(main())
