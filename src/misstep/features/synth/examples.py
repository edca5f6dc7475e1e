"""Training examples out of synthesised cases.

Each case gives one conversation that goes right. Left out and counted are cases to which no correct plan is
known, and in the one-shot form those in which something has to be learnt from a result.

A count of what a synthesised suite is made of.

Training examples out of a stored run.

`sft` gives conversations that go right, of failures and, if asked for, of passed cases too. `dpo` sets the
correct calls against the agent's own, which only failures have to offer. Left out and counted are outcomes
that could not be judged, cases to which no correct plan is known, and for `dpo` timeouts in which nothing
went wrong but the time, and in the one-shot form cases in which something has to be learnt from a result.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

import msgspec

from misstep.adapters.builtin.prompts import load_template
from misstep.core.case import MEASURES, Baselines, Case, families_of
from misstep.core.constraint import FAMILIES
from misstep.core.outcome import ERROR_KINDS, Outcome
from misstep.core.results.report import Exported, LeftOut, SynthFormat, Training
from misstep.core.settings import Settings
from misstep.core.settings.fields import PORTIONS, Portion
from misstep.planning.difficulty import baselines, measure
from misstep.planning.language.syntax import all_shapes, shapes_in
from misstep.planning.training import (
    Demonstration,
    Example,
    demonstrate,
    demonstrate_case,
    is_foreseeable,
    prefer,
    shows_fault,
    solve,
)
from misstep.runs.lookup import find_planned
from misstep.runs.trust import refuse_foreign_prompt
from misstep.store.runs import Run, Store


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
    """Counts cases as they pass by and keeps none of them."""

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


_SAME_WORDS = ("tools", "responses", "assistant")  # agents whose instructions are those of `tools`


class ExamplesSummary(SuiteSummary, frozen=True):
    """What `plan synth --format sft --json` prints: the cases, how many examples there are, which not."""

    format: SynthFormat
    examples: int
    left_out: dict[LeftOut, int]


class CaseExamples:
    """Makes the examples of a suite one at a time, keeps none of them, and counts."""

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
        """The counts so far, beside those of the cases."""
        return ExamplesSummary(
            **msgspec.structs.asdict(suite), format="sft", examples=self._made, left_out=dict(self._left_out)
        )


def instructions_of(settings: Settings) -> str:
    """The words that the `tools` agent puts before a request, the user's own where there are such."""
    own = settings.prompt if settings.agent in _SAME_WORDS else ""
    return load_template("tools", own, ()).fill()


def sorted_part(part: Collection[Portion]) -> tuple[Portion, ...]:
    """What cases were drawn from, in whatever order it was said."""
    return tuple([portion for portion in PORTIONS if portion in part])


OTHERWISE = "--format csv or parquet writes it as a table"


class Export:
    """Makes the examples of a run one at a time, keeps none of them, and counts."""

    def __init__(
        self, settings: Settings, run: str, form: Training, passed_too: bool = False, one_shot: bool = False
    ) -> None:
        self._settings = settings
        self._name = run
        self._form = form
        self._one_shot = one_shot
        self._verdicts: tuple[Literal["failed", "passed"], ...] = (
            ("failed", "passed") if passed_too else ("failed",)
        )
        self._kinds = Counter[str]()
        self._left_out = Counter[LeftOut]()

    def examples(self) -> Iterator[Example]:
        with Store(self._settings.store) as store:
            run = find_planned(store, self._name, OTHERWISE)
            self._name = run.id
            refuse_foreign_prompt(self._settings, run)
            verdicts = store.tally(run.id).verdicts
            self._left_out["errored"] = verdicts["errored"]
            self._left_out["inconclusive"] = verdicts["inconclusive"]
            instructions = instructions_of(run.settings)
            for verdict in self._verdicts:
                for outcome in store.outcomes(run.id, verdict):
                    example = self._example(outcome, run, instructions)
                    if example is not None:
                        self._kinds[outcome.verdict.error or "passed"] += 1
                        yield example

    def summary(self) -> Exported:
        """The counts so far."""
        return Exported(
            self._name,
            self._form,
            self._settings.out,
            self._kinds.total(),
            {kind: self._kinds[kind] for kind in (*ERROR_KINDS, "passed") if self._kinds[kind]},
            {reason: count for reason, count in self._left_out.items() if count},
        )

    def _example(self, outcome: Outcome, run: Run, instructions: str) -> Example | None:
        if self._one_shot and not is_foreseeable(outcome.case):
            self._left_out["stepwise"] += 1
            return None
        parallel = "ordered" if self._one_shot else run.settings.parallel
        if self._form == "dpo" and not shows_fault(outcome, parallel):
            self._left_out["faultless"] += 1
            return None
        calls = solve(outcome)
        if calls is None:
            self._left_out["unsolved"] += 1
            return None
        make = demonstrate if self._form == "sft" else prefer
        part = () if run.settings.cases else sorted_part(run.settings.part)
        return make(outcome, calls, instructions, part, self._one_shot)
