"""The pytest plugin: agents and tools as ordinary tests. Other modules are imported when needed."""

import asyncio
import inspect
import os
import shlex
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from misstep.core.settings import Settings
    from misstep.testing.results import PassDemand, PlanningResult, ToolsResult
    from misstep.testing.subjects import ObjectOrigin, SubjectUnderTest

AGENT, TOOL = "misstep", "misstep_tool"
MARKERS = (
    f"{AGENT}(min_success=1.0, significant=False, **settings): the function returns an agent, which is "
    "tested on planning problems; settings are those of misstep plan test, such as count=50",
    f"{TOOL}(calls=300, **settings): the function returns a tool, or several, which are fuzzed; "
    "settings are those of misstep tool fuzz",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("misstep", "tests of agents and tools")
    group.addoption(
        "--misstep-count", type=int, metavar="N", help="number of cases per agent, overriding the marks"
    )
    group.addoption("--misstep-case", metavar="ID", help="run only this case, without storing the result")
    group.addoption(
        "--misstep-store", metavar="URL", help="store for runs (default: .misstep/store.db in the rootdir)"
    )


def pytest_configure(config: pytest.Config) -> None:
    for line in MARKERS:
        config.addinivalue_line("markers", line)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Reject wrong marks before anything is run, since tests may take time and money."""
    if hasattr(config, "workerinput"):
        return  # an xdist worker can't stop the session; its tests fail one by one
    wrong = [fault for item in items if (fault := _fault(item))]
    if wrong:
        raise pytest.UsageError("\n".join(dict.fromkeys(wrong)))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Test what a marked function returns."""
    if not _kinds(pyfuncitem):
        return None
    if fault := _fault(pyfuncitem):
        pytest.fail(fault, pytrace=False)
    value = _returned(pyfuncitem)
    with _readable():
        if _kinds(pyfuncitem) == [TOOL]:
            _test_tools(pyfuncitem, value)
        else:
            _test_agent(pyfuncitem, value)
    return True


@pytest.fixture
def misstep_run(request: pytest.FixtureRequest) -> "Callable[..., PlanningResult]":
    """`misstep_run(agent, count=50, …)` tests an agent on planning problems and returns the result."""
    item = request.node

    def run(agent: Any, **settings: Any) -> "PlanningResult":
        with _readable():
            subject = _subject(item, agent, _planning_settings(item, settings, "misstep_run()"), settings)
            return _run_agent(item, subject)

    return run


@pytest.fixture
def misstep_fuzz(request: pytest.FixtureRequest) -> "Callable[..., ToolsResult]":
    """`misstep_fuzz(tools, calls=300, …)` fuzzes tools and returns the result."""
    item = request.node

    def fuzz(tools: Any, **settings: Any) -> "ToolsResult":
        with _readable():
            return _run_tools(item, tools, _tool_settings(item, settings, "misstep_fuzz()"))

    return fuzz


def _test_agent(item: pytest.Function, value: Any) -> None:
    from misstep.planning.difficulty import measure
    from misstep.rendering.case import case_view
    from misstep.testing.results import as_text
    from misstep.testing.running import try_case

    settings, demand = _asked(item)
    subject = _subject(item, value, settings, _given(item, AGENT))
    if name := item.config.getoption("--misstep-case"):
        outcome = try_case(subject, name)
        if outcome is None:
            pytest.skip(f"it has no case {name}")
        if outcome.verdict.verdict != "passed":
            pytest.fail(as_text(case_view(outcome, measure(outcome.case))), pytrace=False)
        return
    result = _run_agent(item, subject)
    if short := demand.shortfall(result.summary):
        pytest.fail(f"{short}\n\n{result}", pytrace=False)
    item.add_report_section("call", "misstep", str(result))


def _test_tools(item: pytest.Function, value: Any) -> None:
    if name := item.config.getoption("--misstep-case"):
        pytest.skip(f"it has no case {name}")
    result = _run_tools(item, value, _tool_settings(item, _given(item, TOOL), _where(item)))
    if count := len(result.findings):
        head = "1 defect was found" if count == 1 else f"{count} defects were found"
        pytest.fail(f"{head}\n\n{result}", pytrace=False)
    item.add_report_section("call", "misstep", str(result))


def _run_agent(item: pytest.Item, subject: "SubjectUnderTest") -> "PlanningResult":
    from misstep.testing.results import Again
    from misstep.testing.running import run_planning
    from misstep.testing.subjects import way_from_here

    place = way_from_here(subject.settings)
    # The test as it is named on a command line in the folder where pytest was started.
    path = os.path.relpath(item.path, item.config.invocation_params.dir)
    node = "::".join([path, *item.nodeid.split("::")[1:]])
    once_more = f"pytest {shlex.quote(node)} --misstep-case "
    result = run_planning(subject, lambda run: Again(f"misstep show {run}{place}", once_more))
    low, high = result.interval
    _record(item, run=result.run, success=result.success, interval=f"{low:.4f}-{high:.4f}")
    return result


def _run_tools(item: pytest.Item, value: Any, settings: "Settings") -> "ToolsResult":
    from misstep.testing.running import run_tools

    result = run_tools(value, settings, _origin(item))
    _record(item, run=result.run, findings=len(result.findings))
    return result


def _record(item: pytest.Item, **properties: Any) -> None:
    """Set properties of the test, which `--junitxml` writes."""
    item.user_properties += [(f"misstep_{name}", value) for name, value in properties.items()]


def _subject(
    item: pytest.Item, value: Any, settings: "Settings", given: dict[str, Any]
) -> "SubjectUnderTest":
    from misstep.testing.running import planning_subject

    return planning_subject(value, settings, given, _origin(item))


def _asked(item: pytest.Item) -> "tuple[Settings, PassDemand]":
    from misstep.testing.results import DEMANDS, parse_demand

    given, where = _given(item, AGENT), _where(item)
    rest = {name: value for name, value in given.items() if name not in DEMANDS}
    return _planning_settings(item, rest, where, DEMANDS), parse_demand(given, where)


def _planning_settings(
    item: pytest.Item, given: dict[str, Any], where: str, also: Sequence[str] = ()
) -> "Settings":
    from misstep.testing.running import planning_settings

    count = item.config.getoption("--misstep-count")
    over = {} if count is None else {"count": count}
    return planning_settings(item.config.rootpath, {**given, **over, **_store(item)}, where, also)


def _tool_settings(item: pytest.Item, given: dict[str, Any], where: str) -> "Settings":
    from misstep.testing.running import tool_settings

    return tool_settings(item.config.rootpath, {**given, **_store(item)}, where)


def _store(item: pytest.Item) -> dict[str, str]:
    """The store given on the command line, relative to the folder where pytest was started."""
    named = item.config.getoption("--misstep-store")
    if not named:
        return {}
    return {"store": named if "://" in named else str(item.config.invocation_params.dir / named)}


def _origin(item: pytest.Item) -> "ObjectOrigin":
    """The name of the test; also its function, if it can be called without pytest."""
    from misstep.testing.subjects import ObjectOrigin

    function = getattr(item, "function", None)
    alone = isinstance(item, pytest.Function) and item.cls is None and not item._fixtureinfo.argnames
    return ObjectOrigin(item.name, function if alone else None)


def _fault(item: pytest.Item) -> str:
    """What is wrong with the marks of a test; empty if nothing is."""
    kinds = _kinds(item)
    if not kinds:
        return ""
    from misstep.errors import MisstepError, UsageError

    try:
        if len(kinds) > 1:
            raise UsageError(
                "a test has either an agent or tools", f"remove {AGENT} or {TOOL}", where=_where(item)
            )
        kind = getattr(item, "cls", None)
        if inspect.isclass(kind) and issubclass(kind, unittest.TestCase):
            hint = "make it a function, or a method of a plain class"
            raise UsageError(
                "return values of unittest.TestCase methods are not available", hint, where=_where(item)
            )
        if kinds == [AGENT]:
            _asked(item)
        else:
            _tool_settings(item, _given(item, TOOL), _where(item))
    except MisstepError as error:
        return str(error)
    return ""


def _kinds(item: pytest.Item) -> list[str]:
    return [
        kind for kind in (AGENT, TOOL) if isinstance(item, pytest.Function) and item.get_closest_marker(kind)
    ]


def _given(item: pytest.Item, kind: str) -> dict[str, Any]:
    """The arguments of its marks; those of the function override those of class and module."""
    from misstep.errors import UsageError

    given = dict[str, Any]()
    for mark in reversed(list(item.iter_markers(kind))):
        if mark.args:
            hint = f"write @pytest.mark.{kind}(name=value)"
            raise UsageError(f"{mark.args[0]!r} has no name", hint, where=_where(item))
        given |= mark.kwargs
    return given


def _where(item: pytest.Item) -> str:
    path, line, _ = item.location
    return f"{path}:{line + 1}" if line is not None else path


def _returned(item: pytest.Function) -> Any:
    function: Callable[..., Any] = item.obj
    inner = getattr(function, "__wrapped__", None)
    if type(item) is not pytest.Function and inspect.iscoroutinefunction(inner):
        function = inner  # a plugin for async tests has wrapped it
    value = function(**{name: item.funcargs[name] for name in item._fixtureinfo.argnames})
    return asyncio.run(value) if inspect.iscoroutine(value) else value


@contextmanager
def _readable() -> Iterator[None]:
    """Show errors of misstep without a traceback through our code."""
    from misstep.errors import Interrupted, MisstepError

    try:
        yield
    except Interrupted as error:
        raise KeyboardInterrupt(str(error)) from None
    except MisstepError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
