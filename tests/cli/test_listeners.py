"""Runs on tools as the command line follows them."""

from contextlib import nullcontext

import pytest

from misstep.cli.listeners import followed
from misstep.core.event import Listener, RunStarted
from misstep.errors import MisstepError, StoreError, StoreGone, UsageError


def stopped_by(error: MisstepError, started: bool = True) -> list[str]:
    """What is shown of a run that something has stopped."""
    shown = list[str]()

    def run(*listeners: Listener) -> str:
        for listener in listeners if started else ():
            listener(RunStarted("r1", 1, {}))
        raise error

    def view(name: str) -> str:
        if isinstance(error, StoreError):
            raise StoreGone("there is nothing any more")
        return f"so far: {name}"

    with pytest.raises(type(error), match=str(error)):
        followed(nullcontext([]), run, view, shown.append)
    return shown


def test_what_a_run_has_found_is_shown_whatever_stops_it() -> None:
    assert stopped_by(UsageError("a key is missing")) == ["so far: r1"]


def test_a_run_that_never_began_has_nothing_to_show() -> None:
    assert stopped_by(UsageError("no tools"), started=False) == []


def test_a_store_that_is_gone_is_told_of_once() -> None:
    assert stopped_by(StoreError("the disk is full")) == []


def test_what_comes_of_a_run_is_left_to_be_shown() -> None:
    """Whoever asked for it has first to hold it against a baseline."""
    shown = list[str]()
    assert followed(nullcontext([]), lambda *_: "all", lambda name: name, shown.append) == "all"
    assert shown == []
