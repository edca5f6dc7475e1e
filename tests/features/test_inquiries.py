"""Runs that ask by what they have heard: capability, dissection, shrinking. Cut short, they end the same."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep.core.event import CaseFinished, Event
from misstep.core.results.capability import Capability
from misstep.core.results.diagnosis import Dissection, Reduction
from misstep.core.settings import Settings, Span
from misstep.errors import BudgetExceeded, UsageError
from misstep.features.capability.run import measure_capability, resume_capability, view_capability
from misstep.features.dissect.run import dissect, resume_dissection, view_dissection
from misstep.features.plan_test.run import resume_run, run_agent
from misstep.features.shrink.run import resume_shrinking, shrink_case, view_reduction
from misstep.runs.cases import synthesise
from misstep.store.runs import Store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(agent="sim:terminal", agent_args={"phrase": "prior to"}, store=str(tmp_path / "store.db"))


def run_tests(settings: Settings, **changes: Any) -> str:
    return run_agent(settings.overlay({"actions": Span(3, 5), "count": 200, **changes})).run


def first_failure(settings: Settings, run: str) -> str:
    with Store(settings.store) as store:
        return next(store.outcomes(run, "failed")).case.id


CURVE = {"agent": "sim:greedy", "agent_args": {}, "actions": Span(2, 6), "per_pair": 4, "most_cases": 40}


def test_a_curve_has_the_cases_of_the_design(settings: Settings) -> None:
    curve = measure_capability(settings.overlay({**CURVE, "full": True}))
    assert [(point.actions, point.cases) for point in curve.curve] == [
        (2, 4),
        (3, 12),
        (4, 24),
        (5, 40),
        (6, 40),
    ]
    with Store(settings.store) as store:
        sizes = [len(each.case.actions) for each in store.outcomes(curve.run)]
        run = store.find_run(curve.run)
    assert [sizes.count(size) for size in range(2, 7)] == [4, 12, 24, 40, 40]
    assert (run.purpose.verb, run.total, run.done) == ("capability", 0, 120)
    assert view_capability(settings, curve.run) == curve


def test_a_curve_ends_under_the_threshold(settings: Settings) -> None:
    curve = measure_capability(settings.overlay({**CURVE, "per_pair": 20, "threshold": 0.95}))
    assert [point.actions for point in curve.curve] == [2, 3]
    assert (curve.limit, curve.reached) == (2, True)


def test_two_agents_get_the_same_cases(settings: Settings) -> None:
    def ids(agent: str, **changes: Any) -> set[str]:
        run = measure_capability(settings.overlay({**CURVE, "agent": agent, **changes})).run
        with Store(settings.store) as store:
            return {each.case.id for each in store.outcomes(run)}

    assert ids("sim:perfect") == ids("sim:greedy", full=True) != ids("sim:perfect", seed=5)
    assert ids("sim:greedy", adaptive=True, width=2.0) & ids("sim:perfect")


@pytest.mark.parametrize("vain", [{"cases": "x.jsonl"}, {"count": 5}, {"exhaustive": True}])
def test_what_a_curve_can_t_take(settings: Settings, vain: dict[str, Any]) -> None:
    (name,) = vain
    with pytest.raises(UsageError, match=f"{name} does not apply to plan capability"):
        measure_capability(settings.overlay({**CURVE, **vain}))


@pytest.mark.full
@pytest.mark.parametrize("method", ["sequential", "pdoctor"])
def test_causes_of_a_sample(settings: Settings, method: str) -> None:
    run = run_tests(settings)
    found = dissect(settings.overlay({"method": method, "sample": 4, "seed": 3}), run)
    assert (found.of, found.method, len(found.failures)) == (run, method, 4)
    assert found.causes["terminal"] == 4
    assert method == "pdoctor" or all("prior to" in each.guilty for each in found.failures)
    with Store(settings.store) as store:
        own, parent = store.find_run(found.run), store.find_run(run)
        failed = [each.case.id for each in store.outcomes(run, "failed")]
        assert (own.purpose.verb, own.purpose.run) == ("dissect", run)
        assert own.settings.agent_args == parent.settings.agent_args
        assert own.done == sum(each.agent_runs for each in found.failures)
        assert {*own.purpose.cases} <= {*failed}
    assert view_dissection(settings, found.run) == found
    other = dissect(settings.overlay({"method": method, "sample": 4, "seed": 4}), run)
    assert [each.case for each in other.failures] != [each.case for each in found.failures]


def test_the_sample_is_the_same_however_outcomes_arrived(settings: Settings) -> None:
    chosen = settings.overlay({"method": "pdoctor", "mutations": 1, "sample": 5})
    samples = [
        [each.case for each in dissect(chosen, run_tests(settings, jobs=jobs)).failures] for jobs in (1, 7)
    ]
    assert samples[0] == samples[1]


def test_causes_of_named_cases_and_of_a_run_without_failures(settings: Settings) -> None:
    run = run_tests(settings)
    name = first_failure(settings, run)
    found = dissect(settings, run, [name[:8]])
    assert [each.case for each in found.failures] == [name]
    assert [each.case for each in dissect(settings.overlay({"sample": 1}), run, [name, name]).failures] == [
        name
    ]
    with pytest.raises(UsageError, match="no case 'nothing'"):
        dissect(settings, run, ["nothing"])
    with Store(settings.store) as store:
        passed = next(store.outcomes(run, "passed")).case.id
    with pytest.raises(UsageError, match="has not failed: it is passed"):
        dissect(settings, run, [passed])
    faultless = run_tests(settings, agent="sim:perfect", agent_args={}, count=10)
    nothing = dissect(settings, faultless)
    assert (nothing.run, nothing.failures) == ("", ())


def test_only_failures_within_the_capability_are_looked_into(settings: Settings) -> None:
    curve = measure_capability(settings.overlay({**CURVE, "full": True, "threshold": 0.5}))
    assert curve.limit is not None
    assert curve.limit < 6
    found = dissect(settings.overlay({"method": "pdoctor", "mutations": 1}), curve.run)
    with Store(settings.store) as store:
        sizes = [len(store.find_outcome(curve.run, each.case).case.actions) for each in found.failures]
        wanted = [o for o in store.outcomes(curve.run, "failed") if len(o.case.actions) <= curve.limit]
    assert len(sizes) == len(wanted) == sum(curve.errors.values())
    assert max(sizes) <= curve.limit


def test_a_case_is_shrunk(settings: Settings) -> None:
    run = run_tests(settings)
    name = first_failure(settings, run)
    shrunk, found = shrink_case(settings, run, name)
    assert found.outcome is not None
    assert (found.after.actions, found.after.sentences, found.after.constraints) == (2, 1, 1)
    assert found.minimal
    assert "prior to" in found.case.query
    with Store(settings.store) as store:
        assert store.find_run(shrunk).purpose.cases == (name,)
        kept = store.find_outcome(shrunk, found.outcome.case.id)
    assert kept == found.outcome
    assert view_reduction(settings, shrunk) == found


def test_what_has_not_failed_is_not_shrunk(settings: Settings) -> None:
    run = run_tests(settings)
    with Store(settings.store) as store:
        passed = next(store.outcomes(run, "passed")).case.id
    with pytest.raises(UsageError, match="has not failed: it is passed"):
        shrink_case(settings, run, passed)


def test_a_run_is_resumed_by_its_own_command(settings: Settings) -> None:
    with pytest.raises(BudgetExceeded, match="misstep plan capability --resume"):
        measure_capability(settings.overlay({**CURVE, "budget_calls": 40}))
    stopped = settings.overlay({"resume": "last"})
    for wrong in (resume_run, resume_dissection, resume_shrinking):
        with pytest.raises(UsageError, match=r"is not from plan \w+, but from plan capability"):
            wrong(stopped)
    measured = resume_capability(stopped.overlay({"budget_calls": 10**6}))
    assert measured.curve
    assert resume_capability(stopped) == measured  # it has finished


Result = Capability | Dissection | Reduction


def whole(verb: str, settings: Settings, run: str) -> Result:
    if verb == "capability":
        return measure_capability(settings.overlay(CURVE))
    if verb == "adaptive":
        return measure_capability(settings.overlay({**CURVE, "adaptive": True, "width": 1.0}))
    if verb == "shrink":
        return shrink_case(settings, run, first_failure(settings, run))[1]
    return dissect(settings.overlay({"method": verb, "sample": 4}), run)


def rest(verb: str, settings: Settings) -> Result:
    stopped = settings.overlay({"resume": "last", "budget_calls": 10**6})
    if verb in ("capability", "adaptive"):
        return resume_capability(stopped)
    return resume_shrinking(stopped)[1] if verb == "shrink" else resume_dissection(stopped)


def content(result: Result) -> object:
    """Without the name of the run, and how long anything took."""
    if isinstance(result, Reduction):
        assert result.outcome
        return msgspec.structs.replace(result, outcome=None), result.outcome.verdict
    return msgspec.structs.replace(result, run="")


@pytest.mark.full(after=1)
@pytest.mark.parametrize("verb", ["capability", "adaptive", "sequential", "pdoctor", "shrink"])
def test_cut_short_it_ends_like_one_that_was_not(settings: Settings, verb: str) -> None:
    run = run_tests(settings)
    expected = content(whole(verb, settings, run))
    with Store(settings.store) as store:
        calls = sum(len(each.transcript.calls) for each in store.outcomes(store.find_run("last").id))
    for share in (0.2, 0.5, 0.9):
        with pytest.raises(BudgetExceeded):
            whole(verb, settings.overlay({"budget_calls": max(1, round(calls * share))}), run)
        assert content(rest(verb, settings)) == expected


KILLED = """
import sys
from misstep.features.dissect.run import dissect
from misstep.core.settings import Settings

