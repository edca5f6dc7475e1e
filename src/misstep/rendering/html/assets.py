"""The scripts and styles that pages are made with: plain files, which a server can send as they are.

`assets/` holds ES modules without a build step, and one library. A page from a server loads `start.js` as a
module, with `echarts.min.js` before it. A page that is one file gets all modules as one script, in which each
has a scope of its own: browsers don't load modules from a disk.

Details of very many cases in a file that stays small.
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
    """One of `FILES`."""
    return (files("misstep.rendering.html") / "assets" / name).read_text("utf-8")


@cache
def style() -> str:
    """All styles of a page, those of the figure in it included."""
    return "".join([*map(asset, STYLES), style_of_figures()])


def style_of_figures() -> str:
    return (files("misstep.rendering") / "data" / "figure.css").read_text("utf-8")


@cache
def script() -> str:
    """All modules as one script; its last words start the page."""
    return "\n".join([*map(_in_its_own_scope, MODULES), "$report.start();"])


def run_budget(source: str) -> str:
    """What a content security policy says to allow this inline script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _in_its_own_scope(name: str) -> str:
    """A module as a function that is called at once and gives what it exports."""
    source = _IMPORT.sub(r"const {\1} = $\2;", asset(name))
    exported = ", ".join(_EXPORT.findall(source))
    body = f"{_EXPORT.sub('', source)}return {{{exported}}};"
    return f"const ${name.removesuffix('.js')} = (() => {{\n{body}\n}})();"


BLOCK = 64  # details that are packed together, and unpacked when one of them is looked at
LEVEL = 6  # beyond it, packing takes half as long again for hardly any room
ROOM = 18_000_000  # bytes, for all details and the index in one file


class Archive:
    """Packs details in the order in which they come, as many as there is room for.

    A line is a block of `BLOCK` details, the last with what is left: a JSON array, compressed (gzip) and
    written in base 64. The first block without room closes the archive: those kept are the first.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._waiting = list[bytes]()
        self._lines = list[str]()
        self._used = 0
        self.is_full = False

    def add(self, detail: dict[str, Any]) -> None:
        """Keep a detail, unless the archive is full."""
        if self.is_full:
            return
        self._waiting.append(msgspec.json.encode(detail))
        if len(self._waiting) == BLOCK:
            self._pack()

    def close(self, taken: int = 0) -> tuple[tuple[str, ...], int]:
        """All lines for which there is room beside `taken` bytes, and how many details they hold."""
        left = len(self._waiting)
        if left:
            self._pack()
        sizes = [BLOCK] * len(self._lines)
        if left and not self.is_full:
            sizes[-1] = left
        while self._lines and self._used + taken > self._room:
            self._used -= len(self._lines.pop()) + 1
            sizes.pop()
        return tuple(self._lines), sum(sizes)

    def _pack(self) -> None:
        packed = gzip.compress(b"[" + b",".join(self._waiting) + b"]", LEVEL, mtime=0)
        line = base64.b64encode(packed).decode()
        self._waiting.clear()
        if self._used + len(line) + 1 > self._room:
            self.is_full = True
        else:
            self._lines.append(line)
            self._used += len(line) + 1
