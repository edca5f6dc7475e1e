"""Chance as Hypothesis deals it out, in the few forms that making a value takes."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Impossible(Exception):
    """There is no value for the schema, or none that can be found."""


class Chance:
    """Choices of Hypothesis; `Impossible` where there is nothing to choose from."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def drawn(self, strategy: st.SearchStrategy[T] | None) -> T:
        if strategy is None:
            raise Impossible
        drawn: T = self._draw(strategy)
        return drawn

    def pick(self, items: Sequence[T]) -> T:
        if not items:
            raise Impossible
        return items[self.below(len(items))]

    def below(self, limit: int) -> int:
        return int(self._draw(st.integers(0, limit - 1))) if limit > 1 else 0

    def one_in(self, times: int) -> bool:
        return self.below(times) == times - 1

    def turned(self, items: Sequence[T]) -> list[T]:
        """All of them, from any one on and round again."""
        first = self.below(len(items))
        return [*items[first:], *items[:first]]
