"""The recorder writes down everything, in the order emitted and in the order carried out."""

import contextlib
import threading
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.core.agent import Answer, StepsExhausted, Tool
from misstep.core.case import Case
from misstep.core.outcome import Metered, Usage
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.text import ANSWER, IN_ALL, NAME, TEXT, TextLimiter
from misstep.engine.recorder import (
    CALLS_PER_STEP,
    LEFT_OUT,
    MOST_MESSAGES,
    MOST_METERED,
    MOST_TOKENS,
    Deadline,
    Recorder,
)
from misstep.planning.judging.check import check, replay
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.planning.world.mock import MockWorld
from misstep.planning.world.tool_table import START_OVER
from tests.engine.conftest import record


@pytest.fixture
def case() -> Case:
    return make_case(Suite(0, 3, 3), 0)


def recorded(recorder: Recorder) -> list[tuple[Any, ...]]:
    return [(call.tool, call.arguments, call.turn, call.ran) for call in recorder.calls]


def test_calls_are_recorded_with_arguments_order_and_time(case: Case) -> None:
    ticks = count(100)
    recorder = Recorder(MockWorld(case), Deadline(1), 50, clock=lambda: float(next(ticks)))
    first, second, _ = case.actions
    recorder.call(second.tool, {})
    recorder.call("nonsense", {"a": [1]})
    recorder.call(first.tool, "now", turn=2)
    assert recorded(recorder) == [
        (second.tool, {}, 1, 0),
        ("nonsense", {"a": [1]}, 2, 0),
        (first.tool, "now", 2, 0),
    ]
    assert [call.at for call in recorder.calls] == [1.0, 2.0, 3.0]


def test_what_was_asked_for_keeps_its_place_though_carried_out_out_of_order(case: Case) -> None:
    a, b, c = [action.tool for action in case.actions]
    recorder = record(case)
    turn = recorder.begin_turn()
    for tool in (a, b, c):
        recorder.ask(tool, {}, turn)
    recorder.call(c, {})
    recorder.call(a, {})
    assert recorded(recorder) == [(a, {}, 1, 2), (b, {}, 1, -1), (c, {}, 1, 1)]


def test_the_words_of_the_model_count_not_what_a_framework_made_of_them(case: Case) -> None:
    tool = case.actions[0].tool
    recorder = record(case)
    recorder.ask(tool, '{"broken": ')
    recorder.ask("no_such_tool", {})
    assert "have to be an empty JSON object" in recorder.call(tool, {})
    assert recorded(recorder) == [(tool, '{"broken": ', 1, 0), ("no_such_tool", {}, 1, -1)]


def test_arguments_tell_calls_of_one_tool_apart(case: Case) -> None:
    tool = case.actions[0].tool
    recorder = record(case)
    recorder.ask(tool, {"x": 1})
    recorder.ask(tool, {"x": 2})
    recorder.call(tool, {"x": 2})
    assert [call.ran for call in recorder.calls] == [-1, 0]


def test_calls_belong_to_the_turn_that_began_last(case: Case) -> None:
    a, b, c = [action.tool for action in case.actions]
    recorder = record(case)
    recorder.begin_turn()
    recorder.call(a, {})
    recorder.call(b, {})
    recorder.begin_turn()
    recorder.call(c, {})
    assert [call.turn for call in recorder.calls] == [1, 1, 2]


def test_turns_are_bounded_not_the_calls_in_a_turn(case: Case) -> None:
    recorder = record(case, max_steps=2)
    for turn in (1, 1, 1, 2, 2):
        recorder.call("x", {}, turn=turn)
    with pytest.raises(StepsExhausted):
        recorder.call("x", {}, turn=3)
    assert len(recorder.calls) == 5
    assert recorder.exhausted


def test_turns_without_calls_are_bounded_too(case: Case) -> None:
    recorder = record(case, max_steps=2)
    assert [recorder.begin_turn(), recorder.begin_turn()] == [1, 2]
    with pytest.raises(StepsExhausted):
        recorder.begin_turn()


def test_calls_for_ever_within_one_turn_are_bounded(case: Case) -> None:
    recorder = record(case, max_steps=2)
    for _ in range(2 * CALLS_PER_STEP):
        recorder.ask("x", {}, turn=1)
    with pytest.raises(StepsExhausted):
        recorder.ask("x", {}, turn=1)
    assert len(recorder.calls) == 2 * CALLS_PER_STEP


