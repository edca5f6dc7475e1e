"""Better words for tools, on a terminal."""

from typing import Literal

from msgspec import structs

from misstep.core.outcome import Judgement
from misstep.core.results.descriptions import Wording
from misstep.core.results.fixing import Candidate, FixAttempt, FixReport, FixRun, Trying
from misstep.features.fix.view import fix_view
from tests.rendering import screens

TRYING = (
    *[Trying(f"v{at}", f"validation {at}", "validation", "task") for at in range(5)],
    *[Trying(f"t{at}", f"test {at}", "test", "task") for at in range(5)],
)
WORDS = Candidate(1, "findings", Wording("Entirely new."))


def attempts(number: int, part: str, *verdicts: Judgement) -> tuple[FixAttempt, ...]:
    return tuple(
        FixAttempt(number, f"{part}{at}", verdict, called=True) for at, verdict in enumerate(verdicts)
    )


OWN = attempts(0, "v", "passed", "failed", "inconclusive", "errored", "failed")
ANEW = attempts(1, "v", "passed", "passed", "inconclusive", "passed", "failed")
BEFORE = attempts(0, "t", "passed", "failed", "failed", "inconclusive", "passed")
AFTER = attempts(1, "t", "passed", "passed", "failed", "inconclusive", "inconclusive")


def report(*made: FixAttempt, ended: Literal["done", "stopped"] = "done") -> FixReport:
    return FixReport("f", "f", Wording("Old."), TRYING, candidates=(WORDS,), attempts=made, ended=ended)


def shown(one: FixReport, width: int = 100) -> str:
    return screens.shown(fix_view(FixRun("r", ("f.py",), "", (one,)), {}), width)


def rows(text: str) -> list[list[str]]:
    """The numbers of requests in the table, behind the parts that they are of."""
    found, part = list[list[str]](), ""
    for line in text.splitlines():
        if line.strip() in ("validation:", "test:"):
            part = line.strip(" :")
        elif part and line.startswith(("its own  ", "1 (findings)  ")):
            found.append([part, *line[len("1 (findings)") :].split()[:3]])
    return found


def test_every_request_stands_in_one_column() -> None:
    assert rows(shown(report(*OWN, *ANEW, *BEFORE, *AFTER))) == [
        ["validation", "1", "2", "2"],
        ["validation", "3", "1", "1"],
        ["test", "2", "2", "1"],
        ["test", "2", "1", "2"],
    ]


def test_a_narrow_terminal_has_room_for_all_columns() -> None:
    text = shown(report(*OWN, *ANEW, *BEFORE, *AFTER), 80)
    assert len(rows(text)) == 4
    assert text.splitlines()[2].split()[-4:] == ["%", "interval", "steps", "tokens"]


def test_what_is_not_better_is_said_to_be_so() -> None:
    text = " ".join(shown(report(*OWN, *ANEW, *BEFORE, *AFTER)).split())
    assert "candidate 1 (findings) is no better on the held-out part: 1 gained, 1 lost" in text
    assert "nothing to change" in text


def test_what_was_stopped_proves_nothing() -> None:
    text = shown(report(*OWN, *ANEW, ended="stopped"))
    assert "stopped early: nothing is proved yet" in text
    assert [row[0] for row in rows(text)] == ["validation", "validation"]


def test_what_nobody_could_judge_proves_nothing() -> None:
    made = [structs.replace(each, verdict="inconclusive") for each in (*OWN, *ANEW)]
    assert "could be judged: nothing is proved" in shown(report(*made))
