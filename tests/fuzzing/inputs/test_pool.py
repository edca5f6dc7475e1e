"""The pool gives arguments of every kind and origin, the same for the same seed, and says what they are."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from misstep.core.agent import Tool
from misstep.core.rng import Dice
from misstep.core.tool import Described, Source
from misstep.errors import install_command
from misstep.fuzzing.inputs.pool import REFILL, Pool
from misstep.fuzzing.inputs.slots import Drawn
from misstep.schemas.formats import has_format
from misstep.schemas.schema import fits
from tests.schemas.schema_cases import schemas
from tests.schemas.test_nonsense import objects

few = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))

SEARCH: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "description": "e.g. 'cats and dogs'"},
        "when": {"type": "string", "format": "date"},
        "unit": {"enum": ["kg", "lb"]},
        "options": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "minimum": 0}},
            "required": ["depth"],
        },
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["query"],
    "additionalProperties": False,
}
CODE = "def search(query, **rest):\n    if query.startswith('ISBN:') and len(query) == 14: return re.match('[0-9]{3}', query)"


def described(parameters: dict[str, Any], *examples: str) -> Described:
    tool = Tool("search", "Searches.", parameters)
    return Described(tool, "function", source=Source("s.py", 1, CODE), examples=examples)


def draws(parameters: dict[str, Any], count: int = 600, seed: int = 1, *examples: str) -> list[Drawn]:
    pool, dice = Pool(described(parameters, *examples), seed), Dice(seed)
    return [pool.draw(dice) for _ in range(count)]


@cache
def searches() -> list[Drawn]:
    return draws(SEARCH, 3000)


def check(parameters: dict[str, Any], drawn: Drawn) -> None:
    """That a draw is what it says."""
    whole = {**parameters, "type": "object"}
    json.dumps(drawn.arguments, allow_nan=False)
    if drawn.kind != "invalid":
        assert fits(whole, drawn.arguments, parameters) is None
        assert (drawn.broken, drawn.at) == ("", ())
    elif drawn.broken != "format":
        assert fits(whole, drawn.arguments, parameters) is not None
        assert drawn.broken


def test_draws_are_what_they_say() -> None:
    found = searches()
    for drawn in found:
        check(SEARCH, drawn)
    kinds = Counter(drawn.kind for drawn in found)
    assert min(kinds["valid"], kinds["boundary"], kinds["invalid"]) > 300
    assert {drawn.origin for drawn in found} == {"schema", "semantic", "harvested"}


def test_one_thing_is_broken_and_named() -> None:
    broken = {(drawn.broken, drawn.at): drawn.arguments for drawn in searches() if drawn.kind == "invalid"}
    assert "query" not in broken["required", ("query",)]
    assert broken["minLength", ("query",)]["query"] == ""
    assert broken["enum", ("unit",)]["unit"] not in ("kg", "lb")
    assert broken["minimum", ("options", "depth")]["options"]["depth"] < 0
    assert not has_format("date", broken["format", ("when",)]["when"])
    assert "unexpected" in broken["additionalProperties", ("unexpected",)]
    assert not isinstance(broken["type", ("tags",)]["tags"], list)


def test_what_surrounds_the_tool_is_used_wherever_it_may_be() -> None:
    arguments = [drawn.arguments for drawn in searches()]
    queries = {each.get("query") for each in arguments if isinstance(each.get("query"), str)}
    assert {"ISBN:", "ISBN:1", "cats and dogs", "a" * 13, "a" * 15, "python"} <= queries
    options = [each["options"] for each in arguments if isinstance(each.get("options"), dict)]
    assert {"/dev/null", "../report.txt"} & {
        each["path"] for each in options if isinstance(each.get("path"), str)
    }
    assert 14 in [each.get("depth") for each in options]


def test_examples_are_used_as_they_are_and_in_parts() -> None:
    found = draws(SEARCH, 600, 1, '{"query": "who is who", "unit": "lb"}', '{"query": 5}', "nonsense")
    assert {"query": "who is who", "unit": "lb"} in [drawn.arguments for drawn in found]
    assert "who is who" in [drawn.arguments.get("query") for drawn in found if len(drawn.arguments) > 2]
    for drawn in found:
        check(SEARCH, drawn)


TOGETHER: list[dict[str, Any]] = [
    {
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    {"properties": {"a": {"type": "integer"}}, "minProperties": 1, "maxProperties": 1},
    {"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}},
    {"allOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"required": ["b"]}]},
    {"properties": {"a": False}, "required": ["b"]},
    {"properties": {"a": False}, "required": ["a"]},
    {"type": "string"},
    {"anyOf": []},
    {},
]


@pytest.mark.full(after=3)
@pytest.mark.parametrize("parameters", TOGETHER, ids=str)
def test_what_is_asked_of_arguments_together_is_kept(parameters: dict[str, Any]) -> None:
    for drawn in draws(parameters, 60):
        check(parameters, drawn)


@pytest.mark.full
@few
@given(schemas())
def test_draws_for_schemas_of_any_kind_are_what_they_say(parameters: dict[str, Any]) -> None:
    for drawn in draws(parameters, 30):
        check(parameters, drawn)


@few
@given(objects)
def test_schemas_that_make_no_sense_break_nothing(parameters: dict[str, Any]) -> None:
    pool, dice = Pool(described(parameters), 0), Dice(0)
    for _ in range(10):
        assert isinstance(pool.draw(dice).arguments, dict)
    pool.learn(("x", 0, "y"), 5)
    assert isinstance(pool.draw(dice).arguments, dict)


def test_what_is_learnt_is_used() -> None:
    pool, dice = Pool(described(SEARCH), 0), Dice(0)
    pool.learn(("query",), "sesame")
    pool.learn(("unit",), "stone")
    pool.learn(("options", "path"), "/tmp/x")
    pool.learn(("tags", 3), "blue")
    pool.learn((), {"query": "all of it", "unit": "kg"})
    found = [pool.draw(dice) for _ in range(2500)]
    for drawn in found:
        check(SEARCH, drawn)
    learnt = [drawn for drawn in found if drawn.origin == "learnt"]
    assert {"query": "all of it", "unit": "kg"} in [drawn.arguments for drawn in found]
    assert "sesame" in [drawn.arguments.get("query") for drawn in learnt]
    assert ("enum", "stone") in [(drawn.broken, drawn.arguments.get("unit")) for drawn in learnt]
    assert "/tmp/x" in [
        dict(drawn.arguments.get("options", {})).get("path") for drawn in learnt if drawn.kind == "valid"
    ]
    assert "blue" in [tag for drawn in learnt for tag in drawn.arguments.get("tags") or ()]


def test_values_are_replaced_now_and_then() -> None:
    pool, dice = Pool(described({"type": "object", "properties": {"n": {"type": "integer"}}}), 0), Dice(0)
    early = {json.dumps(pool.draw(dice).arguments) for _ in range(REFILL - 1)}
    late = {json.dumps(pool.draw(dice).arguments) for _ in range(500)}
    assert late - early


SCRIPT = """
import json, sys
from misstep.core.rng import Dice
from misstep.fuzzing.inputs.pool import Pool
from tests.fuzzing.inputs.test_pool import SEARCH, described
import {module}
dice, pool = Dice(5), Pool(described({{**SEARCH, "properties": {{**SEARCH["properties"], "code": {{"pattern": "^[a-z]+\\\\\\\\d$"}}}}}}), 3)
print(json.dumps([pool.draw(dice).arguments for _ in range(100)]))
"""


@pytest.mark.full
def test_every_process_draws_the_same_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Modules that happen to be loaded make no difference, though Hypothesis looks into them otherwise."""
    (tmp_path / "local.py").write_text("X = ['a constant', 123454321, 5.4321]\n" * 5)
    root = str(Path(__file__).parents[3])
    said = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT.format(module=module)],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{root}:{tmp_path}", "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for module, seed in (("local", "1"), ("decimal", "2"))
    ]
    assert said[0].stdout == said[1].stdout
    assert not said[0].stderr
    assert {each.name for each in tmp_path.iterdir()} <= {"local.py", "__pycache__"}


def test_without_hypothesis_it_is_said_what_brings_it() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from misstep.core.agent import Tool\nfrom misstep.core.tool import Described\nfrom misstep.core.rng import Dice\n"
        "from misstep.fuzzing.inputs.pool import Pool\nfrom misstep.errors import MissingExtra\n"
        "try: Pool(Described(Tool('t', '', {'properties': {'a': {}}}), 'function'), 0).draw(Dice(0))\n"
        "except MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert install_command("fuzz") in done.stdout
