"""What the fuzzer is made of, piece by piece."""

import copy

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Described, Reaction
from misstep.fuzzing.search.corpus import Corpus, CorpusEntry, Feedback, outline
from misstep.fuzzing.search.harvest import NamedValues
from misstep.fuzzing.search.mutation import LONGEST, mutated, spliced
from misstep.fuzzing.search.sequences import Sequences, stage_of
from misstep.fuzzing.search.shares import Shares
from misstep.fuzzing.search.subject import FuzzSubject, Parameter, encode
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
