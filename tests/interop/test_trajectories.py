"""Trajectories from outside are judged like the runs that they were made from."""

import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from misstep.core.outcome import Outcome, Usage
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.plan_test.run import check_plans
from misstep.interop.trajectories import reading
from misstep.interop.trajectories.reading import is_foreign, read_trajectories
from misstep.runs.reporting.export import write_otlp
from misstep.runs.reporting.training import Export
from tests.interop import forms
from tests.interop.runs import HOSTILE, Motley, outcomes, run, verdicts
from tests.tiers import many_examples

Write = Callable[[Path, list[Outcome]], None]


def checked(folder: Path, plans: Path, **more: Any) -> list[Outcome]:
    settings = Settings(cases=str(folder / "cases.jsonl"), plans=str(plans), **more)
    return list(check_plans(settings))


def chat_lines(path: Path, kept: list[Outcome]) -> None:
    path.write_text("\n".join(json.dumps(forms.chat(outcome)) for outcome in kept))


def wrapped_chat(path: Path, kept: list[Outcome]) -> None:
    """With an id and how it ended, as one array that is spread over lines."""
    wrapped = [
        {"metadata": {"case": each.case.id}, "ended": each.transcript.ended, "messages": forms.chat(each)}
        for each in kept
    ]
    for each in wrapped:
        each["messages"][1]["content"] = "something else"
    path.write_text(json.dumps(wrapped, indent=1))


def response_lines(path: Path, kept: list[Outcome]) -> None:
    path.write_text("\n".join(json.dumps(forms.responses(outcome)) for outcome in kept) + "\n\n")


def inspect_json(path: Path, kept: list[Outcome]) -> None:
    samples = [forms.sample(outcome) for outcome in kept]
    path.write_text(json.dumps({"version": 2, "eval": {"task": "x"}, "samples": samples}, indent=2))


