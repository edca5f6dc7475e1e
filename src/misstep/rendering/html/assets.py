"""The scripts and styles of pages, and the compressed details of cases in a page.

`assets/` holds ES modules without a build step, and one library. A page from a server loads `start.js` as a
module, after `echarts.min.js`. A page that is one file gets all modules as one script, in which each has its
own scope, because browsers don't load modules from disk.
"""

import base64
import gzip
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

MODULES = (  # each after those that it imports
    "dom.js",
    "hash.js",
    "keeping.js",
    "table.js",
    "source.js",
    "filters.js",
    "rows.js",
    "charts.js",
    "cases.js",
    "arrows.js",
    "plan.js",
    "case.js",
    "extras.js",
    "report.js",
)
LIBRARY = "echarts.min.js"
STYLES = ("page.css", "cases.css", "case.css")
START = "start.js"  # what a page from a server loads
FILES = (*MODULES, START, LIBRARY, *STYLES)  # what a server sends

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.MULTILINE)


def asset(name: str) -> str:
    """One of `FILES`, or the icon."""
    return (files("misstep.rendering.html") / "assets" / name).read_text("utf-8")


@cache
def icon() -> str:
    """The icon of all pages, as an address."""
    return f"data:image/svg+xml;base64,{base64.b64encode(asset('favicon.svg').encode()).decode()}"


@cache
def style() -> str:
    """All styles of a page, those of the figure in it included."""
    return "".join([*map(asset, STYLES), style_of_figures()])


def style_of_figures() -> str:
    return (files("misstep.rendering") / "data" / "figure.css").read_text("utf-8")


@cache
def script() -> str:
    """All modules as one script that starts the page."""
    return "\n".join([*map(_in_its_own_scope, MODULES), "$report.start();"])


def script_hash(source: str) -> str:
    """The source expression that allows this inline script in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _in_its_own_scope(name: str) -> str:
    """A module as a function that is called at once and returns its exports."""
    source = _IMPORT.sub(r"const {\1} = $\2;", asset(name))
    exported = ", ".join(_EXPORT.findall(source))
    body = f"{_EXPORT.sub('', source)}return {{{exported}}};"
    return f"const ${name.removesuffix('.js')} = (() => {{\n{body}\n}})();"


BLOCK = 64  # details that are compressed together, and decompressed when one of them is opened
LEVEL = 6  # higher levels take half as long again and save hardly anything
ROOM = 18_000_000  # bytes for all details and the index in one file


class Archive:
    """Compresses details in the order in which they are added, as many as fit.

    A line is a block of `BLOCK` details (the last may have fewer): a JSON array, compressed with gzip and
    encoded in base 64. The first block that does not fit closes the archive, so that the first details are
    kept.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._waiting = list[bytes]()
        self._lines = list[tuple[str, int]]()  # with the number of details in each
        self._used = 0
        self.is_full = False

    def add(self, detail: dict[str, Any]) -> None:
        if self.is_full:
            return
        self._waiting.append(msgspec.json.encode(detail))
        if len(self._waiting) == BLOCK:
            self._pack()

    def close(self, taken: int = 0) -> tuple[tuple[str, ...], int]:
        """All lines that fit next to `taken` bytes, and how many details they hold."""
        if self._waiting:
            self._pack()
        while self._lines and self._used + taken > self._room:
            self._used -= len(self._lines.pop()[0]) + 1
        return tuple(line for line, _ in self._lines), sum(count for _, count in self._lines)

    def _pack(self) -> None:
        packed = gzip.compress(b"[" + b",".join(self._waiting) + b"]", LEVEL, mtime=0)
        line, count = base64.b64encode(packed).decode(), len(self._waiting)
        self._waiting.clear()
        if self._used + len(line) + 1 > self._room:
            self.is_full = True
        else:
            self._lines.append((line, count))
            self._used += len(line) + 1
