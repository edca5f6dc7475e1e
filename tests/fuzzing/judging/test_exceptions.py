"""Exceptions as values: whose code they came through, who raised them, and nothing that could hurt."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pydantic
import pytest

from misstep.core.tool import Raised
from misstep.fuzzing.judging.exceptions import INNER, MESSAGE, OUTER, describe_exception
from tests.fuzzing.judging import planted


def owns(file: str) -> bool:
    return file == planted.__file__


def describe(function: Callable[..., Any], *arguments: Any, own: Callable[[str], bool] = owns) -> Raised:
    try:
        function(*arguments)
    except BaseException as error:
        return describe_exception(error, own)
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("function", "kind", "deliberate"),
    [
        (planted.happens, "IndexError", False),
        (planted.raises, "ValueError", True),
        (planted.raises_from_own_helper, "ValueError", True),
        (planted.asserts, "AssertionError", False),
        (planted.asserts_without_words, "AssertionError", False),
        (planted.raises_assertion, "AssertionError", True),
        (planted.in_library, "JSONDecodeError", False),
        (planted.raises_again, "JSONDecodeError", False),
        (planted.raises_caught, "JSONDecodeError", False),
        (planted.wraps_with_words, "ValueError", True),
        (planted.wraps_without_words, "RuntimeError", False),
        (planted.raises_own_type, "CityUnknown", True),
        (planted.exits, "SystemExit", False),
    ],
)
def test_a_raise_in_own_code_is_told_from_what_happens(
    function: Callable[[], Any], kind: str, deliberate: bool
) -> None:
    raised = describe(function)
    assert (raised.kind, raised.deliberate, raised.validation) == (kind, deliberate, False)


def test_a_raise_in_somebody_elses_code_is_not_deliberate() -> None:
    def refuse() -> None:
        raise ValueError("no")

    raised = describe(planted.calls, refuse)
    assert not raised.deliberate
    assert [frame.own for frame in raised.frames] == [True, False]


def test_frames_begin_with_the_tool_and_run_inwards() -> None:
    raised = describe(planted.in_library)
    assert [(frame.function, frame.own) for frame in raised.frames][:2] == [
        ("in_library", True),
        ("loads", False),
    ]
    assert raised.frames[-1].function == "raw_decode"
    assert raised.bases[:2] == ("json.decoder.JSONDecodeError", "ValueError")


def test_own_frames_have_their_source_line() -> None:
    own, *others = describe(planted.in_library).frames
    source = Path(planted.__file__).read_text().splitlines()
    assert own.text == source[own.line - 1].strip()
    assert not any(frame.text for frame in others)


def test_a_tool_that_breaks_reading_of_files_loses_the_source_line_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("linecache.getline", refuse)
    raised = describe(planted.happens)
    assert (raised.kind, [frame.text for frame in raised.frames]) == ("IndexError", [""])


def test_the_tools_own_frame_is_kept_however_deep_the_library_goes() -> None:
    raised = describe(planted.deep_in_library)
    assert raised.kind == "RecursionError"
    assert len(raised.frames) <= OUTER + INNER + 1
    assert any(frame.own and frame.function == "deep_in_library" for frame in raised.frames)


def test_of_a_group_the_first_that_went_through_own_code_counts() -> None:
    raised = describe(planted.in_group)
    assert raised.kind == "IndexError"
    assert raised.frames[-1].function == "happens"


def test_what_a_framework_puts_around_an_exception_is_looked_through() -> None:
    def run() -> None:
        try:
            planted.happens()
        except IndexError as error:
            raise RuntimeError("the tool failed") from error

    assert describe(run).kind == "IndexError"


def test_validation_comes_before_own_code() -> None:
    class Arguments(pydantic.BaseModel):
        limit: int

    checked = pydantic.validate_call(planted.asserts)
    assert describe(lambda: Arguments(limit="x")).validation  # type: ignore[arg-type]
    assert describe(lambda: checked("x")).validation
    assert describe(lambda: planted.asserts(nonsense=1)).validation  # type: ignore[call-arg]
    assert not describe(planted.calls, lambda: Arguments(limit="x")).validation  # type: ignore[arg-type]
    assert not describe(planted.calls, planted.calls).validation


def test_hostile_exceptions_do_no_harm() -> None:
    assert "can't be converted to text" in describe(planted.raises_hostile).message
    assert not describe(planted.raises_hostile).deliberate, "who can't say a word has not said what is wrong"
    assert describe(planted.raises_sly).frames[-1].function == "raises_sly"
    assert len(describe(planted.raises_endless).message) < MESSAGE + 100
    assert describe(planted.raises_knot).message == "one"
    msgspec.json.encode(describe(planted.raises_surrogate))


def test_who_owns_a_file_may_be_hard_to_say() -> None:
    def confused(file: str) -> bool:
        raise ValueError(file)

    assert describe(planted.happens, own=confused).frames[-1].function == "happens"


WATCHED = """
import sys
from tests.fuzzing.judging import planted
from misstep.fuzzing.judging.exceptions import describe_exception
if sys.version_info >= (3, 12):
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(4, "test")
    sys.monitoring.register_callback(4, events.LINE, lambda *_: None)
    sys.monitoring.set_events(4, events.LINE | events.BRANCH | events.RAISE)
sys.settrace(lambda *_: (lambda *_: None))
for name in ("raises", "asserts", "happens", "wraps_with_words"):
    try:
        getattr(planted, name)()
    except Exception as error:
        print(name, describe_exception(error, lambda file: file == planted.__file__).deliberate)
"""


def test_being_watched_changes_nothing() -> None:
    root = Path(__file__).parents[3]
    shown = subprocess.run(
        [sys.executable, "-c", WATCHED], cwd=root, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == [
        "raises",
        "True",
        "asserts",
        "False",
        "happens",
        "False",
        "wraps_with_words",
        "True",
    ]
