"""Cases on a Ray cluster: the outcomes are those of a local run, whatever is lost on the way."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from misstep.core.case import Case
from misstep.core.outcome import Outcome, Usage
from misstep.core.spending import UNCOUNTED, Account, Spent
from misstep.engine.ray.worker import MakeWorker, error_of, failure_of
from misstep.engine.ray.worker_pool import RayWorkerPool, WorkerSlots
from misstep.errors import MissingExtra, MisstepError, UsageError
from misstep.models.throttle import Throttles
from misstep.planning.simulated.planners import simulated_agent
from misstep.planning.synthesis.suite import Suite, make_case
from tests.clusters import ray_cluster, with_two_nodes
from tests.engine.ray import cluster_agents as agents
from tests.engine.ray.cluster_agents import Diary, end_process
from tests.engine.ray.cluster_server import CountingServer, Crowd, answer, refusal
from tests.scripted.wire import Reply

CASES = [make_case(Suite(0, 3, 4), index) for index in range(40)]
LIMIT = 90.0  # seconds after which a test that waits for what never comes has failed


class Tab:
    """An account that can be read."""

    def __init__(self, heard: Callable[[], None] = lambda: None) -> None:
        self.spent = Spent()
        self._heard = heard

    def spend(self, role: str, usage: Usage) -> None:
        self.spent += Spent({role: usage})
        self._heard()

    def call(self) -> None:
        self.spent += Spent(calls=1)


def run(main: Awaitable[Any]) -> Any:
    async def limited() -> Any:
        async with asyncio.timeout(LIMIT):
            return await main

    return asyncio.run(limited())


async def carry_out(
    crew: RayWorkerPool, cases: Sequence[Case], jobs: int, account: Account = UNCOUNTED
) -> list[Outcome]:
    """The outcomes in the order of the cases, with so many in flight."""
    room = asyncio.Semaphore(jobs)

    async def one(case: Case) -> Outcome:
        async with room:
            return await crew.execute(case, account)

    return await asyncio.gather(*[one(case) for case in cases])


def locally(cases: Sequence[Case]) -> list[Outcome]:
    async def main() -> list[Outcome]:
        agent = simulated_agent("random", {})
        return [await agents.execute(agent, case, UNCOUNTED) for case in cases]

    return asyncio.run(main())


def same(one: Sequence[Outcome], other: Sequence[Outcome]) -> bool:
    """Whether agents did the same and got the same for it; what it took to get there is left out."""

    def essence(outcome: Outcome) -> Any:
        return outcome.case, outcome.transcript.calls, outcome.transcript.ended, outcome.verdict

    return [essence(outcome) for outcome in one] == [essence(outcome) for outcome in other]


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    with ray_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(head: Any) -> Any:
    return with_two_nodes(head)


@asynccontextmanager
async def crew_on(
    cluster: Any, make: MakeWorker, jobs: int = 8
) -> AsyncIterator[tuple[RayWorkerPool, list[str]]]:
    """A crew, and what it tells."""
    told = list[str]()
    crew = RayWorkerPool(make, Throttles(), agents.lost, address=cluster.address, jobs=jobs, tell=told.append)
    async with crew:
        yield crew, told


@pytest.mark.full
def test_outcomes_are_those_of_a_local_run(cluster: Any) -> None:
    async def main() -> list[Outcome]:
        async with crew_on(cluster, partial(agents.simulated, "random")) as (crew, _):
            return await carry_out(crew, CASES, 8)

    assert run(main()) == locally(CASES)


@pytest.mark.full
def test_a_node_lost_on_the_way_costs_no_case(
    cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    diary = Diary(path := str(tmp_path / "diary"))
    node = next(iter(cluster.worker_nodes))

    async def main() -> tuple[list[Outcome], list[str]]:
        async with crew_on(cluster, partial(agents.slow, path)) as (crew, told):
            going = asyncio.ensure_future(carry_out(crew, CASES[:12], 8))
            while len(diary.lines()) < 8:
                await asyncio.sleep(0.02)
            await asyncio.to_thread(cluster.remove_node, node, allow_graceful=False)
            while not told:
                await asyncio.sleep(0.02)
            diary.write("go")
            return await going, told

    outcomes, told = run(main())
    assert same(outcomes, locally(CASES[:12]))
    assert told == ["a worker was lost; its 4 cases are run again"]
    assert len({line for line in diary.lines() if line.startswith("begun")}) == 2
    assert capfd.readouterr() == ("", "")  # Ray has much to say about it


@pytest.mark.full
def test_a_case_that_kills_its_worker_is_given_up_and_harms_no_other(
    cluster: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    async def main() -> tuple[list[Outcome], list[str]]:
        async with crew_on(cluster, partial(agents.deadly, CASES[3].seed)) as (crew, told):
            return await carry_out(crew, CASES[:16], 8), told

    outcomes, told = run(main())
    victim = outcomes.pop(3)
    assert victim == agents.lost(CASES[3], "the worker process died 3 times while running this case")
    assert same(outcomes, locally([*CASES[:3], *CASES[4:16]]))
    assert len(told) == 3
    assert told[-1] == "a worker was lost"
    assert capfd.readouterr() == ("", "")


@pytest.mark.full
def test_a_worker_that_hangs_is_replaced(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("misstep.engine.ray.worker_pool.SILENCE", 2.0)

    async def main() -> Outcome:
        async with crew_on(cluster, agents.blocking, jobs=1) as (crew, _):
            return await crew.execute(CASES[0], UNCOUNTED)

    assert run(main()).verdict.verdict == "errored"


@pytest.mark.full
def test_what_a_case_uses_is_told_while_it_runs_and_adds_up(cluster: Any, tmp_path: Path) -> None:
    diary = Diary(path := str(tmp_path / "diary"))
    tally = Tab(heard=lambda: diary.write("go"))  # no case would end if nothing were told before

    async def main() -> list[Outcome]:
        async with crew_on(cluster, partial(agents.slow, path)) as (crew, _):
            return await carry_out(crew, CASES[:12], 6, tally)

    outcomes = run(main())
    assert tally.spent.usage["agent"] == sum([outcome.transcript.usage for outcome in outcomes], Usage())
    assert tally.spent.calls == sum(len(outcome.transcript.calls) for outcome in outcomes) > 0


@pytest.mark.full
def test_what_a_lost_worker_has_used_stays_used(cluster: Any, tmp_path: Path) -> None:
    diary, tally = Diary(path := str(tmp_path / "diary")), Tab()

    async def main() -> Outcome:
        async with crew_on(cluster, partial(agents.slow, path), jobs=1) as (crew, told):
            going = asyncio.ensure_future(crew.execute(CASES[0], tally))
            while not tally.spent.tokens:
                await asyncio.sleep(0.02)
            end_process(diary.lines()[0])
            while not told:
                await asyncio.sleep(0.02)
            diary.write("go")
            return await going

    outcome = run(main())
    first = Usage(CASES[0].seed % 1000, 7)
    assert tally.spent.usage["agent"] == outcome.transcript.usage + first


@pytest.mark.full
def test_cancelling_stops_the_case_in_its_worker(cluster: Any, tmp_path: Path) -> None:
    diary, tally = Diary(path := str(tmp_path / "diary")), Tab()

    async def main() -> Outcome:
        async with crew_on(cluster, partial(agents.slow, path)) as (crew, _):
            going = asyncio.ensure_future(crew.execute(CASES[0], tally))
            while not diary.lines():
                await asyncio.sleep(0.02)
            going.cancel()
            with pytest.raises(asyncio.CancelledError):
                await going
            await diary.until("cancelled")
            diary.write("go")
            return await crew.execute(CASES[1], UNCOUNTED)

    assert same([run(main())], locally([CASES[1]]))
    assert tally.spent.usage["agent"] == Usage(CASES[0].seed % 1000, 7)


def entering(cluster: Any, make: MakeWorker) -> Awaitable[None]:
    async def main() -> None:
        async with crew_on(cluster, make):
            pass

    return main()


@pytest.mark.full
def test_an_agent_that_can_t_be_prepared_says_why(cluster: Any) -> None:
    error = UsageError("no key", "set VLLM_API_KEY", where="--model")
    with pytest.raises(UsageError) as caught:
        run(entering(cluster, partial(agents.failing, error)))
    assert str(caught.value) == str(error)
    with pytest.raises(MissingExtra, match="the SDK is not installed"):
        run(entering(cluster, agents.missing))
    with pytest.raises(MisstepError, match="a worker failed with ZeroDivisionError: oh") as other:
        run(entering(cluster, partial(agents.failing, ZeroDivisionError("oh"))))
    assert "every node needs" in str(other.value)


@pytest.mark.full
def test_an_agent_that_dies_when_prepared_ends_the_run(cluster: Any, tmp_path: Path) -> None:
    diary = Diary(path := str(tmp_path / "diary"))
    with pytest.raises(MisstepError, match="a worker died 3 times while loading the agent"):
        run(entering(cluster, partial(agents.dying, path)))
    assert diary.lines().count("died") >= 3


@pytest.mark.full
def test_what_can_t_travel_is_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="can't be sent to other processes"):
        run(entering(cluster, partial(agents.failing, threading.Lock())))
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    with pytest.raises(UsageError, match="contains the value of a secret environment variable") as caught:
        run(entering(cluster, partial(agents.slow, "sk-0123456789")))
    assert "sk-0123456789" not in str(caught.value)


@pytest.mark.full
def test_requests_of_all_workers_together_keep_within_the_limit(cluster: Any) -> None:
    async def behave(number: int, crowd: Crowd) -> Reply:
        await asyncio.sleep(0.05)
        return answer()

    async def main(server: CountingServer) -> list[Outcome]:
        async with crew_on(cluster, partial(agents.asking, server.base_url, 3)) as (crew, _):
            return await carry_out(crew, CASES[:12], 8)

    with CountingServer(behave) as server:
        outcomes = run(main(server))
    assert [outcome.transcript.answer for outcome in outcomes] == ["done"] * 12
    assert server.crowd.peak == 3
    assert len(server.crowd.processes) == 2


@pytest.mark.full
def test_a_refusal_to_one_worker_slows_all(cluster: Any) -> None:
    async def behave(number: int, crowd: Crowd) -> Reply:
        if number == 0:
            await crowd.until(lambda: len(crowd.seen) >= 8)
            refused.set()
            return refusal()
        if number < 8:
            await refused.wait()  # who is answered sooner asks again beside the one to be refused
        else:
            await asyncio.sleep(0.05)
        return answer()

    async def main(server: CountingServer) -> list[Outcome]:
        async with crew_on(cluster, partial(agents.asking, server.base_url, 8)) as (crew, _):
            return await carry_out(crew, CASES[:8], 8)

    refused = asyncio.Event()
    with CountingServer(behave) as server:
        outcomes = run(main(server))
    assert [outcome.transcript.answer for outcome in outcomes] == ["done"] * 8
    before, after = server.crowd.seen[:8], server.crowd.seen[8:]
    assert len({process for process, _ in before}) == 2
    assert max(here for _, here in before) == 8
    assert max(here for _, here in after) < 8


@pytest.mark.full
def test_the_places_of_a_lost_worker_come_back(cluster: Any) -> None:
    async def behave(number: int, crowd: Crowd) -> Reply:
        if number == 0:
            end_process(f"in {next(iter(crowd.processes))}")
            await asyncio.sleep(LIMIT)
        return answer()

    async def main(server: CountingServer) -> Outcome:
        async with crew_on(cluster, partial(agents.asking, server.base_url, 1)) as (crew, _):
            return await crew.execute(CASES[0], UNCOUNTED)

    with CountingServer(behave) as server:
        outcome = run(main(server))
    assert outcome.transcript.answer == "done"


@pytest.mark.full
def test_a_lost_desk_is_replaced(cluster: Any) -> None:
    async def behave(number: int, crowd: Crowd) -> Reply:
        if number < 4:
            await crowd.until(lambda: len(lost) > 0)
        return answer()

    lost = list[int]()

    async def main(server: CountingServer) -> list[Outcome]:
        async with crew_on(cluster, partial(agents.asking, server.base_url, 4)) as (crew, _):
            going = asyncio.ensure_future(carry_out(crew, CASES[:8], 8))
            process = await crew._actor.__ray_call__.remote(lambda actor: os.getpid())
            await server.crowd.until(lambda: len(server.crowd.seen) >= 4)
            os.kill(process, 9)
            lost.append(process)
            return await going

    with CountingServer(behave) as server:
        outcomes = run(main(server))
    assert [outcome.transcript.answer for outcome in outcomes] == ["done"] * 8


@contextmanager
def token_of_its_own(folder: Path) -> Iterator[None]:
    """Ray asks for a token in clusters that it starts, and would ask for it in this process ever after.

    Other clusters, which know of none, would then get no answer, and end whatever this process starts there.
    """
    from ray._raylet import AuthenticationTokenLoader, Config

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))  # Ray keeps the token there
        patch.setenv("RAY_AUTH_MODE", "")  # which Ray sets, so that it has to be put back
        patch.delenv("RAY_AUTH_MODE")
        yield
        patch.setenv("RAY_AUTH_MODE", "disabled")
        Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()


@pytest.mark.full
def test_a_cluster_of_our_own_is_gone_afterwards(cluster: Any, tmp_path: Path) -> None:
    import ray

    async def main(address: str) -> list[Outcome]:
        make = partial(agents.simulated, "random")
        async with RayWorkerPool(make, Throttles(), agents.lost, address=address, jobs=2, tell=print) as crew:
            assert ray.is_initialized()
            return await carry_out(crew, CASES[:4], 2)

    with token_of_its_own(tmp_path):
        assert run(main("")) == locally(CASES[:4])
    assert not ray.is_initialized()
    assert run(main(cluster.address)) == locally(CASES[:4])


@pytest.mark.full
@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere.invalid:6379", "what"])
def test_a_cluster_that_is_not_there_is_the_users_to_name(address: str) -> None:
    pytest.importorskip("ray", reason="ray is not installed")

    async def main() -> None:
        make = partial(agents.simulated, "random")
        async with RayWorkerPool(make, Throttles(), agents.lost, address=address, jobs=1, tell=print):
            pass

    with pytest.raises(UsageError) as caught:
        run(main())
    assert caught.value.where == "--ray-address"
    assert f"the Ray cluster at {address} can't be reached" in caught.value.message


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no", "try", where="file:1"),
        MissingExtra("Ray", "ray", "or leave it"),
        type("Own", (UsageError,), {})("no"),
    ],
)
def test_errors_keep_what_they_say(error: MisstepError) -> None:
    again = error_of(failure_of(error))
    assert isinstance(error, type(again))
    assert type(again) is not MisstepError
    assert (str(again), again.exit_code) == (str(error), error.exit_code)


def test_secrets_are_not_told() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_API_KEY", "sk-0123456789")
        assert "sk-01" not in failure_of(ValueError("bad key sk-0123456789")).message


def test_a_case_goes_where_there_is_least_to_do() -> None:
    async def main() -> None:
        seats = WorkerSlots(3)
        for slot in seats:
            seats.fill(slot, object())
        async with (
            seats.take(alone=False) as one,
            seats.take(alone=False) as two,
            seats.take(alone=False) as three,
        ):
            assert {one.number, two.number, three.number} == {0, 1, 2}
        assert [slot.load for slot in seats] == [0, 0, 0]

    run(main())


def test_a_case_that_is_to_be_alone_is() -> None:
    async def main() -> None:
        seats = WorkerSlots(1)
        (slot,) = seats
        seats.fill(slot, object())
        together = list[int]()

        async def stay(alone: bool) -> None:
            async with seats.take(alone):
                together.append(slot.load)
                for _ in range(5):
                    await asyncio.sleep(0)
                    if alone:
                        together.append(slot.load)

        await asyncio.gather(stay(False), stay(False), stay(True), stay(False), stay(True), stay(False))
        assert together.count(1) >= 12
        assert not slot.reserved

    run(main())


def test_without_any_worker_a_case_waits_for_one_and_not_for_ever() -> None:
    async def main() -> None:
        seats = WorkerSlots(2, patience=0.05, stragglers=0.05)
        first, second = seats
        with pytest.raises(MisstepError, match=r"none could be started within 0\.05 seconds"):
            await seats.filled()
        seats.hire(first)
        asyncio.get_running_loop().call_later(0.2, seats.fill, first, object())
        await seats.filled()
        seats.vacate(first)
        waiting = asyncio.ensure_future(seats.take(alone=False).__aenter__())
        await asyncio.sleep(0)
        seats.fill(second, object())
        assert await waiting is second
        seats.vacate(second)
        with pytest.raises(MisstepError, match="no worker"):
            await seats.take(alone=True).__aenter__()

    run(main())
