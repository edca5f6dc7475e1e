"""What can't be synthesised is refused with a reason."""

import pytest

from misstep.errors import UsageError
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.suite import Suite, make_case


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        (Suite(0, 5, 3), "actions 5-3 is an empty range\n  write 3-5"),
        (Suite(0, 1, 3), "actions 1-3 is out of range\n  a problem has between 2 and 20 actions"),
        (Suite(0, 3, 21), "actions 3-21 is out of range\n  a problem has between 2 and 20 actions"),
        (
            Suite(0, 3, 8, exhaustive=True),
            "actions 3-8 is out of range\n  an exhaustive suite has between 2 and 7 actions",
        ),
        (
            Suite(0, 3, 5, exhaustive=True, recipe=Recipe(sentences=1)),
            "--exhaustive determines the number of sentences\n  omit --sentences",
        ),
        (
            Suite(0, 3, 7, recipe=Recipe(sentences=1)),
            "7 actions are too many for sentences = 1\n"
            "  a sentence has room for 6 actions: raise --sentences",
        ),
    ],
)
def test_refusals(suite: Suite, message: str) -> None:
    with pytest.raises(UsageError) as error:
        suite.validate()
    assert str(error.value) == message


def test_an_unknown_topic_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="unknown topic 'bakker'") as error:
        Suite(0, 3, 5, topics=("bakker",)).validate()
    assert "Did you mean 'baker'?" in str(error.value)


def test_an_unknown_template_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="unknown request template 'breif'") as error:
        Suite(0, 3, 5, request="breif").validate()
    assert "Did you mean 'brief'?" in str(error.value)


@pytest.mark.parametrize("template", ["role-play", "brief", "memo"])
def test_every_template_holds_role_and_paragraph(template: str) -> None:
    case = make_case(Suite(0, 3, 5, topics=("accountant",), request=template), 0)
    assert ("To: the accountant" if template == "memo" else "an accountant") in case.query
    assert "between" in case.query or "immediately" in case.query
    assert " ".join(case.sentences) in case.query.splitlines()
    assert "{" not in case.query
    assert "exactly once" in case.query


@pytest.mark.parametrize("sentences", [1, 2, 3])
def test_few_sentences_still_mention_every_action(sentences: int) -> None:
    suite = Suite(0, 2, 6 * sentences, recipe=Recipe(sentences=sentences))
    suite.validate()
    for index in range(200):
        case = make_case(suite, index)
        text = " ".join(case.sentences).lower()
        assert len(case.sentences) <= sentences
        assert all(action.name in text for action in case.actions)
