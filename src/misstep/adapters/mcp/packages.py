"""Installs the packages of servers that `npx`, `uvx` and the like would download whenever they start.

A sandbox has no network, so a package is installed once, in the user's cache, and the server is started from
there. What was installed is recorded beside it, with versions and hashes.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec

from misstep.adapters.mcp.entries import McpServer
from misstep.errors import UsageError

FOLDER = "_MISSTEP_SERVERS"  # a variable with the folder, for sandboxes, which have another home
RECORD = "installed.json"
PATIENCE = 600.0  # seconds for an installation
SHOWN = 8  # lines of an installer's output

# How these programs begin, and the options of theirs that take a value or can be left out.
RUNNERS: dict[tuple[str, ...], Literal["npm", "pip"]] = {
    ("npx",): "npm",
    ("bunx",): "npm",
    ("npm", "exec"): "npm",
    ("npm", "x"): "npm",
    ("pnpm", "dlx"): "npm",
    ("yarn", "dlx"): "npm",
    ("uvx",): "pip",
    ("uv", "tool", "run"): "pip",
    ("pipx", "run"): "pip",
}
NAMING = {"npm": ("-p", "--package"), "pip": ("--from", "--spec")}
ADDING = {"npm": (), "pip": ("--with",)}
PLAIN = ("-y", "--yes", "-q", "--quiet", "--no-cache", "--refresh", "--isolated", "--prefer-offline")


_NAME = re.compile(r"(?P<name>@?[^@=<>~!;,\[\s]+)(?P<extras>\[[^\]]*\])?")


class PackageCommand(msgspec.Struct, frozen=True):
    """The packages that a command would download, the program of theirs that it starts, and the rest."""

    manager: Literal["npm", "pip"]
    packages: tuple[str, ...]
    program: str  # empty for that of an npm package
    arguments: tuple[str, ...]

    @property
    def package(self) -> str:
        """The name of the first package, which the server is in; empty if it is an address."""
        found = _NAME.match(self.packages[0])
        return found["name"] if found and ":" not in self.packages[0] else ""

    def at(self, version: str) -> "PackageCommand":
        """The same with another version of the first package, which has to have a name."""
        return self._with_first(
            f"{self.package}{self._extras}{'@' if self.manager == 'npm' else '=='}{version}"
        )

    def at_path(self, path: str) -> "PackageCommand":
        """The same with a folder or file instead of the first package."""
        return self._with_first(f"{os.path.abspath(path)}{self._extras}")

    @property
    def _extras(self) -> str:
        found = _NAME.match(self.packages[0])
        return (found["extras"] or "") if found and self.manager == "pip" else ""

    def _with_first(self, package: str) -> "PackageCommand":
        return msgspec.structs.replace(self, packages=(package, *self.packages[1:]))

    @property
    def words(self) -> tuple[str, ...]:
        """The command to be typed."""
        first, *others = self.packages
        if self.manager == "npm":
            named = [word for each in self.packages for word in ("-p", each)]
            start = (*named, "--", self.program) if self.program else (first,)
            return ("npx", "-y", *start, *self.arguments)
        added = [word for each in others for word in ("--with", each)]
        name, _, version = first.partition("==")
        if version and name == self.program:
            return ("uvx", *added, f"{name}@{version}", *self.arguments)
        return ("uvx", *added, "--from", first, self.program, *self.arguments)


class Installation(msgspec.Struct, frozen=True):
    """What was installed: the program, and versions and hashes of all packages by their names."""

    program: str
    versions: dict[str, str]
    hashes: dict[str, str]


def installed(server: McpServer) -> McpServer:
    """The server with the command that starts it from our cache; unchanged if it downloads nothing."""
    wanted = read_command(server.command)
    if wanted is None:
        return server
    folder = cache_folder() / _folder_name(wanted)
    found = _read_record(folder) or _install(wanted, folder, server.name)
    return msgspec.structs.replace(server, command=(found.program, *wanted.arguments))


def versions_of(server: McpServer) -> dict[str, str]:
    """The versions of all packages that a server was installed with; empty if it was not installed here."""
    wanted = read_command(server.command)
    found = _read_record(cache_folder() / _folder_name(wanted)) if wanted else None
    return found.versions if found else {}


def version_in(versions: Mapping[str, str], package: str) -> str:
    """The version of a package, whose name may be spelled differently; empty if it is unknown."""
    return {_normal(name): version for name, version in versions.items()}.get(_normal(package), "")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@contextmanager
def installed_from(path: str, wanted: PackageCommand, name: str) -> Iterator[tuple[str, ...]]:
    """The command that starts the server from a folder or file instead of its first package.

    It is installed in a folder of its own, which is removed at the end.
    """
    cache_folder().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="other-", dir=cache_folder()) as folder:
        yield _install_in(Path(folder, "package"), wanted.at_path(path), name).program, *wanted.arguments


def cache_folder() -> Path:
    if given := os.environ.get(FOLDER):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base).absolute() / "misstep" / "servers"


def installation_of(program: str) -> str:
    """The folder in our cache that a program was installed in; empty if it is none of these."""
    path, folder = Path(program), cache_folder()
    return str(folder / path.relative_to(folder).parts[0]) if path.is_relative_to(folder) else ""


def read_command(words: Sequence[str]) -> PackageCommand | None:
    """What a command would download; None if nothing, or if an option of it is unknown here."""
    program = os.path.basename(words[0]) if words else ""
    start = (program, *words[1:3])
    runner = next((each for each in RUNNERS if start[: len(each)] == each), None)
    if runner is None:
        return None
    manager = RUNNERS[runner]
    named, added = list[str](), list[str]()
    rest = list(words[len(runner) :])
    while rest and rest[0].startswith("-"):
        option, _, value = rest.pop(0).partition("=")
        if option == "--":
            break
        if option in PLAIN:
            continue
        target = named if option in NAMING[manager] else added if option in ADDING[manager] else None
        if target is None or not (value or rest):
            return None
        target.append(value or rest.pop(0))
    if not rest:
        return None
    first, *arguments = rest
    packages = tuple(_requirement(each, manager) for each in (*(named or [first]), *added))
    if any(_is_local(each) for each in packages):
        return None  # it may be about to change
    name = "" if manager == "npm" and not named else re.split(r"[@=<>~!\[]", first, maxsplit=1)[0]
    return PackageCommand(manager, packages, name, tuple(arguments))


def _requirement(text: str, manager: str) -> str:
    """A package as its installer takes it: `uvx` writes a version after an @."""
    name, at, version = text.partition("@")
    if manager == "npm" or not at or "/" in text or ":" in text:
        return text
    return name if version.strip() == "latest" else f"{name.strip()}=={version.strip()}"


def _is_local(package: str) -> bool:
    return package.startswith((".", "/", "~", "file:")) or os.path.exists(package)


def _folder_name(wanted: PackageCommand) -> str:
    about = [wanted.manager, wanted.program, *wanted.packages]
    about += [sys.version.split()[0]] if wanted.manager == "pip" else []
    digest = hashlib.blake2b("\0".join(about).encode(), digest_size=6).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', wanted.packages[0]).strip('-')[:40]}-{digest}"


def _read_record(folder: Path) -> Installation | None:
    try:
        found = msgspec.json.decode((folder / RECORD).read_bytes(), type=Installation)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if os.path.exists(found.program) else None


def _install(wanted: PackageCommand, folder: Path, name: str) -> Installation:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            if found := _read_record(folder):
                return found  # another process has installed it meanwhile
            shutil.rmtree(folder, ignore_errors=True)
            print(f"installing {', '.join(wanted.packages)} in {folder}", file=sys.stderr, flush=True)
            found = _install_in(folder, wanted, name)
            (folder / RECORD).write_bytes(msgspec.json.format(msgspec.json.encode(found)))
            return found
    except OSError as error:
        raise UsageError(f"can't install MCP server {name}: {error}") from error


def _install_in(folder: Path, wanted: PackageCommand, name: str) -> Installation:
    install = _install_with_npm if wanted.manager == "npm" else _install_with_pip
    return install(wanted, folder, name)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with open(f"{folder}.lock", "w") as file:
        with suppress(ImportError):  # Windows
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install_with_npm(wanted: PackageCommand, folder: Path, name: str) -> Installation:
    folder.mkdir()
    # A folder would only be linked, and the sandbox does not show it.
    options = ("--install-links", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder))
    _run(name, "npm", "install", *options, "--", *wanted.packages)
    own = json.loads((folder / "package.json").read_bytes()).get("dependencies", {})
    program = wanted.program or _only_program(folder, next(iter(own), ""))
    path = folder / "node_modules" / ".bin" / program
    if not program or not path.exists():
        raise _no_program(name, program, wanted, path.parent)
    locked = json.loads((folder / "package-lock.json").read_bytes())["packages"]
    packages = {place.rpartition("node_modules/")[2]: each for place, each in locked.items() if place}
    return Installation(
        str(path),
        {each: about.get("version", "") for each, about in packages.items()},
        {each: about["integrity"] for each, about in packages.items() if "integrity" in about},
    )


def _only_program(folder: Path, package: str) -> str:
    """The program that `npx` starts: the package's only one, or the one with its name."""
    about = json.loads((folder / "node_modules" / package / "package.json").read_bytes())
    programs = about.get("bin", {})
    own = package.rpartition("/")[2]
    if isinstance(programs, str):
        return own
    return own if own in programs or len({*programs.values()}) != 1 else next(iter(programs))


