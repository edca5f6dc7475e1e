"""The packages of the study, and the files with what was found in them."""

import json  # not msgspec's: texts may have lone surrogates
import re
from functools import cache
from pathlib import Path
from tomllib import loads
from typing import Any

import msgspec

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.toolset.spec import servers_to_start

HERE = Path(__file__).parent
RESULTS = HERE / "results"
EVIDENCE = HERE / "evidence"
STORES = HERE / ".stores"  # not in the repository
SERVERS = HERE / ".servers"  # likewise
# What comes before a package that is installed on this machine.
FOLDERS = re.compile(r"(?:file://)?(?:/[^\s/\"'\\:]+)+(?=/(?:site-packages|node_modules|python3\.\d+)/)")
PLACE = "/tmp/misstep"  # the folder of misstep's sandbox, since calls may hold paths
LONGEST = 1_000  # characters of a text that are kept


class Package(msgspec.Struct, frozen=True):
    """A package with a pinned version, and the SPEC of its server or toolkit."""

    name: str
    ecosystem: str
    version: str
    spec: str
    python: str = ""  # the interpreter that loads a toolkit, relative to the repository

    @property
    def key(self) -> str:
        """A name that files can have."""
        return f"{self.ecosystem}-{self.name.lstrip('@').replace('/', '-')}"

    @property
    def file(self) -> Path:
        return RESULTS / f"{self.key}.json"

    @property
    def evidence_file(self) -> Path:
        return EVIDENCE / self.file.name

    @property
    def store(self) -> Path:
        return STORES / f"{self.key}.db"

    def server(self) -> McpServer:
        """The command of the package's server; the package is installed unless it is there."""
        if not (servers := servers_to_start(self.spec)):
            raise SystemExit(f"{self.name} is not an MCP server: {self.spec}")
        return servers[0]

    def result(self) -> dict[str, Any] | None:
        return json.loads(self.file.read_bytes()) if self.file.exists() else None


def packages(only: tuple[str, ...] = ()) -> list[Package]:
    """The packages of `packages.toml`, or those of them with the given names."""
    listed = loads((HERE / "packages.toml").read_text())["package"]
    found = msgspec.convert(listed, list[Package])
    if unknown := {*only} - {each.name for each in found}:
        raise SystemExit(f"no such package in packages.toml: {', '.join(sorted(unknown))}")
    return [each for each in found if not only or each.name in only]


def cut(text: str) -> str:
    """A text without folders of this machine or of the sandbox, and not too long."""
    text = FOLDERS.sub("…", text).replace(str(Path.home()), "~").replace(PLACE, "…")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def write_lines(file: Path, values: dict[str, Any]) -> None:
    """Write JSON with a line for each item of a list, so that changes can be read."""
    file.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(name)}: {_lines(value)}" for name, value in values.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _lines(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(json.dumps(each) for each in value) + "\n]"


@cache
def labels() -> dict[tuple[str, str], dict[str, str]]:
    """What both readings said about each cause, by package and cause."""
    lines = (HERE / "labels.jsonl").read_bytes().splitlines()
    return {(each["package"], each["cause"]): each for each in map(json.loads, lines)}
