"""Which calls are kept, and what other tools get of them."""

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.contracts.samples import MOST_ALONE, MOST_PREPARED, CallSamples
from tests.fuzzing.contracts.test_checks import call

FINE, REFUSED = Judged("fine"), Judged("refused", message="no")
DONE = Reaction("returned", text="done")


def samples_of(*sequences: tuple[Invocation, ...]) -> CallSamples:
    samples = CallSamples()
    for calls in sequences:
        samples.add(calls, FINE, DONE)
    return samples


def test_a_few_plain_and_short_calls_are_kept() -> None:
    odd, plain = call("open_file", path="\0"), call("open_file", path="a.txt")
    others = [(call("open_file", path=f"folder/{number}.txt"),) for number in range(20)]
    prepared = [(plain, each[0]) for each in others]
    kept = samples_of((odd,), *others, (plain,), *prepared, (plain,)).accepted["open_file"]
    assert [len(calls) for calls in kept] == [2] * MOST_PREPARED + [1] * MOST_ALONE
    assert (plain,) in kept
    assert (odd,) not in kept


def test_one_refusal_of_each_sort_is_kept() -> None:
    samples = CallSamples()
    for text in ("a", "b", "c"):
        samples.add([call("open_file", path=text)], REFUSED, DONE)
    samples.add([call("open_file", path="d")], Judged("refused", message="other"), DONE)
    samples.add([call("open_file", path="e")], FINE, Reaction("died"))
    assert samples.refused == {"open_file": [(call("open_file", path="a"),), (call("open_file", path="d"),)]}
    assert samples.accepted == {}


def test_what_makes_something_prepares_for_what_needs_it() -> None:
    note, card = call("create_note", name="a"), call("create_card", name="b")
    odd, look = call("create_note", name="\0"), call("read_note", name="a")
    samples = samples_of((odd,), (card,), (look,), (note,))
    assert samples.preparations_for("delete_note") == [(note,)]
    assert samples.preparations_for("describe") == [(card,), (note,)]
    assert samples.preparations_for("create_note") == [(card,)]


def test_values_that_were_accepted_are_tried_elsewhere() -> None:
    samples = samples_of(
        (call("create_sheet", path="/book.xlsx", name="Sheet2"),), (call("read_sheet", path="/other.xlsx"),)
    )
    schema = {"type": "object", "properties": {"path": {"type": "string"}, "cell": {"type": "string"}}}
    assert samples.hints_for(Described(Tool("read_cell", "", schema), "mcp")) == {"path": ["/book.xlsx"]}
