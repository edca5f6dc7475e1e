"""What interpreters and other programs need of the disk in order to run."""

import ast
import glob
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from misstep.adapters.toolset.mcp_entries import McpServer
from misstep.tool_host.sandbox.projects import CODE, is_common, names_of, project_of

SITES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib64/python3*/site-packages")
INSTALLED = ("pyvenv.cfg", "conda-meta", "lib/python3*/os.py", "lib/node_modules")
LONGEST_FIRST_LINE = 256
SEARCHED = ("PYTHONPATH", "NODE_PATH")  # for code
LIBRARIES = ("LD_LIBRARY_PATH", "NIX_LD_LIBRARY_PATH", "NIX_LD", "JAVA_HOME")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


def places_of_program(program: str) -> Iterator[str]:
    """A program by all its names, the installation that it is part of, and what carries it out."""
    found = shutil.which(os.path.expanduser(program))
    if found is None:
        return
    for name in names_of(found):
        yield name
        yield from _installation(os.path.dirname(os.path.dirname(name)))
    if interpreter := _interpreter_of(found):
        yield from places_of_program(interpreter)


def editable_projects(places: list[str]) -> Iterator[str]:
    """Folders of code that is installed from where it is written, in any of the installations."""
    sites = [site for place in places for pattern in SITES for site in glob.glob(f"{place}/{pattern}")]
    for site in [*sites, *_user_sites()]:
        for file in glob.glob(f"{glob.escape(site)}/*.pth"):
            yield from _folders_in(file, site)
        for file in glob.glob(f"{glob.escape(site)}/__editable__*_finder.py"):
            yield from _mapped_in(file)


def searched_places() -> list[str]:
    """Folders of code that our own variables name, which tools get to see."""
    return [path for name in SEARCHED for path in os.environ.get(name, "").split(os.pathsep)]


def installed_places() -> list[str]:
    """Libraries, certificates and packages that are installed for this user."""
    named = [os.environ.get(name, "").split(os.pathsep) for name in (*LIBRARIES, *CERTIFICATES)]
    return [*(path for paths in named for path in paths), *_user_sites()]


def is_installation(folder: str) -> bool:
    """Whether a Python, Node or Conda is installed in a folder."""
    return any(glob.glob(f"{glob.escape(folder)}/{each}") for each in INSTALLED)


def places_of_server(server: McpServer) -> Iterator[str]:
    """The program that a server is, and what its command, its variables and its folder name."""
    yield server.folder
    for word in server.command[:1]:
        yield from places_of_program(word)
    for word in server.command[1:]:
        yield from _named(word.partition("=")[2] or word if word.startswith("-") else word)
        for part in _words(word) if " " in word else ():  # a script of a shell
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
    """A folder that something is installed in, and the installation that this was made from."""
    if is_common(prefix) or not is_installation(prefix):
        return
    yield prefix
    home = _home_in(os.path.join(prefix, "pyvenv.cfg"))
    if home and os.path.dirname(home) != prefix:
        for name in names_of(os.path.dirname(home)):
            yield from _installation(name)


def _home_in(configuration: str) -> str:
    """The folder of the interpreter from which an environment was made."""
    try:
        lines = Path(configuration).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ""
    named = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return named.get("home", "")


def _interpreter_of(program: str) -> str:
    """The program that the first line of a script names."""
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
    """Packages that were installed for this user alone."""
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
    """The folders that a finder of setuptools has in its table."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict):
            for text in ast.walk(node.value):
                value = text.value if isinstance(text, ast.Constant) else ""
                if isinstance(value, str) and os.path.isabs(value):
                    yield value if os.path.exists(value) else f"{value}.py"
