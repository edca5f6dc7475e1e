"""One throttle for several threads, each with an event loop of its own."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from misstep.core.model import Chat, ModelError, User
from misstep.core.spending import TURN
from misstep.models import throttle as throttles
from misstep.models.client import Options
from misstep.models.openai import OpenAIModel
from misstep.models.providers import Endpoint, ModelName
from misstep.models.throttle import Throttle, Throttles
from tests.engine.ray.cluster_server import CountingServer, Crowd, answer
from tests.models.meters import Counter
from tests.scripted.wire import Reply

SECONDS = TURN / 2  # by then, who waits in vain would not have looked again by itself
Work = Callable[[], Coroutine[Any, Any, Any]]


class Threads:
    """Work in threads that all have ended, each without an error, when the block does."""

    def __init__(self) -> None:
        self._threads = list[threading.Thread]()
        self._errors = list[BaseException]()

    def start(self, work: Work) -> None:
        def run() -> None:
            try:
                asyncio.run(work())
            except BaseException as error:
                self._errors.append(error)

        self._threads.append(threading.Thread(target=run, daemon=True))
        self._threads[-1].start()

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *error: object) -> None:
        for thread in self._threads:
            thread.join(SECONDS)
            assert not thread.is_alive()
        assert self._errors == []


class Told(Counter):
    """A meter that others can wait for, until it is told of a wait."""

    def __init__(self) -> None:
        super().__init__()
        self._told = threading.Event()

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        self._told.set()

    def has_waited(self) -> bool:
        return self._told.wait(SECONDS)


class Line:
    """The one place of a throttle, and the names of those who got it in their order."""

    def __init__(self) -> None:
        self.throttle = Throttle(1)
        self.started = list[str]()

    async def pass_through(self, name: str, meter: Told) -> None:
        async with self.throttle.slot(meter):
            self.started.append(name)

    async def taken(self, then: Callable[[], Awaitable[None]]) -> None:
        """Have the place until that is done."""
        async with self.throttle.slot(Counter()):
            await then()


async def ask(model: OpenAIModel, meter: Counter) -> str:
    said = json.dumps({"process": threading.current_thread().name})
    try:
        return (await model.chat(Chat((User(said),)), meter)).text
    finally:
        await model.close()


def open_model(server: CountingServer, rate_limiters: Throttles, **options: Any) -> OpenAIModel:
    return OpenAIModel(
        ModelName("vllm", "m"), Endpoint(server.base_url, "none"), Options(**options), rate_limiters
    )


def test_requests_of_all_threads_keep_within_the_limit() -> None:
    async def behave(number: int, crowd: Crowd) -> Reply:
        if number < 3:
            await crowd.until(lambda: len(crowd.seen) >= 3)
        await asyncio.sleep(0.02)  # for others to come who may not
        return answer()

    rate_limiters = Throttles()
    with CountingServer(behave) as server, Threads() as threads:

        async def work() -> None:
            roles = [open_model(server, rate_limiters, in_flight=3) for _ in range(2)]
            await asyncio.gather(*[ask(role, Counter()) for role in roles])

        for _ in range(4):
            threads.start(work)
    assert (server.crowd.peak, len(server.crowd.seen)) == (3, 8)


def test_what_a_server_says_to_one_holds_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttles, "STEP", 0.01)
    now = [1000.0]
    rate_limiters, second = Throttles(lambda: now[0]), Told()

    async def behave(number: int, crowd: Crowd) -> Reply:
        return answer() if number else Reply({"error": {"message": "too much"}}, 429, {"retry-after": "7"})

    async def refused() -> None:
        with suppress(ModelError):
            await ask(open_model(server, rate_limiters, retries=0), Counter())

    async def follow() -> None:
        assert await ask(open_model(server, rate_limiters, retries=0), second) == "done"

    with CountingServer(behave) as server:
        with Threads() as threads:
            threads.start(refused)
        with Threads() as threads:
            threads.start(follow)
            assert second.has_waited()
            assert len(server.crowd.seen) == 1
            now[0] += 8
    assert len(server.crowd.seen) == 2


def test_a_limit_per_minute_holds_for_all_threads_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttles, "STEP", 0.001)
    seconds = count(1000, 5)
    throttle, begun = Throttle(16, per_minute=4, clock=lambda: float(next(seconds))), list[float]()

    async def work() -> None:
        async def one() -> None:
            async with throttle.slot(Counter()) as began:
                begun.append(began)

        await asyncio.gather(one(), one(), one())

    with Threads() as threads:
        for _ in range(5):
            threads.start(work)
    begun.sort()
    assert len(begun) == 15
    assert all(later - earlier >= 60 for earlier, later in zip(begun, begun[4:], strict=False))


def test_who_came_first_starts_first_whatever_thread_it_is_in() -> None:
    line, names = Line(), ["b", "c", "d"]

    async def call_others() -> None:
        for name in names:
            meter = Told()
            threads.start(lambda name=name, meter=meter: line.pass_through(name, meter))  # type: ignore[misc]
            assert await asyncio.to_thread(meter.has_waited)
            meters.append(meter)

    meters = list[Told]()
    with Threads() as threads:
        asyncio.run(line.taken(call_others))
    assert line.started == names
    assert all(0 < meter.waited < TURN for meter in meters)  # what was told too much was given back


def test_who_gives_up_when_called_leaves_the_place_to_another_thread() -> None:
    line, first, second = Line(), Told(), Told()
    free = threading.Event()

    async def give_up() -> None:
        waiting = asyncio.create_task(line.pass_through("first", first))
        assert await asyncio.to_thread(second.has_waited)
        called.set()
        free.wait(SECONDS)  # this loop can't come meanwhile, though it is called
        waiting.cancel()
        await asyncio.wait([waiting])

    async def call_others() -> None:
        threads.start(give_up)
        assert await asyncio.to_thread(first.has_waited)
        threads.start(lambda: line.pass_through("second", second))
        assert await asyncio.to_thread(called.wait, SECONDS)

    called = threading.Event()
    with Threads() as threads:
        asyncio.run(line.taken(call_others))
        free.set()
    assert line.started == ["second"]


def test_who_waits_on_a_loop_that_was_closed_is_in_nobody_s_way() -> None:
    line, meter = Line(), Told()
    dead = asyncio.new_event_loop()

    async def call_others() -> None:
        await asyncio.to_thread(lambda: dead.run_until_complete(asyncio.sleep(0.01)))
        dead.close()
        threads.start(lambda: line.pass_through("second", meter))
        assert await asyncio.to_thread(meter.has_waited)

    waiting = line.pass_through("first", Told())
    task = dead.create_task(waiting)
    with Threads() as threads:
        asyncio.run(line.taken(call_others))
    assert line.started == ["second"]
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    waiting.close()


def test_threads_that_ask_at_once_get_the_same_throttle() -> None:
    rate_limiters, found, together = Throttles(), set[object](), threading.Barrier(8)

    async def work() -> None:
        together.wait(SECONDS)
        found.add(rate_limiters("openai/a", 4, None))

    with Threads() as threads:
        for _ in range(8):
            threads.start(work)
    assert len(found) == 1
