"""Folders that belong to a tool: which they are, and what is hidden in them."""

import fnmatch
import functools
import os
import pwd
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator
from importlib import resources

from misstep.adapters.loading.shelf import paths_on_shelf

SCRIPTS = (".js", ".mjs", ".cjs", ".ts")
CODE = (".py", *SCRIPTS)
MODULES = "node_modules"


@functools.cache
def listed_places() -> dict[str, list[str]]:
    text = resources.files(__package__).joinpath("data/places.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def names_of(path: str) -> list[str]:
    """A path as it is given, whatever its links lead to on the way, and the real one."""
    names = [os.path.abspath(path)]
    while os.path.islink(names[-1]) and len(names) < 40:
        target = os.path.join(os.path.dirname(names[-1]), os.readlink(names[-1]))
        names.append(os.path.normpath(target))
    return list(dict.fromkeys([*names, os.path.realpath(path)]))


def project_of(file: str) -> Iterator[str]:
    """What a file of code comes with: its folder, or the whole package that it is in.

    Beside that it is code where imports look for it: next to the package, in our working folder, if the file
    is below that, and where an object that was handed over looks for it.
    """
    for name in names_of(file):
        yield name
        folder = top = os.path.dirname(name)
        while os.path.exists(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
            folder, top = top, os.path.dirname(top)
        yield from _whole_or_code(folder)
        yield from _code_in(top) if top != folder else ()
        if name.startswith(os.path.join(os.getcwd(), "")):
            yield from _code_in(os.getcwd())
        for path in paths_on_shelf(name):
            yield from _code_in(path)
        if name.endswith(SCRIPTS):
            yield from _node_packages(name)


def modules_here(module: str) -> Iterator[str]:
    """What a module comes with if it is found in our working folder; nothing if it is installed."""
    path = os.path.join(os.getcwd(), module.partition(".")[0])
    if os.path.isdir(path):
        yield path
        yield from _code_in(os.getcwd())
    elif os.path.exists(f"{path}.py"):
        yield from project_of(f"{path}.py")


def is_common(folder: str) -> bool:
    """Whether a folder is one that holds all kinds of files, such as somebody's home."""
    homes = {os.path.expanduser("~"), _registered_home()}
    common = {
        *listed_places()["common"],
        *(os.path.join(h, n) for h in homes for n in listed_places()["home"]),
    }
    real = os.path.realpath(folder)
    return real in {os.path.realpath(each) for each in common} or os.path.dirname(real) == "/home"


def secrets_in(folders: Iterable[str]) -> Iterator[str]:
    """Files and folders that look like secrets, and pipes, sockets and devices, in these folders."""
    known = set[str]()
    for folder in folders:
        # A link stays one in the sandbox, and what it leads to is among them.
        waiting = [folder] if os.path.isdir(folder) and not os.path.islink(folder) else []
        waiting = [each for each in waiting if not _is_vendored(each)]
        while waiting:
            place = waiting.pop()
            if place not in known:
                known.add(place)
                yield from _secrets_beside(place, waiting)


def _secrets_beside(folder: str, waiting: list[str]) -> Iterator[str]:
    """Those in one folder; folders in it to look into are added to `waiting`."""
    try:
        entries = sorted(os.scandir(folder), key=lambda each: each.name)
    except OSError:
        return  # what can't be read here can't be read in the sandbox either
    for entry in entries:
        if entry.is_symlink():
            continue  # it leads to what is searched as well, or nowhere
        if _secret_names().fullmatch(entry.name) and entry.name not in listed_places()["shown"]:
            yield entry.path
        elif entry.is_dir(follow_symlinks=False):
            waiting += [] if _is_vendored(entry.path) else [entry.path]
        elif not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            yield entry.path


@functools.cache
def _secret_names() -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, listed_places()["secrets"])), re.IGNORECASE)


def _is_vendored(folder: str) -> bool:
    name = os.path.basename(folder)
    return name in listed_places()["vendored"] or os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def _registered_home() -> str:
    """Our home as the system knows it, whatever the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def _whole_or_code(folder: str) -> Iterator[str]:
    if is_common(folder):
        yield from _code_in(folder)
    else:
        yield folder


def _code_in(folder: str) -> list[str]:
    """The modules and packages in a folder."""
    is_shared = is_common(folder)
    try:
        with os.scandir(folder) as entries:
            return [each.path for each in entries if _is_code(each, is_shared)]
    except OSError:
        return []


def _is_code(entry: os.DirEntry[str], is_shared: bool) -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return entry.name.endswith(CODE) or entry.name == "package.json"
    if os.path.exists(os.path.join(entry, "__init__.py")):
        return True
    return not is_shared and os.access(entry, os.R_OK) and any(n.endswith(".py") for n in os.listdir(entry))


def _node_packages(file: str) -> Iterator[str]:
    """The package that a script is in, and the folders of packages in which Node looks for what it needs."""
    folder, package = os.path.dirname(file), ""
    while os.path.dirname(folder) != folder:
        if os.path.basename(folder) != MODULES and os.path.isdir(os.path.join(folder, MODULES)):
            yield os.path.join(folder, MODULES)
        if not package and os.path.exists(os.path.join(folder, "package.json")):
            package = folder
        folder = os.path.dirname(folder)
    if package and not is_common(package):
        yield package
