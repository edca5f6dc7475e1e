"""Functions of every kind that Python has, to be followed through by every means."""

import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any


def branches(number: int) -> str:
    if number > 10:
        word = "many"
    elif number > 0:
        word = "few"
    else:
        word = "none"
    return word if number % 2 else word.upper()


def loops(number: int) -> int:
    total = 0
    for outer in range(number):
        if outer == 3:
            continue
        while total % 5:
            total += 1
        total += outer
        if outer == 6:
            break
    else:
        total = -total
    return total


def raises(number: int) -> str:
    try:
        if number == 0:
            raise KeyError(number)
        if number == 1:
            return str(1 // (number - 1))
        found = "fine"
    except KeyError:
        found = "no key"
    except ZeroDivisionError as error:
        raise ValueError(number) from error
    finally:
        number += 1
    return found


def numbers(limit: int) -> Generator[int, int | None, None]:
    for each in range(limit):
        got = yield each
        if got:
            yield got
    yield from (limit, limit)


def generators(number: int) -> int:
    total = 0
    walk = numbers(number)
    for each in walk:
        total += each
        if each == 2:
            total += walk.send(7)
    return total


def throws(limit: int) -> int:
    walk = numbers(limit)
    next(walk)
    with contextlib.suppress(ValueError):
        walk.throw(ValueError())
    return limit


async def later(number: int) -> int:
    await asyncio.sleep(0)
    if number:
        return await later(number - 1)
    return number


async def ticks(number: int) -> AsyncIterator[int]:
    for each in range(number):
        await asyncio.sleep(0)
        yield each


async def gather(number: int) -> int:
    total = 0
    async for each in ticks(number):
        total += each
    found = await asyncio.gather(later(number), later(0))
    return total + sum(found)


def waits(number: int) -> int:
    return asyncio.run(gather(number))


def nests(number: int) -> int:
    def inner(depth: int) -> int:
        if depth:
            return inner(depth - 1)
        return number

    class Doubled:
        value = number * 2

    return sorted([inner(number), Doubled.value], key=lambda value: -value)[0]


def called_back(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[0] == "a":
            return "b"
        return match[0]

    return re.sub(".", replace, text)


@contextlib.contextmanager
def opened(number: int) -> Iterator[int]:
    try:
        yield number
    finally:
        number = 0


def closes(number: int) -> int:
    with opened(number) as found:
        if found:
            return found
    return -1


def matches(value: Any) -> str:
    match value:
        case [first, *_]:
            return str(first)
        case {"a": found}:
            return str(found)
        case _:
            return ""


def in_turn(number: int) -> None:
    for _ in range(number):
        thread = threading.Thread(target=branches, args=(number,))
        thread.start()
        thread.join()


def kept() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


KEPT = kept()
next(KEPT)  # begun before anybody watches


def goes_on(number: int) -> int:
    for _ in range(number):
        last = next(KEPT)
    return last


CALLS: tuple[tuple[Callable[[Any], Any], Any], ...] = (
    *((branches, number) for number in (11, 2, 0)),
    *((loops, number) for number in (0, 3, 40)),
    *((raises, number) for number in (0, 1, 2)),
    *((generators, number) for number in (0, 1, 9)),
    (throws, 1),
    *((waits, number) for number in (0, 3)),
    *((nests, number) for number in (0, 5)),
    (called_back, "abcab"),
    *((closes, number) for number in (0, 1)),
    *((matches, value) for value in ([1], {"a": 1}, 1)),
    (in_turn, 3),
    (goes_on, 2),
)
TOOLS = [branches, loops, raises, generators, waits, nests]
