"""Events: what a run reports to its listeners, and the estimate made before it starts."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from misstep.core.outcome import Judgement, Outcome, Usage
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.finding import Finding
from misstep.core.results.fixing import FixReport
from misstep.core.results.fuzzing import ToolReport
from misstep.core.results.summary import Summary
from misstep.core.run import Unit
from misstep.core.spending import Budget, Cost


class Estimate(msgspec.Struct, frozen=True):
    """What `--dry-run --json` prints. `usd` is null if the price of tokens is unknown.

    `basis` says what the estimate is based on: an earlier run with the same agent, or a rule of thumb.
    `affordable` is how many cases the budget is likely to cover. If not `known`, the agent's tokens and time
    are unknown, and the figures are a high guess that only the budget uses.
    """

    cases: int
    calls: int
    tokens: Usage
    usd: float | None
    seconds: float
    basis: str
    affordable: int
    known: bool = True

    @property
    def per_case(self) -> Cost:
        many = max(1, self.cases)
        tokens = self.tokens.input + self.tokens.output
        return Cost((self.usd or 0.0) / many, tokens / many, 0.0, self.calls / many)


class RunStarted(msgspec.Struct, frozen=True, tag="run_started"):
    """The run starts. `total` is 0 if the number of cases is decided on the way; `unit` is what is counted.

    `verdicts` counts the outcomes of earlier sessions of the same run; `estimate` is for what is left.
    """

    run: str
    total: int
    verdicts: Mapping[Judgement, int]
    estimate: Estimate | None = None
    unit: Unit = "case"


class ItemStarted(msgspec.Struct, frozen=True, tag="item_started"):
    """Work on a case, tool, group or task has started. It is for progress displays.

    `origin` is a short name for where a tool is from, if the run has tools of several origins.
    """

    run: str
    name: str
    origin: str = ""


class CaseFinished(msgspec.Struct, frozen=True, tag="case_finished"):
    """An outcome has been stored."""

    run: str
    outcome: Outcome


class FindingMade(msgspec.Struct, frozen=True, tag="finding_made"):
    """A defect of a tool as first found; it has not been confirmed yet.

    `origin` is a short name for where the tool is from, if the run has tools of several origins. `target` is
    the name of the tool, or of several together, that was being tested.
    """

    run: str
    finding: Finding
    origin: str = ""
    target: str = ""


class ToolFinished(msgspec.Struct, frozen=True, tag="tool_finished"):
    """Fuzzing of a tool has finished and its report has been stored."""

    run: str
    report: ToolReport


class SetJudged(msgspec.Struct, frozen=True, tag="set_judged"):
    """A set of paraphrased requests for a tool has been judged and stored."""

    run: str
    tool: str
    set: PromptSet


class ToolChecked(msgspec.Struct, frozen=True, tag="tool_checked"):
    """All sets of requests for a tool have been judged; the report has been stored."""

    run: str
    report: ConsistencyReport


class GroupFinished(msgspec.Struct, frozen=True, tag="group_finished"):
    """All requests for a group of tools have been tried; the result has been stored."""

    run: str
    group: str
    verdict: Judgement


class TaskJudged(msgspec.Struct, frozen=True, tag="task_judged"):
    """A benchmark task has been judged and stored."""

    run: str
    report: TaskReport


class ToolMended(msgspec.Struct, frozen=True, tag="tool_mended"):
    """The search for better descriptions of a tool has finished; the report has been stored."""

    run: str
    report: FixReport


class Spending(msgspec.Struct, frozen=True, tag="spending"):
    """What a run has used so far, over all its sessions, and what it may use.

    It is for progress displays; the summary has the final figures.
    """

    run: str
    used: Cost
    budget: Budget


class RunFinished(msgspec.Struct, frozen=True, tag="run_finished"):
    """The run has finished."""

    run: str
    summary: Summary


class RunStopped(msgspec.Struct, frozen=True, tag="run_stopped"):
    """The run was stopped before it finished, and can be resumed."""

    run: str
    reason: str


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """A message about something that takes a while, such as loading a model."""

    text: str


Event: TypeAlias = (
    RunStarted
    | ItemStarted
    | CaseFinished
    | FindingMade
    | ToolFinished
    | SetJudged
    | ToolChecked
    | GroupFinished
    | TaskJudged
    | ToolMended
    | Spending
    | RunFinished
    | RunStopped
    | Notice
)
Listener: TypeAlias = Callable[[Event], None]
