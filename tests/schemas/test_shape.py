"""Where references within a schema lead, and what is left once they are resolved."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.schemas.shape import find_reference, flatten

ROOT: dict[str, Any] = {
    "$defs": {"a": {"x": [1, {"y": 2}]}, "b/c": 4, "~": 5, "no": False},
    "a b": 3,
    "": 6,
    "0": 7,
}
keys = st.text(max_size=4)


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("#", ROOT),
        ("#/$defs/a/x/1/y", 2),
        ("#/a%20b", 3),
        ("#/$defs/b~1c", 4),
        ("#/$defs/~0", 5),
        ("#/$defs/no", False),
        ("#/", 6),
        ("#/0", 7),
    ],
)
def test_what_is_there_is_found(reference: str, found: Any) -> None:
    assert find_reference(reference, ROOT) == found


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/b",
        "#/$defs/a/x/2",
        "#/$defs/a/x/-1",
        f"#/$defs/a/x/{'9' * 5000}",
        "#/$defs/a/x/y",
        "#a",
        "#a/$defs",
        "other.json#/a",
        "",
        5,
        None,
        ["#"],
    ],
)
def test_what_leads_nowhere_finds_nothing(reference: Any) -> None:
    assert find_reference(reference, ROOT) is None


@given(st.lists(keys, max_size=4), st.integers())
def test_every_place_can_be_referred_to(path: list[str], value: int) -> None:
    root: Any = value
    for key in reversed(path):
        root = {key: root}
    steps = [key.replace("~", "~0").replace("/", "~1").replace("%", "%25") for key in path]
    assert find_reference("/".join(["#", *steps]), root) == value


def test_references_that_multiply_are_followed_once_each() -> None:
    """Were each followed every time, there would be ten thousand million of them."""
    definitions: dict[str, Any] = {
        str(level): {"allOf": [{"$ref": f"#/$defs/{level + 1}"}] * 10} for level in range(10)
    }
    root = {"$ref": "#/$defs/0", "$defs": {**definitions, "10": {"minimum": 3}}}
    flat = flatten(root, root)
    assert flat is not None
    assert flat["minimum"] == 3


def test_what_is_required_twice_is_required_as_strictly_as_both() -> None:
    one = {"type": ["integer", "null"], "minimum": 1, "enum": [1, 2, 3], "required": ["a"]}
    other = {"type": "number", "minimum": 2, "enum": [2, 3, 4], "required": ["b"]}
    expected = {"type": "integer", "minimum": 2, "enum": [2, 3], "required": ["a", "b"]}
    assert flatten({"allOf": [one, other]}, {}) == expected
    assert flatten({"allOf": [one, False]}, {}) is None