def inspect_packed(path: Path, kept: list[Outcome]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", "{}")
        for number, outcome in enumerate(kept):
            packed.writestr(f"samples/{number}_epoch_1.json", json.dumps(forms.sample(outcome)))


def traces(path: Path, kept: list[Outcome]) -> None:
    """All spans of all traces in one heap, a few to a line."""
    spans = [span for number, outcome in enumerate(kept) for span in forms.trace(outcome, number)]
    spans = spans[::2] + spans[1::2]
    lines = [forms.otlp(spans[first : first + 7]) for first in range(0, len(spans), 7)]
    path.write_text("\n".join(map(json.dumps, lines)))


# Forms that can't say that an agent ran out of time or broke, or that a call was never carried out.
SILENT_ABOUT_ENDS = (chat_lines, response_lines, traces)


WITH_TURNS = (chat_lines, wrapped_chat, response_lines, inspect_json, inspect_packed)


@pytest.mark.full(after=4)
@pytest.mark.parametrize(
    ("write", "parallel"),
    [
        *((write, parallel) for write in WITH_TURNS for parallel in ("ordered", "forbid")),
        (traces, "ordered"),  # spans of others say nothing of turns
    ],
)
def test_the_same_verdicts_as_the_run(tmp_path: Path, write: Write, parallel: str) -> None:
    settings = run(tmp_path, by=Motley(), parallel=parallel)
    kept = outcomes(settings)
    if write in SILENT_ABOUT_ENDS:
        kept = [outcome for outcome in kept if outcome.transcript.ended == "answered"]
    if write is traces:
        kept = [each for each in kept if all(call.ran >= 0 for call in each.transcript.calls)]
    assert len({outcome.verdict.error for outcome in kept}) >= 3
    write(tmp_path / "plans", kept)
    assert verdicts(checked(tmp_path, tmp_path / "plans", parallel=parallel)) == verdicts(kept)


@pytest.mark.full(after=2)
@pytest.mark.parametrize("agent", ["sim:greedy", "sim:random", "sim:perfect"])
@pytest.mark.parametrize("write", [chat_lines, response_lines, inspect_packed])
def test_arguments_are_kept(tmp_path: Path, write: Write, agent: str) -> None:
    settings = run(tmp_path, agent=agent, count=20, family=("order", "time", "data"))
    write(tmp_path / "plans", outcomes(settings))
    assert verdicts(checked(tmp_path, tmp_path / "plans")) == verdicts(outcomes(settings))


@pytest.mark.parametrize("parallel", ["ordered", "forbid"])
def test_our_own_traces(tmp_path: Path, parallel: str) -> None:
    settings = run(tmp_path, by=Motley(), parallel=parallel)
    settings = settings.overlay({"out": str(tmp_path / "traces.jsonl"), "otlp_content": True})
    assert write_otlp(settings, "last").rows == 40
    found = checked(tmp_path, tmp_path / "traces.jsonl", parallel=parallel)
    assert verdicts(found) == verdicts(outcomes(settings))


def test_traces_without_arguments(tmp_path: Path) -> None:
    plain = run(tmp_path, agent="sim:greedy").overlay({"out": str(tmp_path / "traces.jsonl")})
    write_otlp(plain, "last")
    assert verdicts(checked(tmp_path, tmp_path / "traces.jsonl")) == verdicts(outcomes(plain))
    (tmp_path / "more").mkdir()
    timed = run(tmp_path / "more", agent="sim:perfect", timed=True, count=2)
    write_otlp(timed.overlay({"out": str(tmp_path / "timed.jsonl")}), "last")
    with pytest.raises(UsageError, match=r"timed\.jsonl:1  its calls have no arguments"):
        checked(tmp_path / "more", tmp_path / "timed.jsonl")


def one(tmp_path: Path) -> Outcome:
    (outcome,) = outcomes(run(tmp_path, agent="sim:perfect", count=1))
    return outcome


def test_tokens_and_answers_come_along(tmp_path: Path) -> None:
    settings = run(tmp_path, agent="sim:perfect", count=1)
    inspect_json(tmp_path / "log.json", outcomes(settings))
    (found,) = checked(tmp_path, tmp_path / "log.json")
    assert found.transcript.usage == Usage(8, 2, 3)
    assert found.transcript.answer == outcomes(settings)[0].transcript.answer != ""


def test_blanks_in_a_request_don_t_matter(tmp_path: Path) -> None:
    messages = forms.chat(one(tmp_path))
    messages[1]["content"] = messages[1]["content"][0]["text"].replace(" ", "\n ") + "\n"
    (tmp_path / "plans").write_text(json.dumps(messages))
    assert checked(tmp_path, tmp_path / "plans")[0].verdict.verdict == "passed"


def test_a_case_that_is_named_by_hand(tmp_path: Path) -> None:
    outcome = one(tmp_path)
    messages = forms.chat(outcome)
    messages[1]["content"] = "Please get on with it."
    (tmp_path / "plans").write_text(json.dumps(messages))
    with pytest.raises(UsageError, match=r"plans:1  does not belong to a known case"):
        checked(tmp_path, tmp_path / "plans")
    assert checked(tmp_path, tmp_path / "plans", case=outcome.case.id)[0].verdict.verdict == "passed"
    with pytest.raises(UsageError, match="no case 'x' in"):
        checked(tmp_path, tmp_path / "plans", case="x")


def test_a_request_that_two_cases_share(tmp_path: Path) -> None:
    outcome = one(tmp_path)
    twin = msgspec.structs.replace(outcome.case, seed=99).identified()
    cases = [msgspec.json.encode(case) for case in (outcome.case, twin)]
    (tmp_path / "cases.jsonl").write_bytes(b"\n".join(cases))
    chat_lines(tmp_path / "plans", [outcome])
    with pytest.raises(UsageError, match="belongs to one of several cases"):
        checked(tmp_path, tmp_path / "plans")
    assert checked(tmp_path, tmp_path / "plans", case=twin.id)[0].case == twin


def test_plans_of_our_own_name_their_case(tmp_path: Path) -> None:
    outcome = one(tmp_path)
    (tmp_path / "plans").write_bytes(msgspec.json.encode(outcome.transcript))
    assert not is_foreign(str(tmp_path / "plans"))
    with pytest.raises(UsageError, match="omit --case"):
        checked(tmp_path, tmp_path / "plans", case=outcome.case.id)


def test_forms_may_be_mixed_line_by_line(tmp_path: Path) -> None:
    kept = outcomes(run(tmp_path, agent="sim:greedy", count=3))
    lines = [
        json.dumps(forms.chat(kept[0])),
        msgspec.json.encode(kept[1].transcript).decode(),
        json.dumps(forms.responses(kept[2])),
    ]
    (tmp_path / "plans").write_text("\n".join(lines))
    assert verdicts(checked(tmp_path, tmp_path / "plans")) == verdicts(kept)


def test_the_old_form_of_one_call_to_a_message(tmp_path: Path) -> None:
    outcome = one(tmp_path)
    messages: list[dict[str, Any]] = [{"role": "user", "content": outcome.case.query}]
    for call in outcome.transcript.calls:
        messages.append({"role": "assistant", "function_call": {"name": call.tool, "arguments": ""}})
        messages.append({"role": "function", "name": call.tool, "content": call.result})
    (tmp_path / "plans").write_text(json.dumps({"messages": messages}))
    assert checked(tmp_path, tmp_path / "plans")[0].verdict.verdict == "passed"


def test_calls_without_any_results_count(tmp_path: Path) -> None:
    messages = [each for each in forms.chat(one(tmp_path)) if each["role"] != "tool"]
    (tmp_path / "plans").write_text(json.dumps(messages))
    assert checked(tmp_path, tmp_path / "plans")[0].verdict.verdict == "passed"


def test_training_examples_can_be_checked(tmp_path: Path) -> None:
    settings = run(tmp_path, agent="sim:greedy", count=20)
    examples = [msgspec.json.encode(each) for each in Export(settings, "last", "sft").examples()]
    (tmp_path / "examples.jsonl").write_bytes(b"\n".join(examples))
    found = checked(tmp_path, tmp_path / "examples.jsonl")
    assert {outcome.verdict.verdict for outcome in found} == {"passed"}
    assert len(found) == len(examples) > 0


def test_an_agent_within_an_agent_is_part_of_it(tmp_path: Path) -> None:
    outcome = one(tmp_path)
    spans = forms.trace(outcome, 1)
    (chat,) = [span for span in spans if span["spanId"] == "b1"]
    chat["attributes"] = [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}]
    (tmp_path / "plans").write_text(json.dumps(forms.otlp(spans)))
    (found,) = checked(tmp_path, tmp_path / "plans")
    assert found.verdict.verdict == "passed"


