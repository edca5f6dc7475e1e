"""A stored run by what its cases have in common."""

from collections import Counter
from typing import assert_never

from misstep.api.comparison import SIGNIFICANT
from misstep.api.planned import find_planned
from misstep.core.breakdown import Breakdown, Facet, Portion
from misstep.core.case import Case, families_of
from misstep.core.settings import Settings
from misstep.core.statistics import fisher_greater, holm, wilson
from misstep.errors import UsageError
from misstep.store.runs import Store


def break_down(settings: Settings, run: str, facet: Facet) -> Breakdown:
    """The cases of a run that passed or failed, by one facet. Each value is held against all the others.

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
    """Counts cases by the values of a facet and keeps none of them."""

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
        """How often chance alone lets so many of the failures fall on this value."""
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
    """Those that fail most come first; sizes keep their own order."""
    if facet == "actions":
        return sorted(portions, key=lambda portion: int(portion.value))
    return sorted(portions, key=lambda portion: (portion.success, -portion.cases, portion.value))
