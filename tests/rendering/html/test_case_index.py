"""The index: every column read back against the outcomes it was made of."""

import json
from typing import Any

import msgspec
import pytest

from misstep.core.case import families_of
from misstep.core.outcome import Outcome, Usage
from misstep.rendering.html.cases import digest_of, index_of
from tests.rendering.html.outcomes import played


def read(index: dict[str, Any]) -> list[dict[str, Any]]:
    """An index as rows, by nothing but what its module says about its form."""
    rows = []
    for place, name in enumerate(index["id"]):
        row = {"id": name}
        for column, values in index.items():
            if isinstance(values, dict):
                row[column] = values["words"][values["of"][place]]
            elif isinstance(values, list):
                row[column] = values[place]
        rows.append(row)
    return rows


def test_every_column_is_that_of_the_outcomes() -> None:
    outcomes = played("sim:greedy", 40, families=("order", "time", "data"))
    index = json.loads(json.dumps(index_of(map(digest_of, outcomes))))
    assert index["version"] == 1
    assert index["kept"] == 40
    assert (index["usd"], index["flaky"], index["cause"]) == (None, None, None)
    for row, outcome in zip(read(index), outcomes, strict=True):
        case, verdict = outcome.case, outcome.verdict
        assert row["id"] == case.id
        assert (row["verdict"], row["error"]) == (verdict.verdict, verdict.error or "")
        assert (row["topic"], row["family"]) == (case.topic, families_of(case))
        assert (row["actions"], row["calls"]) == (len(case.actions), len(outcome.transcript.calls))
        assert row["seconds"] == round(outcome.seconds, 3)
        assert verdict.explanation.startswith(row["why"].removesuffix("…"))


def test_words_are_told_once() -> None:
    outcomes = played("sim:greedy", 30)
    index = index_of(map(digest_of, outcomes))
    for column in ("verdict", "topic", "error", "family"):
        words = index[column]["words"]
        assert len(words) == len(set(map(str, words))) < 30


def test_what_is_known_of_some_is_null_for_the_others() -> None:
    first, second = played("sim:greedy", 2)
    index = index_of([digest_of(first, 0.25, "topic", True), digest_of(second)], kept=1)
    assert index["usd"] == [0.25, None]
    assert index["flaky"] == [1, None]
    assert [row["cause"] for row in read(index)] == ["topic", ""]
    assert index["kept"] == 1


def test_tokens_are_all_tokens(outcome: Outcome) -> None:
    transcript = msgspec.structs.replace(outcome.transcript, usage=Usage(100, 20, 30))
    index = index_of([digest_of(msgspec.structs.replace(outcome, transcript=transcript))])
    assert index["tokens"] == [120]


def test_why_something_broke_on_our_side_is_told(outcome: Outcome) -> None:
    transcript = msgspec.structs.replace(outcome.transcript, ended="error", error="no route to host")
    verdict = msgspec.structs.replace(outcome.verdict, verdict="errored", error=None, explanation="")
    broken = msgspec.structs.replace(outcome, transcript=transcript, verdict=verdict)
    assert index_of([digest_of(broken)])["why"] == ["no route to host"]


@pytest.fixture
def outcome() -> Outcome:
    return played("sim:greedy", 1)[0]
