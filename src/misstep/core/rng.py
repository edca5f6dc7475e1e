"""Random numbers that are the same in every process and Python version, and a compact set of text hashes."""

import hashlib
from array import array
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

SEED_LIMIT = 2**53  # seeds stay exact in JSON readers that only have doubles


class Dice:
    """Draws built on `Random.random` alone, the one method whose sequence Python promises to keep."""

    __slots__ = ("_random",)

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random

    def below(self, limit: int) -> int:
        return int(self._random() * limit)

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._random() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """`size` different items in random order."""
        pool = list(items)
        count = len(pool)
        for i in range(size):
            j = i + int(self._random() * (count - i))
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:size]


def derive_seed(seed: int, *path: int | str) -> int:
    """Derive a seed for a part of something seeded; different paths give unrelated seeds."""
    text = ":".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") % SEED_LIMIT


def case_seed(seed: int, index: int) -> int:
    """The seed of a suite's case. The first case uses the suite's own seed, so any case can be run alone."""
    return seed if index == 0 else derive_seed(seed, index)


_FIRST = 1 << 10
_MASK = (1 << 64) - 1


class Hashes:
    """A set of text hashes in a few bytes each; two texts may collide, very rarely."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _FIRST))
        self._count = 0

    def add(self, text: str) -> bool:
        """Add a text and return whether it is new."""
        number = hash(text) & _MASK or 1  # 0 marks an empty slot
        place = self._find(self._slots, number)
        if self._slots[place]:
            return False
        self._slots[place] = number
        self._count += 1
        if 3 * self._count > 2 * len(self._slots):
            self._grow()
        return True

    def _grow(self) -> None:
        slots = array("Q", bytes(16 * len(self._slots)))
        for number in self._slots:
            if number:
                slots[self._find(slots, number)] = number
        self._slots = slots

    @staticmethod
    def _find(slots: "array[int]", number: int) -> int:
        """The slot of a number, or the free slot where it belongs."""
        last = len(slots) - 1
        place = number & last
        while slots[place] not in (0, number):
            place = (place + 1) & last
        return place
