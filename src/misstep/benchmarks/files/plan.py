"""A task before it is put into words."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from misstep.benchmarks.files.answers import Answer
from misstep.benchmarks.files.drawing import Scene
from misstep.benchmarks.files.operations import Operation
from misstep.benchmarks.tree import Tree


class Plan(msgspec.Struct, frozen=True):
    """What is there, what is to be done with it or found out about it.

    `form` is a form of the kind that has phrasings of its own; `words` are put into those.
    """

    form: str
    tree: Tree
    words: dict[str, str]
    operations: tuple[Operation, ...] = ()
    answer: Answer | None = None


Form: TypeAlias = Callable[[Scene], Plan]
