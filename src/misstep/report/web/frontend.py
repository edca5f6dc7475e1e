"""The scripts and styles that pages are made with: plain files, which a server can send as they are.

`assets/` holds ES modules without a build step, and one library. A page from a server loads `start.js` as a
module, with `echarts.min.js` before it. A page that is one file gets all modules as one script, in which each
has a scope of its own: browsers don't load modules from a disk.
"""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

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
    return (files("misstep.report.web") / "assets" / name).read_text("utf-8")


@cache
def style() -> str:
    """All styles of a page, those of the figure in it included."""
    return "".join([*map(asset, STYLES), style_of_figures()])


def style_of_figures() -> str:
    return (files("misstep.report") / "data" / "figure.css").read_text("utf-8")


@cache
def script() -> str:
    """All modules as one script; its last words start the page."""
    return "\n".join([*map(_in_its_own_scope, MODULES), "$report.start();"])


def allowance(source: str) -> str:
    """What a content security policy says to allow this inline script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _in_its_own_scope(name: str) -> str:
    """A module as a function that is called at once and gives what it exports."""
    source = _IMPORT.sub(r"const {\1} = $\2;", asset(name))
    exported = ", ".join(_EXPORT.findall(source))
    body = f"{_EXPORT.sub('', source)}return {{{exported}}};"
    return f"const ${name.removesuffix('.js')} = (() => {{\n{body}\n}})();"
