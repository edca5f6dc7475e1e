"""The events of a stored run, told once more."""

from collections.abc import Iterator

from misstep.api.runs import view_run
from misstep.core.benchmark import TaskReport
from misstep.core.consistency import ConsistencyReport
from misstep.core.crosstalk import GroupReport
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
from misstep.core.finding import ToolReport
from misstep.core.fixing import FixReport
from misstep.core.settings import Settings
from misstep.store.runs import Run, Store


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
