"""What the fuzzer is made of, piece by piece."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Described, Reaction
from misstep.fuzzing.inputs.slots import PoolEntry
from misstep.fuzzing.search.acceptance import Acceptance, places_in
from misstep.fuzzing.search.corpus import Corpus, CorpusEntry, Feedback, Shares, outline
from misstep.fuzzing.search.harvest import (
    NamedValues,
    absolute_files,
    allowed_numbers_in,
    as_kinds,
    files_told,
    limited_by,
    meant_by,
    offers_in,
    texts_named_in,
)
from misstep.fuzzing.search.inspiration import Inspiration
from misstep.fuzzing.search.mutation import LONGEST, mutated, spliced
from misstep.fuzzing.search.sequences import (
    Sequences,
    makes_things,
    related_values,
    stage_of,
    wave_of,
    with_names_of,
)
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


def test_other_tools_may_need_what_is_created_or_loaded() -> None:
    names = ["create_note", "load_csv", "upload", "read_note", "download", "delete_note"]
    assert [name for name in names if makes_things(name)] == ["create_note", "load_csv", "upload"]


@pytest.mark.parametrize(
    ("name", "required", "optional", "wave"),
    [
        ("create_deck", "", "deck_id", 0),
        ("list_decks", "", "next_token", 0),
        ("get_deck_info", "", "deck_id", 1),
        ("add_slide", "title", "deck_id", 1),
        ("load_deck", "path", "session_id", 0),
        ("open_slide", "session_id", "", 1),
        ("add_slide", "deck_id", "", 1),
        ("read_deck", "deck_id", "", 2),
        ("rename_deck", "name", "deck_id", 2),
    ],
)
def test_tools_that_may_take_an_id_come_after_those_that_make_one(
    name: str, required: str, optional: str, wave: int
) -> None:
    properties: dict[str, Any] = {each: {"type": "string"} for each in (required, optional) if each}
    schema = {"type": "object", "properties": properties, "required": [required] if required else []}
    assert wave_of(Described(Tool(name, "", schema), "mcp")) == wave


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


def test_a_list_in_a_result_brings_values_for_a_parameter_that_takes_several() -> None:
    harvest = NamedValues()
    told = '{"session": "s", "columns_affected": ["id", "price"], "file_size": 3, "rows_affected": 2}'
    harvest.gather(returned(told), "load_csv")
    found = {name: harvest.returned_by(["load_csv"], name) for name in ("columns", "rows", "column", "file")}
    assert found == {"columns": "id", "rows": None, "column": None, "file": None}


def test_the_same_name_of_an_earlier_result_comes_before_a_like_name_of_a_later_one() -> None:
    harvest = NamedValues()
    harvest.gather(returned('{"requestId": "r1", "id": "t1"}'), "plan_request")
    harvest.gather(returned('{"id": "t2"}'), "add_task")
    told = {
        name: harvest.returned_by(["plan_request", "add_task"], name)
        for name in ("requestId", "taskId", "id")
    }
    assert told == {"requestId": "r1", "taskId": "t2", "id": "t2"}


def test_what_was_made_is_named_in_a_list_where_a_list_is_wanted() -> None:
    made = (("add_column", {"name": "price"}),)
    parameters = [
        Parameter(name, {}, (kind,), True) for name, kind in (("columns", "array"), ("column", "string"))
    ]
    assert related_values(parameters, made) == {"columns": ["price"], "column": "price"}


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


def test_prepared_calls_may_lack_optional_arguments_that_results_have_values_for() -> None:
    properties = {name: {"type": "string"} for name in ("id", "type")}
    named = {"type": "object", "properties": properties, "required": ["id"]}
    tool = Described(Tool("move_shape", "", named), "mcp")
    made = (("add_shape", {"type": "circle"}),)
    ideas = Inspiration([FuzzSubject(tool, 0, Simple(tool), Dice(1))], [], Dice(2), [made])
    ideas.harvest.gather(returned('{"id": "S1", "type": "circle"}'), "add_shape")
    found = [idea for idea in (ideas.next() for _ in range(3_000)) if idea and idea.origin == "prepared"]
    assert {tuple(sorted(idea.calls[-1][1])) for idea in found} == {("id",), ("id", "type")}


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
        (
            "1 validation error for call[f]\nhow\n  Input should be 'mean' or 'mode' [type=literal_error, "
            "input_value='x']",
            [("f how Input", "mean"), ("f how Input", "mode")],
        ),
        ("Input should be 'mean' or 'mode'", [("Input", "mean"), ("Input", "mode")]),
        ("Unknown mode. Use 'ask', 'code' or 'plan'", [("", "ask"), ("", "code"), ("", "plan")]),
        ("Use 'new' instead of 'old'", [("", "new")]),
        ("Expected one of 'goto', 'button'", [("one of", "goto"), ("one of", "button")]),
        ("must be image/png or image/jpeg", [("", "image/png"), ("", "image/jpeg")]),
        ("format must be json or csv", [("format", "json"), ("format", "csv")]),
        ("expected json, yaml or toml", [("", "json"), ("", "yaml"), ("", "toml")]),
        ("Unit must be one of (mm, cm)", [("Unit must be", "mm"), ("Unit must be", "cm")]),
        ("Unknown format. options: a, b", [("", "a"), ("", "b")]),
        ("valid types are: a, b, c", [("types are", "a"), ("types are", "b"), ("types are", "c")]),
        ('Invalid option: expected one of "a"|"b"', [("one of", "a"), ("one of", "b")]),
        (r'{"message": "Invalid option: expected one of \"a\"|\"b\""}', [("one of", "a"), ("one of", "b")]),
        ("Invalid enum value. Expected 'a' | 'b', received 'c'", [("", "a"), ("", "b")]),
        (
            "data/way must be equal to one of the allowed values: up, down",
            [("equal to one of the allowed values", "up"), ("equal to one of the allowed values", "down")],
        ),
        ("way must be equal to one of the allowed values", []),
        ("the value must be positive or zero", []),
        ("must be a string or number.", []),
        ("Expected a number or a list", []),
        ("the path must be absolute or relative to the root", []),
        ("one of the files or folders is missing", []),
        ("We use 'many' files, and no options are left", []),
        ("the value is not valid", []),
        ("expected: a number that is larger than any other", []),
        ("everything is fine", []),
    ],
)
def test_refusals_offer_other_values(message: str, offered: list[tuple[str, str]]) -> None:
    assert offers_in(message) == offered


HOSTILE = (
    "a/", "a|", "a, or ", "a | ", "or or, ", "a.", "a ", "1-", "1..", "1.1 and ", "> 1.", "at least 1 ", "'",
    "\\", "[", "\n", "must be ", "one of a ", "expected 'a", "start with ", "must be > 1 ", "SELECT",
)  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_refusals_are_read_quickly(part: str) -> None:
    """A pattern with exponentially many ways to match would not end."""
    parameters = [Parameter(name, {}, ("string",), True) for name in ("a", "b" * 100)]
    for before in ("", "expected ", "one of ", "must be ", "valid range "):
        message = before + part * (64_000 // len(part)) + "!"
        offers_in(message)
        allowed_numbers_in(message)
        texts_named_in(message)
        files_told(message, ["a.txt"])
        meant_by("", message, parameters, {"a": "x"})
        limited_by("", message, parameters)


def test_an_offer_is_for_what_it_names_and_for_what_was_quoted() -> None:
    parameters = [Parameter(name, {}, ("string",), True) for name in ("path", "sheet_name", "title")]
    given = {"path": "/a/b", "sheet_name": "x", "title": "odd"}
    found = meant_by("sheets", "'odd' is none. Available sheets: 'Sheet1'", parameters, given)
    assert [each.name for each in found] == ["sheet_name", "title", "path"]


@pytest.mark.parametrize(
    ("message", "about", "numbers"),
    [
        ("limit must be between 1 and 100", "limit", [1, 50, 100]),
        ("Input should be less than or equal to 32", "Input", [32, 31, 1]),
        ("Input should be greater than 0 [type=greater_than, input_value=-5]", "Input", [1, 10]),
        ("n must be >= 1", "n", [1, 2, 11]),
        ("size must be at least 3", "size", [3, 4, 13]),
        ("Invalid month; must be 1-12", "Invalid month", [1, 6, 12]),
        ("month must be in 1..12", "month", [1, 6, 12]),
        ("Too small: expected number to be >=1", "Too small", [1, 2, 11]),
        ("depth must not exceed 32", "depth", [32, 31, 1]),
        ("count cannot be less than 1", "count", [1, 2, 11]),
        ("share must be > 0 and < 1", "share", [0.5]),
        ("prefix must be between 0 and 32, got 99", "prefix", [0, 16, 32]),
        ("33 is greater than the maximum of 32", "greater than the", [32, 31, 1]),
        ("Invalid line number: 43. File has 4 lines.", "", [2, 4, 1]),
        ("Invalid slide index: 36. Available slides: 0-1", "", [0, 1]),
        ("Invalid page; it has 0 pages", "", []),
        ("The file has 4 lines", "", []),
        ("name must be at least 3 characters", "", []),
        ("must have between 1 and 100 lines", "", []),
        ("the date must be 2024-01-15", "", []),
        ("version must be at least 1.2.3", "", []),
        ("9 is greater than 8", "", []),
        ("expected 3 arguments", "", []),
    ],
)
def test_refusals_name_ranges_of_numbers(message: str, about: str, numbers: list[int | float]) -> None:
    assert allowed_numbers_in(message) == [(about, number) for number in numbers]


def test_a_range_is_for_a_number_that_is_named_or_the_only_one() -> None:
    kinds = {"limit": "integer", "share": "number", "name": "string"}
    parameters = [Parameter(name, {}, (kind,), True) for name, kind in kinds.items()]
    found = limited_by("limit", "limit must be >= 1", parameters)
    assert [each.name for each in found] == ["limit"]
    found = limited_by("Too small", '{"path": ["share"], "message": "Too small: …"}', parameters)
    assert [each.name for each in found] == ["share"]
    assert limited_by("Input", "Input should be >= 1", parameters) == []
    assert limited_by("Input", "Input should be >= 1", parameters[1:]) == [parameters[1]]
    assert list(as_kinds(0.5, ("integer",))) == []
    assert list(as_kinds(0.5, ("number",))) == [0.5]


def test_files_are_chosen_as_a_refusal_asks() -> None:
    files = ["notes.md", "book.xlsx", "/w/notes.md", "/w/book.xlsx"]
    assert files_told("must be absolute, e.g. '/home/me/q1.xlsx'", files) == ["/w/book.xlsx"]
    assert files_told("must point to an Excel file (.xlsm, .xlsx)", files) == ["book.xlsx", "/w/book.xlsx"]
    assert files_told("the path must be absolute", files) == ["/w/notes.md", "/w/book.xlsx"]
    assert files_told("no such sheet", files) == []
    assert files_told("not a valid workbook", files) == ["book.xlsx", "/w/book.xlsx"]
    texts = ["a.md", "/w/a.md"]
    assert files_told("Path must be absolute, e.g. 'C:\\q1.xlsx'", texts, files) == ["/w/book.xlsx"]
    assert files_told("the path must be absolute", texts, files) == ["/w/a.md"]


def test_a_file_that_has_to_be_absolute_is_named_in_full() -> None:
    places = [(("path",), "book.xlsx"), (("csv",), "data/sales.csv"), (("other",), "b")]
    files = ["book.xlsx", "data/sales.csv", "/w/book.xlsx", "/w/data/sales.csv", "/w/b"]
    told = "Path 'data/sales.csv' must be absolute, e.g. '/home/me/q1.xlsx'"
    assert list(absolute_files(told, places, files)) == [(("csv",), "/w/data/sales.csv")]
    assert list(absolute_files("'data/sales.csv' is locked", places, files)) == []


def test_accepted_calls_are_varied_in_places_where_others_were_accepted() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    first = {"zone": "UTC", "note": {"text": "a"}}
    assert not acceptance.falls_behind(0, 0, dice)  # nothing to vary
    acceptance.hear((("say", first),), True, None)
    taken = [places_in(first)]
    for number in range(300):
        entry = PoolEntry(f"new {number}")
        idea = acceptance.varied(
            lambda _path, _dice, entry=entry: entry,
            lambda _, text: (text.upper(), "mutation"),
            ["extra"],
            dice,
        )
        (_, given) = idea.calls[-1]
        is_fine = "extra" not in given and given["zone"] == "UTC"  # any text, no other zone
        places = places_in(given)
        assert min(len({*places} - {*each}) for each in taken) <= 2
        acceptance.hear(idea.calls, is_fine, idea.source)
        taken += [places] if is_fine else []
    assert len(taken) > 200


def test_refused_calls_are_corrected_where_the_refusal_points_to() -> None:
    """A tool that checks one argument after the other is passed in few calls."""
    acceptance, dice = Acceptance(), Dice(1)
    values = [f"value {number}" for number in range(10)]
    right = {"folder": values[2], "branch": values[5], "kind": values[7]}
    given: dict[str, Any] = {"folder": "one", "branch": "two", "kind": "three", "limit": 3}
    made = 0
    while wrong := [name for name, value in right.items() if given[name] != value]:
        acceptance.hear_refusal((("show", given),), f"no such {wrong[0]}: '{given[wrong[0]]}'")
        idea = acceptance.corrected(lambda _path, dice: PoolEntry(dice.pick(values)), ["limit"], dice)
        assert idea is not None
        (_, given), made = idea.calls[-1], made + 1
    assert made < 100  # 1,000 without looking at what is said
    assert given["limit"] == 3  # nothing pointed to it


def test_refusals_are_also_about_parameters_that_they_name() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    words = "not deleted: path and confirmPath must be identical"
    acceptance.hear_refusal((("delete", {"path": "notes.md"}),), words, ["path", "confirmPath", "force"])
    ideas = [acceptance.corrected(lambda path, _dice: PoolEntry(path[0]), (), dice) for _ in range(60)]
    given = [idea.calls[-1][1] for idea in ideas if idea]
    assert all("force" not in each for each in given)
    assert {"path": "notes.md", "confirmPath": "confirmPath"} in given
    assert {"path": "notes.md", "confirmPath": "notes.md"} in given  # another one's value


def test_a_refusal_may_repeat_a_value_with_escapes() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    given = {"sheet": "Sheet1", "range": 'A1\n"B"'}
    acceptance.hear_refusal((("show", given),), r"Invalid range 'A1\n\"B\"'")
    ideas = [acceptance.corrected(lambda _path, _dice: PoolEntry("B2"), (), dice) for _ in range(20)]
    assert {idea.calls[-1][1]["sheet"] for idea in ideas if idea} == {"Sheet1"}
    assert {"sheet": "Sheet1", "range": "B2"} in [idea.calls[-1][1] for idea in ideas if idea]


def test_an_optional_argument_that_is_refused_may_be_left_out() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    assert acceptance.corrected(lambda _path, _dice: None, (), dice) is None
    acceptance.hear_refusal((("show", {"folder": "home", "until": "noon"}),), "no date: noon")
    acceptance.hear_refusal((("show", {"folder": "home", "until": "noon", "more": 1}),), "no date: noon")
    ideas = [acceptance.corrected(lambda _path, _dice: None, ("until",), dice) for _ in range(20)]
    assert {tuple(idea.calls[-1][1]) for idea in ideas if idea} == {("folder",), ("folder", "until")}


def test_items_of_a_list_that_a_refusal_is_about_may_be_left_out() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    given = {"columns": ["day", "colour", "price"], "limit": 3}
    acceptance.hear_refusal((("show", given),), "Columns not found: ['colour']")
    ideas = [acceptance.corrected(lambda _path, _dice: PoolEntry("id"), (), dice) for _ in range(40)]
    made = [idea.calls[-1][1]["columns"] for idea in ideas if idea]
    assert ["day", "price"] in made
    assert ["day", "id", "price"] in made
    assert all("day" in each and "price" in each for each in made)
    nested = {"sort_by": [{"column": "day"}, {"column": "colour"}]}
    acceptance.hear_refusal((("show", nested),), "Column 'colour' is not in A1:C10")
    ideas = [acceptance.corrected(lambda _path, _dice: None, (), dice) for _ in range(40)]
    assert {"sort_by": [{"column": "day"}]} in [idea.calls[-1][1] for idea in ideas if idea]


def test_a_refusal_may_write_the_name_of_a_parameter_in_other_case() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    given = {"folder": "home", "limit": 3}
    acceptance.hear_refusal((("show", given),), "Limit must be even", list(given))
    ideas = [acceptance.corrected(lambda _path, _dice: PoolEntry(4), (), dice) for _ in range(20)]
    assert {idea.calls[-1][1]["folder"] for idea in ideas if idea} == {"home"}


def test_accepted_calls_are_varied_until_half_of_all_are_accepted() -> None:
    acceptance, dice = Acceptance(), Dice(1)
    acceptance.hear((("say", {"zone": "UTC"}),), True, None)
    for _ in range(400):
        is_safe = acceptance.falls_behind(0, 0, dice)
        acceptance.hear((("say", {"zone": "UTC"}),), is_safe, None)
    assert 200 < acceptance.accepted < 250
    assert not acceptance.falls_behind(10, 200, dice)  # enough are under way


def test_things_are_named_as_the_calls_that_made_them_did() -> None:
    made = (("create_entities", {"entities": [{"name": "Ada", "entityType": "person"}]}),)
    wanted = {"observations": [{"entityName": "x", "contents": ["y"]}], "name": "z"}
    told = {"observations": [{"entityName": "Ada", "contents": ["y"]}], "name": "z"}
    assert with_names_of(wanted, made) == told
    assert with_names_of(wanted, (("read_entities", made[0][1]),)) == wanted


@pytest.mark.parametrize(
    ("name", "parameter", "told", "value"),
    [
        ("load_csv_from_content", "content", "", "id,name,price,date\n"),
        ("load", "content", "The table as CSV.", "id,name,price,date\n"),
        ("import_data", "data", "JSON to import", "{"),
        ("split", "network", "", "192.168.1.0/24"),
        ("show", "file_path", "", "b.ipynb"),
        ("show", "directory", "", "."),
        ("git_show", "directory", "", "shop"),
        ("git_show", "file_path", "", "b.ipynb"),
        ("convert_markdown", "source", "", "# Title"),
    ],
)
def test_calls_of_servers_begin_with_what_is_written_in_the_right_way(
    name: str, parameter: str, told: str, value: str
) -> None:
    schema = {"properties": {parameter: {"type": "string", "description": told}}, "required": [parameter]}
    tool = Described(Tool(name, "Works on a Jupyter notebook.", {"type": "object", **schema}), "mcp")
    files = ["a.txt", "b.ipynb", "notes", "notes/c.txt", "shop", "shop/.git"]
    assert FuzzSubject(tool, 0, Simple(tool), Dice(1), files).simple[parameter].startswith(value)


def test_the_name_of_a_tool_describes_only_parameters_that_hold_any_text() -> None:
    named = {name: {"type": "string"} for name in ("source", "theme", "target")}
    schema = {"type": "object", "properties": named, "required": [*named]}
    tool = Described(Tool("convert_markdown", "", schema), "mcp")
    simple = FuzzSubject(tool, 0, Simple(tool), Dice(1)).simple
    assert [name for name, value in simple.items() if value.startswith("# Title")] == ["source"]


@pytest.mark.parametrize(
    ("name", "told", "first"),
    [
        ("optimize_png", "Works on an image.", "b.png"),
        ("crop_jpeg", "Works on an image.", "a.jpg"),
        ("show_image", "Works on an image.", "b.png"),
        ("get_document", "The content of a document.", "notes.md"),
    ],
)
def test_calls_of_servers_begin_with_files_of_the_likeliest_kind(name: str, told: str, first: str) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tool = Described(Tool(name, told, schema), "mcp")
    subject = FuzzSubject(tool, 0, Simple(tool), Dice(1), ["a.jpg", "b.png", "notes.md"])
    assert subject.simple == {"path": first}


def test_the_first_call_that_is_accepted_is_what_others_are_made_from() -> None:
    tool = described(planted.same)
    subject = FuzzSubject(tool, 0, Simple(tool), Dice(1))
    (name, *_) = subject.simple
    subject.hear(((tool.name, {name: "odd"}),), False)
    assert subject.simple[name] != "odd"
    subject.hear(((tool.name, {name: "right", "other": 1}),), True)
    subject.hear(((tool.name, {name: "also right"}),), True)
    assert subject.simple[name] == "right"
    assert "other" not in subject.simple


def test_refusals_are_forgotten_together_with_what_they_point_to() -> None:
    acceptance = Acceptance()
    acceptance.hear_refusal((("show", {"name": "one"}),), "the server is stuck: 'one'")
    acceptance.forget_refusals()
    assert acceptance.corrected(lambda _path, _dice: PoolEntry("two"), (), Dice(1)) is None


def test_few_places_of_large_arguments_are_looked_at() -> None:
    class Counted(list[int]):
        seen = 0

        def __iter__(self) -> Iterator[int]:
            for each in super().__iter__():
                self.seen += 1
                yield each

    items, deep = Counted(range(50_000)), list[Any]()
    for _ in range(5_000):
        deep = [deep]
    assert len(places_in({"items": items})) == 32
    assert items.seen < 100
    assert places_in({"deep": deep, "name": "a"}) == [(("name",), "a")]