@pytest.mark.parametrize(
    "arguments", [None, 0, "", [], {"x": None}, float("nan"), "\ud800", {1, 2}, object()]
)
def test_any_argument_is_recorded(case: Case, arguments: Any) -> None:
    recorder = record(case)
    assert recorder.call(case.actions[0].tool, arguments).startswith("Error")
    assert len(recorder.calls) == 1


def test_a_case_that_is_over_takes_no_calls(case: Case) -> None:
    recorder = record(case)
    recorder.close()
    with pytest.raises(StepsExhausted):
        recorder.call(case.actions[0].tool, {})
    assert not recorder.calls
    assert not recorder.exhausted


def test_tokens_add_up(case: Case) -> None:
    recorder = record(case)
    recorder.spend(Usage(10, 2, 4))
    recorder.spend(Usage(5, 1))
    assert recorder.usage == Usage(15, 3, 4)


def test_when_tokens_were_used_is_kept_within_bounds(case: Case) -> None:
    ticks = count(100)
    recorder = Recorder(MockWorld(case), Deadline(1), 50, clock=lambda: float(next(ticks)))
    recorder.spend(Usage(10, 2, 4))
    recorder.call(case.actions[0].tool, {})
    recorder.spend(Usage(5, 1))
    assert recorder.transcript("x", Answer()).metered == (
        Metered(1.0, Usage(10, 2, 4)),
        Metered(3.0, Usage(5, 1)),
    )
    for _ in range(MOST_METERED + 5):
        recorder.spend(Usage(1, 1))
    assert len(recorder.transcript("x", Answer()).metered) == MOST_METERED
    assert recorder.usage == Usage(15 + MOST_METERED + 5, 3 + MOST_METERED + 5, 4)


def test_messages_are_kept_on_request_only(case: Case) -> None:
    keeping = Recorder(MockWorld(case), Deadline(1), 50, keep_messages=True)
    for recorder in (keeping, record(case)):
        recorder.note({"role": "user"})
    assert (keeping.messages, record(case).messages) == ([{"role": "user"}], [])


def test_keys_are_masked_wherever_they_turn_up(case: Case) -> None:
    redact = Redactor(
        secrets_in({"OPENAI_API_KEY": "sk-very-secret", "SHORT_KEY": "abc", "PATH": "/usr/local/bin"})
    )
    recorder = Recorder(MockWorld(case), Deadline(1), 50, redact, keep_messages=True)
    result = recorder.call("sk-very-secret", {"key": ["sk-very-secret"], "abc": "/usr/local/bin"})
    recorder.note({"headers": "Bearer sk-very-secret"})
    assert "[secret]" in result
    assert recorder.calls[0].tool == "[secret]"
    assert recorder.calls[0].arguments == {"key": ["[secret]"], "abc": "/usr/local/bin"}
    assert recorder.messages == [{"headers": "Bearer [secret]"}]


