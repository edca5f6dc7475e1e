"""Remembers very many texts in a few bytes each."""

from array import array

_FIRST = 1 << 10
_MASK = (1 << 64) - 1


class Hashes:
    """The hashes of texts; two texts may share one, once in a very long while."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _FIRST))
        self._count = 0

    def add(self, text: str) -> bool:
        """Whether it is new."""
        number = hash(text) & _MASK or 1  # nought stands for an empty slot
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
        """Where a number is, or where it has to go."""
        last = len(slots) - 1
        place = number & last
        while slots[place] not in (0, number):
            place = (place + 1) & last
        return place
