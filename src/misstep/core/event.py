"""Events: what a run tells its listeners."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from misstep.core.estimate import Estimate
from misstep.core.outcome import Outcome
from misstep.core.summary import Summary
from misstep.core.verdict import Judgement


class RunStarted(msgspec.Struct, frozen=True, tag="run_started"):
    """`total` is 0 where the campaign decides on the way how many cases there are.

    `verdicts` counts the outcomes of earlier sittings of the same run; `estimate` is for what is left.
    """

    run: str
    total: int
    verdicts: Mapping[Judgement, int]
    estimate: Estimate | None = None


class CaseFinished(msgspec.Struct, frozen=True, tag="case_finished"):
    """An outcome that has been kept."""

    run: str
    outcome: Outcome


class RunFinished(msgspec.Struct, frozen=True, tag="run_finished"):
    run: str
    summary: Summary


class RunStopped(msgspec.Struct, frozen=True, tag="run_stopped"):
    """The run has ended before its end, and can be resumed."""

    run: str
    reason: str


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """A line about what takes a while, such as loading a model."""

    text: str


Event: TypeAlias = RunStarted | CaseFinished | RunFinished | RunStopped | Notice
Listener: TypeAlias = Callable[[Event], None]