def test_threads_don_t_lose_calls(case: Case) -> None:
    recorder = record(case, max_steps=1000)
    threads = [
        threading.Thread(target=lambda: [recorder.call("x", {}) for _ in range(100)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(call.turn or 0 for call in recorder.calls) == list(range(1, 801))


def test_what_was_discarded_is_not_what_is_carried_out(case: Case) -> None:
    a, b, _ = [action.tool for action in case.actions]
    recorder = record(case)
    for tools in ((b, a), (a, b)):
        turn = recorder.begin_turn()
        for tool in tools:
            recorder.ask(tool, {}, turn)
    recorder.call(a, {})
    recorder.call(b, {})
    assert recorded(recorder) == [(b, {}, 1, -1), (a, {}, 1, -1), (a, {}, 2, 0), (b, {}, 2, 0)]


def test_a_call_belongs_to_the_turn_it_names(case: Case) -> None:
    tool = case.actions[0].tool
    recorder = record(case)
    recorder.ask(tool, {}, turn=1)
    recorder.ask(tool, {}, turn=2)
    recorder.call(tool, {}, turn=1)
    assert [call.ran for call in recorder.calls] == [0, -1]


@pytest.mark.parametrize("name", ["x\ud800", "sk-very-secret"])
def test_odd_names_are_one_call_not_two(case: Case, name: str) -> None:
    recorder = Recorder(MockWorld(case), Deadline(1), 50, Redactor(["sk-very-secret"]))
    recorder.ask(name, {"t": (1, 2)})
    recorder.call(name, {"t": [1, 2]})
    assert [call.ran for call in recorder.calls] == [0]


def test_the_last_call_allowed_is_allowed(case: Case) -> None:
    recorder = record(case, max_steps=1)
    for _ in range(CALLS_PER_STEP):
        recorder.ask("x", {}, turn=1)
    for _ in range(CALLS_PER_STEP):
        recorder.call("x", {}, turn=1)
    assert not recorder.exhausted


def test_whoever_comes_late_changes_nothing(case: Case) -> None:
    recorder = record(case, max_steps=1)
    recorder.close()
    for _ in range(3):
        with pytest.raises(StepsExhausted):
            recorder.begin_turn()
    assert not recorder.exhausted


def test_secrets_that_json_would_spell_otherwise(case: Case) -> None:
    recorder = Recorder(MockWorld(case), Deadline(1), 50, Redactor(['pa"ss\\word1', "12345678"]))
    recorder.call("x", {"a": 'pa"ss\\word1', "n": 12345678, "12345678": 1})
    assert recorder.calls[0].arguments == {"a": "[secret]", "n": 12345678, "[secret]": 1}


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "KEY",
        "PGPASSWORD",
        "OPENAI_API_KEY_2",
        "API_KEYS",
        "DB_PASS",
        "GITHUB_PAT",
        "AUTHORIZATION",
        "KEYBOARD",  # has a key in it, and a key that is shown is worse than a word that isn't
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert secrets_in({name: "long-enough-secret"}) == ("long-enough-secret",)


def test_names_of_no_secrets() -> None:
    innocent = {
        "LANGUAGE": "us-international",
        "PATH": "/usr/local/bin",
        "COMPATIBILITY": "parallel",
    }
    assert secrets_in(innocent) == ()
    assert secrets_in({"DATABASE_URL": "postgresql://me:hunter2pass@host/db"}) == ("hunter2pass",)


@pytest.mark.parametrize("told", ['pa"ss w\\ord/ü', 'pa\\"ss w\\\\ord/\\u00fc', "pa%22ss%20w%5Cord%2F%C3%BC"])
def test_secrets_are_known_however_they_are_spelt(told: str) -> None:
    redact = Redactor(secrets_in({"MY_KEY": ' pa"ss w\\ord/ü\n'}))
    assert redact(f"<{told}>") == "<[secret]>"


MEGABYTE = 1_000_000
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(jsons)
def test_what_is_short_is_kept_as_it_is(value: Any) -> None:
    keeper = TextLimiter(Redactor())
    plain = msgspec.json.decode(msgspec.json.encode(value).replace(b"\\u0000", "\ufffd".encode()))
    assert keeper.json(value) == plain


@given(jsons, st.integers(1, 50), st.integers(1, 2000))
def test_whatever_is_kept_is_json_within_bounds(value: Any, text: int, most: int) -> None:
    keeper = TextLimiter(Redactor(), text=text, value=most)
    kept = keeper.json(value)
    assert len(msgspec.json.encode(kept)) <= max(most, 2 * NAME)
    assert (kept == {}) == (value == {})
    assert msgspec.json.decode(msgspec.json.encode(kept)) == kept


def test_a_long_text_is_cut_and_says_so_without_becoming_something_else(case: Case) -> None:
    recorder = record(case)
    recorder.call("x", {"text": "a" * MEGABYTE, "n": [1, {"b" * 5000: True}]})
    (call,) = recorder.calls
    assert call.arguments["text"] == "a" * TEXT + f"… ({MEGABYTE - TEXT:,} more characters)"
    assert call.arguments["n"] == [1, {"b" * TEXT + "… (1,000 more characters)": True}]


def test_too_many_arguments_are_left_out_and_fit_no_tool(case: Case) -> None:
    recorder = record(case)
    result = recorder.call(case.actions[0].tool, {str(number): number for number in range(100_000)})
    (call,) = recorder.calls
    assert call.arguments == "dict of 1,377,781 bytes, omitted"
    assert result.startswith("Error")


def test_a_name_is_cut_without_becoming_one_that_is_known(case: Case) -> None:
    tool = case.actions[0].tool
    recorder = record(case)
    for name in (tool + "x" * MEGABYTE, tool * MEGABYTE, tool + "\0", f"{tool}\ud800"):
        assert recorder.call(name, {}).startswith("Error: there is no tool")
    assert all(call.tool != tool and len(call.tool) < 2 * NAME for call in recorder.calls)


def test_a_long_name_asked_for_and_called_is_one_call(case: Case) -> None:
    recorder = record(case)
    recorder.ask("x" * MEGABYTE, {"a": "y" * MEGABYTE})
    recorder.call("x" * MEGABYTE, {"a": "y" * MEGABYTE})
    assert [call.ran for call in recorder.calls] == [0]


@pytest.mark.full
def test_a_case_that_says_very_much_is_kept_within_bounds(case: Case) -> None:
    recorder = Recorder(MockWorld(case), Deadline(60), 50, keep_messages=True)
    much = ["z" * 3000] * 20
    for _ in range(CALLS_PER_STEP * 50):
        recorder.ask("x", much, turn=1)
        recorder.note({"content": ["z" * 15_000] * 15})
    transcript = recorder.transcript(case.id, Answer("a" * MEGABYTE), "e" * MEGABYTE)
    assert len(msgspec.json.encode(transcript)) < 2.1 * IN_ALL
    assert transcript.answer == "a" * ANSWER + f"… ({MEGABYTE - ANSWER:,} more characters)"
    assert transcript.error.endswith("more characters)")
    assert recorder.calls[-1].arguments == "list of 60,061 bytes, omitted"


def test_messages_without_end_are_bounded(case: Case) -> None:
    recorder = Recorder(MockWorld(case), Deadline(60), 50, keep_messages=True)
    for number in range(MOST_MESSAGES + 5):
        recorder.note({"number": number})
    assert len(recorder.messages) == MOST_MESSAGES
    assert recorder.messages[-2:] == [{"number": MOST_MESSAGES - 2}, LEFT_OUT]


def test_no_half_of_a_secret_is_left_where_a_text_is_cut(case: Case) -> None:
    secret = "sk-" + "s" * 40
    recorder = Recorder(MockWorld(case), Deadline(1), 50, Redactor([secret]))
    recorder.call("n" * (NAME - 10) + secret, {"a": "t" * (TEXT - 10) + secret})
    transcript = recorder.transcript(case.id, Answer("u" * (ANSWER - 10) + secret))
    assert "sk-" not in msgspec.json.encode(transcript).decode()


class Text(str):
    def __str__(self) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize("text", ["\ud800", Text("?"), Text("\udfff")])
def test_odd_texts_stay_where_they_are(case: Case, text: str) -> None:
    recorder = record(case)
    recorder.call(text, {"a": [text], text: 1})
    assert (recorder.calls[0].tool, recorder.calls[0].arguments) == ("?", {"a": ["?"], "?": 1})


class Hostile:
    """Does harm wherever it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    def __str__(self) -> str:
        raise ZeroDivisionError

    __hash__ = None  # type: ignore[assignment]


def test_objects_that_do_harm_are_recorded(case: Case) -> None:
    recorder = record(case)
    name: Any = Hostile()
    recorder.call(name, Hostile())
    recorder.call("x", {"a": Hostile()})
    assert "can't be converted to text" in recorder.calls[0].tool
    assert [call.arguments for call in recorder.calls] == [
        "Hostile that is not JSON",
        "dict that is not JSON",
    ]


def test_whoever_never_lets_go_keeps_nobody_from_closing(case: Case) -> None:
    let_go, looked = threading.Event(), threading.Event()

    class Clinging:
        def __str__(self) -> str:
            looked.set()
            let_go.wait()
            return "x"

    recorder = record(case)
    name: Any = Clinging()

    def call() -> None:
        with contextlib.suppress(StepsExhausted):
            recorder.call(name, {})

    thread = threading.Thread(target=call)
    thread.start()
    assert looked.wait(30)
    recorder.close()  # would wait for ever
    let_go.set()
    thread.join()
    assert not recorder.calls


@pytest.mark.parametrize(
    ("told", "counted"), [(Usage(-5, 3), Usage(0, 3)), (Usage(10**30, 1, -1), Usage(MOST_TOKENS, 1, 0))]
)
def test_nobody_spends_less_than_nothing(case: Case, told: Usage, counted: Usage) -> None:
    recorder = record(case)
    recorder.spend(told)
    assert recorder.usage == counted


# Worlds that remember


class Diary:
    """A world in which every result depends on all that was called before it."""

    tools: tuple[Tool, ...] = ()

    def __init__(self) -> None:
        self.pages = list[tuple[str, Any]]()

    def answer(self, name: str, arguments: Any) -> str:
        self.pages.append((name, arguments))
        if name == "raise":
            raise RuntimeError("out of order")
        return f"page {len(self.pages)}: {name} {arguments}"

    def renewed(self) -> "Diary":
        return Diary()


def keeping_a_diary() -> tuple[Diary, Recorder]:
    diary = Diary()
    return diary, Recorder(diary, Deadline(60), 50)


calls_of_a_turn = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=8)


@given(calls_of_a_turn, st.data())
def test_the_world_sees_the_calls_of_a_turn_in_the_order_emitted(
    asked: list[tuple[str, int]], data: st.DataObject
) -> None:
    diary, recorder = keeping_a_diary()
    turn = recorder.begin_turn()
    for name, number in asked:
        recorder.ask(name, {"n": number}, turn)
    carried_out = data.draw(st.permutations(range(len(asked))))[: data.draw(st.integers(0, len(asked)))]
    for at in carried_out:
        name, number = asked[at]
        recorder.call(name, {"n": number}, turn)
    seen = [(name, {"n": number}) for name, number in asked]
    assert diary.pages == seen[: len(diary.pages)]
    for at, call in enumerate(recorder.calls):
        name, number = asked[at]
        result = "" if call.ran < 0 else f"page {at + 1}: {name} {{'n': {number}}}"
        assert (call.tool, call.arguments, call.result) == (name, {"n": number}, result)
    assert sum(call.ran >= 0 for call in recorder.calls) == len(carried_out)


def test_the_world_is_asked_no_further_than_needed() -> None:
    diary, recorder = keeping_a_diary()
    for name in "abc":
        recorder.ask(name, {}, turn=1)
    recorder.call("b", {})
    assert diary.pages == [("a", {}), ("b", {})]


def test_what_was_discarded_in_an_earlier_turn_never_happens() -> None:
    diary, recorder = keeping_a_diary()
    recorder.ask("a", {}, recorder.begin_turn())
    recorder.ask("b", {}, recorder.begin_turn())
    assert recorder.call("b", {}) == "page 1: b {}"
    assert diary.pages == [("b", {})]


def test_a_call_that_nobody_asked_for_comes_after_those_of_its_turn() -> None:
    _, recorder = keeping_a_diary()
    recorder.ask("a", {}, recorder.begin_turn())
    assert recorder.call("x", {}) == "page 2: x {}"
    assert recorder.call("a", {}) == "page 1: a {}"


def test_a_call_ahead_of_which_the_world_raises_gets_its_own_result() -> None:
    _, recorder = keeping_a_diary()
    for name in ("raise", "a"):
        recorder.ask(name, {}, turn=1)
    assert recorder.call("a", {}) == "page 2: a {}"
    assert recorder.call("raise", {}) == "Error: RuntimeError: out of order"


@pytest.mark.parametrize("swapped", [False, True])
def test_numbers_that_python_takes_for_equal_are_told_apart(swapped: bool) -> None:
    _, recorder = keeping_a_diary()
    given: list[Any] = [1, 1.0, True, "1"]
    for value in given:
        recorder.ask("a", {"x": value}, turn=1)
    order = given[::-1] if swapped else given
    results = {repr(value): recorder.call("a", {"x": value}, turn=1) for value in order}
    assert results == {
        repr(value): f"page {number}: a {{'x': {value!r}}}" for number, value in enumerate(given, 1)
    }


def test_threads_that_carry_out_a_turn_at_once_leave_its_order_alone() -> None:
    diary, recorder = keeping_a_diary()
    results = dict[tuple[int, int], str]()
    for turn in range(1, 21):
        recorder.begin_turn()
        for number in range(8):
            recorder.ask("a", {"n": number}, turn)
        together = threading.Barrier(8)

        def carry_out(number: int, turn: int = turn, together: threading.Barrier = together) -> None:
            together.wait()
            results[turn, number] = recorder.call("a", {"n": number}, turn)

        threads = [threading.Thread(target=carry_out, args=(number,)) for number in reversed(range(8))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert diary.pages == [("a", {"n": number}) for number in range(8)] * 20
    assert results == {
        (turn, number): f"page {8 * (turn - 1) + number + 1}: a {{'n': {number}}}"
        for turn in range(1, 21)
        for number in range(8)
    }


# Calls that were asked for and never carried out

DAYS = (make_case(Suite(0, 4, 4, families=("order", "time", "data")), number) for number in count())
DAY = next(case for case in DAYS if all(call.tool != START_OVER for call in case.solution))
CALLS = [*((call.tool, call.arguments) for call in DAY.solution), (START_OVER, {})]


def in_a_turn_of_its_own(recorder: Recorder, name: str, arguments: Any) -> str:
    turn = recorder.begin_turn()
    recorder.ask(name, arguments, turn)
    return recorder.call(name, arguments, turn)


def test_what_is_never_carried_out_has_not_happened_for_later_turns() -> None:
    _, recorder = keeping_a_diary()
    turn = recorder.begin_turn()
    for name in "abc":
        recorder.ask(name, {}, turn)
    assert recorder.call("c", {}, turn) == "page 3: c {}"
    assert recorder.call("b", {}, turn) == "page 2: b {}"
    assert recorder.call("d", {}, recorder.begin_turn()) == "page 3: d {}"
    told = [(call.tool, call.result) for call in recorder.calls if call.ran >= 0]
    assert told == [("b", "page 2: b {}"), ("c", "page 3: c {}"), ("d", "page 3: d {}")]


def test_what_is_carried_out_late_comes_where_it_was_emitted() -> None:
    _, recorder = keeping_a_diary()
    first = recorder.begin_turn()
    for name in "ab":
        recorder.ask(name, {}, first)
    recorder.call("b", {}, first)
    assert recorder.call("c", {}, recorder.begin_turn()) == "page 2: c {}"
    assert recorder.call("a", {}, first) == "page 1: a {}"
    assert recorder.call("d", {}, recorder.begin_turn()) == "page 4: d {}"


def test_a_result_that_was_not_told_in_its_turn_is_that_of_the_world_as_it_is_then() -> None:
    _, recorder = keeping_a_diary()
    first = recorder.begin_turn()
    for name in "abc":
        recorder.ask(name, {}, first)
    recorder.call("c", {}, first)
    recorder.begin_turn()
    recorder.call("d", {})
    assert recorder.call("b", {}, first) == "page 2: b {}"
    assert recorder.call("e", {}, recorder.begin_turn()) == "page 4: e {}"


def test_the_world_goes_on_from_where_the_judge_will() -> None:
    recorder = record(DAY)
    turn = recorder.begin_turn()
    for name, arguments in CALLS:
        recorder.ask(name, arguments, turn)
    recorder.call(START_OVER, {}, turn)  # all that a framework makes of the turn
    alone = MockWorld(DAY)
    for call in DAY.solution:
        told = in_a_turn_of_its_own(recorder, call.tool, call.arguments)
        assert told == alone.answer(call.tool, call.arguments)
    assert check(DAY, recorder.transcript(DAY.id, Answer("done"))).verdict == "passed"


some_calls = st.lists(st.sampled_from(CALLS), min_size=1, max_size=5)


@given(st.lists(some_calls | st.integers(0, 9), max_size=12), st.sampled_from(CALLS))
def test_a_turn_finds_the_world_as_the_judge_does(happens: list[Any], last: tuple[str, Any]) -> None:
    recorder = record(DAY)
    waiting = list[tuple[str, Any, int]]()
    for each in happens:
        if isinstance(each, list):  # another turn
            turn = recorder.begin_turn()
            for name, arguments in each:
                recorder.ask(name, arguments, turn)
                waiting.append((name, arguments, turn))
        elif waiting:  # one of the calls asked for so far is carried out
            recorder.call(*waiting.pop(each % len(waiting)))
    before = [call for call in recorder.calls if call.ran >= 0]
    told = in_a_turn_of_its_own(recorder, *last)
    world = MockWorld(DAY)
    for call in before:
        world.answer(call.tool, call.arguments)
    assert told == world.answer(*last)
    judged = replay(DAY, recorder.calls)
    had_effect = any(deed.step == len(recorder.calls) for deed in judged.deeds)
    assert had_effect == ("It took" in told)
