"""Decides which of the host's files a sandbox shows: what tools need, without the secrets in it."""

import ast
import fnmatch
import functools
import glob
import os
import pwd
import re
import shlex
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path

from misstep.adapters.loading.homes import handed_over_paths
from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.packages import installation_of
from misstep.adapters.toolset.spec import MCP, file_of, servers_meant, servers_to_start
from misstep.schemas.source import parse_module
from misstep.tool_host.protocol import CallConditions

OURSELVES = str(Path(__file__).parents[2])


def anchored(spec: str) -> str:
    """The spec with absolute paths, because tools start in another folder."""
    if spec.startswith(MCP):
        target = spec.removeprefix(MCP).strip()
        if target.startswith(("http://", "https://")):
            return spec
        try:
            words = shlex.split(target)
        except ValueError:
            words = [target]  # reported when it is loaded
        return MCP + shlex.join([os.path.abspath(word) if os.path.isfile(word) else word for word in words])
    file = file_of(spec)
    return os.path.abspath(file) + spec.removeprefix(file) if file else spec


def is_server(spec: str) -> bool:
    """Whether the spec means MCP servers, not tools that a process can hold itself."""
    return servers_meant(spec) is not None


def is_remote(spec: str) -> bool:
    """Whether all tools are on servers that somebody else runs."""
    servers = servers_meant(spec)
    return bool(servers) and all(server.url for server in servers or ())


def places_for(spec: str, conditions: CallConditions, network: bool) -> tuple[list[str], list[str]]:
    """What to show: for the interpreter, the tools and their packages, and the user; what to hide in it."""
    system = [*listed_places()["system"], *(listed_places()["network"] if network else ())]
    python = places_of_program(conditions.python or sys.executable)
    installed = _existing([*python, *_from_environment(*LIBRARIES, *CERTIFICATES), *_user_sites()])
    tools = _existing([*_places_of_spec(spec), *_from_environment(*SEARCHED)])
    code = [*tools, *_existing(editable_projects([*installed, *tools]))]
    own = [path for path in code if not is_installation(path)]
    allowed = _existing([*conditions.allow_read, conditions.workspace])
    hidden = [each for each in secrets_in(own) if not is_in(each, allowed)]
    return [*system, *installed, *code, OURSELVES, *allowed], hidden


def _places_of_spec(spec: str) -> Iterator[str]:
    servers = servers_to_start(spec)
    if file := file_of(spec):
        yield from [file] if file.endswith(".json") else project_of(file)
    elif servers is None:
        yield from modules_here(spec.partition(":")[0])
    for server in servers or ():
        yield from places_of_server(server)


def _existing(paths: Iterable[str]) -> list[str]:
    """The paths that exist, under all their names."""
    found = [os.path.abspath(os.path.expanduser(path)) for path in paths if path]
    names = dict.fromkeys(name for path in dict.fromkeys(found) for name in names_of(path))
    return [name for name in names if os.path.exists(name) and name != "/"]


def is_in(path: str, places: Iterable[str]) -> bool:
    """Whether a path is one of these places or below one."""
    return any(path == place or path.startswith(os.path.join(place, "")) for place in places)


SCRIPTS = (".js", ".mjs", ".cjs", ".ts")
CODE = (".py", *SCRIPTS)
MODULES = "node_modules"


