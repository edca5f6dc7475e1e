"""Something that is done while other work goes on."""

import threading

import pytest

from misstep.runs.tool_session import ticking


def test_it_ticks_while_work_goes_on_and_once_at_the_end() -> None:
    ticked, ticks = threading.Event(), list[int]()

    def do() -> None:
        ticks.append(threading.get_ident())
        ticked.set()

    with ticking(do, pause=0.001):
        assert ticked.wait(10)
    assert ticks[0] != threading.get_ident()
    assert ticks[-1] == threading.get_ident()


def test_it_ends_with_work_that_fails() -> None:
    before = threading.active_count()
    with pytest.raises(ValueError, match="no"), ticking(lambda: None, pause=0.001):
        raise ValueError("no")
    assert threading.active_count() == before


def test_what_goes_wrong_in_between_is_raised_by_whoever_waits() -> None:
    ticked = threading.Event()

    def do() -> None:
        ticked.set()
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"), ticking(do, pause=0.001):
        assert ticked.wait(10)


def test_it_does_not_hide_what_went_wrong_with_the_work() -> None:
    def do() -> None:
        raise KeyError("full")

    with pytest.raises(ValueError, match="no"), ticking(do, pause=0.001):
        raise ValueError("no")
