"""Compares the documentation of tools with what they do, and lists tools without calling them."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from misstep.adapters.toolset.spec import read_tools
from misstep.core.results.finding import ToolReport
from misstep.core.results.fixing import read_descriptions, refuse_unknown_tools, reworded
from misstep.core.results.remark import LintReport
from misstep.core.rng import derive_seed
from misstep.core.settings import Settings, check_settings
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.errors import Interrupted
from misstep.fuzzing.lint.answers import look_at
from misstep.fuzzing.lint.linter import lint
from misstep.fuzzing.lint.subject import LintSubject
from misstep.runs.cases import absolute_specs
from misstep.runs.execution import masked
from misstep.runs.setup.workbenches import Target, Workbenches, conditions_of, find_targets
from misstep.store.runs import Store
from misstep.tool_host.host import ToolHost, read_apart, whole_environment
from misstep.tool_host.sandbox.places import is_server


class ToolList(msgspec.Struct, frozen=True):
    """Everything that is known about some tools.

    `skipped` lists tools that were left out and why, `notes` other problems.
    """

    tools: tuple[Described, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def list_tools(specs: Sequence[str], settings: Settings | None = None) -> ToolList:
    """The tools that the specs name, in order. Raises a `UsageError` for a spec without tools.

    Code is loaded in another process, which leaves nothing in this one.
    """
    settings = settings or Settings()
    lists = [look_into(spec, settings) for spec in specs]
    tools = tuple(tool for each in lists for tool in each.tools)
    refuse_unknown_tools(read_descriptions(settings.descriptions), [tool.name for tool in tools])
    return ToolList(
        tools,
        tuple(note for each in lists for note in each.skipped),
        tuple(note for each in lists for note in each.notes),
    )


def look_into(spec: str, settings: Settings) -> ToolList:
    """The tools of one spec. The file of descriptions may also describe tools of other specs."""
    found, wordings = _listed(spec, settings), read_descriptions(settings.descriptions)
    return msgspec.structs.replace(found, tools=tuple(reworded(tool, wordings) for tool in found.tools))


def _listed(spec: str, settings: Settings) -> ToolList:
    serves = is_server(spec)
    if spec.endswith(".json") and not serves:
        skipped = list[str]()
        return ToolList(tuple(read_tools(spec, skipped)), tuple(skipped))
    conditions = conditions_of(settings)
    # In the sandbox, a server gets the same environment variables as with `tool fuzz`.
    whole = settings.sandbox == "none" or not serves
    environment = whole_environment(serves) if whole else conditions.environment
    loaded = read_apart(spec, msgspec.structs.replace(conditions, environment=environment))
    return ToolList(loaded.tools, loaded.skipped, loaded.notes)


CALLS = 200  # for each tool by default
LARGEST_FILE = 2 << 20  # bytes of a module that is read


class _Look(msgspec.Struct, frozen=True):
    """A tool, where it was found, and the result of fuzzing it if it could be called."""

    spec: str
    tool: Described
    report: ToolReport | None = None


def lint_tools(settings: Settings, specs: Sequence[str], run: str = "") -> LintReport:
    """Where the documentation of the tools of these specs and their behaviour disagree.

    Each tool is called `settings.calls_per_tool` times, unless a fuzzing `run` is given whose calls are used
    instead. Nothing is stored.
    """
    settings = check_settings(settings)
    own = absolute_specs(specs)
    if run:
        looks, notes = _recalled(settings, own, run)
    else:
        looks, notes = _called(settings, own)
    subjects = [_subject(look) for look in looks]
    return masked(LintReport(tuple(lint(subjects)), tuple(dict.fromkeys(notes))))


def _recalled(settings: Settings, specs: Sequence[str], run: str) -> tuple[list[_Look], list[str]]:
    """The tools as they are now, with the findings of an earlier run."""
    found = {spec: look_into(spec, settings).tools for spec in specs}
    with Store(settings.store) as store:
        reports = {report.name: report for report in store.tool_reports(store.find_run(run).id)}
    targets = _alone(found, settings)
    strange = [target.name for target in targets if target.name not in reports]
    notes = [f"{name}: run {run} knows nothing of it" for name in strange]
    return [_Look(each.spec, _tool(found, each), reports.get(each.name)) for each in targets], notes


def _called(settings: Settings, specs: Sequence[str]) -> tuple[list[_Look], list[str]]:
    """The tools with the results of calling them; those that can't be called are only read."""
    with Workbenches(settings) as benches:
        found: dict[str, Sequence[Described]] = {}
        for spec in specs:
            found[spec] = look_into(spec, settings).tools if _is_file(spec) else benches.tools_of(spec)
        targets = _alone(found, settings)
        lively = [each for each in targets if _tool(found, each).kind != "definition"]
        reports = _looked_at(benches, settings, lively)
    looks = [_Look(each.spec, _tool(found, each), reports.get(each.name)) for each in targets]
    return looks, [f"{name}: {cut(report.notes[0], 200)}" for name, report in reports.items() if report.notes]


def _looked_at(benches: Workbenches, settings: Settings, targets: Sequence[Target]) -> dict[str, ToolReport]:
    """Fuzz each tool, several at a time, and return the reports."""
    stop = threading.Event()

    def look(target: Target) -> tuple[str, ToolReport]:
        with benches.lend(target.spec) as bench:
            bench.heed(stop.is_set)
            return target.name, _look(bench, target, settings, stop)

    with ThreadPoolExecutor(settings.jobs, "linter") as pool:
        try:
            return dict(pool.map(look, targets))
        except KeyboardInterrupt:
            raise Interrupted("it was stopped before all tools were looked at") from None
        finally:
            stop.set()


def _look(bench: ToolHost, target: Target, settings: Settings, stop: threading.Event) -> ToolReport:
    until = time.monotonic() + settings.time_per_tool
    tool = target.among(bench.tools)[0]
    seed = derive_seed(settings.seed, tool.name)

    def over() -> bool:
        return stop.is_set() or time.monotonic() >= until

    return look_at(bench, tool, seed, settings.calls_per_tool or CALLS, over)


def _alone(found: Mapping[str, Sequence[Described]], settings: Settings) -> list[Target]:
    names = [tool.name for tools in found.values() for tool in tools]
    refuse_unknown_tools(read_descriptions(settings.descriptions), names)
    return [target for target in find_targets(found, settings.only) if len(target.tools) == 1]


def _tool(found: Mapping[str, Sequence[Described]], target: Target) -> Described:
    return target.among(found[target.spec])[0]


def _is_file(spec: str) -> bool:
    """Whether it is a file of definitions that can't be called."""
    return spec.endswith(".json") and not is_server(spec)


def _subject(look: _Look) -> LintSubject:
    module = _read_module(look.tool)
    if look.report is None:
        return LintSubject(look.tool, module)
    certain = tuple(finding for finding in look.report.findings if finding.reproduced)
    return LintSubject(look.tool, module, look.report.refusals, certain, look.report.compared)


def _read_module(tool: Described) -> str:
    """The source of the module of a tool, if it can be read."""
    path = Path(tool.source.file) if tool.source is not None else None
    try:
        if path is None or path.suffix != ".py" or path.stat().st_size > LARGEST_FILE:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
