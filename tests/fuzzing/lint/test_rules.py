"""Each rule on a faulty tool and on its repaired twin, and nothing else about either."""

import json
import textwrap
from typing import Any

import pytest
from msgspec import structs

from misstep.core.agent import Tool
from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import Comparisons, Refusal
from misstep.core.tool import Described, Invocation, Source
from misstep.fuzzing.lint.linter import lint
from misstep.fuzzing.lint.subject import LintSubject, Remark

TEXT = {"type": "string", "description": "Any text."}
NUMBER = {"type": "integer", "description": "Any number."}
COUNT = {"type": "integer", "description": "How many."}


def tool(
    parameters: dict[str, Any] | None = None,
    *,
    name: str = "act",
    description: str = "Do what has to be done.",
    required: tuple[str, ...] = (),
    code: str = "",
    examples: tuple[str, ...] = (),
    defs: dict[str, Any] | None = None,
) -> LintSubject:
    """A tool by its schema alone, or with the code of a function."""
    schema = {"type": "object", "properties": parameters or {}, "required": [*required], "$defs": defs or {}}
    text = textwrap.dedent(code).lstrip()
    source = Source("tools.py", 1, text) if text else None
    return LintSubject(
        Described(Tool(name, description, schema), "langchain", source=source, examples=examples), text
    )


def remarks(*subjects: LintSubject) -> list[Remark]:
    return [remark for linted in lint(subjects) for remark in linted.remarks]


def marks(*subjects: LintSubject) -> list[tuple[str, str, str]]:
    return [(each.rule, each.fault, each.where) for each in remarks(*subjects)]


def nested(**inner: Any) -> dict[str, Any]:
    return {"type": "array", "description": "Some.", "items": {"type": "object", "properties": inner}}


def described(text: str, **schema: Any) -> dict[str, Any]:
    return {**schema, "description": text}


