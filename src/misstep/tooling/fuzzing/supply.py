"""Where a fuzzer gets arguments from that it doesn't make itself."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from misstep.core.dice import Dice
from misstep.core.tool import Described, Observation, Path
from misstep.tooling.branch_solver import opened, openings
from misstep.tooling.inputs.drawn import Drawn
from misstep.tooling.inputs.pool import Pool


class Supply(Protocol):
    """Arguments for one tool. What is drawn is not changed by whoever draws it."""

    def draw(self, dice: Dice) -> Drawn: ...

    def learn(self, path: Path, value: Any) -> None:
        """Hear of a value that has worked, or was seen, for a place in the arguments."""
        ...


class Opener(Protocol):
    """Reads what the code did with marked arguments."""

    def __call__(
        self, arguments: dict[str, Any], observations: Sequence[Observation], dice: Dice
    ) -> Iterable[dict[str, Any]]:
        """Arguments that should get past tests that these failed, or break behind those they passed."""
        ...


def pools(seed: int) -> Callable[[Described], Supply]:
    """A pool of arguments for each tool."""
    return lambda described: Pool(described, seed)


def open_gates(
    arguments: dict[str, Any], observations: Sequence[Observation], dice: Dice
) -> Iterator[dict[str, Any]]:
    """The opener that knows the gates of Python."""
    return (opened(arguments, each) for each in openings(arguments, observations, dice))
