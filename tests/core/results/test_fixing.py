"""Descriptions beside each other: what is gained, what is lost."""

from misstep.core.results.descriptions import Wording
from misstep.core.results.fixing import Candidate, FixAttempt, FixReport, Trying

IDS = [str(number) for number in range(10)]
TRYING = tuple(Trying(each, f"request {each}", "test", "task") for each in IDS)
OWN = tuple(FixAttempt(0, each, "passed" if each != "0" else "failed", called=True) for each in IDS)


def test_what_can_t_be_judged_any_more_is_lost() -> None:
    worse = tuple(
        FixAttempt(1, each, "passed" if each == "0" else "inconclusive", called=True) for each in IDS
    )
    report = FixReport(
        "f",
        "f",
        Wording("Old.", {}),
        TRYING,
        candidates=(Candidate(1, "findings", Wording("New.", {})),),
        attempts=(*OWN, *worse),
    )
    duel = report.compare(1, "test")
    assert (duel.gained, duel.lost) == (("0",), tuple(IDS[1:]))
    assert not duel.is_better
