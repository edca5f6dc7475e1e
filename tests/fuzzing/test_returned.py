"""Arguments that stand for what earlier calls have returned."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Described, Invocation, Reaction, with_markers
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.fuzzing.returned import (
    MOST_TOLD,
    filled_in,
    latest_in,
    marker_for,
    may_have_markers,
    misfit_of,
    remember,
    returned,
    without_bulk,
)
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.fuzzing.search.subject import FuzzSubject
from misstep.fuzzing.triage.defect_index import finding_of, located
from misstep.fuzzing.triage.steps import simpler_arguments
from misstep.schemas.schema import fits
from tests.fuzzing.search.bench import Simple

GIVEN = {"session": returned("session_id", "s-1"), "rows": [{"id": returned("id", 7)}], "text": "a"}
STORED = {"session": "${result.session_id}", "rows": [{"id": "${result.id:number}"}], "text": "a"}


def test_values_that_were_returned_are_stored_by_their_names() -> None:
    assert json.loads(json.dumps(GIVEN)) == {"session": "s-1", "rows": [{"id": 7}], "text": "a"}
    assert with_markers(GIVEN) == STORED
    assert may_have_markers(json.dumps(STORED))
    assert not may_have_markers(json.dumps({"text": "${HOME} ${7*7} {{7*7}}"}))


def test_the_latest_values_are_put_in() -> None:
    latest = {"session_id": 12, "id": "31"}
    assert filled_in(STORED, latest) == {"session": "12", "rows": [{"id": 31}], "text": "a"}
    assert filled_in(STORED, {}) == STORED
    assert filled_in({"id": "${result.id:number}"}, {"id": "not a number"}) == {"id": "${result.id:number}"}
    unlike = {"a": "x ${result.id}", "b": "${result.}", "c": "${result.a b}"}
    assert filled_in(unlike, {"id": 1, "": 2, "a b": 3}) == unlike


def test_few_names_of_a_tool_are_remembered() -> None:
    latest = dict[str, str | int]()
    for number in range(2 * MOST_TOLD):
        remember(latest, "list_rows", Reaction("returned", json.dumps({"id": number, f"r{number}": number})))
    remember(latest, "add_row", Reaction("returned", '{"row": 7}'))
    assert len(latest) <= 3 * (MOST_TOLD + 1)
    wanted = {"a": "${result.id:number}", "b": "${result.row@add_row#1:number}"}
    assert filled_in(wanted, latest) == {"a": 2 * MOST_TOLD - 1, "b": 7}


def test_values_in_earlier_results_of_a_tool_are_put_in() -> None:
    latest = dict[str, str | int]()
    for tool, text in (("add_row", '{"id": 1}'), ("add_row", '{"id": 2}'), ("list_rows", '[{"id": 7}]')):
        remember(latest, tool, Reaction("returned", text))
    before, last = marker_for("id", "add_row", 2, True), marker_for("id", "add_row", 1, False)
    assert (before, last) == ("${result.id@add_row#2:number}", "${result.id@add_row#1}")
    wanted = {"a": before, "b": last, "c": "${result.id}", "d": marker_for("id", "add_row", 3, False)}
    assert filled_in(wanted, latest) == {"a": 1, "b": "2", "c": "7", "d": wanted["d"]}
    assert marker_for("id", "add a row", 1, False) == ""


def test_values_that_were_put_in_are_stored_as_before() -> None:
    latest = dict[str, str | int]()
    remember(latest, "add_row", Reaction("returned", '{"session_id": "s-1", "id": 7}'))
    by_tool = [marker_for("id", "add_row", 1, is_number) for is_number in (True, False)]
    for given in (STORED, {"rows": by_tool}):
        made = filled_in(given, latest)
        assert "$" not in json.dumps(made)
        assert with_markers(made) == given


def test_stand_ins_have_the_types_that_schemas_ask_for() -> None:
    row = {"type": "object", "properties": {"id": {"enum": [1]}}}
    ids = {"session": {"type": "string", "pattern": "^[^$]*$"}, "rows": {"type": "array", "items": row}}
    assert misfit_of({"type": "object", "properties": ids}, STORED) is None


def test_the_first_value_of_each_name_in_a_result_is_kept() -> None:
    text = json.dumps({"task": {"id": "t1", "steps": [{"id": "s1"}]}, "a b": 1, "done": True})
    assert latest_in(Reaction("returned", text)) == {"id": "t1"}
    assert latest_in(Reaction("returned", "Opened session: s-77")) == {"session": "s-77"}


def test_what_is_read_later_is_small() -> None:
    small = Reaction("returned", "{}", structured='{"id": "t1"}', edges=(1, 2))
    assert latest_in(without_bulk(small)) == {"id": "t1"}
    large = Reaction("returned", "session: s-77", structured=json.dumps({"id": "t1", "text": "x" * 10**6}))
    assert len(without_bulk(large).structured or "") < 10**5
    assert latest_in(without_bulk(large)) == {"session": "s-77"}


def test_what_is_nested_too_deeply_stays_as_it_is() -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    assert with_markers({"a": deep})["a"] is deep
    assert filled_in({"a": deep}, {"id": 1})["a"] is deep


SHORT_ID = {"type": "string", "pattern": r"^s-\d+$", "maxLength": 8}
COUNT = {"type": "integer", "minimum": 100, "maximum": 900}
SCHEMA = {
    "type": "object",
    "properties": {"session": SHORT_ID, "number": COUNT, "limit": {"type": "integer", "maximum": 5}},
}
MARKED = {"session": "${result.session}", "number": "${result.number:number}"}
CLOSE = Described(Tool("close", "", SCHEMA), "mcp")


@pytest.mark.parametrize(
    ("more", "broken"), [({}, ""), ({"limit": 5}, ""), ({"limit": 6}, "maximum at limit")]
)
def test_what_is_not_known_before_breaks_no_schema(more: dict[str, int], broken: str) -> None:
    given = {**MARKED, **more}
    assert (misfit_of(SCHEMA, given) is None) is (not broken)
    assert (FuzzSubject(CLOSE, 0, Simple(CLOSE), Dice(1)).misfit(given) is None) is (not broken)
    call = Invocation("close", json.dumps(given))
    judged = judge_calls_of([CLOSE])(call, Reaction("returned", text="closed"))
    assert judged.message == broken
    finding = finding_of(Judged("crash"), "crash", [call], 1)
    assert located(finding, "", {"close": CLOSE}).fits is (not broken)


def test_a_returned_value_that_is_refused_breaks_no_schema() -> None:
    text = {"type": "object", "properties": {"session": {"type": "string"}}, "required": ["session"]}
    said = "Invalid arguments for tool close: [{'code': 'invalid_type', 'expected': 'number', 'path': ['session']}]"
    refusal = Reaction("returned", text=said.replace("'", '"'), size=len(said), flagged=True)
    for session, ruling in (("${result.session}", "refused"), ("s-1", "schema")):
        call = Invocation("close", json.dumps({"session": session}))
        assert judge_calls_of([Described(Tool("close", "", text), "mcp")])(call, refusal).ruling == ruling


def test_other_arguments_are_validated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    validated = list[Any]()

    def counted(schema: Mapping[str, Any], value: object) -> str | None:
        validated.append(value)
        return fits(schema, value)

    monkeypatch.setattr("misstep.fuzzing.returned.fits", counted)
    subject = FuzzSubject(CLOSE, 0, Simple(CLOSE), Dice(1))
    validated.clear()
    given = {"session": "s-1", "limit": 6}
    assert subject.misfit(given) is not None
    assert validated == [given]


def test_shrinking_has_nothing_to_correct_where_a_marker_is() -> None:
    given = {**MARKED, "limit": 6}
    assert {**MARKED, "limit": 0} in simpler_arguments(SCHEMA, given)


def test_an_id_that_repeats_is_no_choice_of_items() -> None:
    pair = {"type": "array", "uniqueItems": True, "items": SHORT_ID}
    assert misfit_of(pair, ["${result.one}", "${result.other}"]) is None
    assert misfit_of(pair, ["${result.one}", "${result.one}"]) is not None


def test_a_corpus_keeps_the_names_of_what_was_returned() -> None:
    tools = [
        Described(
            Tool(
                name, "", {"type": "object", "properties": {needed: {"type": "string"}}, "required": [needed]}
            ),
            "mcp",
        )
        for name, needed in (("open_session", "title"), ("close_session", "session_id"))
    ]
    fuzzer, made = Fuzzer(tools, 1, Simple), 0
    while made < 400 and (attempts := fuzzer.ask(8)):
        for attempt in attempts:
            reactions = list[Reaction]()
            for call in attempt.calls:
                made += 1
                is_open = call.tool == "open_session"
                known = "${result." in call.arguments
                text = f'{{"session_id": "s-{made}-x"}}' if is_open else f"closed {known}"
                reactions.append(Reaction("returned", text=text, size=len(text)))
            fuzzer.tell(attempt, reactions, [Judged("fine")] * len(reactions))
    assert "${result.session_id}" in "".join(fuzzer.corpus)


def test_a_tool_that_a_refusal_names_is_called_first() -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tools = [Described(Tool(name, "", text), "mcp") for name in ("write", "open_desk", "close_desk")]
    fuzzer, accepted, made = Fuzzer(tools[:1], 1, Simple, helpers=tools[1:]), 0, 0
    while made < 60 and (attempts := fuzzer.ask(4)):
        for attempt in attempts:
            called = [call.tool for call in attempt.calls]
            assert "close_desk" not in called
            is_open = called[0] == "open_desk"
            told = (
                "written" if is_open else "There is no desk. Use open_desk to make one; close_desks is old."
            )
            judged = [Judged("fine" if is_open else "refused", message=told)] * len(called)
            fuzzer.tell(attempt, [Reaction("returned", text=told, size=len(told))] * len(called), judged)
            accepted, made = accepted + is_open, made + 1
    assert accepted > made // 2