def _install_with_pip(wanted: PackageCommand, folder: Path, name: str) -> Installation:
    _run(name, sys.executable, "-m", "venv", str(folder))
    report, python = folder / "report.json", str(folder / "bin" / "python")
    options = ("--quiet", "--disable-pip-version-check", "--report", str(report))
    _run(name, python, "-m", "pip", "install", *options, "--", *wanted.packages)
    path = folder / "bin" / wanted.program
    if not path.exists():
        raise _no_program(name, wanted.program, wanted, path.parent)
    packages: list[dict[str, Any]] = json.loads(report.read_bytes())["install"]
    report.unlink()
    hashes = {
        each["metadata"]["name"]: f"{kind}-{digest}"
        for each in packages
        for kind, digest in each["download_info"].get("archive_info", {}).get("hashes", {}).items()
    }
    versions = {each["metadata"]["name"]: each["metadata"]["version"] for each in packages}
    return Installation(str(path), versions, hashes)


def _no_program(name: str, program: str, wanted: PackageCommand, folder: Path) -> UsageError:
    usual = ("activate", "pip", "python")  # in every virtual environment
    found = sorted(each.name for each in folder.glob("*"))
    there = [each for each in found if not each.lower().startswith(usual)]
    hint = f"it has {', '.join(there[:10])}" if there else "it has no programs"
    told = f"there is no program '{program}' in {wanted.packages[0]}"
    return UsageError(f"can't install MCP server {name}: {told}", hint)


def _run(name: str, *command: str) -> None:
    """Run an installer; `UsageError` with the end of its output if it fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except FileNotFoundError:
        hint = "install Node.js, which has it" if command[0] == "npm" else ""
        raise UsageError(f"can't install MCP server {name}: {command[0]} not found", hint) from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"can't install MCP server {name}: not done after {PATIENCE:g} s") from None
    if done.returncode:
        lines = (done.stderr or done.stdout).decode("utf-8", "replace").splitlines()
        shown = [line.rstrip() for line in lines if line.strip()][-SHOWN:]
        raise UsageError(f"can't install MCP server {name}: {command[0]} failed", *shown)
