"""Values out of sources, descriptions and examples, in whatever state these are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.core.agent import Tool
from misstep.core.tool import Described, Source
from misstep.fuzzing.inputs.semantic import SuggestedValues, harvest, read_source
from misstep.schemas.samples import find_numbers, find_texts

SOURCE = '''
    @tool
    async def look_up(key: str, options: dict):
        """Look something up.

        Example: `isbn:978`
        """
        if key.startswith("ISBN:") and len(key) > 13:
            return options["verbose"], key[4:-7], b"raw"
        if key == 'héllo' or key in {"red", "green"}:
            return f"found {key}!"
        if re.match(r"\\d{3}-[a-z]+", key):
            return {"limit": 2.5, True: None}
'''


def described(source: str = "", description: str = "", **more: object) -> Described:
    parameters = {"type": "object", "properties": {}, **more}
    return Described(Tool("t", description, parameters), "function", source=Source("t.py", 1, source))


def test_constants_of_the_source() -> None:
    found = harvest(described(SOURCE))
    wanted = {"ISBN:", "verbose", "raw", "héllo", "red", "green", "found ", "!", "limit", "isbn:978"}
    assert wanted <= set(found.texts)
    assert not [text for text in found.texts if "Look something up" in text]
    assert {13, 4, -7, 2.5} <= set(found.numbers)
    assert True not in [number for number in found.numbers if isinstance(number, bool)]
    assert found.patterns == (r"\d{3}-[a-z]+",)


def test_numbers_are_lengths_and_have_neighbours() -> None:
    found = SuggestedValues(numbers=(13, 2.5, -4, 10**9))
    assert found.lengths == (12, 13, 14)
    assert {12, 13, 14, 1.5, 3.5, -5, -3, 10**9 + 1} <= set(found.neighbours)


@pytest.mark.parametrize(
    "source",
    [
        "def f(:\n  return 'abc' + 41",
        "export const f = (x) => x === 'abc' ? 41 : \"\";",
        "x = 'abc'\0 41",
        "return 'abc', 41",
        "    if x == 'abc':\n  y = 41\n z",
    ],
)
def test_source_that_is_not_python_is_read_all_the_same(source: str) -> None:
    texts, numbers, _ = read_source(source)
    assert "abc" in texts
    assert 41 in numbers


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\ud800",
        "(" * 100_000,
        "'" * 1001,
        "x = " + "9" * 6000,
        "a" * 400_000,
        "-" * 50_000 + "1",
        "'\\d'",
    ],
)
def test_no_source_is_too_awkward(source: str) -> None:
    harvest(described(source, source))


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_no_text_is_too_awkward(text: str) -> None:
    assert all(0 < len(each) <= 200 for each in find_texts(text))
    find_numbers(text)
    read_source(text)


@pytest.mark.parametrize(
    ("told", "values"),
    [
        (
            "Input like 'query: libraries in San Francisco'.",
            {"query: libraries in San Francisco", "libraries in San Francisco"},
        ),
        ("Use `HEAD~1` or “main”", {"HEAD~1", "main"}),
        ("A city, e.g. Oslo.", {"Oslo"}),
        ("The format (for example, pdf or docx)", {"pdf or docx"}),
        ("The unit: one of kg, lb or stone.", {"kg", "lb", "stone"}),
        ("Sort order, either asc or desc", {"asc", "desc"}),
        ("Allowed values: low, medium, high", {"low", "medium", "high"}),
        (">>> f('x')", {"f('x')", "x"}),
        ("It's what the user doesn't want", set()),
    ],
)
def test_values_in_descriptions(told: str, values: set[str]) -> None:
    found = set(find_texts(told))
    assert values <= found
    assert found or not values
    if not values:
        assert not found


def test_numbers_in_descriptions() -> None:
    assert find_numbers("From 1 to 100 characters, or -2.5; not v2 or 3x or 1.2.3") == [1, 100, -2.5]


def test_examples_are_whole_arguments() -> None:
    tool = described(examples=[{"a": 1}, 5], default={"b": 2})
    tool = Described(tool.tool, "function", examples=('{"c": 3}', "[", "[]", '"x"'))
    assert harvest(tool).examples == ({"c": 3}, {"a": 1}, {"b": 2})
