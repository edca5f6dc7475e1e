"""Places on the disk: those that tools need in order to be loaded, and those that are nobody's business."""

import functools
import glob
import os
import pwd
import shlex
import shutil
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator
from importlib import resources
from pathlib import Path

from misstep.adapters.toolset.spec import MCP, file_of, servers_meant
from misstep.workshop.conditions import Conditions

CODE = (".py", ".json", ".toml", ".js", ".mjs", ".cjs", ".ts")
SOCKETS = "/proc/net/unix"


def anchored(spec: str) -> str:
    """The spec with its files by their whole paths, since tools start in another folder."""
    if spec.startswith(MCP):
        target = spec.removeprefix(MCP).strip()
        return spec if _is_address(target) else MCP + shlex.join(map(_whole, _words(target)))
    file = file_of(spec)
    return os.path.abspath(file) + spec.removeprefix(file) if file else spec


def is_server(spec: str) -> bool:
    """Whether it means servers, and not tools that a process can hold by itself."""
    return servers_meant(spec) is not None


def is_remote(spec: str) -> bool:
    """Whether all tools are on servers that somebody else runs."""
    servers = servers_meant(spec)
    return bool(servers) and all(server.url for server in servers or ())


def hidden_places() -> list[str]:
    """What there is of the places that tools must not read; what they need of them is put back."""
    places = _places()
    own = {os.path.realpath(home) for home in (os.path.expanduser("~"), _registered_home())}
    others = others_homes(places["homes"], own, os.environ.get("PATH", "").split(os.pathsep))
    homes = [*own, *(home for home, is_useful in others.items() if is_useful)]
    known = [
        *(os.path.join(home, name) for home in sorted(homes) for name in places["home"]),
        *(home for home, is_useful in others.items() if not is_useful),
        *places["system"],
    ]
    return [path for path in known if os.path.exists(path) and not os.path.islink(path)]


def others_homes(patterns: Iterable[str], own: Collection[str], programs: Iterable[str]) -> dict[str, bool]:
    """Homes that can be read and are none of our `own`, and whether any of our `programs` are there."""
    found = sorted({os.path.realpath(path) for pattern in patterns for path in glob.glob(pattern)})
    used = [*own, *filter(os.path.isabs, programs)]
    around = {place for path in own for place in _around(path)}
    inside = {place for path in used for name in (path, os.path.realpath(path)) for place in _around(name)}
    homes = [home for home in found if os.path.isdir(home) and os.access(home, os.R_OK | os.X_OK)]
    return {home: home in inside for home in homes if home not in around}


def _around(path: str) -> Iterator[str]:
    """A folder with all folders that it is in."""
    yield path
    while (outer := os.path.dirname(path)) != path:
        path = outer
        yield path


def _registered_home() -> str:
    """Our home as the system knows it, whatever the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def open_sockets() -> list[str]:
    """Sockets by which other processes can be talked to, for which no network is needed."""
    try:
        with open(SOCKETS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return []
    paths = {line.partition(" /")[2] for line in lines}
    return sorted(f"/{path}" for path in paths if path and _is_within_reach(f"/{path}"))


def _is_within_reach(path: str) -> bool:
    """Whether it is there, and the way to it is open to this user without the rights of root.

    Nobody inside a sandbox has those, and to root itself such a place could not even be hidden.
    """
    try:
        folders = [os.stat(folder) for folder in Path(path).parents]
    except OSError:
        return False
    own = [0o100 if folder.st_uid == os.geteuid() else 0o011 for folder in folders]
    return os.path.exists(path) and all(
        folder.st_mode & bits for folder, bits in zip(folders, own, strict=True)
    )


def needed_places(spec: str, conditions: Conditions) -> list[str]:
    """Folders and files that have to be there for the tools to be loaded."""
    given = [
        *_places_of_spec(spec),
        *_places_of_python(conditions.python),
        str(Path(__file__).parents[2]),
        *os.environ.get("PYTHONPATH", "").split(os.pathsep),
        conditions.workspace,
    ]
    found = [os.path.abspath(path) for path in given if path]
    return list(dict.fromkeys([path for each in found for path in (each, os.path.realpath(each))]))


def _places_of_spec(spec: str) -> Iterator[str]:
    if file := file_of(spec):
        yield from _neighbourhood(file)
    elif not spec.startswith(MCP):
        yield os.getcwd()
    for server in servers_meant(spec) or ():
        yield server.folder
        for word in server.command:
            program = shutil.which(word) or word
            if os.path.isabs(program) and os.path.exists(program):
                yield from _neighbourhood(program)


def _neighbourhood(file: str) -> Iterator[str]:
    """A file with its folder, by all its names; of a folder that everybody uses only what may be code."""
    for path in (os.path.abspath(file), os.path.realpath(file)):
        yield path
        folder = os.path.dirname(path)
        if folder not in _places()["common"]:
            yield folder
            continue
        with os.scandir(folder) as beside:
            yield from [each.path for each in beside if _may_be_code(each)]


@functools.cache
def _places() -> dict[str, list[str]]:
    text = resources.files(__package__).joinpath("data/places.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _may_be_code(entry: os.DirEntry[str]) -> bool:
    if entry.is_dir(follow_symlinks=False):
        return os.path.exists(os.path.join(entry.path, "__init__.py"))
    return entry.name.endswith(CODE)


def _places_of_python(python: str) -> Iterator[str]:
    program = shutil.which(os.path.expanduser(python)) or python
    for path in (os.path.abspath(program), os.path.realpath(program)):
        yield os.path.dirname(os.path.dirname(path))  # its prefix
    if os.path.realpath(program) == os.path.realpath(sys.executable):
        yield from (path for path in sys.path if os.path.isdir(path))
        yield sys.prefix
        yield sys.base_prefix


def _words(target: str) -> list[str]:
    try:
        return shlex.split(target)
    except ValueError:
        return [target]  # which will be found out when it is loaded


def _whole(word: str) -> str:
    return os.path.abspath(word) if os.path.isfile(word) else word


def _is_address(target: str) -> bool:
    return target.startswith(("http://", "https://"))
