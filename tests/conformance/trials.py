"""One attempt of a subject at a case, as the tests of the suite make it."""

import asyncio
import time
from typing import Any

from misstep.core.agent import Assignment, Closing
from misstep.core.case import Case
from misstep.core.outcome import Transcript, Verdict
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder
from misstep.planning.judging.check import check
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.mock import MockWorld
from tests.conformance.subjects import Subject
from tests.scripted import ScriptedServer

CASE = make_case(Suite(5, 4, 4), 0)
PATIENCE = 180.0  # seconds for a process to start; its trial is over long before
WARM_UP = 20.0  # seconds within which a first call is made even on a busy machine with nothing in its caches
TOOLS = [action.tool for action in CASE.actions]


class Trial:
    """One attempt at a case by a subject, and all that is known about it afterwards."""

    def __init__(
        self, case: Case = CASE, max_steps: int = 20, timeout: float = 60, world: Any = None
    ) -> None:
        self.case = case
        self.deadline = Deadline(timeout)
        self.recorder = Recorder(world or MockWorld(case), self.deadline, max_steps)

    async def run(self, agent: Any) -> "Trial":
        self.began = time.monotonic()
        assignment = Assignment(self.case.query, 0)
        self.answer, self.broken = await attempt(agent, assignment, self.recorder, self.deadline)
        self.seconds = time.monotonic() - self.began
        return self

    def shorten(self, server: ScriptedServer) -> float:
        """Take back what is left of `WARM_UP` as soon as the second reply is waited for: how much was needed."""
        if not server.wait_for_turns(2, PATIENCE):
            return WARM_UP
        needed = min(WARM_UP, time.monotonic() - self.began)
        self.deadline.extend(needed - WARM_UP)
        return needed

    @property
    def called(self) -> list[str]:
        return [call.tool for call in self.recorder.calls]

    @property
    def verdict(self) -> Verdict:
        transcript = Transcript(self.case.id, self.recorder.calls, self.answer.ended, error=self.broken)
        return check(self.case, transcript)


def play(subject: Subject, server: ScriptedServer, *trials: Trial) -> Trial:
    """The trials side by side with one agent; the first of them."""

    async def main() -> None:
        agent = subject.make(server)
        try:
            await asyncio.gather(*(trial.run(agent) for trial in trials))
        finally:
            if isinstance(agent, Closing):
                await agent.close()

    asyncio.run(main())
    return trials[0]
