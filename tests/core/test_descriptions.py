"""Files that describe tools in other words than their own."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.core.agent import Tool
from misstep.core.descriptions import (
    Wording,
    parse_descriptions,
    refuse_strangers,
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
        ("tools = 3", "tools is no table but a number"),
        ("[tools]\nroad = 'x'", "tools.road is no table but a text"),
        ("[tools.road]\ndescribtion = 'x'", "unknown key 'describtion' in [tools.road]"),
        ("[tools.road]\ndescription = ['x']", "tools.road.description is no text but a list"),
        ("[tools.road]\nparameters = 'x'", "tools.road.parameters is no table but a text"),
        ("[tools.road.parameters]\nstart = 1979-05-27", "tools.road.parameters.start is no text but a time"),
        (f"[tools.road]\ndescription = '{'x' * 20_001}'", "tools.road.description has 20,001 characters"),
        ("[tools.road\n", "can't be read as descriptions of tools"),
        ("a = " + "[" * 10_000, "can't be read as descriptions of tools"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_descriptions(text, "new.toml")
    assert (caught.value.message.startswith(said), caught.value.where) == (True, "new.toml")


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="has no parameter 'begin'"):
        reworded(TOOL, {"road": Wording(None, {"begin": "x"})})
    with pytest.raises(UsageError) as caught:
        refuse_strangers({"raod": Wording("x")}, ["road"])
    assert caught.value.hints == ("Did you mean 'road'?",)
