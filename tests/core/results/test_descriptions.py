"""Files that describe tools in other words than their own."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.core.agent import Tool
from misstep.core.results.descriptions import (
    Wording,
    parse_descriptions,
    read_descriptions,
    refuse_unknown_tools,
    reworded,
    wording_of,
    write_descriptions,
)
from misstep.core.tool import Described
from misstep.errors import UsageError

PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
WORDINGS = st.dictionaries(
    NAMES, st.builds(Wording, st.none() | PLAIN, st.dictionaries(NAMES, PLAIN, max_size=3)), max_size=3
)
TOOL = Described(
    Tool("road", "How far.", {"type": "object", "properties": {"start": {"type": "string"}, "end": True}}),
    "function",
)


@given(WORDINGS)
def test_what_is_written_is_what_is_read(wordings: dict[str, Wording]) -> None:
    text = write_descriptions(wordings)
    tomllib.loads(text)
    assert parse_descriptions(text, "here") == wordings


def test_a_tool_is_told_of_in_other_words() -> None:
    anew = reworded(TOOL, {"road": Wording("By road.", {"start": "A city.", "end": "Another."})})
    assert wording_of(anew.tool) == Wording("By road.", {"start": "A city.", "end": "Another."})
    assert anew.tool.parameters["properties"]["start"] == {"type": "string", "description": "A city."}
    assert (anew.is_reworded, TOOL.is_reworded) == (True, False)
    assert reworded(TOOL, {"other": Wording("x")}) is TOOL
    assert reworded(TOOL, {"road": Wording()}).tool == TOOL.tool


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.road]", "unknown key 'tool'"),
        ("tools = 3", "tools must be a table, not a number"),
        ("[tools]\nroad = 'x'", "tools.road must be a table, not a string"),
        ("[tools.road]\ndescribtion = 'x'", "unknown key 'describtion' in [tools.road]"),
        ("[tools.road]\ndescription = ['x']", "tools.road.description must be a string, not a list"),
        ("[tools.road]\nparameters = 'x'", "tools.road.parameters must be a table, not a string"),
        (
            "[tools.road.parameters]\nstart = 1979-05-27",
            "tools.road.parameters.start must be a string, not a time",
        ),
        (f"[tools.road]\ndescription = '{'x' * 20_001}'", "tools.road.description has 20,001 characters"),
        ("[tools.road\n", "can't be read as descriptions of tools"),
        ("a = " + "[" * 10_000, "can't be read as descriptions of tools"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_descriptions(text, "new.toml")
    assert (caught.value.message.startswith(said), caught.value.where) == (True, "new.toml")


LONG = "x" * 40_000
DOTS = "a.b.c.d.e.f.g.h.i.j.k"


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"[tools.road]\n{LONG} = 'x'",
        f"[tools.{LONG}]\nx = 'x'",
        f"[tools]\n{LONG} = 'x'",
        f"[tools.road.parameters]\n{LONG} = 1",
        f"[tools.{LONG}]\n[tools.{LONG}]",
        "a." * 20_000 + "a = 1",
    ],
)
def test_whatever_is_wrong_is_told_at_a_bearable_length(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_descriptions(text, "new.toml")
    assert len(str(caught.value)) < 1_000


def test_long_names_that_are_not_there_are_told_at_a_bearable_length() -> None:
    with pytest.raises(UsageError) as caught:
        refuse_unknown_tools({LONG: Wording("x")}, ["road"])
    assert len(str(caught.value)) < 1_000
    with pytest.raises(UsageError) as caught:
        reworded(TOOL, {"road": Wording(None, {LONG: "x"})})
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("key", ["a." * 20_000 + "a", "tools." + '"." . ' * 9 + "a", DOTS])
def test_keys_of_too_many_parts_are_refused_unread(key: str) -> None:
    """Python's reader takes a time that grows with the square of their number."""
    for text in (f"{key} = 1", f"[{key}]", f"x = {{ y = 1, {key} = 2 }}", f'a = "\\"\n{key} = ""'):
        with pytest.raises(UsageError, match="a key of more than 8 parts"):
            parse_descriptions(text, "new.toml")


TEXTS = f"""
# {DOTS}
[tools."{DOTS}"]
description = '''{DOTS}
{DOTS}'''  # {DOTS}
[tools.x]
parameters = {{ a = "{DOTS}\\" {DOTS}", b = '{DOTS} \\', c = "#" }}
"""


def test_dots_in_texts_are_no_keys() -> None:
    assert list(parse_descriptions(TEXTS, "new.toml")) == [DOTS, "x"]
    many = ", ".join(f'a{at}.description = "{DOTS}"' for at in range(9))
    assert len(parse_descriptions(f"tools = {{ {many} }}", "new.toml")) == 9
    quoted = f'[tools.x]\ndescription = """{DOTS} "" {DOTS}\n{DOTS} \\"""{DOTS}"""\n'
    assert list(parse_descriptions(quoted, "new.toml")) == ["x"]


def test_a_mark_at_the_beginning_of_a_file_is_overlooked(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    path.write_bytes(b'\xef\xbb\xbf[tools.road]\ndescription = "By road."\n')
    assert read_descriptions(str(path)) == {"road": Wording("By road.")}


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="has no parameter 'begin'"):
        reworded(TOOL, {"road": Wording(None, {"begin": "x"})})
    with pytest.raises(UsageError) as caught:
        refuse_unknown_tools({"raod": Wording("x")}, ["road"])
    assert caught.value.hints == ("Did you mean 'road'?",)
