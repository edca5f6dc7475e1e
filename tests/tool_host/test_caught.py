"""Exceptions that a tool catches and puts into its reply are found, in a real process."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep.core.results.trial import Judged
from misstep.fuzzing.judging.ruling import judge_calls_of
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from tests.conformance.subject_subprocess import find_python
from tests.tool_host.trying import LIMITS, probe

TOOLS = Path(__file__).with_name("caught.py")
NEWER = find_python("TEST_NEWER_PYTHON", ".venv-newer")
PYTHONS = [
    sys.executable,
    pytest.param(
        NEWER,
        marks=[
            pytest.mark.full,
            pytest.mark.skipif(not NEWER, reason="needs .venv-newer, with Python 3.12 on"),
        ],
    ),
]
PASSED_ON = [
    ("total", {"order": "a2"}, "KeyError", "caught.py:16 in total"),
    ("apologise", {"order": "a2"}, "KeyError", "caught.py:24 in apologise"),
    ("listed", {"order": "a2"}, "KeyError", "caught.py:32 in listed"),
    ("first_letters", {"name": ""}, "IndexError", "caught.py:40 in first_letters"),
    ("ratio", {"a": 1, "b": 0}, "ZeroDivisionError", "caught.py:59 in ratio"),
    ("only_the_name", {"order": "a2"}, "KeyError", "caught.py:65 in only_the_name"),
]
INNOCENT = [
    ("total", {"order": "a1"}, "fine"),
    ("says_what", {"order": "a9"}, "refused"),
    ("refuses", {"level": 9}, "refused"),
    ("reads_number", {"text": "abc"}, "refused"),
    ("reads_folder", {"path": "a"}, "refused"),
    ("teaches", {"name": "KeyError"}, "fine"),
    ("teaches", {"name": "x"}, "fine"),
    ("finds", {"words": "missing keys"}, "fine"),
    ("shows_log", {"day": "today"}, "fine"),
    ("echoes", {"text": "Something went wrong: KeyError('echoes')"}, "fine"),
    ("echoes", {"text": "KeyError"}, "fine"),
    ("falls_back", {"key": "name"}, "fine"),
]


@pytest.fixture(scope="module", params=PYTHONS, ids=["this Python", "newer"])
def bench(request: pytest.FixtureRequest) -> Iterator[ToolHost]:
    conditions = CallConditions(shelter="none", limits=LIMITS, python=request.param)
    with ToolHost(f"{TOOLS}:tools", conditions) as bench:
        yield bench


def judged(bench: ToolHost, tool: str, arguments: dict[str, Any]) -> Judged:
    call = probe(tool, **arguments)
    (reaction,) = bench.run([call])
    assert reaction.ended == "returned"
    return judge_calls_of(bench.tools)(call.invocation, reaction)


@pytest.mark.parametrize(("tool", "arguments", "error", "where"), PASSED_ON)
def test_a_reply_that_passes_an_exception_on_is_a_crash(
    bench: ToolHost, tool: str, arguments: dict[str, Any], error: str, where: str
) -> None:
    found = judged(bench, tool, arguments)
    assert (found.ruling, found.error, found.where) == ("crash", error, where)
    assert "caught" in found.why


@pytest.mark.parametrize(("tool", "arguments", "ruling"), INNOCENT)
def test_replies_in_words_of_their_own_are_none(
    bench: ToolHost, tool: str, arguments: dict[str, Any], ruling: str
) -> None:
    found = judged(bench, tool, arguments)
    assert found.ruling == ruling, found


def test_a_call_says_nothing_of_what_an_earlier_one_has_caught(bench: ToolHost) -> None:
    reactions = list(bench.run([probe("total", order="a2"), probe("total", order="a1")]))
    assert [len(reaction.handled) for reaction in reactions] == [1, 0]
