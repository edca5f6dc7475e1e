"""A deadline can be put off and brought forward, from any thread, within reason."""

import asyncio
import threading

import pytest

from misstep.engine.recorder import LONGEST, Deadline


async def outlives(deadline: Deadline, seconds: float) -> bool:
    """Whether something that takes so long gets done within the deadline."""
    try:
        async with deadline:
            await asyncio.sleep(seconds)
    except TimeoutError:
        return False
    return True


def test_time_is_up() -> None:
    deadline = Deadline(0.01)
    assert not asyncio.run(outlives(deadline, 10))
    assert deadline.passed


def test_it_is_put_off() -> None:
    async def main() -> bool:
        deadline = Deadline(0.05)
        asyncio.get_running_loop().call_later(0.01, deadline.extend, 30)
        return await outlives(deadline, 0.1)

    assert asyncio.run(main())


def test_it_is_brought_forward_and_stays_so() -> None:
    async def main() -> bool:
        deadline = Deadline(30)
        loop = asyncio.get_running_loop()
        loop.call_later(0.01, deadline.strike)
        loop.call_later(0.01, deadline.extend, -0.1)
        loop.call_later(0.01, deadline.extend, 60)
        return await outlives(deadline, 20)

    assert not asyncio.run(main())


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), float("-inf")])
def test_nonsense_is_ignored(seconds: float) -> None:
    async def main() -> bool:
        deadline = Deadline(0.01)
        deadline.extend(seconds)
        return await outlives(deadline, 0.2)

    assert not asyncio.run(main())


def test_nobody_puts_it_off_for_ever() -> None:
    deadline = Deadline(1)
    for _ in range(10):
        deadline.extend(1e9)
    assert deadline._seconds == 1 + LONGEST
    deadline.extend(-1e9)
    assert deadline._seconds == 1


def test_threads_don_t_lose_seconds() -> None:
    deadline = Deadline(1)
    deadline.extend(100)

    def work() -> None:
        for _ in range(2000):
            deadline.extend(0.5)
            deadline.extend(-0.5)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert deadline._seconds == 101
