"""Finds the spec of the same tools in another version of their package, or in another file."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import msgspec

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.packages import installed, installed_from, read_command
from misstep.adapters.toolset.spec import MCP, file_of, servers_meant
from misstep.errors import UsageError
from misstep.tool_host.sandbox.places import CODE

WHERE = "--against"
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,99}")
_PATH_LIKE = (".whl", ".tgz", ".tar.gz", ".zip", *CODE)


@contextmanager
def other_spec(spec: str, against: str) -> Iterator[str]:
    """The spec with a version or path instead of its own; packages are installed for it.

    Raises `UsageError` unless the spec can have another one.
    """
    is_path = os.path.exists(against) or os.sep in against or against.endswith(_PATH_LIKE)
    if is_path and not os.path.exists(against):
        raise UsageError("no such file or folder", where=f"{WHERE} {against}")
    if not is_path and not _VERSION.fullmatch(against):
        raise UsageError("is neither a version nor a path", where=f"{WHERE} {against}")
    servers = servers_meant(spec)
    if servers is None:
        yield _code_in(spec, against, is_path)
        return
    server = _replaceable(servers, spec, is_path)
    with ExitStack() as made:
        command = _command(server, against, is_path, made)
        if spec.startswith(MCP):
            yield MCP + shlex.join(command)
        else:
            other = msgspec.structs.replace(server, command=command)
            yield _written([other if each is server else each for each in servers], made)


def _replaceable(servers: list[McpServer], spec: str, is_path: bool) -> McpServer:
    """The only one of the servers of which there can be another version."""
    found = [each for each in servers if each.command and (is_path or read_command(each.command))]
    if not found:
        what = "is started by a command" if is_path else "is started by npx, uvx, pipx or the like"
        raise UsageError(f"no server of it {what}", "only such a server can be replaced", where=spec)
    if len(found) > 1:
        name = found[0].name.strip("'")
        hint = f"fuzz one server by itself, such as {file_of(spec)}:{name}"
        raise UsageError(f"{len(found)} servers could be meant", hint, where=spec)
    return found[0]


def _command(server: McpServer, against: str, is_path: bool, made: ExitStack) -> tuple[str, ...]:
    package = read_command(server.command)
    if package is None:
        return _with_file(server.command, against)
    if is_path:
        return made.enter_context(installed_from(against, package, server.name))
    if not package.package:
        raise _no_version(f"'{package.packages[0]}' has no version")
    words = package.at(against).words
    installed(msgspec.structs.replace(server, command=words))  # an unknown version is an error
    return words


def _written(servers: list[McpServer], made: ExitStack) -> str:
    """An `mcp.json` with these servers, in a folder that only this user can read."""
    folder = made.enter_context(TemporaryDirectory(prefix="misstep-"))
    entries = {
        each.name.strip("'"): {"url": each.url, "headers": each.headers, "type": each.kind}
        if each.url
        else {
            "command": each.command[0],
            "args": each.command[1:],
            "env": each.environment,
            "cwd": each.folder,
        }
        for each in servers
    }
    path = Path(folder, "mcp.json")
    path.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    return str(path)


def _no_version(message: str) -> UsageError:
    return UsageError(message, "name a file or folder instead of a version", where=WHERE)


def _code_in(spec: str, against: str, is_path: bool) -> str:
    """The spec of the same name in another file, or in the same file of another folder."""
    if not is_path:
        raise _no_version(f"'{spec}' names no package of npx, uvx or pipx")
    file = file_of(spec)
    if file.endswith(".json"):
        raise UsageError("definitions of tools can't be called", where=spec)
    if file:
        return _found(file, against) + spec.removeprefix(file)
    module, _, name = spec.partition(":")
    file = module.replace(".", os.sep) + ".py"
    return f"{_found(file, against)}:{name}"


def _with_file(command: tuple[str, ...], against: str) -> tuple[str, ...]:
    place = next((place for place, word in enumerate(command) if word.endswith(CODE)), None)
    if place is None:
        message = f"'{shlex.join(command)}' names no file that could be replaced"
        raise UsageError(message, f"expected a file that ends with {', '.join(CODE)}", where=WHERE)
    return (*command[:place], _found(command[place], against), *command[place + 1 :])


def _found(file: str, against: str) -> str:
    """The path that replaces a file: a file itself, or in a folder the one with most of the same path."""
    if os.path.isfile(against):
        return os.path.abspath(against)
    parts = PurePath(file).parts
    for first in range(len(parts)):
        inside = os.path.join(against, *parts[first:])
        if not os.path.isabs(os.path.join(*parts[first:])) and os.path.isfile(inside):
            return os.path.abspath(inside)
    raise UsageError(f"there is no {parts[-1]} in this folder", "name the file", where=f"{WHERE} {against}")
