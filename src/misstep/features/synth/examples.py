"""Statistics of synthesised cases, and training examples made from them.

Each case gives one correct conversation. Cases without a known correct plan are left out and counted, and in
the one-shot form also those in which results tell something needed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from misstep.core.case import MEASURES, Baselines, Case, families_of
from misstep.core.constraint import FAMILIES
from misstep.core.results.report import LeftOut, SynthFormat
from misstep.core.settings import Settings
from misstep.planning.difficulty import baselines, measure
from misstep.planning.language.syntax import all_shapes, shapes_in
from misstep.planning.training import (
    Demonstration,
    demonstrate_case,
    is_foreseeable,
)
from misstep.runs.reporting.training import instructions_of, sorted_part


class Skeletons(msgspec.Struct, frozen=True):
    """Shapes of sub-sentences, groups not expanded: how many the grammar offers, how many were used."""

    grammar: int
    used: int


class SuiteSummary(msgspec.Struct, frozen=True):
    """What `plan synth --json` prints; difficulty is the mean."""

    cases: int
    seed: int
    out: str
    actions: dict[str, int]
    families: dict[str, int]
    constraints: int
    chance: float | None
    baselines: Baselines | None
    difficulty: dict[str, float]
    skeletons: Skeletons


class SuiteStats:
    """Counts cases without keeping them."""

    def __init__(self) -> None:
        self._cases = 0
        self._actions: dict[int, int] = {}
        self._constraints = 0
        self._chances = self._text_order = self._ignores_family = 0.0
        self._families: dict[str, int] = {}
        self._measured = dict.fromkeys(MEASURES, 0.0)
        self._shapes = set[str]()

    def watch(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            self._cases += 1
            self._actions[len(case.actions)] = self._actions.get(len(case.actions), 0) + 1
            self._constraints += len(case.constraints)
            self._chances += case.chance or 0.0
            reached = baselines(case)
            self._text_order += reached.text_order
            self._ignores_family += reached.ignores_family
            self._measure(case)
            self._shapes |= shapes_in(case.skeleton)
            yield case

    def _measure(self, case: Case) -> None:
        for family in families_of(case):
            self._families[family] = self._families.get(family, 0) + 1
        difficulty = measure(case)
        for name in MEASURES:
            self._measured[name] += getattr(difficulty, name)

    def summary(self, seed: int, out: str) -> SuiteSummary:
        return SuiteSummary(
            cases=self._cases,
            seed=seed,
            out=out,
            actions={str(size): count for size, count in sorted(self._actions.items())},
            families={family: self._families[family] for family in FAMILIES if family in self._families},
            constraints=self._constraints,
            chance=self._chances / self._cases if self._cases else None,
            baselines=Baselines(self._text_order / self._cases, self._ignores_family / self._cases)
            if self._cases
            else None,
            difficulty={name: round(total / self._cases, 4) for name, total in self._measured.items()}
            if self._cases
            else {},
            skeletons=Skeletons(len(set(all_shapes())), len(self._shapes)),
        )


class ExamplesSummary(SuiteSummary, frozen=True):
    """What `plan synth --format sft --json` prints: the cases, the number of examples, what was left out."""

    format: SynthFormat
    examples: int
    left_out: dict[LeftOut, int]


class CaseExamples:
    """Makes the examples of a suite one at a time, without keeping them, and counts."""

    def __init__(self, settings: Settings, one_shot: bool = False) -> None:
        self._settings = settings
        self._one_shot = one_shot
        self._made = 0
        self._left_out = Counter[LeftOut]()

    def examples(self, cases: Iterable[Case]) -> Iterator[Demonstration]:
        instructions, part = instructions_of(self._settings), sorted_part(self._settings.part)
        for case in cases:
            example = demonstrate_case(case, instructions, part, self._one_shot)
            if example is None:
                self._left_out["stepwise" if self._one_shot and not is_foreseeable(case) else "unsolved"] += 1
            else:
                self._made += 1
                yield example

    def summary(self, suite: SuiteSummary) -> ExamplesSummary:
        return ExamplesSummary(
            **msgspec.structs.asdict(suite), format="sft", examples=self._made, left_out=dict(self._left_out)
        )
