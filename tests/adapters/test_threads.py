"""Agents out of the user's code can block, spin and break: only the case that does so pays for it."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from misstep.adapters.loading.recognition import PlainAgent
from misstep.adapters.threads import ThreadedAgent
from misstep.core.agent import AGENT_THREAD, Agent, Answer, Assignment, Displaced, Toolbox
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder
from misstep.errors import UsageError
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.mock import MockWorld

CASE = make_case(Suite(0, 3, 3), 0)
TOOL = CASE.actions[0].tool
PATIENCE = 30.0  # for what has to happen some time


class Acting:
    """An agent whose cases do what their request names."""

    name = "acting"

    def __init__(self, **acts: Callable[[Toolbox], Awaitable[Any]]) -> None:
        self._acts = acts

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        return Answer(str(await self._acts[assignment.request](toolbox)))


class Trial:
    """One case by request, tried again whenever it is displaced."""

    def __init__(self, request: str, timeout: float = PATIENCE) -> None:
        self.request = request
        self.timeout = timeout
        self.displaced = 0

    async def run(self, agent: Agent) -> None:
        while True:
            deadline = Deadline(self.timeout)
            self.recorder = Recorder(MockWorld(CASE), deadline, 50)
            try:
                assignment = Assignment(self.request, 0)
                self.answer, self.broken = await attempt(agent, assignment, self.recorder, deadline)
                return
            except Displaced:
                self.displaced += 1


def play(agent: Agent, *trials: Trial) -> None:
    """The trials side by side."""

    async def main() -> None:
        aside = ThreadedAgent(agent)
        try:
            await asyncio.gather(*(trial.run(aside) for trial in trials))
        finally:
            await aside.close()

    asyncio.run(main())


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == AGENT_THREAD]


def all_end(left: list[threading.Thread]) -> bool:
    for thread in left:
        thread.join(PATIENCE)
    return not any(thread.is_alive() for thread in left)


@pytest.fixture(autouse=True)
def released() -> Iterator[threading.Event]:
    """What blocked agents wait for, so that none of them outlives its test."""
    before, event = set(threads()), threading.Event()
    yield event
    event.set()
    assert all_end([thread for thread in threads() if thread not in before])


async def nap(toolbox: Toolbox) -> str:
    toolbox.call(TOOL, {})
    await asyncio.sleep(0.05)
    return "rested"


def test_cases_share_one_loop_that_is_not_ours() -> None:
    async def where(_: Toolbox) -> str:
        await asyncio.sleep(0.01)
        return f"{id(asyncio.get_running_loop())} {threading.current_thread().name}"

    trials = [Trial("where") for _ in range(3)]
    play(Acting(where=where), *trials)
    (place,) = {trial.answer.text for trial in trials}
    assert place.endswith(f" {AGENT_THREAD}")
    assert threading.current_thread().name != AGENT_THREAD


@pytest.mark.full
def test_a_case_that_blocks_for_ever_costs_no_other_its_life(released: threading.Event) -> None:
    async def block(_: Toolbox) -> None:
        await asyncio.sleep(0.1)
        released.wait()

    async def wait_then_nap(toolbox: Toolbox) -> str:
        toolbox.call(TOOL, {})
        await asyncio.sleep(0.5)  # the loop is blocked by then
        return await nap(toolbox)

    hung, innocent = Trial("block", 3), [Trial("nap", 1.5) for _ in range(5)]
    play(Acting(block=block, nap=wait_then_nap), hung, *innocent)
    assert hung.answer == Answer(ended="timeout")
    for trial in innocent:
        assert (trial.answer, trial.broken, trial.displaced) == (Answer("rested"), "", 1)
        assert len(trial.recorder.calls) == 2  # those of the second attempt alone


def test_later_cases_get_a_loop_that_is_free(released: threading.Event) -> None:
    async def block(_: Toolbox) -> None:
        released.wait()

    async def main() -> Trial:
        aside, later = ThreadedAgent(Acting(block=block, nap=nap)), Trial("nap")
        await Trial("block", 0.3).run(aside)
        await later.run(aside)
        await aside.close()
        return later

    later = asyncio.run(main())
    assert (later.answer, later.displaced) == (Answer("rested"), 0)


def test_time_that_a_case_takes_from_the_others_is_not_theirs() -> None:
    async def hog(_: Toolbox) -> str:
        time.sleep(2.5)
        return "done"

    hog_trial, innocent = Trial("hog"), Trial("nap", 1.5)
    play(Acting(hog=hog, nap=nap), hog_trial, innocent)
    assert hog_trial.answer == Answer("done")
    assert (innocent.answer, innocent.displaced) == (Answer("rested"), 0)


def test_a_task_that_a_case_has_begun_is_known_to_be_its_own(released: threading.Event) -> None:
    async def inner() -> None:
        released.wait()

    async def block(_: Toolbox) -> None:
        await asyncio.gather(inner(), asyncio.sleep(0))

    hung, innocent = Trial("block", 2.5), Trial("nap", 1.5)
    play(Acting(block=block, nap=nap), hung, innocent)
    assert hung.answer == Answer(ended="timeout")
    assert innocent.answer == Answer("rested")


def test_what_a_case_has_left_behind_does_not_block_the_others_for_ever(released: threading.Event) -> None:
    kept = list[Any]()

    async def haunt() -> None:
        await asyncio.sleep(0.05)
        released.wait()

    async def leave(_: Toolbox) -> str:
        kept.append(asyncio.create_task(haunt()))
        return "gone"

    async def long_nap(toolbox: Toolbox) -> str:
        await asyncio.sleep(0.3)
        return await nap(toolbox)

    first, other = Trial("leave"), Trial("nap")
    play(Acting(leave=leave, nap=long_nap), first, other)
    assert first.answer == Answer("gone")
    assert (other.answer, other.displaced) == (Answer("rested"), 1)


def test_a_blocked_loop_is_left_though_nobody_knows_who_blocks_it(released: threading.Event) -> None:
    async def block(_: Toolbox) -> None:
        asyncio.get_running_loop().call_soon(released.wait)
        await asyncio.sleep(0)

    hung, other = Trial("block", 0.5), Trial("nap")
    play(Acting(block=block, nap=nap), hung, other)
    assert hung.answer == Answer(ended="timeout")
    assert (other.answer, other.displaced) == (Answer("rested"), 1)


def test_a_case_that_won_t_be_cancelled_displaces_nobody(released: threading.Event) -> None:
    async def stubborn(_: Toolbox) -> None:
        while not released.is_set():
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue

    async def long_nap(toolbox: Toolbox) -> str:
        await asyncio.sleep(1.5)
        released.set()
        return await nap(toolbox)

    hung, other = Trial("stubborn", 0.2), Trial("nap")
    play(Acting(stubborn=stubborn, nap=long_nap), hung, other)
    assert hung.answer == Answer(ended="timeout")
    assert (other.answer, other.displaced) == (Answer("rested"), 0)


async def spin(_: Toolbox) -> None:
    while True:
        pass


def spin_plainly(request: str, tools: list[Any]) -> str:
    while True:
        pass


@pytest.mark.parametrize("agent", [Acting(spin=spin), PlainAgent(spin_plainly, "plain")])
def test_what_turns_for_ever_is_ended(agent: Agent) -> None:
    trial = Trial("spin", 0.3)
    play(agent, trial)
    assert trial.answer == Answer(ended="timeout")
    assert all_end(threads())


class Endless(Exception):
    """Takes for ever to say what is wrong."""

    released = threading.Event()

    def __str__(self) -> str:
        self.released.wait()
        return "late"


def test_an_error_that_won_t_say_what_is_wrong_costs_its_own_case_alone(released: threading.Event) -> None:
    async def fail(_: Toolbox) -> None:
        raise Endless

    Endless.released = released
    trial, other = Trial("fail", 2), Trial("nap")
    play(Acting(fail=fail, nap=nap), trial, other)
    assert trial.answer == Answer(ended="timeout")
    assert other.answer == Answer("rested")


class OfTheirOwn(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError("no"), OfTheirOwn("no"), SystemExit("no"), StopIteration("no")])
def test_an_error_keeps_its_name_and_words(error: BaseException) -> None:
    async def fail(_: Toolbox) -> None:
        raise error

    async def fail_within(_: Toolbox) -> None:
        await asyncio.gather(fail(_))

    trials = Trial("fail"), Trial("nap")
    play(Acting(fail=fail, nap=nap), *trials)
    expected = f"{type(error).__name__}: no" if not isinstance(error, StopIteration) else None
    assert trials[0].broken.partition("\n")[0] == (expected or "RuntimeError: coroutine raised StopIteration")
    assert trials[1].answer == Answer("rested")
    inner = Trial("fail")
    play(Acting(fail=fail_within, nap=nap), inner, Trial("nap"))
    assert inner.answer.ended == "error"


def test_an_agent_that_cancels_itself_has_broken() -> None:
    async def cancel(_: Toolbox) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    trial = Trial("cancel")
    play(Acting(cancel=cancel), trial)
    assert (trial.answer.ended, trial.broken) == ("error", "RuntimeError: the agent cancelled itself")


def test_an_interrupt_of_the_agents_own_making_is_an_error_like_any_other() -> None:
    async def stop(_: Toolbox) -> None:
        raise KeyboardInterrupt

    async def main() -> Trial:
        aside = ThreadedAgent(Acting(stop=stop))
        trial = Trial("stop")
        await trial.run(aside)
        await aside.close()
        return trial

    trial = asyncio.run(main())
    assert (trial.answer.ended, trial.broken.partition("\n")[0]) == ("error", "KeyboardInterrupt: ")


def test_being_stopped_from_outside_stops_what_runs_over_there() -> None:
    ended = threading.Event()

    async def wait(_: Toolbox) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    async def main() -> None:
        aside = ThreadedAgent(Acting(wait=wait))
        task = asyncio.create_task(Trial("wait").run(aside))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()
        await aside.close()

    asyncio.run(main())


def test_the_surroundings_of_a_case_go_with_it() -> None:
    where = contextvars.ContextVar("where", default="nowhere")

    async def look(_: Toolbox) -> str:
        return where.get()

    async def main() -> list[str]:
        aside = ThreadedAgent(Acting(look=look))

        async def one(name: str) -> str:
            where.set(name)
            trial = Trial("look")
            await trial.run(aside)
            return trial.answer.text

        try:
            return await asyncio.gather(one("here"), one("there"))
        finally:
            await aside.close()

    assert asyncio.run(main()) == ["here", "there"]


class Careful(Acting):
    """Has something to prepare and to give back, both of which belong to its loop."""

    def __init__(self) -> None:
        super().__init__(nap=nap)
        self.loops = list[Any]()

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        self.loops.append(asyncio.get_running_loop())
        return await super().run(assignment, toolbox)

    async def prepare(self) -> None:
        self.loops.append(asyncio.get_running_loop())

    async def close(self) -> None:
        self.loops.append(asyncio.get_running_loop())


def test_everything_an_agent_does_is_done_on_the_same_loop() -> None:
    agent = Careful()

    async def main() -> None:
        aside = ThreadedAgent(agent)
        await aside.prepare()
        await Trial("nap").run(aside)
        await aside.close()

    asyncio.run(main())
    assert (len(agent.loops), len(set(agent.loops))) == (3, 1)
    assert agent.loops[0].is_closed()


def test_what_the_user_can_mend_is_told_as_it_is() -> None:
    class Unfit(Careful):
        async def prepare(self) -> None:
            raise UsageError("no key", "set one")

    async def main() -> None:
        aside = ThreadedAgent(Unfit())
        try:
            await aside.prepare()
        finally:
            await aside.close()

    with pytest.raises(UsageError, match="no key"):
        asyncio.run(main())
