"""Fuzzes tools given as objects."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from misstep.core.event import Listener
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.tool_fuzz.run import fuzz_tools
from misstep.runs.lookup import find_run
from misstep.runs.setup.configuration import USUALLY_TRYING, load_settings
from misstep.testing.notebook import Again
from misstep.testing.results import ToolsResult
from misstep.testing.subjects import OF_TOOLS, ObjectOrigin, at_home, overlaid, specs_from, way_from_here

WHERE = "test_tools()"
CALLS = 300


def test_tools(
    tools: Any, *, calls: int = CALLS, listen: Listener | None = None, **settings: Any
) -> ToolsResult:
    """Fuzz tools with `calls` calls each: do they survive being used by an agent?

    Tools are whatever `misstep tool fuzz` accepts, as an object (a function, a tool of a framework, a list, a
    toolkit) or as a text such as `file.py:name` or `mcp:COMMAND`. They run in separate processes, in a
    sandbox; objects that cannot be imported are written to a file beside the store for these to load. All
    settings of that command can be passed as keyword arguments, which override environment variables and
    misstep.toml. `listen` receives the events of the run.
    """
    chosen = tool_settings(Path.cwd(), {"calls": calls, **settings}, WHERE)
    return run_tools(tools, chosen, ObjectOrigin(), *([listen] if listen else []))


test_tools.__test__ = False  # type: ignore[attr-defined]  # keep pytest from collecting it


def tool_settings(folder: Path, given: Mapping[str, Any], where: str) -> Settings:
    """Keyword arguments over the environment and the folder's file; `calls` is short for `calls_per_tool`."""
    named = dict(given)
    if "calls" in named:
        if "calls_per_tool" in named:
            raise UsageError("calls and calls_per_tool are the same", "leave one of them out", where=where)
        named["calls_per_tool"] = named.pop("calls")
    usual = {**USUALLY_TRYING, "calls_per_tool": CALLS}
    return at_home(overlaid(load_settings(folder, usual=usual), named, OF_TOOLS, where, ("calls",)), folder)


def run_tools(value: Any, settings: Settings, origin: ObjectOrigin, *listeners: Listener) -> ToolsResult:
    """Fuzz the tools that an object is or holds."""
    report = fuzz_tools(settings, specs_from(value, settings, origin), *listeners)
    place = way_from_here(settings)
    again = Again(f"misstep show {report.run}{place}", f"misstep replay {report.run}/", place)
    summary = find_run(settings, report.run).summary
    assert summary is not None
    return ToolsResult(summary, report, settings, again)
