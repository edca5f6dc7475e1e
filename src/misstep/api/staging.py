"""What came of each call of a case, for whoever draws it."""

from collections.abc import Sequence

from misstep.core.case import Case
from misstep.core.transcript import Call
from misstep.planning.world.simulator import Simulator, StepResult
from misstep.report.web.detail import Move


def moves_of(case: Case, calls: Sequence[Call]) -> list[Move]:
    """One for each call, as the judge sees them: in the order in which they were asked for."""
    stage, moves = Simulator(case), list[Move]()
    for call in calls:
        if call.ran >= 0:
            scene = stage.play(call.tool, call.arguments)
            moves.append(_move(scene, stage.history.attempt, timed=case.world.day is not None))
        else:
            stage.skip(call.tool, call.arguments)
            moves.append(Move("never", stage.history.attempt))
    return moves


def _move(scene: StepResult, attempt: int, timed: bool) -> Move:
    deed = scene.deed
    if deed is None:
        return Move(scene.kind, attempt)
    return Move(scene.kind, attempt, deed.action, *((deed.start, deed.end) if timed else ()))
