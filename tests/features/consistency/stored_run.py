"""A stored run of tests of answers, as `misstep tool consistency` keeps it."""

import json
from collections.abc import Sequence

from misstep.core.outcome import Judgement
from misstep.core.results.consistency import ConsistencyReport, Expectation, PromptSet, set_id
from misstep.core.results.consistency import Score as Judged
from misstep.core.results.trial import Judged as Ruling
from misstep.core.results.trial import Trial, Use
from misstep.core.run import RunSpec
from misstep.core.settings import Settings
from misstep.core.spending import Spent
from misstep.store.runs import Store

# What nobody who labels may see.
HIDDEN = (
    "SECRET-WHY",
    "SECRET-TEMPLATE",
    "SECRET-EXPECTED",
    "SECRET-REASON",
    "SECRET-RULING",
    "SECRET-ERROR",
)


def trial(request: str, result: str = "sunny", answer: str = "It is sunny.") -> Trial:
    given = json.dumps({"place": request})
    ruling = Ruling("crash", why="SECRET-RULING")
    return Trial(request, (Use("forecast", given, result, ruling),), answer)


def prompt_set(tool: str, number: int, verdict: Judgement) -> PromptSet:
    requests = (f"How is {tool} {number}?", f"Tell me of {tool} {number}, please.")
    broken = Trial("never shown", error="SECRET-ERROR", ended="error")
    return PromptSet(
        id=set_id(tool, requests),
        verdict=verdict,
        why="SECRET-WHY",
        template="SECRET-TEMPLATE",
        requests=requests,
        trials=(*(trial(request) for request in requests), broken),
        expectation=Expectation(("SECRET-EXPECTED",), "SECRET-EXPECTED"),
        scores=(Judged(1, 2, "SECRET-REASON"),),
    )


def keep_sets(store: Store, tools: Sequence[ConsistencyReport], seed: int = 0) -> str:
    """A run that has these reports; its id."""
    run = store.add_run(
        Settings(seed=seed), len(tools), 0.0, purpose=RunSpec("consistency", tools=("a.py:b",))
    )
    with store.sit(run.id, 0.0) as seat:
        for report in tools:
            seat.keep_report(report, Spent())
    return run.id


def report_on_tool(tool: str, failed: int, passed: int, inconclusive: int = 1) -> ConsistencyReport:
    verdicts: list[Judgement] = ["failed"] * failed + ["passed"] * passed + ["inconclusive"] * inconclusive
    sets = [prompt_set(tool, number, verdict) for number, verdict in enumerate(verdicts)]
    return ConsistencyReport(tool, tuple(sets))


def keep_run(location: str, seed: int = 0) -> str:
    """A run on two tools: three discoveries of each, and more that passed."""
    with Store(location, create=True) as store:
        return keep_sets(store, [report_on_tool("moon", 3, 5), report_on_tool("sun", 3, 1)], seed)
