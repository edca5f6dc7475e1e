"""Times hung on clauses can be taken off again."""

from misstep.planning.language.clarity import with_time, without_times
from misstep.planning.language.syntax import FORMS, Clause, Group, Relative, Sentence, TimedRelative

A, B, C, D = range(4)
TIME = TimedRelative("end", "before", 600)


def test_what_was_hung_comes_off_again() -> None:
    for form in FORMS:
        clause = Clause(form, "<", Group((A,)), Group((B,)))
        for action in (A, B):
            (timed,) = with_time(Sentence((clause,)), action, TIME)
            assert timed.parts != (clause,)
            assert [without_times(part) for part in timed.parts if isinstance(part, Clause)] == [clause]


def test_times_within_relative_clauses_come_off_and_nothing_else() -> None:
    def described(time: TimedRelative | None) -> Clause:
        inner = Group((B, C), Relative("preposition", ">", Group((D,), time)))
        return Clause("verb", "<", Group((A,), time), inner)

    assert without_times(described(TIME)) == described(None) == without_times(described(None))


def test_no_time_hangs_where_a_comma_ties_on_or_another_clause_hangs() -> None:
    plain = Clause("verb", "<", Group((A,)), Group((B,)))
    other = Clause("verb", "<", Group((C,)), Group((D,)))
    assert len(list(with_time(Sentence((plain, other), (";",)), B, TIME))) == 1
    assert list(with_time(Sentence((plain, other), (", whereas",)), B, TIME)) == []
    assert len(list(with_time(Sentence((plain, other), (", whereas",)), A, TIME))) == 1
    hung = Clause("verb", "<", Group((A,), Relative("verb", "<", Group((C,)))), Group((B,)))
    assert list(with_time(Sentence((hung,)), B, TIME)) == []
