"""Agents out of the user's code, kept away from our own event loop."""

import asyncio
from contextlib import ExitStack
from inspect import iscoroutinefunction
from typing import Any

from misstep.adapters.loop_thread import TICK, LoopTask, LoopThread, Work
from misstep.core.agent import Agent, Answer, Assignment, Closing, Meter, Preparing, Toolbox
from misstep.core.surroundings import APART, protected, take_changes

TIDYING = 0.4  # seconds to let go when it is cancelled; whoever cancels waits hardly longer


class ThreadedAgent:
    """Runs an agent on a loop in a thread of its own, all its cases on the same one.

    Time that one case takes from the others by blocking that loop is not theirs. If it is still blocked when
    the time of that case is up, it is left behind: later cases go to another one, those that were on it are
    `Displaced`.
    """

    def __init__(self, agent: Agent, name: str = "") -> None:
        self.name = name or agent.name
        self._agent = agent
        self._stage: LoopThread | None = None
        self._watch: asyncio.Task[None] | None = None
        self._shelter = ExitStack()
        self._is_sheltered = False

    async def prepare(self) -> None:
        if isinstance(self._agent, Preparing) and iscoroutinefunction(self._agent.prepare):
            await self._perform(self._agent.prepare)

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        answer: Answer = await self._perform(lambda: _run(self._agent, assignment, toolbox), toolbox)
        return answer

    async def close(self) -> None:
        try:
            if isinstance(self._agent, Closing) and iscoroutinefunction(self._agent.close):
                await self._perform(self._agent.close)
        finally:
            if self._watch:
                self._watch.cancel()
            stage, self._stage = self._stage, None
            if stage:
                await stage.close()
            self._shelter.close()
            self._is_sheltered = False

    async def _perform(self, work: Work, meter: Meter | None = None) -> Any:
        if self._stage is None and not self._is_sheltered:
            self._shelter.enter_context(protected())
            self._is_sheltered = True
        stage = self._stage = self._stage or LoopThread()
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._keep_watch())
        guest = stage.admit(work, meter)
        try:
            return await asyncio.shield(guest.done)
        except asyncio.CancelledError:
            if not guest.done.done():  # or it is the agent that has cancelled itself
                await self._let_go(stage, guest)
            raise
        finally:
            stage.guests.discard(guest)

    async def _let_go(self, stage: LoopThread, guest: LoopTask) -> None:
        stage.cancel(guest)
        await asyncio.wait([guest.done], timeout=TIDYING)
        if not guest.done.done() and stage.give_up(guest):
            self._leave(stage)

    def _leave(self, stage: LoopThread) -> None:
        if self._stage is stage:
            self._stage = None
        stage.leave()

    async def _keep_watch(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            if self._stage:
                self._stage.look()
                if self._stage.is_haunted:
                    self._leave(self._stage)


async def _run(agent: Agent, assignment: Assignment, toolbox: Toolbox) -> Answer:
    """What the agent answers; an error where it has changed the interpreter under us."""
    try:
        return await agent.run(assignment, toolbox)
    finally:
        if changes := take_changes():
            raise RuntimeError(f"the agent replaced or closed {', '.join(changes[:5])}; {APART}")