print("here", flush=True)
dissect(Settings(store=sys.argv[1], sample=12), sys.argv[2])
"""


@pytest.mark.full
def test_killed_at_any_moment_it_goes_on(settings: Settings) -> None:
    run = run_tests(settings)
    expected = content(dissect(settings.overlay({"sample": 12}), run))
    cut_short = 0
    for delay in (0.0, 0.3, 0.8):
        before = _newest(settings)
        command = [sys.executable, "-c", KILLED, settings.store, run]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            _wait_for(lambda: _newest(settings) != before, process)  # noqa: B023
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        with Store(settings.store) as store:
            finished = store.find_run("last").summary is not None
        if not finished:
            cut_short += 1
            assert content(rest("sequential", settings)) == expected
    assert cut_short


def _newest(settings: Settings) -> str:
    with Store(settings.store) as store:
        return store.find_run("last").id


def _wait_for(happened: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    while not happened() and process.poll() is None:
        time.sleep(0.01)


def foreign(settings: Settings, folder: Path) -> str:
    """A run on a case in somebody else's words, which the agent fails."""
    (case,) = synthesise(settings.overlay({"actions": Span(3, 3), "count": 1}))
    case = msgspec.structs.replace(case, query=f"Please! {case.query}", skeleton="").identified()
    path = folder / "cases.jsonl"
    path.write_bytes(msgspec.json.encode(case) + b"\n")
    chosen = {"cases": str(path), "agent": "sim:idle", "agent_args": {}, "actions": Span(3, 5), "count": None}
    return run_agent(settings.overlay(chosen)).run


