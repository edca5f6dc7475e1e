"""Compares two stored runs, or a run with its baseline, and breaks down one run by a facet of its cases."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import assert_never

import msgspec

from misstep.core.case import Case, families_of
from misstep.core.results.comparison import (
    Breakdown,
    Comparison,
    Facet,
    Held,
    Pairing,
    Portion,
    SizePairing,
    TaskComparison,
)
from misstep.core.run import KINDS
from misstep.core.settings import RunSettings, StoreSettings
from misstep.core.stats import fisher_greater, holm, mcnemar, paired_interval, wilson
from misstep.errors import NoStoreYet, UsageError
from misstep.runs.lookup import feature_of, find_planned
from misstep.store.runs import Run, Store, fingerprint

SIGNIFICANT = 0.05


def compare(settings: StoreSettings, first: str, second: str) -> Comparison | TaskComparison:
    """Compare two runs of one kind on what they have in common: cases, or tasks of a benchmark."""
    with Store(settings.store) as store:
        runs = find_two(store, first, second)
    return feature_of(runs[0].purpose).compare(settings, first, second)


def compare_runs(settings: StoreSettings, first: str, second: str) -> Comparison:
    """Compare two runs on the cases that passed or failed in both; the same means the whole content."""
    with Store(settings.store) as store:
        runs = find_two(store, first, second)
        known = {fingerprint(case): passed for case, passed in _judged(store, runs[0])}
        pairs = [
            _Pair(case.id, len(case.actions), (before, passed))
            for case, passed in _judged(store, runs[1])
            if (before := known.get(fingerprint(case))) is not None
        ]
    pairs.sort(key=lambda pair: pair.case)  # since outcomes arrive in random order
    if not pairs:
        hint = "run both with the same seed and settings, or on the same --cases file"
        raise nothing_in_common(runs[0].id, runs[1].id, "case", hint)
    pairing = pairing_of([pair.passed for pair in pairs])
    return Comparison(
        first=runs[0].id,
        second=runs[1].id,
        pairing=pairing,
        significant=pairing.p < SIGNIFICANT,
        steps=_steps(pairs),
        lost=tuple(pair.case for pair in pairs if pair.passed == (True, False)),
        won=tuple(pair.case for pair in pairs if pair.passed == (False, True)),
    )


def find_two(store: Store, first: str, second: str) -> tuple[Run, Run]:
    runs = store.find_run(first), store.find_run(second)
    if runs[0].id == runs[1].id:
        raise UsageError(f"both are run {runs[0].id}", "name two runs; misstep runs lists them")
    return runs


class _Pair(msgspec.Struct, frozen=True):
    case: str
    actions: int
    passed: tuple[bool, bool]


def _judged(store: Store, run: Run) -> Iterator[tuple[Case, bool]]:
    """The cases of a run that passed or failed, and whether they passed."""
    for outcome in store.outcomes(run.id):
        if outcome.verdict.verdict in ("passed", "failed"):
            yield outcome.case, outcome.verdict.verdict == "passed"


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


LAST = "last"


def find_baseline(settings: RunSettings, verb: str, own: str = "") -> str:
    """The id of the run that `--baseline` names, which has to be of the same command.

    `last` is the newest finished run before `own`, the current run if it already exists; empty if there is
    none.
    """
    try:
        with Store(settings.store) as store:
            if settings.baseline == LAST:
                runs = store.list_runs()
                if own:
                    itself = store.find_run(own).id
                    runs = runs[1 + [run.id for run in runs].index(itself) :]
                return next((run.id for run in runs if run.purpose.verb == verb and run.summary), "")
            run = store.find_run(settings.baseline)
    except NoStoreYet:
        if settings.baseline == LAST:
            return ""
        raise
    except UsageError as error:
        hint = "the baseline must be in the same store as the run: see --store"
        raise UsageError(f"--baseline: {error.message}", *error.hints, hint, where=error.where) from error
    if run.purpose.verb != verb:
        raise UsageError(
            f"run {run.id} is one of {run.purpose.command}, not of {KINDS[verb].command}",
            f"name a run of it; {LAST} is the newest",
            where="--baseline",
        )
    return run.id


def hold_against(settings: StoreSettings, baseline: str, run: str) -> Held:
    """Compare a run with its baseline; a `UsageError` if they have nothing in common."""
    if not baseline:
        return Held("")
    with Store(settings.store) as store:
        purpose = store.find_run(run).purpose
    return feature_of(purpose).hold(settings, baseline, run)


def held_of(comparison: Comparison | TaskComparison, unit: str) -> Held:
    return Held(
        comparison.first,
        regressed=comparison.significant and comparison.pairing.difference < 0,
        significant=comparison.significant,
        unit=unit,
        pairing=comparison.pairing,
        lost=comparison.lost,
        won=comparison.won,
    )


def nothing_in_common(baseline: str, run: str, unit: str, hint: str) -> UsageError:
    return UsageError(f"runs {baseline} and {run} have no judged {unit} in common", hint)


def break_down(settings: StoreSettings, run: str, facet: Facet) -> Breakdown:
    """The cases of a run that passed or failed, by one facet. Each value is compared with all others.

    A case in several families counts in each of them.
    """
    cases, failed = Counter[str](), Counter[str]()  # by value
    every, every_failed = 0, 0
    with Store(settings.store) as store:
        found = find_planned(store, run)
        if found.purpose.run:
            raise UsageError(
                f"the cases of run {found.id} are variants of a few cases, not a sample",
                f"misstep show {found.purpose.run} --by {facet} breaks down the run they come from",
            )
        for case, passed in _judged(store, found):
            values = _values(case, facet)
            every += 1
            cases.update(values)
            if not passed:
                every_failed += 1
                failed.update(values)

    def fails_more(value: str) -> float:
        """The probability that chance alone gives this value so many of the failures."""
        passed, others_failed = cases[value] - failed[value], every_failed - failed[value]
        others_passed = every - cases[value] - others_failed
        return fisher_greater(failed[value], passed, others_failed, others_passed)

    corrected = zip(cases, holm([fails_more(value) for value in cases]), strict=True)
    portions = [_portion(value, cases[value], failed[value], p) for value, p in corrected]
    if facet == "actions":
        portions.sort(key=lambda portion: int(portion.value))
    else:  # the values that fail most come first
        portions.sort(key=lambda portion: (portion.success, -portion.cases, portion.value))
    return Breakdown(found.id, facet, tuple(portions))


def _portion(value: str, cases: int, failed: int, p: float) -> Portion:
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
