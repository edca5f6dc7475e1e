"""Runs in a store whose every verdict is known."""

from collections.abc import Iterable

from misstep.core.case import Case
from misstep.core.outcome import Judgement, Outcome, Transcript, Verdict
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.store.runs import Store


def keep_run(settings: Settings, outcomes: Iterable[tuple[Case, Judgement]]) -> str:
    """A run with these outcomes; its id."""
    with Store(settings.store, create=True) as store:
        run = store.add_run(settings, 0, 0.0).id
        with store.sit(run, 0.0) as writer:
            writer.keep([_outcome(case, verdict) for case, verdict in outcomes], Spent())
    return run


def _outcome(case: Case, verdict: Judgement) -> Outcome:
    return Outcome(case, Transcript(case.id, ()), Verdict(case.id, verdict))