GREET = """
def act(unit: str = "c", days: int = 3):
    \"\"\"Do it.

    Args:
        unit: What to measure in.
        {name}: How many days.
    \"\"\"
"""
PAIRS: dict[str, tuple[LintSubject, LintSubject, tuple[str, str, str]]] = {
    "no description": (
        tool(description="  "),
        tool(description="Greet a person by name."),
        ("description", "under", "description"),
    ),
    "next to none": (
        tool(name="runTask", description="Run task."),
        tool(name="runTask", description="Run a task now."),
        ("description", "under", "description"),
    ),
    "too long": (
        tool(description="a b c " * 200),
        tool(description="a b c " * 100),
        ("length", "over", "description"),
    ),
    "parameter": (tool({"x": {"type": "string"}}), tool({"x": TEXT}), ("parameter", "under", "parameters.x")),
    "parameter within": (
        tool({"rows": nested(x={"type": "string"})}),
        tool({"rows": nested(x=TEXT)}),
        ("parameter", "under", "parameters.rows.x"),
    ),
    "parameter by reference": (
        tool({"x": {"$ref": "#/$defs/X"}}, defs={"X": {"type": "object", "properties": {}}}),
        tool({"x": {"$ref": "#/$defs/X"}}, defs={"X": {"type": "object", "description": "An X."}}),
        ("parameter", "under", "parameters.x"),
    ),
    "name too long": (tool(name="a" * 65), tool(name="a" * 64), ("name", "ill", "name")),
    "name with a space": (tool(name="a b"), tool(name="a-b_C9"), ("name", "ill", "name")),
    "name of a parameter": (tool({"x y": TEXT}), tool({"x.y": TEXT}), ("name", "ill", "parameters.x y")),
    "default in code": (
        tool({"n": {**COUNT, "default": 5}}, code="def act(n=3): ..."),
        tool({"n": {**COUNT, "default": 3}}, code="def act(n=3): ..."),
        ("default", "ill", "parameters.n"),
    ),
    "default in words": (
        tool({"n": described("How many (default: 10).", type="integer", default=5)}),
        tool({"n": described("How many (default: 5).", type="integer", default=5)}),
        ("default", "ill", "parameters.n"),
    ),
    "default in quotes": (
        tool({"u": described("The unit. Defaults to 'f'.", type="string", default="c")}),
        tool({"u": described("The unit. Defaults to 'c'.", type="string", default="c")}),
        ("default", "ill", "parameters.u"),
    ),
    "truth by default": (
        tool({"on": described("Whether it is on, default false.", type="boolean", default=True)}),
        tool({"on": described("Whether it is on, default True.", type="boolean", default=True)}),
        ("default", "ill", "parameters.on"),
    ),
    "example of a call": (
        tool({"n": NUMBER}, examples=('{"n": "x"}',)),
        tool({"n": NUMBER}, examples=('{"n": 1}',)),
        ("example", "ill", "parameters"),
    ),
    "example of a parameter": (
        tool({"n": {**NUMBER, "examples": ["x"]}}),
        tool({"n": {**NUMBER, "examples": [1]}}),
        ("example", "ill", "parameters.n"),
    ),
    "default as an example": (
        tool({"n": {**NUMBER, "default": 1.5}}),
        tool({"n": {**NUMBER, "default": None}}),
        ("example", "ill", "parameters.n"),
    ),
    "example in words": (
        tool({"c": described("A code, e.g. 'abc'.", type="string", pattern="^[A-Z]+$")}),
        tool({"c": described("A code, e.g. 'ABC'.", type="string", pattern="^[A-Z]+$")}),
        ("example", "ill", "parameters.c"),
    ),
    "number in words": (
        tool({"n": described("How many, for example 20.", type="integer", maximum=10)}),
        tool({"n": described("How many, for example 2.", type="integer", maximum=10)}),
        ("example", "ill", "parameters.n"),
    ),
    "list as a text": (
        tool({"x": described("Comma-separated list of names.", type="array")}),
        tool({"x": described("Comma-separated list of names.", type="string")}),
        ("promise", "ill", "parameters.x"),
    ),
    "object as a text": (
        tool({"x": described("A JSON string with the filter.", type="object")}),
        tool({"x": described("A JSON string with the filter.", type="string")}),
        ("promise", "ill", "parameters.x"),
    ),
    "optional": (
        tool({"x": described("Optional name.", type="string")}, required=("x",)),
        tool({"x": described("Optional name.", type="string")}),
        ("promise", "ill", "parameters.x"),
    ),
    "optional by its default": (
        tool({"n": described("How many, default 3.", type="integer")}, required=("n",)),
        tool({"n": described("How many, default 3.", type=["integer", "null"])}, required=("n",)),
        ("promise", "ill", "parameters.n"),
    ),
    "required": (
        tool({"x": described("The name (required).", type="string")}),
        tool({"x": described("The name (required).", type="string")}, required=("x",)),
        ("promise", "ill", "parameters.x"),
    ),
    "range": (
        tool({"n": described("Between 1 and 10.", type="integer", minimum=1, maximum=5)}),
        tool({"n": described("Between 1 and 10.", type="integer", minimum=1, maximum=10)}),
        ("promise", "ill", "parameters.n"),
    ),
    "length": (
        tool({"x": described("At most 20 characters.", type="string", maxLength=10)}),
        tool({"x": described("At most 20 words.", type="string", maxLength=10)}),
        ("promise", "ill", "parameters.x"),
    ),
    "day": (
        tool({"x": described("The day as YYYY-MM-DD.", type="string", format="date-time")}),
        tool({"x": described("The day as YYYY-MM-DD.", type="string", format="date")}),
        ("promise", "ill", "parameters.x"),
    ),
    "date as a number": (
        tool({"x": described("The day in ISO 8601.", type="integer")}),
        tool({"x": described("The day in ISO 8601.", type="string")}),
        ("promise", "ill", "parameters.x"),
    ),
    "phantom": (
        tool({"unit": TEXT, "days": NUMBER}, code=GREET.format(name="weeks")),
        tool({"unit": TEXT, "days": NUMBER}, code=GREET.format(name="days")),
        ("phantom", "ill", "description"),
    ),
    "phantom on a server": (
        tool({"days": NUMBER}, description="Tell the weather.\n\nArgs:\n    dais: How many."),
        tool({"days": NUMBER}, description="Tell the weather.\n\nArgs:\n    days: How many."),
        ("phantom", "ill", "description"),
    ),
    "schema offers too little": (
        tool({"u": {**TEXT, "enum": ["c"]}}, code='def act(u):\n    return 1 if u == "f" else 2'),
        tool({"u": {**TEXT, "enum": ["c", "f"]}}, code='def act(u):\n    return 1 if u == "f" else 2'),
        ("choices", "under", "parameters.u"),
    ),
}


@pytest.mark.parametrize("fault", PAIRS)
def test_a_fault_is_found_and_its_repaired_twin_is_silent(fault: str) -> None:
    faulty, repaired, mark = PAIRS[fault]
    assert marks(faulty) == [mark]
    assert marks(repaired) == []


