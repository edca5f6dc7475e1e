"""Compares the documentation of tools with what they do, and lists tools without calling them."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import msgspec

from misstep.adapters.toolset.spec import read_tools, refuse_nameless
from misstep.core.results.descriptions import read_descriptions, refuse_unknown_tools, reworded
from misstep.core.results.fuzzing import ToolReport
from misstep.core.rng import derive_seed
from misstep.core.settings import Settings, ToolRunSettings, ToolSettings
from misstep.core.settings.reading import check_settings
from misstep.core.text import cut
from misstep.core.tool import Described
from misstep.errors import Interrupted, MissingExtra
from misstep.fuzzing.lint.answers import look_at
from misstep.fuzzing.lint.linter import lint
from misstep.fuzzing.lint.subject import LintReport, LintSubject
from misstep.runs.cases import absolute_specs
from misstep.runs.execution import masked
from misstep.runs.setup.workbenches import Target, Workbenches, conditions_of, find_targets
from misstep.store.runs import Store
from misstep.tool_host.host import read_apart, whole_environment
from misstep.tool_host.sandbox.places import is_server


class ToolList(msgspec.Struct, frozen=True):
    """Everything that is known about some tools.

    `skipped` lists tools that were left out and why, `notes` other problems.
    """

    tools: tuple[Described, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def list_tools(specs: Sequence[str], settings: ToolRunSettings | None = None) -> ToolList:
    """The tools that the specs name, in order. Raises a `UsageError` for a spec without tools.

    Code is loaded in another process, which leaves nothing in this one.
    """
    settings = settings or Settings()
    lists = [look_into(spec, settings, beside=True) for spec in specs]
    tools = tuple(tool for each in lists for tool in each.tools)
    refuse_unknown_tools(read_descriptions(settings.descriptions), [tool.name for tool in tools])
    return ToolList(
        tools,
        tuple(note for each in lists for note in each.skipped),
        tuple(note for each in lists for note in each.notes),
    )


def look_into(spec: str, settings: ToolRunSettings, beside: bool = False) -> ToolList:
    """The tools of one spec; with `beside`, also what servers offer besides tools.

    The file of descriptions may also describe tools of other specs.
    """
    refuse_nameless(spec)
    if _is_file(spec):
        skipped, notes = list[str](), list[str]()
        tools = tuple(read_tools(spec, skipped, notes))
        found = ToolList(tools, tuple(skipped), tuple(notes))
    else:
        serves, conditions = is_server(spec), conditions_of(settings)
        # In the sandbox, a server gets the same environment variables as with `tool fuzz`.
        whole = settings.sandbox == "none" or not serves
        environment = whole_environment(serves) if whole else conditions.environment
        conditions = msgspec.structs.replace(conditions, environment=environment, beside=beside)
        loaded = read_apart(spec, conditions)
        found = ToolList(loaded.tools, loaded.skipped, loaded.notes)
    wordings = read_descriptions(settings.descriptions)
    return msgspec.structs.replace(found, tools=tuple(reworded(tool, wordings) for tool in found.tools))


CALLS = 200  # for each tool by default
LARGEST_FILE = 2 << 20  # bytes of a module that is read

# Tools and the results of fuzzing them, by name, and notes.
_Looks: TypeAlias = tuple[dict[str, Described], dict[str, ToolReport], list[str]]


def lint_tools(settings: ToolRunSettings, specs: Sequence[str], run: str = "") -> LintReport:
    """Where the documentation of the tools of these specs and their behaviour disagree.

    Each tool is called `settings.calls_per_tool` times, unless a fuzzing `run` is given whose calls are used
    instead. Nothing is stored.
    """
    settings = check_settings(settings)
    own = absolute_specs(specs)
    tools, reports, notes = _recalled(settings, own, run) if run else _called(settings, own)
    subjects = list[LintSubject]()
    for name, tool in tools.items():
        report = reports.get(name) or ToolReport(name, 0)
        certain = tuple(finding for finding in report.findings if finding.reproduced)
        subjects.append(LintSubject(tool, _read_module(tool), report.refusals, certain, report.compared))
    return masked(LintReport(tuple(lint(subjects)), tuple(dict.fromkeys(notes))))


def _recalled(settings: ToolRunSettings, specs: Sequence[str], run: str) -> _Looks:
    found = {spec: look_into(spec, settings).tools for spec in specs}
    with Store(settings.store) as store:
        reports = {report.name: report for report in store.tool_reports(store.find_run(run).id)}
    tools = {target.name: target.among(found[target.spec])[0] for target in _alone(found, settings)}
    return tools, reports, [f"{name}: run {run} has no data on it" for name in tools if name not in reports]


def _called(settings: ToolRunSettings, specs: Sequence[str]) -> _Looks:
    """The tools with the results of calling them; those that can't be called are only read."""
    with Workbenches(settings) as benches:
        found: dict[str, Sequence[Described]] = {}
        for spec in specs:
            found[spec] = look_into(spec, settings).tools if _is_file(spec) else benches.tools_of(spec)
        targets = _alone(found, settings)
        tools = {target.name: target.among(found[target.spec])[0] for target in targets}
        lively = [target for target in targets if tools[target.name].kind != "definition"]
        if lively and find_spec("hypothesis") is None:
            raise MissingExtra("Hypothesis", "fuzz")
        reports = _looked_at(benches, settings, lively)
    notes = [f"{name}: {cut(report.notes[0], 200)}" for name, report in reports.items() if report.notes]
    return tools, reports, notes


def _looked_at(
    benches: Workbenches, settings: ToolRunSettings, targets: Sequence[Target]
) -> dict[str, ToolReport]:
    stop = threading.Event()

    def look(target: Target) -> tuple[str, ToolReport]:
        with benches.lend(target.spec) as bench:
            bench.heed(stop.is_set)
            tool, until = target.among(bench.tools)[0], time.monotonic() + settings.tool_seconds
            seed, most = derive_seed(settings.seed, tool.name), settings.calls_per_tool or CALLS
            report = look_at(bench, tool, seed, most, lambda: stop.is_set() or time.monotonic() >= until)
            return target.name, report

    with ThreadPoolExecutor(settings.jobs, "linter") as pool:
        try:
            return dict(pool.map(look, targets))
        except KeyboardInterrupt:
            raise Interrupted("it stopped before all tools were checked") from None
        finally:
            stop.set()


def _alone(found: Mapping[str, Sequence[Described]], settings: ToolSettings) -> list[Target]:
    names = [tool.name for tools in found.values() for tool in tools]
    refuse_unknown_tools(read_descriptions(settings.descriptions), names)
    return [target for target in find_targets(found, settings.only) if len(target.tools) == 1]


def _is_file(spec: str) -> bool:
    """Whether it is a file of definitions that can't be called."""
    return spec.endswith(".json") and not is_server(spec)


def _read_module(tool: Described) -> str:
    path = Path(tool.source.file) if tool.source is not None else None
    try:
        if path is None or path.suffix != ".py" or path.stat().st_size > LARGEST_FILE:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
