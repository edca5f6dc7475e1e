"""What an engine has read lately, so that a conversation goes on where most of it is known already."""

from collections import deque
from collections.abc import Sequence

LATELY = 16  # prompts; of conversations of a usual length, an engine's cache holds more

Prompt = Sequence[int | str]


class Memory:
    """The prompts that one engine has read; its own cache decides how much of them it still knows."""

    def __init__(self) -> None:
        self._read = deque[Prompt](maxlen=LATELY)

    def keep(self, prompt: Prompt) -> None:
        self._read.append(prompt)

    def overlap(self, prompt: Prompt) -> int:
        """How much of the beginning has been read, in characters."""
        return max([_shared(prompt, earlier) for earlier in self._read], default=0)


def _shared(one: Prompt, other: Prompt) -> int:
    """The length of what two prompts begin with, a control token counting as one character."""
    length = 0
    for piece, its in zip(one, other, strict=False):
        if piece != its:
            return length + _shared_letters(str(piece), str(its))
        length += len(piece) if isinstance(piece, str) else 1
    return length


def _shared_letters(one: str, other: str) -> int:
    different = (place for place, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its)
    return next(different, min(len(one), len(other)))
