"""A range of whole numbers, as people write it."""

import re


class Span:
    """An inclusive range of whole numbers, written `3-5` or `4`."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def __str__(self) -> str:
        return f"{self.low}-{self.high}" if self.low != self.high else str(self.low)

    def __repr__(self) -> str:
        return f"Span({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self.low, self.high) == (other.low, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    @classmethod
    def parse(cls, given: object) -> "Span":
        if isinstance(given, int) and not isinstance(given, bool):
            return cls(given, given)
        match = (
            re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", given) if isinstance(given, str) else None
        )
        if not match:
            raise ValueError(given)
        return cls(int(match[1]), int(match[2] or match[1]))
