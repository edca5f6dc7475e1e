"""Every adapter, whatever it adapts, records the same things and keeps the same limits.

A new adapter gets a file `subject_*.py` beside this one, and passes.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from misstep.core.agent import Closing
from misstep.core.outcome import Usage
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.mock import MockWorld
from tests.conformance.subjects import Subject
from tests.conformance.trials import CASE, PATIENCE, TOOLS, WARM_UP, Trial, play
from tests.scripted import Fault, Script, ScriptedServer

HANG = Fault("hang")


def backwards(_: str, tools: list[str]) -> list[str]:
    return tools[::-1]


def test_the_calls_are_recorded_in_order(subject: Subject) -> None:
    with subject.serve(Script(plan=backwards)) as server:
        trial = play(subject, server, Trial())
    assert (trial.broken, trial.answer.ended) == ("", "answered")
    assert trial.called == TOOLS[::-1]
    assert all((call.arguments, call.ran) == ({}, 0) for call in trial.recorder.calls)
    assert all("successfully" in call.result for call in trial.recorder.calls)
    assert "All done." in trial.answer.text


def test_a_right_plan_passes(subject: Subject) -> None:
    plan = [next(a.tool for a in CASE.actions if a.id == action) for action in CASE.witness]
    with subject.serve(Script(plan=lambda *_: plan)) as server:
        assert play(subject, server, Trial()).verdict.verdict == "passed"


def test_doing_nothing_is_an_answer(subject: Subject) -> None:
    with subject.serve(Script(behaviour="idle")) as server:
        trial = play(subject, server, Trial())
    assert (trial.called, trial.answer.ended, trial.verdict.error) == ([], "answered", "lost")


def test_calls_in_parallel_keep_the_order_emitted(subject: Subject) -> None:
    if not subject.parallel:
        pytest.skip(f"{subject.word} makes one call per turn")
    with subject.serve(Script(plan=backwards, behaviour="parallel")) as server:
        trial = play(subject, server, Trial())
    calls = trial.recorder.calls
    assert trial.called == TOOLS[::-1]
    assert all(call.ran >= 0 and "successfully" in call.result for call in calls)
    assert "turns" in subject.hides or len({call.turn for call in calls}) == 1


def test_an_endless_loop_runs_into_the_limit_on_turns(subject: Subject) -> None:
    with subject.serve(Script(behaviour="loop")) as server:
        trial = play(subject, server, Trial(max_steps=3))
        asked = len(server.model_requests)
    assert (trial.broken, trial.answer.ended) == ("", "iterations")
    assert trial.verdict.error == "timeout"
    assert asked <= 5


def test_cases_at_once_don_t_mix(subject: Subject) -> None:
    cases = [make_case(Suite(6, 3, 5), index) for index in range(subject.at_once)]
    with subject.serve(Script(plan=backwards)) as server:
        trials = [Trial(case) for case in cases]
        play(subject, server, *trials)
    for trial in trials:
        assert trial.broken == ""
        assert trial.called == [action.tool for action in trial.case.actions][::-1]


def test_the_wall_clock_is_kept_even_against_a_hung_server(subject: Subject) -> None:
    trial = Trial(timeout=0.3)
    trial.deadline.extend(WARM_UP)
    script = Script(faults=[None, *[HANG] * 20])
    with subject.serve(script) as server, ThreadPoolExecutor(1) as beside:
        needed = beside.submit(trial.shorten, server)
        play(subject, server, trial)
        reported = server.tokens
    assert (trial.broken, trial.answer.ended) == ("", "timeout")
    assert trial.called == TOOLS[:1]
    assert trial.seconds < needed.result() + 1.3
    assert "usage" in subject.hides or trial.recorder.usage == Usage(*reported)


@pytest.mark.parametrize("behaviour", ["malformed", "unknown", "extra arguments"])
def test_bad_calls_are_acts(subject: Subject, behaviour: Any) -> None:
    if behaviour in subject.hides:
        pytest.skip(f"{subject.word} shows such calls to the recording proxy only")
    with subject.serve(Script(behaviour=behaviour)) as server:
        trial = play(subject, server, Trial())
    assert trial.broken == ""
    assert (trial.verdict.verdict, trial.verdict.error, trial.verdict.step) == ("failed", "act", 2)


class Raising(MockWorld):
    def answer(self, name: str, arguments: Any) -> str:
        if name == TOOLS[1]:
            raise RuntimeError("out of order")
        return super().answer(name, arguments)


def test_a_raising_tool_does_not_kill_the_run(subject: Subject) -> None:
    with subject.serve(Script()) as server:
        trial = play(subject, server, Trial(world=Raising(CASE)))
    assert (trial.broken, trial.answer.ended) == ("", "answered")
    assert trial.called == TOOLS
    assert "out of order" in trial.recorder.calls[1].result


@pytest.mark.parametrize("behaviour", ["steps", "loop"])
def test_tokens_are_counted_once(subject: Subject, behaviour: Any) -> None:
    if "usage" in subject.hides:
        pytest.skip(f"{subject.word} shows its tokens to the recording proxy only")
    with subject.serve(Script(behaviour=behaviour)) as server:
        trial = play(subject, server, Trial(max_steps=8))
        reported = server.tokens
    assert reported != (0, 0)
    assert trial.recorder.usage == Usage(*reported)


def test_a_server_that_refuses_is_not_the_agents_failure(subject: Subject) -> None:
    with subject.serve(Script(faults=[Fault("401")] * 30)) as server:
        trial = play(subject, server, Trial(timeout=20))
    assert trial.answer.ended == "error"
    assert trial.verdict.verdict == "errored"
    assert "401" in trial.broken or "API key" in trial.broken


def test_stopping_leaves_nothing_behind(subject: Subject, begotten: Callable[[], set[int]]) -> None:
    async def main(server: ScriptedServer) -> None:
        agent = subject.make(server)
        task = asyncio.create_task(Trial().run(agent))
        assert await asyncio.to_thread(server.wait_for_requests, 2, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        if isinstance(agent, Closing):
            await agent.close()

    with ScriptedServer(Script(faults=[None, *[HANG] * 20])) as server:
        asyncio.run(main(server))
        if "sockets" not in subject.hides:
            assert server.wait_until_idle()
    assert begotten() == set()
