"""Tools of one set that can't be told apart."""

import re
from collections.abc import Callable, Iterator, Sequence

from misstep.core.remark import Remark
from misstep.tooling.lint.subject import Subject

SHORTEST = 3  # words of a description that says anything


def twins_of(subject: Subject, others: Sequence[Subject]) -> Iterator[Remark]:
    """Remarks on one tool of a set; `others` are the rest of it."""
    alike = _alike(subject, others, _bare_name)
    if alike:
        message = "can't be told from the name of another tool"
        advice = "give them names that differ in a word, not in how it is written"
        yield Remark("twins", "ill", "name", message, _names(alike), advice)
    same = _alike(subject, others, _bare_description)
    if same:
        message = "is that of another tool as well: nothing says which of them to use"
        advice = "say what this one does that the other does not"
        yield Remark("twins", "ill", "description", message, _names(same), advice)


def _alike(subject: Subject, others: Sequence[Subject], bare: Callable[[Subject], str]) -> list[Subject]:
    own = bare(subject)
    return [other for other in others if own and bare(other) == own]


def _bare_name(subject: Subject) -> str:
    return re.sub(r"[\W_]+", "", subject.name).casefold()


def _bare_description(subject: Subject) -> str:
    words = re.findall(r"\w+", subject.description[:20_000].casefold())
    return " ".join(words) if len(words) >= SHORTEST else ""


def _names(subjects: Sequence[Subject]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in subjects))
