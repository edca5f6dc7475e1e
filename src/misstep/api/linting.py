"""Documentation of tools, held against what the tools do."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from misstep.api.fuzzing import view_fuzzing
from misstep.api.masking import masked
from misstep.api.places import lasting_specs
from misstep.api.targets import Target, find_targets
from misstep.api.tools import look_into
from misstep.api.workbenches import Workbenches
from misstep.core.descriptions import read_descriptions, refuse_strangers
from misstep.core.dice import derive_seed
from misstep.core.finding import ToolReport
from misstep.core.remark import LintReport
from misstep.core.settings import Settings, check_settings
from misstep.core.tool import Described
from misstep.core.words import cut
from misstep.errors import Interrupted
from misstep.tool_host.process import Process
from misstep.tool_host.sandbox.places import is_server
from misstep.tooling.lint.calls.looking import look_at
from misstep.tooling.lint.linter import lint
from misstep.tooling.lint.subject import Subject

CALLS = 200  # of each tool, unless somebody says otherwise
LARGEST_FILE = 2 << 20  # bytes of a module that is read


class _Look(msgspec.Struct, frozen=True):
    """A tool, where it was found, and what fuzzing it came to if it could be called."""

    spec: str
    tool: Described
    report: ToolReport | None = None


def lint_tools(settings: Settings, specs: Sequence[str], run: str = "") -> LintReport:
    """Where what an agent is told about the tools of these specs and what they do part ways.

    They are called for evidence, `settings.calls_per_tool` times each, unless a `run` of the fuzzer has some
    already. Nothing is stored.
    """
    settings = check_settings(settings)
    own = lasting_specs(specs)
    if run:
        looks, notes = _recalled(settings, own, run)
    else:
        looks, notes = _called(settings, own)
    subjects = [_subject(look) for look in looks]
    return masked(LintReport(tuple(lint(subjects)), tuple(dict.fromkeys(notes))))


def _recalled(settings: Settings, specs: Sequence[str], run: str) -> tuple[list[_Look], list[str]]:
    """The tools as they are now, with what an earlier run has found."""
    found = {spec: look_into(spec, settings).tools for spec in specs}
    reports = {report.name: report for report in view_fuzzing(settings, run).tools}
    targets = _alone(found, settings)
    strange = [target.name for target in targets if target.name not in reports]
    notes = [f"{name}: run {run} knows nothing of it" for name in strange]
    return [_Look(each.spec, _tool(found, each), reports.get(each.name)) for each in targets], notes


def _called(settings: Settings, specs: Sequence[str]) -> tuple[list[_Look], list[str]]:
    """The tools with what comes of calling them; those that can't be called are only read."""
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
    """What calls of each tool came to, of several tools side by side."""
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


def _look(bench: Process, target: Target, settings: Settings, stop: threading.Event) -> ToolReport:
    until = time.monotonic() + settings.time_per_tool
    tool = target.among(bench.tools)[0]
    seed = derive_seed(settings.seed, tool.name)

    def over() -> bool:
        return stop.is_set() or time.monotonic() >= until

    return look_at(bench, tool, seed, settings.calls_per_tool or CALLS, over)


def _alone(found: Mapping[str, Sequence[Described]], settings: Settings) -> list[Target]:
    names = [tool.name for tools in found.values() for tool in tools]
    refuse_strangers(read_descriptions(settings.descriptions), names)
    return [target for target in find_targets(found, settings.only) if len(target.tools) == 1]


def _tool(found: Mapping[str, Sequence[Described]], target: Target) -> Described:
    return target.among(found[target.spec])[0]


def _is_file(spec: str) -> bool:
    """Whether it holds definitions that nobody can call."""
    return spec.endswith(".json") and not is_server(spec)


def _subject(look: _Look) -> Subject:
    module = _read_module(look.tool)
    if look.report is None:
        return Subject(look.tool, module)
    certain = tuple(finding for finding in look.report.findings if finding.reproduced)
    return Subject(look.tool, module, look.report.refusals, certain, look.report.compared)


def _read_module(tool: Described) -> str:
    """The text of the file that a tool stands in, as far as there is one that can be read."""
    path = Path(tool.source.file) if tool.source is not None else None
    try:
        if path is None or path.suffix != ".py" or path.stat().st_size > LARGEST_FILE:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
