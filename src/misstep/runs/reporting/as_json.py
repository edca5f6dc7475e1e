"""A stored run as the object that `--json` prints.

The events of a stored run, told once more.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from misstep.core.event import (
    CaseFinished,
    Event,
    GroupFinished,
    RunFinished,
    RunStarted,
    TaskJudged,
    ToolChecked,
    ToolFinished,
    ToolMended,
    Unit,
)
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport
from misstep.core.results.crosstalk import GroupReport
from misstep.core.results.finding import ToolReport
from misstep.core.results.fixing import FixReport
from misstep.core.settings import Settings
from misstep.features.bench.run import view_benchmark
from misstep.features.bench.view import benchmark_as_json
from misstep.features.capability.run import view_capability
from misstep.features.consistency.run import view_consistency
from misstep.features.consistency.view import consistency_as_json
from misstep.features.crosstalk.run import view_crosstalk
from misstep.features.crosstalk.view import crosstalk_as_json
from misstep.features.dissect.run import view_dissection
from misstep.features.fix.apply import diffs_of, override_of
from misstep.features.fix.run import view_fixing
from misstep.features.fix.view import fix_as_json
from misstep.features.shrink.run import view_reduction
from misstep.features.tool_fuzz.run import view_fuzzing
from misstep.features.tool_fuzz.view import as_json
from misstep.runs.lookup import view_run
from misstep.store.runs import Run, Store


def run_as_json(settings: Settings, name: str) -> dict[str, Any]:
    view = view_run(settings, name, 0)
    run = view.run.id
    match view.run.purpose.verb:
        case "fuzz":
            return as_json(view_fuzzing(settings, run))
        case "consistency":
            return consistency_as_json(view_consistency(settings, run))
        case "crosstalk":
            return crosstalk_as_json(view_crosstalk(settings, run))
        case "fix":
            fixed = view_fixing(settings, run)
            return fix_as_json(fixed, diffs_of(fixed), override_of(fixed))
        case "files" | "forge":
            return benchmark_as_json(view_benchmark(settings, run))
        case "capability":
            found: msgspec.Struct = view_capability(settings, run)
        case "dissect":
            found = view_dissection(settings, run)
        case "shrink":
            found = view_reduction(settings, run) or view.summary
        case "test" | "paper":
            found = view.summary
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain


def retell(settings: Settings, name: str, unit: Unit) -> Iterator[Event]:
    """As a listener would have heard them, had there been one sitting; a few in memory at a time."""
    view = view_run(settings, name, 0)
    run = view.run
    yield RunStarted(run.id, run.total, {}, unit=unit)
    with Store(settings.store) as store:
        yield from _news(store, run)
    if run.summary:
        yield RunFinished(run.id, run.summary)


def _news(store: Store, run: Run) -> Iterator[Event]:
    match run.purpose.verb:
        case "fuzz":
            for tool in store.tool_documents(run.id, ToolReport):
                yield ToolFinished(run.id, tool)
        case "consistency":
            for checked in store.tool_documents(run.id, ConsistencyReport):
                yield ToolChecked(run.id, checked)
        case "crosstalk":
            for group in store.tool_documents(run.id, GroupReport):
                yield GroupFinished(run.id, group.name, group.verdict)
        case "fix":
            for mended in store.tool_documents(run.id, FixReport):
                yield ToolMended(run.id, mended)
        case "files" | "forge":
            for task in store.tool_documents(run.id, TaskReport):
                yield TaskJudged(run.id, task)
        case "test" | "paper" | "capability" | "dissect" | "shrink":
            for outcome in store.outcomes(run.id):
                yield CaseFinished(run.id, outcome)
