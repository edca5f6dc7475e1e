"""Problems on the user's own tools: values that can be passed in one way, conditions that fit any tool."""

import json
import re

import pytest

from misstep.core.constraint import Given
from misstep.core.tool import Tool
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.schemas.samples import find_examples


def tool(name: str, description: str, **parameters: dict[str, str]) -> Tool:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return Tool(name, description, schema)


TOOLS = (
    tool(
        "book_hotel",
        "Book a hotel.",
        city={"type": "string", "description": "Name of the city, e.g. 'Reykjavik'."},
        nights={"type": "integer", "description": "How many nights, for example 4."},
    ),
    tool("find_offer", "Find an offer, for example 'fruit: apple'.", query={"type": "string"}),
    tool("delete_user", "Delete a user.", user_id={"type": "string", "description": 'such as "u-1001"'}),
    tool(
        "send_mail", "Send a mail to an address such as 'x'.", to={"type": "string"}, body={"type": "string"}
    ),
)
SUITE = Suite(seed=1, low=3, high=4, families=("order", "choice"), tools=TOOLS)
OURS = [finding.some for finding in load_lexicon().conditions.findings]
VERBS = load_lexicon().conditions.own_reports


def test_each_argument_is_given_as_json_in_one_piece() -> None:
    for index in range(50):
        case = make_case(SUITE, index)
        given = {json.dumps(each.arguments) for each in case.constraints if isinstance(each, Given)}
        assert set(re.findall(r"`([^`]+)`", case.query)) - {"start_over"} == given


def test_conditions_make_sense_for_any_tool() -> None:
    found = 0
    for index in range(200):
        query = make_case(SUITE, index).query.split("\n")[2]  # without the rules
        assert not any(finding in query for finding in OURS)
        told = r"\b(?:call|latter) ((?:(?!call |latter )\w+ )+)(?:a warning|a notice)[,;.]"
        for said in re.findall(told, query):
            found += 1
            assert said.strip() in VERBS
    assert found > 50


def test_values_are_those_of_the_documentation() -> None:
    documented = {
        "book_hotel": {"city": "Reykjavik", "nights": 4},
        "find_offer": {"query": "fruit: apple"},
        "delete_user": {"user_id": "u-1001"},
    }
    for index in range(20):
        case = make_case(SUITE, index)
        tools = {action.id: action.tool for action in case.actions}
        for each in case.constraints:
            if isinstance(each, Given) and tools[each.action] in documented:
                assert each.arguments == documented[tools[each.action]]
            elif isinstance(each, Given):
                assert each.arguments["to"] != "x"  # nobody knows which of two parameters that is for


@pytest.mark.parametrize(
    ("text", "examples"),
    [
        ("The city, e.g. 'Paris'", ["Paris"]),
        ("for example 4, or more", [4]),
        ("such as “a b” and so on, e.g., 2.5", ["a b", 2.5]),
        ("the user's name; don't leave it out", []),
        ("must be 'on' or 'off'", []),
        ("Example: `x-1`", ["x-1"]),
        ("e.g. 10am", []),
    ],
)
def test_examples_in_descriptions(text: str, examples: list[object]) -> None:
    assert find_examples(text) == examples
