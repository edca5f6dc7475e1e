"""The topics: fifty jobs with twenty activities each, fit to be phrases and tools."""

import re

import pytest

from misstep.planning.language.lexicon import Topic, load_lexicon, load_topics
from misstep.planning.language.requests import tool_name

TOPICS = list(load_topics().values())


def test_fifty_topics_with_twenty_activities() -> None:
    assert len(TOPICS) == 50
    assert all(len(set(topic.activities)) == 20 for topic in TOPICS)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_activities_fit_the_language(topic: Topic) -> None:
    lexicon = load_lexicon()
    linkers = (lexicon.prepositions, lexicon.conjunctions)
    reserved = {
        word for kind in linkers for each in (*kind.before, *kind.after) for word in each.text.split()
    }
    reserved |= {"and", "but", "yet", "while", "whereas", "which", "both", "all", "of", "the"}
    for activity in topic.activities:
        assert re.fullmatch(r"[a-z]+( [a-z]+){1,3}", activity)
        assert not reserved & set(activity.split())
        assert not [other for other in topic.activities if other != activity and activity in other]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_heads_are_singular(topic: Topic) -> None:
    singular_in_s = {"analysis", "press", "process"}
    for activity in topic.activities:
        head = activity.split()[-1]
        assert not head.endswith("s") or head in singular_in_s, activity


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_the_role_has_the_right_article(topic: Topic) -> None:
    article, name = topic.role.split(" ", 1)
    assert name == topic.name
    sounds_like_a_consonant = ("university", "uni", "euro", "one")
    vowel = name[0] in "aeiou" and not name.startswith(sounds_like_a_consonant)
    assert article == ("an" if vowel else "a")


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_tool_names_are_unique_and_allowed_everywhere(topic: Topic) -> None:
    names = [tool_name(activity) for activity in topic.activities]
    assert len(set(names)) == 20
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert all(name.isidentifier() for name in names)
