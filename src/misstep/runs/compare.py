"""Compares two stored runs case by case, and breaks down one run by a facet of its cases."""

from collections import Counter
from collections.abc import Sequence
from typing import assert_never

import msgspec

from misstep.core.case import Case, families_of
from misstep.core.outcome import Outcome
from misstep.core.results.comparison import (
    Breakdown,
    Comparison,
    Facet,
    Pairing,
    Portion,
    SizePairing,
    TaskComparison,
)
from misstep.core.settings import Settings
from misstep.core.stats import fisher_greater, holm, mcnemar, paired_interval, wilson
from misstep.errors import UsageError
from misstep.runs.kinds import feature_of
from misstep.runs.lookup import find_planned
from misstep.store.runs import Run, Store, fingerprint

SIGNIFICANT = 0.05


def compare(settings: Settings, first: str, second: str) -> Comparison | TaskComparison:
    """Compare two runs of one kind on what they have in common: cases, or tasks of a benchmark."""
    with Store(settings.store) as store:
        runs = find_two(store, first, second)
    return feature_of(runs[0].purpose).compare(settings, first, second)


def compare_runs(settings: Settings, first: str, second: str) -> Comparison:
    """Compare the second run with the first, on the cases that passed or failed in both.

    Cases are the same only if their whole content is.
    """
    with Store(settings.store) as store:
        runs = find_two(store, first, second)
        pairs = _pairs(store, *runs)
    if not pairs:
        raise UsageError(
            f"runs {runs[0].id} and {runs[1].id} have no judged case in common",
            "run both with the same seed and settings, or on the same --cases file",
        )
    return _compare(runs[0].id, runs[1].id, pairs)


def find_two(store: Store, first: str, second: str) -> tuple[Run, Run]:
    runs = store.find_run(first), store.find_run(second)
    if runs[0].id == runs[1].id:
        raise UsageError(f"both are run {runs[0].id}", "name two runs; misstep runs lists them")
    return runs


class _Pair(msgspec.Struct, frozen=True):
    case: str
    actions: int
    passed: tuple[bool, bool]


def _pairs(store: Store, first: Run, second: Run) -> list[_Pair]:
    """Sorted by name, since outcomes arrive in random order."""
    known = {fingerprint(one.case): _passed(one) for one in store.outcomes(first.id) if _is_judged(one)}
    pairs = [
        _Pair(other.case.id, len(other.case.actions), (passed, _passed(other)))
        for other in store.outcomes(second.id)
        if _is_judged(other) and (passed := known.get(fingerprint(other.case))) is not None
    ]
    return sorted(pairs, key=lambda pair: pair.case)


def _is_judged(outcome: Outcome) -> bool:
    return outcome.verdict.verdict in ("passed", "failed")


def _passed(outcome: Outcome) -> bool:
    return outcome.verdict.verdict == "passed"


def _compare(first: str, second: str, pairs: list[_Pair]) -> Comparison:
    pairing = pairing_of([pair.passed for pair in pairs])
    return Comparison(
        first=first,
        second=second,
        pairing=pairing,
        significant=pairing.p < SIGNIFICANT,
        steps=_steps(pairs),
        lost=tuple(pair.case for pair in pairs if pair.passed == (True, False)),
        won=tuple(pair.case for pair in pairs if pair.passed == (False, True)),
    )


def pairing_of(pairs: Sequence[tuple[bool, bool]]) -> Pairing:
    """The statistics of pairs, at least one, each with whether the first and the second run passed."""
    counts = Counter(pairs)
    both, lost, won, neither = (
        counts[passed] for passed in ((True, True), (True, False), (False, True), (False, False))
    )
    return Pairing(
        cases=len(pairs),
        both=both,
        first_only=lost,
        second_only=won,
        neither=neither,
        difference=(won - lost) / len(pairs),
        interval=paired_interval(both, lost, won, neither),
        p=mcnemar(lost, won),
    )


def _steps(pairs: list[_Pair]) -> tuple[SizePairing, ...]:
    """One for each number of actions; none if there is only one."""
    sizes = sorted({pair.actions for pair in pairs})
    if len(sizes) == 1:
        return ()
    pairings = [pairing_of([pair.passed for pair in pairs if pair.actions == size]) for size in sizes]
    corrected = holm([pairing.p for pairing in pairings])
    return tuple(
        SizePairing(size, pairing, p) for size, pairing, p in zip(sizes, pairings, corrected, strict=True)
    )


def break_down(settings: Settings, run: str, facet: Facet) -> Breakdown:
    """The cases of a run that passed or failed, by one facet. Each value is compared with all others.

    A case in several families counts in each of them.
    """
    tally = _Tally(facet)
    with Store(settings.store) as store:
        found = find_planned(store, run)
        if found.purpose.run:
            raise UsageError(
                f"the cases of run {found.id} are variants of a few, and no sample of anything",
                f"misstep show {found.purpose.run} --by {facet} breaks down the run that they come from",
            )
        for verdict in ("passed", "failed"):
            for outcome in store.outcomes(found.id, verdict):
                tally.add(outcome.case, verdict == "failed")
    return Breakdown(found.id, facet, tuple(_ranked(tally.portions(), facet)))


class _Tally:
    """Counts cases by the values of a facet without keeping them."""

    def __init__(self, facet: Facet) -> None:
        self._facet = facet
        self._cases = Counter[str]()
        self._failed = Counter[str]()
        self._all_cases = self._all_failed = 0

    def add(self, case: Case, failed: bool) -> None:
        values = _values(case, self._facet)
        self._cases.update(values)
        self._all_cases += 1
        if failed:
            self._failed.update(values)
            self._all_failed += 1

    def portions(self) -> list[Portion]:
        corrected = holm([self._fails_more(value) for value in self._cases])
        return [self._portion(value, p) for value, p in zip(self._cases, corrected, strict=True)]

    def _fails_more(self, value: str) -> float:
        """The probability that chance alone gives this value so many of the failures."""
        cases, failed = self._cases[value], self._failed[value]
        others, others_failed = self._all_cases - cases, self._all_failed - failed
        return fisher_greater(failed, cases - failed, others_failed, others - others_failed)

    def _portion(self, value: str, p: float) -> Portion:
        cases, failed = self._cases[value], self._failed[value]
        passed = cases - failed
        return Portion(
            value=value,
            cases=cases,
            failed=failed,
            success=passed / cases,
            interval=wilson(passed, cases),
            p=p,
            significant=p < SIGNIFICANT,
        )


def _values(case: Case, facet: Facet) -> list[str]:
    match facet:
        case "topic":
            return [case.topic]
        case "actions":
            return [str(len(case.actions))]
        case "family":
            return list(families_of(case))
    assert_never(facet)


def _ranked(portions: list[Portion], facet: Facet) -> list[Portion]:
    """The values that fail most come first; sizes keep their own order."""
    if facet == "actions":
        return sorted(portions, key=lambda portion: int(portion.value))
    return sorted(portions, key=lambda portion: (portion.success, -portion.cases, portion.value))
