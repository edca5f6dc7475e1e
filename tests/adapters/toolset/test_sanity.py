"""Tools that can't be offered as they are: schemas that make no sense, names that nobody can say."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given

from misstep.adapters.toolset.found import FoundTool, admitted
from misstep.adapters.toolset.spec import tools_from
from misstep.core.agent import Tool
from misstep.errors import UsageError
from tests.adapters.toolset.toolset_cases import Write, write
from tests.schemas.schema_cases import schemas
from tests.schemas.test_nonsense import objects
from tests.tiers import many_examples

__all__ = ["write"]


def only(parameters: Any) -> Tool:
    (tool,) = admitted([FoundTool("here", "search", None, parameters)], "spec")
    return tool


@many_examples(400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(objects)
def test_any_json_is_a_schema_or_refused_by_name(schema: dict[str, Any]) -> None:
    problem = None
    try:
        taken = only(schema).parameters
    except UsageError as error:
        problem = error
    if problem:
        assert "'search'" in problem.message
        assert problem.where == "here"
    else:
        assert taken["type"] == "object"
        assert all(isinstance(name, str) for name in taken.get("required", []))


@many_examples(200, deadline=None)
@given(schemas())
def test_what_makes_sense_is_taken_as_it_is(schema: dict[str, Any]) -> None:
    assert only(schema).parameters == schema


@pytest.mark.parametrize(
    ("schema", "keyword", "outer"),
    [
        ({"properties": 5}, "properties", ""),
        ({"properties": {"x": 5}}, "properties", ""),
        ({"required": [["x"]]}, "required", ""),
        ({"required": True}, "required", ""),
        ({"properties": {"x": {"prefixItems": 5}}}, "prefixItems", "properties.x"),
        ({"properties": {"x": {"type": 5}}}, "type", "properties.x"),
        ({"properties": {"x": {"items": {"enum": "a"}}}}, "enum", "properties.x.items"),
        ({"properties": {"x": {"anyOf": [{}, {"minimum": "1"}]}}}, "minimum", "properties.x.anyOf"),
        ({"patternProperties": {"^a": {"pattern": 5}}}, "pattern", "patternProperties.^a"),
        ({"additionalProperties": []}, "additionalProperties", ""),
        ({"$defs": {"a": {"maxLength": True}}}, "maxLength", "$defs.a"),
        ({"$ref": 5}, "$ref", ""),
    ],
)
def test_keywords_that_make_no_sense_are_named(schema: dict[str, Any], keyword: str, outer: str) -> None:
    with pytest.raises(UsageError) as caught:
        only(schema)
    inside = f", in '{outer}'" if outer else ""
    told = f"the schema of the tool 'search' has a value for '{keyword}' that is not valid{inside}"
    assert caught.value.message == told


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"properties": {"type": "string"}, "required": {"type": "boolean"}}},
        {"properties": {"x": {"minimum": 1, "exclusiveMinimum": True}}},
        {"properties": {"x": {"const": {"required": 5}, "default": {"type": 5}, "examples": 5}}},
        {"properties": {"x": {"enum": [{"properties": 5}], "x-mine": 5}}},
        {"properties": {"x": True, "y": {"items": [{"type": "string"}]}}},
    ],
)
def test_what_only_looks_like_nonsense_is_taken(schema: dict[str, Any]) -> None:
    assert only(schema).parameters == {"type": "object", **schema}


def test_a_schema_without_end_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"x": schema}}
    with pytest.raises(UsageError, match="the schema of the tool 'search'"):
        only(schema)


@pytest.mark.parametrize(
    ("reference", "definitions"),
    [
        ("#/$defs/a", {"a": {"properties": {"x": {}}}}),
        ("#/$defs/b", {"a": {"properties": {"x": {}}}, "b": {"$ref": "#/$defs/a"}}),
        ("#/$defs/a~1b", {"a/b": {"properties": {"x": {}}}}),
        ("#/$defs/a%20b", {"a b": {"properties": {"x": {}}}}),
    ],
)
def test_a_schema_that_only_refers_is_opened(reference: str, definitions: dict[str, Any]) -> None:
    assert only({"$ref": reference, "$defs": definitions}).parameters["properties"] == {"x": {}}


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    assert only({"$ref": "#"}).parameters["properties"] == {}
    assert only({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}).parameters["properties"] == {}


@pytest.mark.parametrize("name", ["", " ", "a`b", "a\nb", "a\x1b[31m", "a\u2028b", "\ud800"])
def test_names_of_parameters_that_nobody_can_say(name: str) -> None:
    refused: list[dict[str, Any]] = [{"properties": {name: {}}}, {"required": [name]}]
    for schema in refused:
        with pytest.raises(UsageError) as caught:
            only(schema)
        assert caught.value.message.endswith("of the tool 'search' can't be named in a request")
        assert caught.value.message.isprintable()


@pytest.mark.parametrize("name", ["city", "start date", "größe", "filter[name]", "$top", "user's"])
def test_names_of_parameters_that_are_only_unusual(name: str) -> None:
    assert only({"properties": {name: {}}, "required": [name]}).parameters["required"] == [name]


NAMES = [f"tool_{number}" for number in range(12)]
SETS = "\n".join(
    [
        "import os, sys",
        "print('hello from the file')",
        "os.write(1, b'hello from below\\n')",
        *(f"def {name}(): ..." for name in NAMES),
        f"loose = {{{', '.join(NAMES)}}}",
        f"frozen = frozenset([{', '.join(NAMES)}])",
        "def make_tools():",
        "    print('hello from the function')",
        "    return loose",
    ]
)
SCRIPT = """
import sys
from misstep.adapters.toolset.spec import tools_from
print(*(tool.name for tool in tools_from(sys.argv[1])))
print("after", flush=True)
"""


@pytest.mark.parametrize("name", ["loose", "frozen", "make_tools"])
def test_sets_have_one_order(name: str, write: Write) -> None:
    assert [tool.name for tool in tools_from(f"{write(SETS)}:{name}")] == sorted(NAMES)


def test_what_a_file_prints_is_kept_off_standard_output(write: Write) -> None:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, f"{write(SETS)}:make_tools"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines() == [" ".join(sorted(NAMES)), "after"]
    printed = ["hello from below", "hello from the file", "hello from the function"]
    assert sorted(result.stderr.splitlines()) == printed


def test_output_is_ours_again_though_the_file_fails(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        tools_from(f"{write('print(1)' + chr(10) + 'raise RuntimeError')}:tools")
    print("ours")
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("ours\n", "1\n")


def test_files_of_json_are_held_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "search", "parameters": {"required": ["x", ["y"]]}}]))
    with pytest.raises(UsageError, match="the schema of the tool 'search' has a value for 'required'"):
        tools_from(str(path))