@pytest.mark.parametrize(
    "code",
    [
        'def act(u):\n    if u not in {"c", "f"}:\n        raise ValueError("no")',
        'def act(u=None):\n    if u is not None:\n        assert u in ["c", "f"]',
        'def act(u):\n    with open("x"):\n        return {"c": 1, "f": 2}[u]',
        'async def act(u):\n    match u:\n        case "c" | "f":\n            pass\n        case _:\n            raise ValueError',
        'U = frozenset(("c", "f"))\n\ndef act(u):\n    if u not in U:\n        raise ValueError("no")',
    ],
)
def test_ways_to_take_only_certain_values(code: str) -> None:
    def subject(schema: dict[str, Any]) -> LintSubject:
        parameters = {"type": "object", "properties": {"u": schema}}
        source = Source("tools.py", 1, code[code.index("async" if "async" in code else "def") :])
        return LintSubject(
            Described(Tool("act", "Do all of it.", parameters), "function", source=source), code
        )

    assert marks(subject(TEXT)) == [("choices", "under", "parameters.u")]
    assert marks(subject({**TEXT, "enum": ["c", "x"]})) == [
        ("choices", "under", "parameters.u"),
        ("choices", "ill", "parameters.u"),
    ]
    assert marks(subject({**TEXT, "enum": ["c", "f"]})) == []
    assert marks(subject(described("Either c or f.", type="string"))) == []


def seen(
    schema: dict[str, Any], code: str = "", refusal: str = "no", name: str = "u", **more: Any
) -> LintSubject:
    """A tool that takes c and f and nothing else, by what was seen when it was called."""
    shown: dict[str, Any] = {
        "collections": (("c", "f"),),
        "taken": ("c", "f"),
        "others_refused": ("x", "y", "z"),
    }
    compared = Comparisons("act", (name,), **{**shown, **more})
    subject = tool({name: schema}, code=code)
    refusals = (Refusal("act", "ValueError", refusal, "", json.dumps({name: "x"})),)
    return LintSubject(subject.described, code, refusals, (), (compared,))


def test_what_was_seen_is_said_as_what_was_read() -> None:
    code = 'def act(u):\n    if u not in {"c", "f"}:\n        raise ValueError("no")'
    for schema in (TEXT, {**TEXT, "enum": ["c"]}):
        (read,) = remarks(seen(schema, code))
        (watched,) = remarks(seen(schema))
        assert watched == structs.replace(read, evidence=f"{read.evidence}, seen while it was called")
    assert marks(seen({**TEXT, "enum": ["c", "f"]})) == []
    assert marks(seen(described("Either c or f.", type="string"))) == []


def test_constants_that_stand_alone_are_known_if_nothing_else_is_taken() -> None:
    alone: dict[str, Any] = {"collections": (), "alone": ("c", "f", "g")}
    for schema in (TEXT, {**TEXT, "enum": ["c"]}):
        (remark,) = remarks(seen(schema, **alone))
        assert '"f"' in remark.message
        assert '"g"' not in remark.message
        assert marks(seen(schema, **alone, others_taken=("x",))) == []


@pytest.mark.parametrize(
    "doubt",
    [
        {"others_taken": ("w",)},
        {"others_refused": ("x", "y")},
        {"taken": ("c",)},
        {"more": True},
        {"name": "guest_id"},
        {"refusal": "x was not found"},
        {"refusal": "Invalid isoformat string: 'x'"},
    ],
    ids=str,
)
def test_where_there_is_doubt_whether_others_are_taken_nothing_is_said(doubt: dict[str, Any]) -> None:
    assert "choices" not in [remark.rule for remark in remarks(seen(TEXT, **doubt))]


def test_values_that_only_look_hidden_are_left_alone() -> None:
    offered = {**TEXT, "enum": ["C", "F"]}
    assert marks(seen(offered)) == []
    assert marks(seen({**TEXT, "enum": ["a", "b"]}, taken=("a",), collections=(("c", "f"),))) == []
    assert marks(seen({**TEXT, "enum": ["c"]}, taken=("c",), refused=("f",))) == []
    assert marks(seen({"description": "Any of them.", "enum": [["c"], {"f": 1}]})) == []


def test_few_words_may_be_enough() -> None:
    assert marks(tool(name="git_checkout", description="Switches branches")) == []
    assert marks(tool(name="delete_file", description="Delete a file")) == []


def test_a_remark_has_an_end() -> None:
    long = tool({"u": {**TEXT, "enum": ["c" * 10_000]}}, code='def act(u):\n    return u == "f"')
    huge = tool(description="x" * 10_000, code=GREET.format(name="w" * 10_000))
    assert all(len(each.evidence + each.message) < 1_200 for each in remarks(long, huge))


def test_tools_that_cannot_be_told_apart() -> None:
    one, other = tool(name="get_user"), tool(name="getUser", description="Give all there is about a user.")
    assert marks(one, other) == [("twins", "ill", "name")] * 2
    third = tool(name="find", description="Do what has to be  done")
    assert marks(one, third) == [("twins", "ill", "description")] * 2
    assert marks(other, third) == []