@functools.cache
def listed_places() -> dict[str, list[str]]:
    text = resources.files(__package__).joinpath("data/places.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def names_of(path: str) -> list[str]:
    """A path as given, the targets of its symbolic links, and the real path."""
    names = [os.path.abspath(path)]
    while os.path.islink(names[-1]) and len(names) < 40:
        target = os.path.join(os.path.dirname(names[-1]), os.readlink(names[-1]))
        names.append(os.path.normpath(target))
    return list(dict.fromkeys([*names, os.path.realpath(path)]))


def project_of(file: str) -> Iterator[str]:
    """What a code file comes with: its folder, or the whole package that contains it.

    Also code in places where imports look: next to the package, in our working directory if the file is below
    it, and where a stored object looks for its modules.
    """
    for name in names_of(file):
        yield name
        folder = top = os.path.dirname(name)
        while os.path.exists(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
            folder, top = top, os.path.dirname(top)
        yield from _code_in(folder) if is_common(folder) else [folder]
        yield from _code_in(top) if top != folder else ()
        if name.startswith(os.path.join(os.getcwd(), "")):
            yield from _code_in(os.getcwd())
        for path in handed_over_paths(name):
            yield from _code_in(path)
        if name.endswith(SCRIPTS):
            yield from _node_packages(name)


def modules_here(module: str) -> Iterator[str]:
    """What a module comes with if it is in our working directory; nothing if it is installed."""
    path = os.path.join(os.getcwd(), module.partition(".")[0])
    if os.path.isdir(path):
        yield path
        yield from _code_in(os.getcwd())
    elif os.path.exists(f"{path}.py"):
        yield from project_of(f"{path}.py")


def is_common(folder: str) -> bool:
    """Whether a folder holds all kinds of files, such as a home directory."""
    homes = {os.path.expanduser("~")}
    with suppress(KeyError):
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)  # whatever the environment says
    in_homes = [os.path.join(home, name) for home in homes for name in listed_places()["home"]]
    real = os.path.realpath(folder)
    common = map(os.path.realpath, (*listed_places()["common"], *in_homes))
    return real in common or os.path.dirname(real) == "/home"


def secrets_in(folders: Iterable[str]) -> Iterator[str]:
    """Files and folders that look like secrets, and pipes, sockets and devices, in these folders."""
    known = set[str]()
    for folder in folders:
        # A link stays a link in the sandbox, and its target is among these folders.
        is_own = os.path.isdir(folder) and not os.path.islink(folder) and not is_vendored(folder)
        waiting = [folder] if is_own else []
        while waiting:
            place = waiting.pop()
            if place not in known:
                known.add(place)
                yield from _secrets_beside(place, waiting)


def _secrets_beside(folder: str, waiting: list[str]) -> Iterator[str]:
    """Those in one folder; its subfolders are appended to `waiting`."""
    try:
        entries = sorted(os.scandir(folder), key=lambda each: each.name)
    except OSError:
        return  # unreadable here, so unreadable in the sandbox as well
    for entry in entries:
        if entry.is_symlink():
            continue  # its target is searched as well, or does not exist
        if _secret_names().fullmatch(entry.name) and entry.name not in listed_places()["shown"]:
            yield entry.path
        elif entry.is_dir(follow_symlinks=False):
            waiting += [] if is_vendored(entry.path) else [entry.path]
        elif not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            yield entry.path


@functools.cache
def _secret_names() -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, listed_places()["secrets"])), re.IGNORECASE)


