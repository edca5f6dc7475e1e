"""A count of what a synthesised suite is made of."""

from collections.abc import Iterable, Iterator

import msgspec

from misstep.core.case import Case
from misstep.planning.language.syntax import all_shapes, shapes_in


class Skeletons(msgspec.Struct, frozen=True):
    """Shapes of sub-sentences, groups not expanded: how many the grammar offers, how many were used."""

    grammar: int
    used: int


class SuiteSummary(msgspec.Struct, frozen=True):
    """What `plan synth --json` prints."""

    cases: int
    seed: int
    out: str
    actions: dict[str, int]
    constraints: int
    chance: float | None
    skeletons: Skeletons


class Census:
    """Counts cases as they pass by and keeps none of them."""

    def __init__(self) -> None:
        self._cases = 0
        self._actions: dict[int, int] = {}
        self._constraints = 0
        self._chances = 0.0
        self._shapes = set[str]()

    def watch(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            self._cases += 1
            self._actions[len(case.actions)] = self._actions.get(len(case.actions), 0) + 1
            self._constraints += len(case.constraints)
            self._chances += case.chance or 0.0
            self._shapes |= shapes_in(case.skeleton)
            yield case

    def summary(self, seed: int, out: str) -> SuiteSummary:
        return SuiteSummary(
            cases=self._cases,
            seed=seed,
            out=out,
            actions={str(size): count for size, count in sorted(self._actions.items())},
            constraints=self._constraints,
            chance=self._chances / self._cases if self._cases else None,
            skeletons=Skeletons(len(set(all_shapes())), len(self._shapes)),
        )
