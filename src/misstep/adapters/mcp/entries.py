"""Reads which MCP servers the user means, and how to reach them."""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from misstep.errors import UsageError

EXAMPLE = "for example mcp:npx -y my-server, or mcp:https://example.com/mcp"
_VARIABLE = re.compile(r"\$\{(?:(?P<kind>env|input):)?(?P<name>[\w./-]+)(?::-(?P<default>[^}]*))?\}")
_EDITORS = (".vscode", ".cursor")  # folders of editors' files, in the folder of a project


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
    env: dict[str, str | int | float | None] = {}
    env_file: str = msgspec.field(default="", name="envFile")
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


def servers_in(entries: Any, path: str, inputs: Any = ()) -> list[McpServer]:
    """The servers of an `mcp.json`, except disabled ones; `inputs` are those that VS Code would ask for."""
    if not isinstance(entries, Mapping):
        raise UsageError("expected an object with each server under its name", where=path)
    read = {name: _entry(value, f"{path}, server '{name}'") for name, value in entries.items()}
    known = _variables(path, inputs)
    return [_server(name, entry, path, known) for name, entry in read.items() if not entry.disabled]


def _variables(path: str, inputs: Any) -> dict[str, str]:
    """The values of variables that editors define, and the defaults of their inputs."""
    folder = Path(path).absolute().parent
    folder = folder.parent if folder.name in _EDITORS else folder
    known = {
        "workspaceFolder": str(folder),
        "workspaceFolderBasename": folder.name,
        "userHome": os.path.expanduser("~"),
        "pathSeparator": os.sep,
        "/": os.sep,
    }
    for each in inputs if isinstance(inputs, list) else ():
        if isinstance(each, dict) and isinstance(each.get("default"), str):
            known[f"input:{each.get('id')}"] = each["default"]
    return known


def _entry(value: Any, where: str) -> _Entry:
    try:
        entry = msgspec.convert(value, _Entry)
    except msgspec.ValidationError as error:
        raise UsageError(str(error), where=where) from None
    if bool(entry.command) == bool(entry.url):
        raise UsageError("needs a command or a url", where=where)
    return entry


def _server(name: str, entry: _Entry, path: str, known: Mapping[str, str]) -> McpServer:
    where = f"{path}, server '{name}'"
    filled = msgspec.convert(_filled(msgspec.to_builtins(entry), where, known), _Entry)
    command = (filled.command, *filled.args) if filled.command else ()
    own = {name: str(value) for name, value in filled.env.items() if value is not None}
    variables = {**(_read_env_file(filled.env_file, known, where) if filled.env_file else {}), **own}
    return McpServer(f"'{name}'", command, variables, filled.cwd, filled.url, filled.headers, filled.type)


def _read_env_file(name: str, known: Mapping[str, str], where: str) -> dict[str, str]:
    """The variables of a file with lines such as `KEY=value`."""
    try:
        lines = Path(known["workspaceFolder"], name).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"the envFile can't be read: {error}", where=where) from None
    found = dict[str, str]()
    for line in lines:
        key, sign, value = line.strip().removeprefix("export ").partition("=")
        value = value.strip()
        if sign and not key.startswith("#"):
            is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            found[key.strip()] = value[1:-1] if is_quoted else value
    return found


def _filled(value: Any, where: str, known: Mapping[str, str]) -> Any:
    """The value with variables replaced: `${NAME}`, `${env:NAME}`, `${NAME:-default}`, and those of editors.

    `${input:api-key}`, which VS Code would ask for, is taken from the variable API_KEY.
    """
    if isinstance(value, dict):
        return {key: _filled(each, where, known) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(each, where, known) for each in value]

    def replaced(found: re.Match[str]) -> str:
        name, other = found["name"], found["default"]
        if found["kind"] == "input":
            other = known.get(f"input:{name}", other)
            name = re.sub(r"\W", "_", name).upper()
        elif not found["kind"] and name in known:
            return known[name]
        given = os.environ.get(name, other)
        if given is None:
            raise UsageError(f"the environment variable {name} is not set", where=where)
        return given

    return _VARIABLE.sub(replaced, value) if isinstance(value, str) else value
