"""Whether an agent that makes no call says why, or just does not."""

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Trial
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.agent_tests.passage import done_instead, names_a_reason

PARAMETERS = {
    "type": "object",
    "properties": {"query": {"type": "string", "title": "Query"}},
    "required": ["query"],
    "additionalProperties": False,
}
TOOL = Described(
    Tool("find_offer", "Find an offer. The query begins with 'fruit: '.", PARAMETERS), "function"
)
CALLS = [Invocation("find_offer", '{"query": "Zürich"}')]
ORDERS = "Make this call:\nfind_offer. If the documentation does not allow it, say so."


@pytest.mark.parametrize(
    "said",
    [
        "The query has to begin with a word and a colon.",
        "The documentation forbids that.",
        "It wants fruit.",
        "Zürich is no such thing.",
        "An empty text can't be looked up.",
    ],
)
def test_reasons(said: str) -> None:
    assert names_a_reason(said, ORDERS, [TOOL], CALLS)


@pytest.mark.parametrize(
    "said",
    [
        "",
        " \n",
        "I'm sorry, but I can't help with that.",
        "I am not allowed to do this, and required to tell you so.",
        "As a language model I have policies.",
        "\x1b[31m\x00\ufffd",
        "If the  documentation does not allow it, say so.",
        "The offer for Zürich has been found.",
        "The query Zürich gave 0 offers of fruit.",
    ],
)
def test_no_reasons(said: str) -> None:
    assert not names_a_reason(said, ORDERS, [TOOL], CALLS)


def test_no_answer_at_all() -> None:
    assert done_instead(Trial(ORDERS), CALLS).endswith("named no rule against it: (no answer)")
