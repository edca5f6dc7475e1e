"""The problems that a network is evaluated on, and the table of its success rates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from misstep.core.case import Case
from misstep.core.stats import wilson
from misstep.planning.language.parts import part_of
from training.course import MIXTURES, TRAIN, Kind, draw, least_actions

# The parts by what is unseen in them; other families are evaluated on `topics, words` only.
PARTS = {
    "nothing": TRAIN,
    "topics": part_of(("topics",)),
    "words": part_of(("words",)),
    "topics, words": part_of(("topics", "words")),
    "structures": part_of(("structures",)),
    "all": part_of(("topics", "words", "structures")),
}
SIZES = (3, 5, 8, 10)
OTHER_SIZES = (3, 5)


class Task(NamedTuple):
    """Problems of one kind from one part."""

    part: str
    kind: Kind


class Mark(NamedTuple):
    passed: int
    tried: int

    def __str__(self) -> str:
        low, high = wilson(self.passed, self.tried)
        return f"{self.passed / self.tried:.0%} ({low:.0%}–{high:.0%})"


def papers(seed: int, of_order: int, of_others: int, most: int) -> dict[Task, list[Case]]:
    """The problems of an evaluation, the same in every stage, with at most `most` actions."""
    sizes = [size for size in SIZES if size <= most]
    tasks = {Task(part, Kind("order", size)): of_order for part in PARTS for size in sizes}
    tasks |= {
        Task("topics, words", Kind(mixture, max(size, least_actions(families)))): of_others
        for mixture, families in MIXTURES.items()
        if mixture != "order"
        for size in OTHER_SIZES
    }
    return {
        task: [draw(task.kind, seed + number, PARTS[task.part]) for number in range(count)]
        for task, count in tasks.items()
        if count
    }


def marks_of(set_: Mapping[Task, Sequence[Case]], passed: Iterable[bool]) -> dict[Task, Mark]:
    results = iter(passed)
    return {task: Mark(sum([next(results) for _ in cases]), len(cases)) for task, cases in set_.items()}


def table(columns: Mapping[str, Mapping[Task, Mark]]) -> str:
    """One row for each task, one column for each evaluation."""
    tasks = list(next(iter(columns.values())))
    lines = [
        f"| family | actions | unseen | {' | '.join(columns)} |",
        f"| --- | --- | --- |{' --- |' * len(columns)}",
    ]
    for task in tasks:
        cells = " | ".join([str(marks[task]) for marks in columns.values()])
        lines.append(f"| {task.kind.mixture} | {task.kind.actions} | {task.part} | {cells} |")
    return "\n".join(lines)
