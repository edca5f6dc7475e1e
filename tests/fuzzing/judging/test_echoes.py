"""What a call was given is no part of the defect that it shows: real messages of servers."""

from typing import Any

import pytest

from misstep.fuzzing.judging.echoes import GivenValues, normalise_for

ENOENT = "ENOENT: no such file or directory, open"


def told(message: str, **arguments: Any) -> str:
    return normalise_for(message, GivenValues(arguments))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # mcp-server-git: the message of NoSuchPathError is the path
        (told("/tmp/x/a b", repo_path="a b"), told("/tmp/x", repo_path="/tmp/x")),
        (told("/tmp/x/é\n(1)", repo_path="é\n(1)"), told("~", repo_path="~/")),
        (told("report", repo_path="report"), told("/srv/report, final.txt", repo_path="report, final.txt")),
        (told(f"{ENOENT} '/w/" + "a b\n" * 900, path="a b\n" * 900), told(f"{ENOENT} '/w/a'", path="a")),
        (told("no " + "a b " * 9 + " [cut]", path="a b " * 90), told("no ccc [cut]", path="ccc")),
        # a look-up that failed
        (told("KeyError: 'it\\'s'", key="it's"), told("KeyError: 17", key=17)),
        (told('KeyError: "a\\"b"', key='a"b'), told("KeyError: 'x'", key="x")),
        (told("KeyError: '\\x00\\ud800'", key="\0\ud800"), told("KeyError: ''", key="")),
        # words of the arguments without quotes around them
        (told("Unknown unit furlong per day", unit="furlong per day"), told("Unknown unit kg", unit="kg")),
        (told("could not parse ROME", city="rome"), told("could not parse Oslo", city="Oslo")),
        (told("bad host xn.example", url="https://xn.example/a"), told("bad host b", url="http://b")),
        (
            told("no such column: total_price", query="SELECT total_price"),
            told("no such column: a", query="a"),
        ),
        (told("no route to a%20b", place="a b"), told("no route to ab", place="ab")),
        (told(f"{ENOENT} 'a'", path="a"), told(f"{ENOENT} '/w/b c'", path="b c")),
        (told("3.5e+300 is too large", n=3.5e300), told("-1 is too large", n=-1)),
        (told("no item weight", order={"weight": 1}), told("no item girth", order={"girth": 1})),
        (told("no tag red", tags=["red"]), told("no tag #1", tags=["#1"])),
    ],
)
def test_the_same_defect_reads_the_same(one: str, other: str) -> None:
    assert one == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (told("list index out of range", text="list"), told("list index out of range", text="")),
        (told("embedded null byte", text="a null byte"), told("embedded null byte", text="\0")),
        (told("division by zero", expression="a"), told("division by zero", expression="1/0")),
        (told("Error executing tool a", text=" " * 30), told("Error executing tool a", text="")),
    ],
)
def test_words_that_errors_are_told_in_stay(one: str, other: str) -> None:
    assert one == other
    assert "…" not in one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (told("embedded null byte", path="\0"), told("/tmp/x", path="x")),
        (told("no column abc", name="abc"), told("no table abc", name="abc")),
        (told("width must be set", width=0), told("height must be set", height=0)),
        (told("cannot open", mode="a"), told("can not open", mode="a")),
    ],
)
def test_different_defects_read_differently(one: str, other: str) -> None:
    assert one != other


def test_whatever_is_said_can_be_read() -> None:
    long = "x" * 1_000_000
    assert len(told(long, text=long)) < 500
    assert told("a \ud800 (", text="\ud800 (") == told("a b", text="b")
    assert told("", text="") == ""
    assert told("KeyError: 'x'", x=[[{"y": None}], True]) == "KeyError: …"
