"""Runs planning tests of an agent given as an object."""

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
from misstep.runs.setup.configuration import load_settings
from misstep.testing.apart import away_from_loops
from misstep.testing.notebook import Again
from misstep.testing.results import PlanningResult
from misstep.testing.subjects import (
    OF_PLANNING,
    ObjectOrigin,
    SubjectUnderTest,
    agent_from,
    at_home,
    overlaid,
    way_from_here,
)

WHERE = "test_planning()"
OF_NAMED_AGENTS = ("agent_args", "prompt", "python", "record_proxy")


def test_planning(
    agent: Any,
    *,
    actions: str | int | tuple[int, int] | Span | None = None,
    count: int | None = None,
    listen: Listener | None = None,
    **settings: Any,
) -> PlanningResult:
    """Test an agent on planning problems: does it do what it was asked, in the right order?

    The agent is whatever `misstep plan test --agent` accepts, as an object (a function of request and tools,
    an agent of a framework, …) or as a text that names one. All settings of that command can be passed as
    keyword arguments, which override environment variables and misstep.toml. `listen` receives the events of
    the run. This also works inside a running event loop.
    """
    given = {**_not_none(actions=actions, count=count), **settings}
    chosen = planning_settings(Path.cwd(), given, WHERE)
    subject = planning_subject(agent, chosen, given, ObjectOrigin())
    return run_planning(subject, lambda run: _again(run, subject), *([listen] if listen else []))


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
            raise UsageError(f"{name} is for agents that are named by a text", "leave it out")
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


def _again(run: str, subject: SubjectUnderTest) -> Again:
    place = way_from_here(subject.settings)
    show = f"misstep show {run}{place}"
    if subject.is_found:
        return Again(show, f"misstep replay {run}/", place)
    return Again(show, 'result.replay("', '")')


def _not_none(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
