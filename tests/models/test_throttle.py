"""The throttle, by a clock of its own."""

import asyncio

from misstep.models.throttle import MARGIN, Throttle
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