def test_what_is_not_in_our_words_is_left_undetermined_and_never_shrunk(
    settings: Settings, tmp_path: Path
) -> None:
    run = foreign(settings, tmp_path)
    (diagnosis,) = dissect(settings, run).failures
    assert (diagnosis.cause, diagnosis.agent_runs) == ("undetermined", 0)
    assert "can't be taken apart" in diagnosis.evidence
    with Store(settings.store) as store:
        before = len(store.list_runs())
    with pytest.raises(UsageError, match="can't be taken apart"):
        shrink_case(settings, run, diagnosis.case)
    with Store(settings.store) as store:
        assert len(store.list_runs()) == before  # no run that nobody could ever finish


def test_a_curve_of_an_agent_that_is_never_judged(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def agent(request, tools):\n    raise RuntimeError('no')\n")
    broken = settings.overlay({**CURVE, "agent": f"{tmp_path / 'broken.py'}:agent"})
    for more in ({}, {"adaptive": True}):
        curve = measure_capability(broken.overlay(more))
        assert (curve.limit, curve.reached, curve.half) == (None, False, None)
        assert all(point.success is None for point in curve.curve)


def test_listeners_hear_of_every_run_of_the_agent(settings: Settings) -> None:
    run, events = run_tests(settings), list[Event]()
    found = dissect(settings.overlay({"sample": 3}), run, (), events.append)
    assert sum(isinstance(event, CaseFinished) for event in events) == sum(
        e.agent_runs for e in found.failures
    )
