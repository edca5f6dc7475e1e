"""The book of findings: each defect once, counted, with what it takes to see it again."""

from misstep.core.results.trial import Judged
from misstep.core.tool import Frame
from misstep.fuzzing.triage.defect_index import MOST_DEFECTS, MOST_KEPT, DefectIndex
from tests.fuzzing.triage.bench import invoke

CRASH = Judged("crash", "why", "IndexError at a.py:1 in f", "IndexError", "a.py:1 in f", "out of range")
FINE = Judged("fine")


def test_a_defect_is_new_once_and_counted_every_time() -> None:
    book = DefectIndex()
    news = [book.add([invoke("f", x=number)], CRASH, number) for number in range(1, 4)]
    (entry,) = book
    assert news == [entry, None, None]
    assert (entry.seen, entry.found_after, len(book)) == (3, 1, 1)


def test_what_is_no_defect_is_not_entered() -> None:
    book = DefectIndex()
    for ruling in ("fine", "refused", "environment"):
        assert not book.add([invoke("f")], Judged(ruling), 1)  # type: ignore[arg-type]
    assert len(book) == 0


def test_the_same_signature_of_another_tool_or_kind_is_another_defect() -> None:
    book = DefectIndex()
    assert book.add([invoke("f")], CRASH, 1)
    assert book.add([invoke("g")], CRASH, 2)
    assert book.add([invoke("f")], Judged("hang", "", CRASH.signature), 3)
    assert len({entry.id for entry in book}) == 3


def test_the_smallest_calls_are_kept_and_the_first_remembered() -> None:
    book = DefectIndex()
    long, short, sequence = invoke("f", x="aaaaaa"), invoke("f", x="a"), (invoke("g"), invoke("f"))
    book.add([long], CRASH, 1)
    book.add([short], CRASH, 2)
    book.add(sequence, CRASH, 4)
    (entry,) = book
    assert (entry.calls, entry.original, entry.before) == ((short,), (long,), (long,))


def test_calls_before_it_are_remembered_up_to_a_point() -> None:
    book = DefectIndex(history=3)
    for number in range(5):
        book.add([invoke("g", n=number)], FINE, number)
    book.add([invoke("f")], CRASH, 6)
    assert next(iter(book)).before == tuple(invoke("g", n=number) for number in (2, 3, 4))


def test_the_calls_of_the_attempt_are_not_among_those_before_it() -> None:
    book = DefectIndex()
    first, second, third = invoke("a"), invoke("b"), invoke("c")
    book.add([first], FINE, 1)
    book.add([second], FINE, 2)
    book.add([second, third], CRASH, 3)
    assert next(iter(book)).before == (first,)


def test_a_fresh_start_makes_what_was_before_it_irrelevant() -> None:
    book = DefectIndex()
    book.add([invoke("g")], FINE, 1)
    book.begin_anew()
    book.add([invoke("f")], CRASH, 2)
    assert next(iter(book)).before == ()


def test_huge_arguments_are_not_kept_without_end() -> None:
    book = DefectIndex()
    for number in range(4):
        book.add([invoke("g", x="a" * (MOST_KEPT // 2 - 50))], FINE, number)
    book.add([invoke("f")], CRASH, 5)
    assert len(next(iter(book)).before) == 2


def test_a_defect_of_an_earlier_sitting_is_no_news_and_counted_on() -> None:
    earlier, book = DefectIndex(), DefectIndex()
    for number in (1, 2):
        earlier.add([invoke("f", x=number)], CRASH, number, "mutation")
    (entry,) = earlier
    book.recall(entry.finding(entry.calls, replayed=0, reproduced=0))
    assert [each.finding(each.calls, 0, 0) for each in book] == [entry.finding(entry.calls, 0, 0)]
    assert book.add([invoke("f", x=3)], CRASH, 3) is None
    (again,) = book
    assert (again.id, again.seen, again.found_after) == (entry.id, 3, 1)


def test_a_finding_tells_what_the_book_knows() -> None:
    book = DefectIndex()
    frames = (Frame("a.py", 1, "f", True),)
    book.add([invoke("f", x=12)], CRASH, 7, "mutation", frames)
    finding = next(iter(book)).finding([invoke("f", x=0)], replayed=3, reproduced=2)
    assert (finding.tool, finding.kind, finding.found_after, finding.origin) == ("f", "crash", 7, "mutation")
    assert (finding.calls, finding.original) == ((invoke("f", x=0),), (invoke("f", x=12),))
    assert (finding.replayed, finding.reproduced, finding.frames) == (3, 2, frames)


def test_a_tool_that_finds_new_words_every_time_does_not_fill_the_book() -> None:
    book = DefectIndex()
    for number in range(MOST_DEFECTS + 50):
        book.add([invoke("f", x=number)], Judged("crash", "", f"words {number}"), number)
    assert len(book) == MOST_DEFECTS
