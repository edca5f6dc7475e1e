"""What the fuzzer is made of, piece by piece."""

import copy

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Described, Reaction
from misstep.fuzzing.search.corpus import Corpus, CorpusEntry, Feedback, Shares, outline
from misstep.fuzzing.search.harvest import NamedValues, files_told, meant_by, offers_in
from misstep.fuzzing.search.mutation import LONGEST, mutated, spliced
from misstep.fuzzing.search.sequences import Sequences, stage_of
from misstep.fuzzing.search.subject import Acceptance, FuzzSubject, Parameter, encode
from tests.fuzzing.search import planted
from tests.fuzzing.search.bench import Simple, described

ARGUMENTS = {"a": "text", "b": 3, "c": [1, {"d": None}], "e": {"f": 1.5, "g": "\ud800"}, "h": True, "i": ""}
FINE = Judged("fine")


def returned(text: str, flagged: bool = False) -> Reaction:
    return Reaction("returned", text, len(text), flagged=flagged)


def test_mutants_are_json_and_leave_alone_what_they_come_from() -> None:
    tool = described(planted.same)
    subject, dice = FuzzSubject(tool, 0, Simple(tool), Dice(1)), Dice(2)
    before, seen = copy.deepcopy(ARGUMENTS), set[str]()
    for _ in range(2000):
        mutant = mutated(ARGUMENTS, subject, dice)
        seen.add(encode(mutant))
        assert all(len(value) <= LONGEST for value in mutant.values() if isinstance(value, str | list))
        spliced(ARGUMENTS, mutant, dice)
    assert before == ARGUMENTS
    assert len(seen) > 1000


def test_outlines_leave_out_what_changes_from_call_to_call() -> None:
    one = outline(returned("Error: no file 'a.txt' in 12 places", True), FINE, {})
    assert one == outline(returned("Error: no file 'b.md' in 7 places", True), FINE, {})
    assert one != outline(returned("Error: not allowed", True), FINE, {})
    given = outline(returned("unknown city Paris", True), FINE, {"city": "Paris"})
    assert given == outline(returned("unknown city Rome", True), FINE, {"city": "Rome"})


def test_outlines_of_structured_results_are_their_keys_and_types() -> None:
    one = outline(returned('{"id": 1, "name": "x"}'), FINE, {})
    assert one == outline(returned('{"name": "y", "id": 2}'), FINE, {})
    assert one != outline(returned('{"id": "1", "name": "x"}'), FINE, {})


def test_a_tool_that_says_something_else_each_time_is_not_always_news() -> None:
    feedback, dice, news = Feedback(0), Dice(1), 0
    for _ in range(2000):
        text = " ".join(dice.pick(("red", "blue", "green", "black")) for _ in range(6))
        news += bool(feedback.fresh(feedback.features(returned(text), FINE, {})))
    assert news < 200


def test_the_corpus_keeps_the_smallest_for_each_feature() -> None:
    corpus = Corpus()
    large, small, other = (CorpusEntry((("t", {"n": n}),), n) for n in (90, 10, 50))
    corpus.add(large, [1, 2])
    corpus.add(other, [2, 3])
    assert list(corpus) == [large, other]
    corpus.add(small, [1])
    assert set(corpus) == {small, other}
    corpus.credit(small, [2, 3])
    assert list(corpus) == [small]
    corpus.credit(large, [4])
    assert list(corpus) == [small]


def test_shares_follow_what_is_found_and_give_nothing_up() -> None:
    shares, dice = Shares({"good": 0.5, "bad": 0.5}, floor=0.05), Dice(3)
    for _ in range(200):
        shares.reward("good", 1.0)
        shares.reward("bad", 0.0)
    picks = [shares.pick(dice) for _ in range(1000)]
    assert 20 < picks.count("bad") < 150
    shares.retire("good")
    assert {shares.pick(dice) for _ in range(50)} == {"bad"}


def test_results_bring_values_for_parameters_of_their_name() -> None:
    harvest = NamedValues()
    harvest.gather(returned('{"orders": [{"order_id": 7014, "state": "new"}]}'))
    harvest.gather(returned("Saved to path: /tmp/x.txt, ticket #41"))
    assert harvest.wanted(Parameter("orderId", {}, ("integer",), True)) == [7014]
    assert harvest.wanted(Parameter("path", {}, ("string",), True)) == ["/tmp/x.txt"]
    harvest.gather(returned("id: 99", flagged=True))
    assert 99 not in harvest.wanted(Parameter("id", {}, ("integer",), True))


def test_names_tell_the_stage_of_a_tool() -> None:
    names = ("createNote", "read_note", "rename-note", "note_delete", "frobnicate", "HTTPGet")
    assert [stage_of(name) for name in names] == [0, 1, 2, 3, 1, 1]


def test_names_one_below_the_other_are_wanted_for_paths() -> None:
    path = Parameter("file_path", {}, ("string",), True)
    names, prose = NamedValues(), NamedValues()
    names.gather(returned("docs\nloop\nnotes.txt"))
    prose.gather(returned("Dear all,\nloop\nis no list of names"))
    assert {"docs", "loop", "notes.txt"} <= {*names.wanted(path)}
    assert "loop" not in prose.wanted(path)


