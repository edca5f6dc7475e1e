"""Tests agents and tools that are given as objects."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from misstep.core.event import Listener
from misstep.core.outcome import Outcome
from misstep.core.settings import Settings, Span
from misstep.errors import UsageError
from misstep.features.plan_test.run import run_agent
from misstep.runs.cases import cases_of
from misstep.runs.executor import replay_case
from misstep.runs.lookup import find_run
from misstep.runs.setup.configuration import USUALLY_TRYING, load_settings
from misstep.testing.notebook import notebook_listeners
from misstep.testing.results import Again, PlanningResult, ToolsResult
from misstep.testing.subjects import (
    OF_PLANNING,
    OF_TOOLS,
    ObjectOrigin,
    SubjectUnderTest,
    agent_from,
    at_home,
    away_from_loops,
    overlaid,
    specs_from,
    way_from_here,
)

OF_NAMED_AGENTS = ("agent_args", "prompt", "python", "record_proxy")


def test_planning(
    agent: Any,
    *,
    actions: str | int | tuple[int, int] | Span | None = None,
    count: int | None = None,
    listen: Listener | None = None,
    **settings: Any,
) -> PlanningResult:
    """Test an agent on planning problems and judge its calls.

    The agent is whatever `misstep plan test --agent` accepts, as an object (a function of request and tools,
    an agent of a framework, …) or as a text that names one. All settings of that command can be passed as
    keyword arguments, which override environment variables and misstep.toml. `listen` receives the events of
    the run. This also works inside a running event loop.
    """
    named = {"actions": actions, "count": count}
    given = {**{name: value for name, value in named.items() if value is not None}, **settings}
    chosen = planning_settings(Path.cwd(), given, "test_planning()")
    subject = planning_subject(agent, chosen, given, ObjectOrigin())

    def again(run: str) -> Again:
        place = way_from_here(chosen)
        show = f"misstep show {run}{place}"
        if subject.is_found:
            return Again(show, f"misstep replay {run}/", place)
        return Again(show, 'result.replay("', '")')

    return run_planning(subject, again, *notebook_listeners(), *([listen] if listen else []))


test_planning.__test__ = False  # type: ignore[attr-defined]  # keep pytest from collecting it


def planning_settings(
    folder: Path, given: Mapping[str, Any], where: str, also: Sequence[str] = ()
) -> Settings:
    """Keyword arguments over environment and the folder's file; `also` are other valid names."""
    return at_home(overlaid(load_settings(folder), given, OF_PLANNING, where, also), folder)


def planning_subject(
    value: Any, settings: Settings, given: Mapping[str, Any], origin: ObjectOrigin
) -> SubjectUnderTest:
    """The agent of a test. Raises `UsageError` for settings that only apply to agents given by name."""
    for name in OF_NAMED_AGENTS:
        if name in given and not isinstance(value, str):
            raise UsageError(f"{name} requires an agent given by name", "omit it")
    return agent_from(value, settings, origin)


def run_planning(
    subject: SubjectUnderTest, again: Callable[[str], Again], *listeners: Listener
) -> PlanningResult:
    summary = away_from_loops(
        lambda brake: run_agent(subject.settings, brake, *listeners, agent=subject.agent)
    )
    return PlanningResult(summary, subject.settings, subject.agent, again(summary.run))


def try_case(subject: SubjectUnderTest, name: str) -> Outcome | None:
    """The outcome of the case whose id starts with `name`; None if the settings have no such case."""
    found = next((case for case in cases_of(subject.settings) if case.id.startswith(name)), None)
    if found is None:
        return None
    return away_from_loops(lambda _: replay_case(found, subject.settings, subject.agent))


CALLS = 300


def test_tools(
    tools: Any, *, calls: int = CALLS, listen: Listener | None = None, **settings: Any
) -> ToolsResult:
    """Fuzz tools with `calls` calls each.

    Tools are whatever `misstep tool fuzz` accepts, as an object (a function, a tool of a framework, a list, a
    toolkit) or as a text such as `file.py:name` or `mcp:COMMAND`. They run in separate processes, in a
    sandbox; objects that cannot be imported are written to a file beside the store for these to load. All
    settings of that command can be passed as keyword arguments, which override environment variables and
    misstep.toml. `listen` receives the events of the run.
    """
    chosen = tool_settings(Path.cwd(), {"calls": calls, **settings}, "test_tools()")
    return run_tools(tools, chosen, ObjectOrigin(), *notebook_listeners(), *([listen] if listen else []))


test_tools.__test__ = False  # type: ignore[attr-defined]  # keep pytest from collecting it


def tool_settings(folder: Path, given: Mapping[str, Any], where: str) -> Settings:
    """Keyword arguments over the environment and the folder's file; `calls` is short for `calls_per_tool`."""
    named = dict(given)
    if "calls" in named:
        if "calls_per_tool" in named:
            raise UsageError("calls and calls_per_tool are the same", "omit one of them", where=where)
        named["calls_per_tool"] = named.pop("calls")
    shared = load_settings(folder, usual={**USUALLY_TRYING, "calls_per_tool": CALLS})
    return at_home(overlaid(shared, named, OF_TOOLS, where, ("calls",), "none"), folder)


def run_tools(value: Any, settings: Settings, origin: ObjectOrigin, *listeners: Listener) -> ToolsResult:
    """Fuzz the tools that an object is or holds."""
    from misstep.features.tool_fuzz.run import fuzz_tools  # tests of agents don't need it

    report = fuzz_tools(settings, specs_from(value, settings, origin), *listeners)
    place = way_from_here(settings)
    again = Again(f"misstep show {report.run}{place}", f"misstep replay {report.run}/", place)
    summary = find_run(settings, report.run).summary
    assert summary is not None
    return ToolsResult(summary, report, settings, again)
