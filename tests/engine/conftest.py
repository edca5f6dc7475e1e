"""Recorders for tests that need no clock."""

from misstep.core.case import Case
from misstep.engine.recorder import Deadline, Recorder
from misstep.planning.world.mock import MockWorld


def record(case: Case, max_steps: int = 50) -> Recorder:
    return Recorder(MockWorld(case), Deadline(60), max_steps, clock=lambda: 0.0)
