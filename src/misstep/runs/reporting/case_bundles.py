"""Prepares the cases of a stored run for pages: what each call did, costs, causes, flakiness."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Call, Judgement, Outcome
from misstep.core.results.diagnosis import Diagnosis, Dissection
from misstep.core.settings import AgentRunSettings, StoreSettings
from misstep.models.providers import Price
from misstep.planning.world.simulator import Simulator
from misstep.rendering.html.assets import Archive
from misstep.rendering.html.cases import (
    CallEffect,
    CaseBundle,
    CaseDigest,
    CaseOrigin,
    bind,
    detail_of,
    digest_of,
    index_of,
)
from misstep.runs.budget import current_price, may_price
from misstep.store.location import way_to
from misstep.store.runs import Run, Store, fingerprint

MOST_RUNS = 20  # the newest


def flaky_cases(store: Store, run: Run) -> dict[bytes, bool]:
    """For every case that another run of the same agent has also judged, whether they disagree.

    Cases are the same only if their whole content is; the key is a digest of it.
    """
    same = [other for other in store.list_runs() if _who(other.settings) == _who(run.settings)]
    others = [other for other in same if other.id != run.id]
    found = dict[bytes, bool]()
    own = store.judgements(run.id) if others else {}
    for other in others[:MOST_RUNS]:
        judged = store.judgements(other.id)
        for case in own.keys() & judged.keys():
            found[case] = found.get(case, False) or own[case] != judged[case]
    return found


def _who(settings: AgentRunSettings) -> tuple[object, ...]:
    return settings.agent, settings.agent_args, settings.model, settings.temperature, settings.prompt


def moves_of(case: Case, calls: Sequence[Call]) -> list[CallEffect]:
    """One for each call, as the judge sees them: in the order in which they were requested."""
    stage, moves = Simulator(case), list[CallEffect]()
    for call in calls:
        if call.ran >= 0:
            scene = stage.play(call.tool, call.arguments)
            deed = scene.deed
            times = (deed.start, deed.end) if deed and case.world.day is not None else ()
            moves.append(CallEffect(scene.kind, stage.history.attempt, deed.action if deed else "", *times))
        else:
            stage.skip(call.tool, call.arguments)
            moves.append(CallEffect("never", stage.history.attempt))
    return moves


# The verdicts that people look for come first.
_ORDER: tuple[Judgement, ...] = ("failed", "errored", "inconclusive", "passed")


def bundle_of(settings: StoreSettings, run: Run) -> CaseBundle:
    """All cases of a run, failures first, with details of as many as a file has room for."""
    with Store(settings.store) as store:
        return _bound(_Digester.of(store, settings, run), _outcomes(store, run.id))


def bundle_of_diagnoses(settings: StoreSettings, dissection: Dissection) -> CaseBundle:
    """The failures that were analysed, each with its cause."""
    with Store(settings.store) as store:
        run = store.find_run(dissection.of)
        return _bound(
            _Digester.of(store, settings, run),
            (store.find_outcome(run.id, each.case) for each in dissection.failures),
        )


def bundle_of_some(settings: StoreSettings, run: str, outcomes: Iterable[Outcome]) -> CaseBundle:
    with Store(settings.store) as store:
        return _bound(_Digester.of(store, settings, store.find_run(run)), outcomes)


def case_index(settings: StoreSettings, name: str) -> dict[str, Any]:
    with Store(settings.store) as store:
        run = store.find_run(name)
        digester = _Digester.of(store, settings, run)
        return index_of(map(digester.digest, _outcomes(store, run.id)))


def case_detail(settings: StoreSettings, name: str, case: str) -> dict[str, Any]:
    with Store(settings.store) as store:
        run = store.find_run(name)
        return _Digester.of(store, settings, run).detail(store.find_outcome(run.id, case))


class Placed(msgspec.Struct, frozen=True):
    """A case with the previous and the next one in the index of its run."""

    outcome: Outcome
    before: str | None
    behind: str | None


def place_case(settings: StoreSettings, name: str, case: str) -> Placed:
    with Store(settings.store) as store:
        run = store.find_run(name)
        outcome = store.find_outcome(run.id, case)
        return Placed(outcome, *store.neighbours(run.id, outcome.case.id, _ORDER))


def _outcomes(store: Store, run: str) -> Iterator[Outcome]:
    for verdict in _ORDER:
        yield from store.outcomes(run, verdict)


def _bound(digester: "_Digester", outcomes: Iterable[Outcome]) -> CaseBundle:
    archive, digests = Archive(), list[CaseDigest]()
    for outcome in outcomes:
        digests.append(digester.digest(outcome))
        if not archive.is_full:
            archive.add(digester.detail(outcome))
    return bind(digests, archive, f"misstep show {digester.origin.run}{digester.origin.place}")


class _Digester(msgspec.Struct, frozen=True):
    """Adds to the cases of a run what an outcome does not say: cost, cause of failure, flakiness."""

    origin: CaseOrigin
    price: Price | None
    causes: dict[str, Diagnosis]
    flaky: dict[bytes, bool]

    @classmethod
    def of(cls, store: Store, settings: StoreSettings, run: Run) -> "_Digester":
        origin = CaseOrigin(run.id, way_to(settings.store))
        price = current_price(run.settings) if may_price(run) else None
        # The diagnoses of dissections of the run so far, the newest last.
        purposes = [(one.id, one.purpose) for one in reversed(store.list_runs())]
        analyses = [id for id, purpose in purposes if purpose.verb == "dissect" and purpose.run == run.id]
        found = [store.find_result(one, Diagnosis) or () for one in analyses]
        causes = {each.case: each for diagnoses in found for each in diagnoses}
        return cls(origin, price, causes, flaky_cases(store, run))

    def digest(self, outcome: Outcome) -> CaseDigest:
        found = self.causes.get(outcome.case.id)
        flaky = self.flaky.get(fingerprint(outcome.case)) if self.flaky else None
        return digest_of(outcome, self._usd(outcome), found.cause if found else None, flaky)

    def detail(self, outcome: Outcome) -> dict[str, Any]:
        moves = moves_of(outcome.case, outcome.transcript.calls)
        found = self.causes.get(outcome.case.id)
        return detail_of(outcome, moves, self.origin, self._usd(outcome), found)

    def _usd(self, outcome: Outcome) -> float | None:
        usage = outcome.transcript.usage
        if self.price is None or not (usage.input or usage.output):
            return None
        return round(self.price.of(usage), 6)
