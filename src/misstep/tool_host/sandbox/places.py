"""Decides which of the host's files a sandbox shows."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from misstep.adapters.toolset.spec import MCP, file_of, servers_meant
from misstep.tool_host.protocol import CallConditions
from misstep.tool_host.sandbox.programs import (
    editable_projects,
    installed_places,
    is_installation,
    listed_places,
    modules_here,
    names_of,
    places_of_program,
    places_of_server,
    project_of,
    searched_places,
    secrets_in,
)

OURSELVES = str(Path(__file__).parents[2])


class VisiblePlaces(msgspec.Struct, frozen=True):
    """What is `shown`, and what is `hidden` in it."""

    shown: tuple[str, ...]
    hidden: tuple[str, ...]


def anchored(spec: str) -> str:
    """The spec with absolute paths, because tools start in another folder."""
    if spec.startswith(MCP):
        target = spec.removeprefix(MCP).strip()
        return spec if _is_address(target) else MCP + shlex.join(map(_whole, _words(target)))
    file = file_of(spec)
    return os.path.abspath(file) + spec.removeprefix(file) if file else spec


def is_server(spec: str) -> bool:
    """Whether the spec means MCP servers, not tools that a process can hold itself."""
    return servers_meant(spec) is not None


def is_remote(spec: str) -> bool:
    """Whether all tools are on servers that somebody else runs."""
    servers = servers_meant(spec)
    return bool(servers) and all(server.url for server in servers or ())


def places_for(spec: str, conditions: CallConditions, network: bool) -> VisiblePlaces:
    """What the interpreter, the tools and their packages need, and what the user allows."""
    system = [*listed_places()["system"], *(listed_places()["network"] if network else ())]
    installed = _named([*places_of_program(conditions.python or sys.executable), *installed_places()])
    tools = _named([*_places_of_spec(spec), *searched_places()])
    code = [*tools, *_named(editable_projects([*installed, *tools]))]
    own = [path for path in code if not is_installation(path)]
    allowed = _named([*conditions.allow_read, conditions.workspace])
    return VisiblePlaces(
        (*system, *installed, *code, OURSELVES, *allowed),
        tuple(each for each in secrets_in(own) if not _is_in(each, allowed)),
    )


def _places_of_spec(spec: str) -> Iterator[str]:
    servers = servers_meant(spec)
    if file := file_of(spec):
        yield from [file] if file.endswith(".json") else project_of(file)
    elif servers is None:
        yield from modules_here(spec.partition(":")[0])
    for server in servers or ():
        yield from places_of_server(server)


def _named(paths: Iterable[str]) -> list[str]:
    """The paths that exist, under all their names."""
    found = [os.path.abspath(os.path.expanduser(path)) for path in paths if path]
    names = dict.fromkeys(name for path in dict.fromkeys(found) for name in names_of(path))
    return [name for name in names if os.path.exists(name) and name != "/"]


def _is_in(path: str, places: Iterable[str]) -> bool:
    return any(path == place or path.startswith(os.path.join(place, "")) for place in places)


def _words(target: str) -> list[str]:
    try:
        return shlex.split(target)
    except ValueError:
        return [target]  # reported when it is loaded


def _whole(word: str) -> str:
    return os.path.abspath(word) if os.path.isfile(word) else word


def _is_address(target: str) -> bool:
    return target.startswith(("http://", "https://"))
