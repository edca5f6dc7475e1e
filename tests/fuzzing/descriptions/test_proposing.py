"""Words that models propose, before anybody is told them."""

import pytest

from misstep.core.agent import Tool
from misstep.core.results.descriptions import Wording
from misstep.core.tool import Described
from misstep.fuzzing.descriptions.proposing import clean, wrong_at_last

TOOL = Described(
    Tool("road", "How far.", {"type": "object", "properties": {"start": {"type": "string"}}}), "function"
)


@pytest.mark.parametrize(
    "wording",
    [Wording("x" * 4_001), Wording("x" * 2_001, {"start": "y" * 2_000}), Wording("路" * 4_001)],
)
def test_few_words_may_still_be_too_long(wording: Wording) -> None:
    assert "There are 4,001 characters in total; the maximum is 4,000." in wrong_at_last(wording, TOOL, ())


def test_what_people_write_is_short_enough() -> None:
    assert wrong_at_last(Wording("Wie weit es ist – 距离 🛣️.", {"start": "Köln"}), TOOL, ()) == ""


def test_no_text_turns_the_code_around_it() -> None:
    """Marks of direction would make a reviewer see other code than there is."""
    turned = "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
    assert clean(f"By {turned}road.").split() == ["By", "road."]
    assert clean("עד כמה רחוק") == "עד כמה רחוק"