def test_what_is_forbidden_and_taken() -> None:
    calls = (Invocation("act", '{"n": 11}'),)
    taken = Finding(
        *("1", "act", "acceptance", "silent acceptance", "", "maximum at n", "", "", calls, calls, 1)
    )
    described_tool = tool({"n": {**NUMBER, "maximum": 10}}).described
    assert marks(LintSubject(described_tool, findings=(taken,))) == [("acceptance", "over", "parameters.n")]
    assert marks(LintSubject(described_tool)) == []


def test_every_constraint_of_a_parameter_is_told() -> None:
    said = ("n must be even", "n must be at most 40", "n must not be a multiple of 7")
    refusals = [Refusal("act", "ValueError", each, "", json.dumps({"n": 42})) for each in said]
    told = remarks(LintSubject(tool({"n": NUMBER}).described, refusals=tuple(refusals)))
    assert [each.where for each in told] == ["parameters.n"] * 3
    assert [words for words, each in zip(said, told, strict=True) if words not in each.message] == []


def test_constraints_are_told_however_many_there_are() -> None:
    parameters = {f"n{number}": NUMBER for number in range(15)}
    refusals = [Refusal("act", "", f"{name} must be even", "", json.dumps({name: 1})) for name in parameters]
    told = remarks(LintSubject(tool(parameters).described, refusals=tuple(refusals)))
    assert [each.where for each in told] == [f"parameters.{name}" for name in parameters]


REFUSING = """
def act(mode):
    if mode == "old":
        raise ValueError("gone")
    return mode
"""
REBOUND = """
def act(mode):
    mode = mode.lower()
    if mode not in ("a", "b"):
        raise ValueError("no")
"""
ASKED = """
TABLE = {"a": 1}

def act(mode):
    return TABLE[mode] if mode in TABLE else 0
"""
FILLED = """
TABLE = {"a": 1}

def act(mode):
    return TABLE[mode]

def more(name):
    TABLE[name] = 2
"""

SOMETIMES = """
def act(mode, deep=False):
    if deep:
        return mode
    elif mode == "b":
        return 1
    else:
        raise ValueError("no")
"""
OTHER = """
def act(mode, deep=False):
    match deep:
        case "x":
            return 1
    return mode == "A"
"""
WITHIN = """
def act(mode, deep=False):
    if deep:
        if mode not in ("b", "c"):
            raise ValueError("no")
        return {"b": 1}[mode]
    return {"b": 1}[mode] if deep else 0
"""


@pytest.mark.parametrize("code", [REFUSING, REBOUND, ASKED, FILLED, SOMETIMES, OTHER, WITHIN])
def test_code_that_says_nothing_for_certain(code: str) -> None:
    start = code.index("def act")
    end = code.index("\ndef more") if "more" in code else len(code)
    for schema in (TEXT, {**TEXT, "enum": ["A", "a", "b", "c"]}):
        described_tool = Described(
            Tool("act", "Do what has to be done.", {"type": "object", "properties": {"mode": schema}}),
            "function",
            source=Source("tools.py", 1, code[start:end]),
        )
        assert remarks(LintSubject(described_tool, code)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Defaults to 30 days.",
        "Default: 1 hour",
        "The default depends on the server.",
        "Between 2 and 3 times as long.",
        "It is not optional.",
        "Required if nothing else is given.",
        "Defaults to the number of 10 % of all.",
    ],
)
def test_words_that_could_mean_something_else(text: str) -> None:
    assert marks(tool({"n": described(text, type="integer", default=3600)})) == []
    assert marks(tool({"n": described(text, type="integer", default=3600)}, required=("n",))) == []


NONSENSE: list[dict[str, Any]] = [
    {"properties": {"x": True, "y": [], "z": {"$ref": "#/properties/z"}}},
    {"properties": {"x": {"enum": "a", "type": [1], "description": 5, "default": {}, "examples": {"a": 1}}}},
    {"properties": {"x": {"anyOf": [{"$ref": "#"}, None]}}, "required": "x"},
    {"properties": {"x": {"minimum": "1", "type": "integer", "description": "between 1 and 2"}}},
    {"properties": []},
]


@pytest.mark.parametrize("schema", NONSENSE)
def test_nonsense_is_survived(schema: dict[str, Any]) -> None:
    strange = Described(Tool("act", "\ud800 \x00 (", schema), "mcp", source=Source("t.py", 1, "def act(:"))
    assert all(isinstance(each, Remark) for each in remarks(LintSubject(strange, "\0")))
