"""The throttle, by a clock of its own."""

import asyncio

from misstep.core.settings import Settings
from misstep.core.spending import TURN, RateLimiter
from misstep.models.throttle import MARGIN, Throttle, Throttles
from misstep.runs.setup.agents import find_agent
from misstep.runs.setup.models import open_model
from tests.models.meters import Counter


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def start(throttle: Throttle) -> float:
    """A request that takes no time."""

    async def main() -> float:
        async with throttle.slot(Counter()) as began:
            return began

    return asyncio.run(main())


def test_a_refusal_halves_what_is_in_flight_and_success_brings_it_back() -> None:
    throttle = Throttle(16, clock=(clock := Clock()))
    began = start(throttle)
    clock.now += 1
    throttle.refused(began, pause=0)
    assert throttle.allowed == 8
    for _ in range(8):
        throttle.succeeded()
    assert throttle.allowed == 8
    for _ in range(200):
        throttle.succeeded()
    assert throttle.allowed == 16


def test_a_burst_of_refusals_is_one_refusal() -> None:
    throttle = Throttle(16, clock=(clock := Clock()))
    begun = [start(throttle) for _ in range(5)]
    for began in begun:
        clock.now += 0.1
        throttle.refused(began, pause=0)
    assert throttle.allowed == 8


def test_there_is_always_one_in_flight() -> None:
    throttle = Throttle(4, clock=(clock := Clock()))
    for _ in range(10):
        began = start(throttle)
        clock.now += 1
        throttle.refused(began, pause=0)
    assert throttle.allowed == 1


def test_the_pace_falls_below_the_one_that_was_refused_and_grows_again() -> None:
    throttle = Throttle(16, clock=(clock := Clock()))
    assert throttle.pace is None
    for _ in range(30):
        began = start(throttle)
        clock.now += 1
    throttle.refused(began, pause=0)
    assert throttle.pace == 60 * MARGIN
    throttle.succeeded()
    assert throttle.pace == 60 * MARGIN
    clock.now += 60
    throttle.succeeded()
    assert 60 * MARGIN < throttle.pace < 60


def test_a_stated_limit_per_minute_is_never_exceeded() -> None:
    throttle = Throttle(16, per_minute=3, clock=(clock := Clock()))
    for _ in range(3):
        start(throttle)
    assert throttle._delay() == 60
    clock.now += 59
    assert throttle._delay() == 1
    clock.now += 1
    assert throttle._delay() <= 0
    for _ in range(50):
        clock.now += 100
        throttle.succeeded()
    assert throttle.pace == 3


def test_everybody_pauses_as_long_as_the_server_says() -> None:
    throttle = Throttle(16, clock=(clock := Clock()))
    throttle.refused(start(throttle), pause=7)
    assert throttle._delay() == 7
    clock.now += 8
    assert throttle._delay() <= 0


def test_waiting_for_a_place_is_told_to_the_meter() -> None:
    async def main() -> tuple[float, float]:
        throttle, first, second = Throttle(1), Counter(), Counter()
        entered = asyncio.Event()

        async def hold() -> None:
            async with throttle.slot(first):
                entered.set()
                await asyncio.sleep(0.05)

        async def follow() -> None:
            await entered.wait()
            async with throttle.slot(second):
                pass

        await asyncio.gather(hold(), follow())
        return first.waited, second.waited

    first, second = asyncio.run(main())
    assert first == 0
    assert 0 < second < 0.5


def test_a_refusal_never_raises_the_pace() -> None:
    throttle = Throttle(16, per_minute=10, clock=(clock := Clock()))
    for _ in range(5):
        began = start(throttle)
    clock.now += 0.5
    throttle.refused(began, pause=0)
    assert throttle.pace is not None
    assert throttle.pace <= 10


class Queue:
    """Requests that wait for the one place, and the order in which they got it."""

    def __init__(self) -> None:
        self.throttle = Throttle(1)
        self.started = list[int]()
        self.waiting = list[asyncio.Task[None]]()

    async def ask(self, number: int) -> None:
        async with self.throttle.slot(Counter()):
            self.started.append(number)
            await asyncio.sleep(0)

    async def fill(self) -> None:
        """Have the place while three others come to wait for it."""
        async with self.throttle.slot(Counter()):
            self.waiting = [asyncio.create_task(self.ask(number)) for number in (1, 2, 3)]
            await asyncio.sleep(0.01)


def test_who_came_first_starts_first() -> None:
    async def main() -> list[int]:
        queue = Queue()
        await queue.fill()
        await queue.ask(4)  # comes when the place is free, and others wait for it
        await asyncio.gather(*queue.waiting)
        return queue.started

    assert asyncio.run(main()) == [1, 2, 3, 4]


def test_who_gives_up_waiting_leaves_the_place_to_the_next() -> None:
    async def main() -> list[int]:
        queue = Queue()
        await queue.fill()
        queue.waiting[0].cancel()  # it has been called already
        async with asyncio.timeout(TURN / 2):  # the others would look again by themselves in the end
            await asyncio.gather(*queue.waiting, return_exceptions=True)
        return queue.started

    assert asyncio.run(main()) == [2, 3]


def test_all_who_ask_one_model_share_its_throttle() -> None:
    throttles = Throttles()
    assert throttles("openai/a", 4, None) is throttles("openai/a", 4, None)
    assert throttles("openai/a", 4, None) is not throttles("openai/b", 4, None)


def test_agents_and_models_ask_for_their_gate_by_the_models_name() -> None:
    throttles, asked = Throttles(), list[tuple[str, int, float | None]]()

    def rate_limiters(model: str, in_flight: int, per_minute: float | None) -> RateLimiter:
        asked.append((model, in_flight, per_minute))
        return throttles(model, in_flight, per_minute)

    settings = Settings(agent="tools", model="vllm/m", requests=3, requests_per_minute=9)
    find_agent(settings, rate_limiters=rate_limiters)
    open_model(settings, print, "judge", rate_limiters)
    assert asked == [("vllm/m", 3, 9)] * 2
