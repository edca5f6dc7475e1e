"""Reads which MCP servers the user means, and how to reach them."""

import os
import re
import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from misstep.errors import UsageError

EXAMPLE = "for example mcp:npx -y my-server, or mcp:https://example.com/mcp"
_VARIABLE = re.compile(r"\$\{(?:env:)?(?P<name>\w+)(?P<other>:-(?P<default>[^}]*))?\}")


class McpServer(msgspec.Struct, frozen=True):
    """A server: the command that starts it, with folder and additional variables, or its URL."""

    name: str
    command: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    folder: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    kind: str = ""


class _Entry(msgspec.Struct, frozen=True):
    """A server entry in `mcp.json`; unknown keys are ignored."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    type: str = ""
    disabled: bool = False


def server_of(target: str) -> McpServer:
    """The server of a URL or command; no shell is used."""
    target = target.strip()
    if target.startswith(("http://", "https://")):
        return McpServer(target, url=target)
    try:
        words = tuple(shlex.split(target))
    except ValueError as error:
        raise UsageError(f"can't parse the server's command: {error}", f"given: {target}") from None
    if not words:
        raise UsageError("the server has neither a command nor an address", EXAMPLE)
    return McpServer(f"'{target}'", words)


def servers_in(entries: Any, path: str) -> list[McpServer]:
    """The servers of an `mcp.json`, except disabled ones."""
    if not isinstance(entries, Mapping):
        raise UsageError("expected an object with each server under its name", where=path)
    read = {name: _entry(value, f"{path}, server '{name}'") for name, value in entries.items()}
    return [_server(name, entry, path) for name, entry in read.items() if not entry.disabled]


def _entry(value: Any, where: str) -> _Entry:
    try:
        entry = msgspec.convert(value, _Entry)
    except msgspec.ValidationError as error:
        raise UsageError(str(error), where=where) from None
    if bool(entry.command) == bool(entry.url):
        raise UsageError("needs a command or a url", where=where)
    return entry


def _server(name: str, entry: _Entry, path: str) -> McpServer:
    where = f"{path}, server '{name}'"
    filled = msgspec.convert(_filled(msgspec.to_builtins(entry), where), _Entry)
    command = (filled.command, *filled.args) if filled.command else ()
    return McpServer(f"'{name}'", command, filled.env, filled.cwd, filled.url, filled.headers, filled.type)


def _filled(value: Any, where: str) -> Any:
    """The value with `${NAME}`, `${env:NAME}` and `${NAME:-default}` replaced from the environment."""
    if isinstance(value, dict):
        return {key: _filled(each, where) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(each, where) for each in value]

    def replaced(found: re.Match[str]) -> str:
        given = os.environ.get(found["name"], found["default"])
        if given is None:
            raise UsageError(f"the environment variable {found['name']} is not set", where=where)
        return given

    return _VARIABLE.sub(replaced, value) if isinstance(value, str) else value