def test_what_a_maker_gives_is_wanted_for_what_its_name_says() -> None:
    harvest = NamedValues()
    harvest.gather(returned("T7"), "open_ticket")
    harvest.gather(returned("done"))
    assert harvest.wanted(Parameter("ticket_id", {}, ("string",), True)) == ["T7"]
    assert {"T7", "done"} <= {*harvest.wanted(Parameter("user", {}, ("string",), True))}


def test_what_was_taken_away_is_asked_for_afterwards() -> None:
    harvest, dice = NamedValues(), Dice(1)
    harvest.gather(returned("T7"), "open_ticket")
    named = {"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}
    tools = [Described(Tool(name, "", named), "mcp") for name in ("close_ticket", "read_ticket")]
    subjects = {tool.name: FuzzSubject(tool, 0, Simple(tool), dice) for tool in tools}
    corpus = Corpus()
    corpus.add(CorpusEntry((("read_ticket", {"ticket_id": "x"}),), 1, False), ("feature",))
    sequences = Sequences(subjects, corpus, harvest)
    made = [sequences.make(dice)[:2] for _ in range(200)]
    assert (("close_ticket", {"ticket_id": "T7"}), ("read_ticket", {"ticket_id": "T7"})) in made


@pytest.mark.parametrize(
    ("message", "offered"),
    [
        (
            "Sheet 'abc' not found. Available sheets: 'Sheet1', 'Sheet2'",
            [("sheets", "Sheet1"), ("sheets", "Sheet2")],
        ),
        ("unknown unit; must be one of: celsius, kelvin", [("one of", "celsius"), ("one of", "kelvin")]),
        ("Invalid mode. Valid modes are [fast, slow]", [("modes are", "fast"), ("modes are", "slow")]),
        ('No such city. Did you mean "Oslo"?', [("", "Oslo")]),
        ("Path must be absolute, e.g. '/home/me/a.xlsx'", [("absolute, e.g.", "/home/me/a.xlsx")]),
        ("Error: ticket numbers start with TCK-", [("ticket numbers", "TCK-"), ("ticket numbers", "TCK-1")]),
        ("the value is not valid", []),
        ("expected: a number that is larger than any other", []),
        ("everything is fine", []),
    ],
)
def test_refusals_offer_other_values(message: str, offered: list[tuple[str, str]]) -> None:
    assert offers_in(message) == offered


def test_an_offer_is_for_what_it_names_and_for_what_was_quoted() -> None:
    parameters = [Parameter(name, {}, ("string",), True) for name in ("path", "sheet_name", "title")]
    given = {"path": "/a/b", "sheet_name": "x", "title": "odd"}
    found = meant_by("sheets", "'odd' is none. Available sheets: 'Sheet1'", parameters, given)
    assert [each.name for each in found] == ["sheet_name", "title", "path"]


def test_files_are_chosen_as_a_refusal_asks() -> None:
    files = ["notes.md", "book.xlsx", "/w/notes.md", "/w/book.xlsx"]
    assert files_told("must be absolute, e.g. '/home/me/q1.xlsx'", files) == ["/w/book.xlsx"]
    assert files_told("must point to an Excel file (.xlsm, .xlsx)", files) == ["book.xlsx", "/w/book.xlsx"]
    assert files_told("the path must be absolute", files) == ["/w/notes.md", "/w/book.xlsx"]
    assert files_told("no such sheet", files) == []


def test_where_particular_values_are_expected_accepted_ones_are_given() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    odd = {"zone": "odd", "text": "b"}
    acceptance.hear({"zone": "UTC", "text": "a"}, True)
    for number in range(60):
        given = acceptance.settled(odd, dice)
        # Hardly any call is accepted, so not many have to be tried.
        assert given == ({"zone": "UTC", "text": "b"} if number > 14 else odd)
        acceptance.hear({"zone": f"zone {number}", "text": "a"}, False)
    acceptance.hear({"zone": "UTC", "text": "new"}, True)  # any text will do
    assert acceptance.settled(odd, dice) == {"zone": "UTC", "text": "b"}
    for number in range(120):
        acceptance.hear({"zone": "UTC", "text": f"text {number}"}, True)
    assert acceptance.settled(odd, dice) == odd


def test_while_calls_are_accepted_others_are_explored() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    odd = {"zone": "odd", "text": "b"}
    for number in range(20):
        for text in range(3):
            assert acceptance.settled(odd, dice) == (odd if acceptance.calls < 50 else {**odd, "zone": "UTC"})
            acceptance.hear({"zone": f"zone {number} {text}" if text else "UTC", "text": "a"}, not text)


def test_the_first_call_that_is_accepted_is_what_others_are_made_from() -> None:
    tool = described(planted.same)
    subject = FuzzSubject(tool, 0, Simple(tool), Dice(1))
    (name, *_) = subject.simple
    subject.hear({name: "odd"}, False)
    assert subject.simple[name] != "odd"
    subject.hear({name: "right", "other": 1}, True)
    subject.hear({name: "also right"}, True)
    assert subject.simple[name] == "right"
    assert "other" not in subject.simple
