"""One attempt: limits are kept, and nothing that an agent does gets past them."""

import asyncio
from typing import Any

import pytest

from misstep.core.agent import Answer, Assignment, Displaced, StepsExhausted, Toolbox
from misstep.engine.attempt import attempt
from misstep.engine.recorder import Deadline, Recorder


class Nothing:
    """A world without tools."""

    tools = ()

    def answer(self, name: str, arguments: Any) -> str:
        return ""

    def renewed(self) -> "Nothing":
        return self


class Doing:
    """An agent that does one thing."""

    name = "doing"

    def __init__(self, thing: Any) -> None:
        self._thing = thing

    async def run(self, assignment: Assignment, toolbox: Toolbox) -> Answer:
        result = self._thing()
        return Answer(await result if asyncio.iscoroutine(result) else result)


def run(thing: Any, timeout: float = 60) -> tuple[Answer, str]:
    """How it ended, and what broke, without the frames of its traceback."""
    deadline = Deadline(timeout)
    recorder = Recorder(Nothing(), deadline, max_steps=3)
    answer, broken = asyncio.run(attempt(Doing(thing), Assignment("", 0), recorder, deadline))
    return answer, broken.partition("\n")[0]


def raising(error: BaseException) -> Any:
    def do() -> None:
        raise error

    return do


def test_an_answer() -> None:
    assert run(lambda: "done") == (Answer("done"), "")


def test_the_wall_clock_ends_it() -> None:
    assert run(lambda: asyncio.sleep(3600), timeout=0.01) == (Answer(ended="timeout"), "")


def test_steps_are_bounded() -> None:
    assert run(raising(StepsExhausted())) == (Answer(ended="iterations"), "")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("no key"), "RuntimeError: no key"),
        (TimeoutError("server too slow"), "TimeoutError: server too slow"),
        (RecursionError(), "RecursionError: "),
        (ExceptionGroup("many", [ValueError("x")]), "ExceptionGroup: many (1 sub-exception)"),
    ],
)
def test_whatever_an_agent_raises_is_the_plumbings_fault(error: Exception, told: str) -> None:
    assert run(raising(error)) == (Answer(ended="error"), told)


def test_an_interrupt_of_the_agents_own_making_is_an_error_like_any_other() -> None:
    """Ours reaches the run by way of the event loop."""
    assert run(raising(KeyboardInterrupt())) == (Answer(ended="error"), "KeyboardInterrupt: ")


async def stubborn() -> str:
    """Won't be cancelled for a while."""
    until = asyncio.get_running_loop().time() + 2
    while asyncio.get_running_loop().time() < until:
        try:
            await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            continue
    return "late"


def test_an_agent_that_won_t_be_cancelled_is_left_behind() -> None:
    async def main() -> tuple[tuple[Answer, str], float]:
        deadline = Deadline(0.05)
        recorder = Recorder(Nothing(), deadline, max_steps=3)
        began = asyncio.get_running_loop().time()
        result = await attempt(Doing(stubborn), Assignment("", 0), recorder, deadline)
        with pytest.raises(StepsExhausted):
            recorder.call("x", {})
        return result, asyncio.get_running_loop().time() - began

    result, seconds = asyncio.run(main())
    assert result == (Answer(ended="timeout"), "")
    assert seconds < 2


class Panic(BaseException):
    """What extensions in other languages raise."""


def test_nothing_that_is_raised_gets_out() -> None:
    assert run(raising(Panic("index out of bounds"))) == (Answer(ended="error"), "Panic: index out of bounds")
    assert run(raising(SystemExit(3))) == (Answer(ended="error"), "SystemExit: 3")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


class Shouting(str):
    """A text with ideas of its own."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    def encode(self, *_: Any) -> bytes:
        raise ZeroDivisionError


def test_an_error_that_can_t_be_put_into_words_is_told_all_the_same() -> None:
    answer, broken = run(raising(Unspeakable()))
    assert answer == Answer(ended="error")
    assert broken == "Unspeakable: (Unspeakable that can't be converted to text: ZeroDivisionError)"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (Shouting("hello"), "hello"),
        ("grüße".encode(), "grüße"),
        (b"gr\xfc\xdfe", "(not valid UTF-8: invalid bytes are shown as \ufffd) gr\ufffd\ufffde"),
    ],
    ids=["a subclass", "bytes", "bytes that are no text"],
)
def test_an_answer_is_a_plain_text(text: Any, told: str) -> None:
    answer, broken = run(lambda: text)
    assert (type(answer.text), answer.text, broken) == (str, told, "")


@pytest.mark.parametrize("text", [None, 5, ["done"]])
def test_what_is_no_text_is_no_answer(text: Any) -> None:
    answer, broken = run(lambda: text)
    assert answer.ended == "error"
    assert broken == f"TypeError: the text of the agent's answer is {type(text).__name__}"


def test_a_case_that_is_displaced_has_to_be_tried_again() -> None:
    async def main() -> None:
        deadline = Deadline(60)
        recorder = Recorder(Nothing(), deadline, max_steps=3)
        with pytest.raises(Displaced):
            await attempt(Doing(raising(Displaced())), Assignment("", 0), recorder, deadline)
        with pytest.raises(StepsExhausted):
            recorder.call("x", {})

    asyncio.run(main())