def is_vendored(folder: str) -> bool:
    """Whether a folder holds code of others, such as `node_modules` or a virtual environment."""
    name = os.path.basename(folder)
    return name in listed_places()["vendored"] or os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def _code_in(folder: str) -> list[str]:
    """The modules and packages in a folder."""
    is_shared = is_common(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        return [each.path for each in entries if _is_code(each, is_shared)]
    return []


def _is_code(entry: os.DirEntry[str], is_shared: bool) -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return entry.name.endswith(CODE) or entry.name == "package.json"
    if os.path.exists(os.path.join(entry, "__init__.py")):
        return True
    return not is_shared and os.access(entry, os.R_OK) and any(n.endswith(".py") for n in os.listdir(entry))


def _node_packages(file: str) -> Iterator[str]:
    """The package that contains a script, and the folders in which Node looks for packages."""
    folder, package = os.path.dirname(file), ""
    while os.path.dirname(folder) != folder:
        if os.path.basename(folder) != MODULES and os.path.isdir(os.path.join(folder, MODULES)):
            yield os.path.join(folder, MODULES)
        if not package and os.path.exists(os.path.join(folder, "package.json")):
            package = folder
        folder = os.path.dirname(folder)
    if package and not is_common(package):
        yield package


SITES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib64/python3*/site-packages")
INSTALLED = ("pyvenv.cfg", "conda-meta", "lib/python3*/os.py", "lib/node_modules")
LONGEST_FIRST_LINE = 256
SEARCHED = ("PYTHONPATH", "NODE_PATH")  # for code
LIBRARIES = ("LD_LIBRARY_PATH", "NIX_LD_LIBRARY_PATH", "NIX_LD", "JAVA_HOME")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


def places_of_program(program: str) -> Iterator[str]:
    """A program under all its names, the installation it belongs to, and its interpreter."""
    found = shutil.which(os.path.expanduser(program))
    if found is None:
        return
    for name in names_of(found):
        yield name
        yield from _installation(os.path.dirname(os.path.dirname(name)))
    if interpreter := _interpreter_of(found):
        yield from places_of_program(interpreter)


def editable_projects(places: list[str]) -> Iterator[str]:
    """Source folders of editable installs in any of the installations."""
    sites = [site for place in places for pattern in SITES for site in glob.glob(f"{place}/{pattern}")]
    for site in [*sites, *_user_sites()]:
        for file in glob.glob(f"{glob.escape(site)}/*.pth"):
            yield from _folders_in(file, site)
        for file in glob.glob(f"{glob.escape(site)}/__editable__*_finder.py"):
            yield from _mapped_in(file)


def _from_environment(*variables: str) -> list[str]:
    """The paths in our own environment variables, which tools can see."""
    return [path for name in variables for path in os.environ.get(name, "").split(os.pathsep)]


def is_installation(folder: str) -> bool:
    """Whether Python, Node or Conda is installed in a folder."""
    return any(glob.glob(f"{glob.escape(folder)}/{each}") for each in INSTALLED)


def places_of_server(server: McpServer) -> Iterator[str]:
    """The program of a server, and the paths in its command, variables and folder."""
    yield server.folder
    for word in server.command[:1]:
        yield from places_of_program(word)
        yield installation_of(word)
    for word in server.command[1:]:
        yield from _named(word.partition("=")[2] or word if word.startswith("-") else word)
        for part in _words(word) if " " in word else ():  # a shell script
            yield from places_of_program(part)
            yield from _named(part)
    for value in server.environment.values():
        for part in value.split(os.pathsep):
            yield from _named(part)


def _named(word: str) -> Iterator[str]:
    path = os.path.expanduser(word)
    if not os.path.isabs(path) or not os.path.exists(path) or path == "/":
        return
    yield path
    if os.path.isfile(path) and os.path.realpath(path).endswith(CODE):
        yield from project_of(path)


def _words(script: str) -> list[str]:
    try:
        return shlex.split(script)
    except ValueError:
        return []


def _installation(prefix: str) -> Iterator[str]:
    """An installation folder, and the one a virtual environment was created from."""
    if is_common(prefix) or not is_installation(prefix):
        return
    yield prefix
    home = _home_in(os.path.join(prefix, "pyvenv.cfg"))
    if home and os.path.dirname(home) != prefix:
        for name in names_of(os.path.dirname(home)):
            yield from _installation(name)


def _home_in(configuration: str) -> str:
    """The `home` of a pyvenv.cfg: the folder of the interpreter that created it."""
    try:
        lines = Path(configuration).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ""
    named = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return named.get("home", "")


def _interpreter_of(program: str) -> str:
    """The program in the shebang line of a script."""
    try:
        with open(program, "rb") as file:
            first = file.readline(LONGEST_FIRST_LINE)
    except OSError:
        return ""
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def _user_sites() -> list[str]:
    """Packages installed for this user only."""
    base = os.environ.get("PYTHONUSERBASE") or os.path.expanduser("~/.local")
    return glob.glob(f"{glob.escape(base)}/lib/python3*/site-packages")


def _folders_in(file: str, site: str) -> Iterator[str]:
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        path = os.path.join(site, line.strip())
        if line.strip() and not line.startswith(("#", "import ", "import\t")) and os.path.isdir(path):
            yield path


def _mapped_in(file: str) -> Iterator[str]:
    """The folders in the mapping of a setuptools editable finder."""
    try:
        tree = parse_module(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for node in tree.body if tree else ():
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict):
            for text in ast.walk(node.value):
                value = text.value if isinstance(text, ast.Constant) else ""
                if isinstance(value, str) and os.path.isabs(value):
                    yield value if os.path.exists(value) else f"{value}.py"
