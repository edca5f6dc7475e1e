"""Events: what a run tells its listeners."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from misstep.core.outcome import Outcome
from misstep.core.summary import Summary


class RunStarted(msgspec.Struct, frozen=True, tag="run_started"):
    """`finished` outcomes stem from an earlier sitting of the same run."""

    run: str
    total: int
    finished: int


class CaseFinished(msgspec.Struct, frozen=True, tag="case_finished"):
    run: str
    outcome: Outcome


class RunFinished(msgspec.Struct, frozen=True, tag="run_finished"):
    run: str
    summary: Summary


Event: TypeAlias = RunStarted | CaseFinished | RunFinished
Listener: TypeAlias = Callable[[Event], None]
