"""Events: what a run tells its listeners.

What a run is expected to come to before it starts.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from misstep.core.outcome import Judgement, Outcome, Usage
from misstep.core.results.benchmark import TaskReport
from misstep.core.results.consistency import ConsistencyReport, PromptSet
from misstep.core.results.finding import Finding, ToolReport
from misstep.core.results.fixing import FixReport
from misstep.core.results.summary import Summary
from misstep.core.run import Unit
from misstep.core.spending import Budget, Cost


class Estimate(msgspec.Struct, frozen=True):
    """What `--dry-run --json` prints. `usd` is null where nobody has said what the tokens cost.

    `basis` says what it rests on: an earlier run with the same agent, or a rule of thumb. `affordable` is how
    many of the cases the budget is likely to last for. Unless it is `known`, nothing is known of the agent's
    tokens and time, and the figures are an upper guess that only the budget goes by.
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
    """`total` is 0 where the campaign decides on the way how many cases there are; `unit` is what is counted.

    `verdicts` counts the outcomes of earlier sittings of the same run; `estimate` is for what is left.
    """

    run: str
    total: int
    verdicts: Mapping[Judgement, int]
    estimate: Estimate | None = None
    unit: Unit = "case"


class CaseFinished(msgspec.Struct, frozen=True, tag="case_finished"):
    """An outcome that has been kept."""

    run: str
    outcome: Outcome


class FindingMade(msgspec.Struct, frozen=True, tag="finding_made"):
    """A defect of a tool, as it was found first; it has still to be confirmed."""

    run: str
    finding: Finding


class ToolFinished(msgspec.Struct, frozen=True, tag="tool_finished"):
    """What fuzzing a tool came to; it has been kept."""

    run: str
    report: ToolReport


class SetJudged(msgspec.Struct, frozen=True, tag="set_judged"):
    """The verdict on requests that mean the same, put to an agent that has the tool; it has been kept."""

    run: str
    tool: str
    set: PromptSet


class ToolChecked(msgspec.Struct, frozen=True, tag="tool_checked"):
    """What all sets of requests for a tool came to; it has been kept."""

    run: str
    report: ConsistencyReport


class GroupFinished(msgspec.Struct, frozen=True, tag="group_finished"):
    """What the requests for a group of tools came to; it has been kept."""

    run: str
    group: str
    verdict: Judgement


class TaskJudged(msgspec.Struct, frozen=True, tag="task_judged"):
    """What came of a task of a benchmark; it has been kept."""

    run: str
    report: TaskReport


class ToolMended(msgspec.Struct, frozen=True, tag="tool_mended"):
    """What the search for better words about a tool came to; it has been kept."""

    run: str
    report: FixReport


class Spending(msgspec.Struct, frozen=True, tag="spending"):
    """What a run has used so far, over all its sittings, and what it may use.

    It is for whoever watches: of a run that is over, the summary says it.
    """

    run: str
    used: Cost
    budget: Budget


class RunFinished(msgspec.Struct, frozen=True, tag="run_finished"):
    """The run has come to its end."""

    run: str
    summary: Summary


class RunStopped(msgspec.Struct, frozen=True, tag="run_stopped"):
    """The run has ended before its end, and can be resumed."""

    run: str
    reason: str


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """A line about what takes a while, such as loading a model."""

    text: str


Event: TypeAlias = (
    RunStarted
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