def test_spans_whose_parents_run_in_a_circle(tmp_path: Path) -> None:
    outcome = one(tmp_path)
    spans = forms.trace(outcome, 1)
    for span in spans:
        if span["spanId"] == "a1":
            span["parentSpanId"] = "b1"
    (tmp_path / "plans").write_text(json.dumps(forms.otlp(spans)))
    (found,) = checked(tmp_path, tmp_path / "plans")
    assert found.verdict.verdict == "passed"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"resourceSpans": []}', "these traces contain no agent and no tool calls"),
        ('{"eval": {}, "samples": []}', "an Inspect log without samples"),
        ('{"eval": {}, "samples": [{"id": 1}]}', "sample 1  not a sample of Inspect"),
        ('GOOD\n{"what": 1}', ":2  an unknown format"),
        ('GOOD\n[{"role": "user", "content": "x"}, 1]', ":2, item 1  an unknown format"),
        ('[{"role": "user", "content": "x"}]\n{"case":', ":1  does not belong to a known case"),
        ('{"messages": [{"role": "user"}]}', ":1  does not belong to a known case"),
        ("[1, 2]", ":1  not a plan"),
        ("{", ":1  not JSON"),
        ("[[[[", ":1  not a plan"),
        ("", "it contains no plan"),
        ("\x00\x01", ":1  not JSON"),
        ("GOOD\nrubbish", ":2  not JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, content: str, problem: str) -> None:
    good = json.dumps(forms.chat(one(tmp_path)))
    (tmp_path / "plans").write_text(content.replace("GOOD", good))
    with pytest.raises(UsageError) as caught:
        checked(tmp_path, tmp_path / "plans")
    assert problem in str(caught.value)
    assert str(tmp_path / "plans") in str(caught.value)


def test_a_line_that_is_broken_off_after_good_ones(tmp_path: Path) -> None:
    whole = json.dumps(forms.chat(one(tmp_path)))
    (tmp_path / "plans").write_text(f"{whole}\n{whole[:-40]}")
    with pytest.raises(UsageError, match=r"plans:2  not JSON"):
        checked(tmp_path, tmp_path / "plans")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_a_packed_log_that_was_cut_short(tmp_path: Path, share: float) -> None:
    inspect_packed(tmp_path / "log.eval", [one(tmp_path)])
    data = (tmp_path / "log.eval").read_bytes()
    (tmp_path / "log.eval").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UsageError, match=r"log\.eval  not an Inspect log: .*\n  the file may be truncated"):
        checked(tmp_path, tmp_path / "log.eval")


