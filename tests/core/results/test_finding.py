"""What a tool's findings add up to."""

from msgspec import structs

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import BY_REQUEST, Richness, ToolReport

CRASH = Finding("a", "f", "crash", "E", "", "", "", "s", (), (), 1)
REQUESTED = structs.replace(CRASH, id="b", origin=BY_REQUEST)
REFUSAL = structs.replace(CRASH, id="c", kind="refusal", origin=BY_REQUEST)


def test_there_are_never_fewer_than_have_been_found() -> None:
    one = Richness(1.0, 1.0, 1.0)
    assert ToolReport("f", 30, (CRASH,), richness=one).in_all == one
    assert ToolReport("f", 30, (CRASH, REQUESTED), richness=one).in_all == Richness(2.0, 2.0, 2.0)
    assert ToolReport("f", 30, (REFUSAL,)).in_all is None


def test_refusals_add_to_what_calls_can_show() -> None:
    found = ToolReport("f", 30, (CRASH, REFUSAL), richness=Richness(4.5, 2.0, 9.0))
    assert found.in_all == Richness(5.5, 3.0, 10.0)


def test_calls_are_held_against_what_they_have_found() -> None:
    assert ToolReport("f", 30, (CRASH, REQUESTED, REFUSAL)).calls_per_error == 30
    assert ToolReport("f", 30, (REFUSAL,)).calls_per_error is None