def test_a_packed_file_of_something_else(tmp_path: Path) -> None:
    one(tmp_path)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr("a.txt", "x")
    with pytest.raises(UsageError, match="not an Inspect log, or one without samples"):
        checked(tmp_path, tmp_path / "x.zip")


def test_a_packed_sample_that_would_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect_packed(tmp_path / "log.eval", [one(tmp_path)])
    monkeypatch.setattr("misstep.interop.trajectories.inspect_logs.LARGEST", 100)
    with pytest.raises(UsageError, match="at most 100 are read"):
        checked(tmp_path, tmp_path / "log.eval")


def test_a_file_that_would_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = one(tmp_path)
    inspect_json(tmp_path / "log.json", [outcome])
    monkeypatch.setattr(reading, "LARGEST", 100)
    with pytest.raises(UsageError, match=r"log\.json"):
        checked(tmp_path, tmp_path / "log.json")


def test_many_lines_are_read_one_at_a_time(tmp_path: Path) -> None:
    line = json.dumps(forms.chat(one(tmp_path))) + "\n"
    with open(tmp_path / "plans", "w") as file:
        for _ in range(500):
            file.write(line)
        file.write("rubbish")
    found = read_trajectories(str(tmp_path / "plans"))
    assert sum(1 for _, _ in zip(range(500), found, strict=False)) == 500
    with pytest.raises(UsageError, match=":501"):
        next(found)


def test_text_of_every_kind(tmp_path: Path) -> None:
    outcome = one(tmp_path)
    messages = forms.chat(outcome)
    messages[-1]["content"] = HOSTILE + "\ud800"
    messages.insert(2, {"role": "assistant", "content": "𝕏" * 5000})
    (tmp_path / "plans").write_text("\ufeff" + json.dumps(messages), encoding="utf-8")
    assert checked(tmp_path, tmp_path / "plans")[0].verdict.verdict == "passed"


def test_nesting_beyond_all_bounds(tmp_path: Path) -> None:
    one(tmp_path)
    deep = "[" * 900 + "]" * 900
    (tmp_path / "plans").write_text(f'[{{"role": "user", "content": {deep}}}]')
    with pytest.raises(UsageError):
        checked(tmp_path, tmp_path / "plans")


KEYS = [
    "role",
    "content",
    "tool_calls",
    "function",
    "type",
    "name",
    "arguments",
    "messages",
    "eval",
    "samples",
    "resourceSpans",
    "scopeSpans",
    "spans",
    "attributes",
    "key",
    "value",
    "input",
    "output",
    "metadata",
    "call_id",
    "id",
    "parts",
    "limit",
    "error",
    "model_usage",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner | st.sampled_from(["user", "assistant", "tool", "function_call", "message"]),
            max_size=4,
        )
    ),
    max_leaves=25,
)


@many_examples(
    300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(value=json_values)
def test_whatever_is_in_a_file_is_read_or_refused(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "plans"
    path.write_text(json.dumps(value))
    if is_foreign(str(path)):
        with suppress(UsageError):
            list(read_trajectories(str(path)))
