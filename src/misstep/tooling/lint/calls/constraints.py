"""Constraints that the code has and the documentation hides, as calls have shown."""

import json
import re
from collections.abc import Iterator

from misstep.core.remark import Remark
from misstep.core.words import cut
from misstep.tooling.judging.runners import runs_what_it_is_given
from misstep.tooling.lint.calls.answers import Answer, answers_of
from misstep.tooling.lint.calls.crashes import want_of
from misstep.tooling.lint.calls.telling import is_demand, is_told, said_by
from misstep.tooling.lint.code.choices import taken_values
from misstep.tooling.lint.parts import Part
from misstep.tooling.lint.subject import Subject

REASON = 160  # characters of a tool's own words

_UNWELCOME = re.compile(
    r"\b(?:unknown|unsupported|not supported|invalid|not (?:an? )?valid|unrecogni[sz]ed|one of)\b",
    re.IGNORECASE,
)


def hidden_constraints(subject: Subject) -> Iterator[Remark]:
    """Each once, with the smallest arguments that fit the schema and were not taken."""
    if runs_what_it_is_given(subject.described):
        return  # what it says is about the program that it was given
    told = dict[tuple[str, str], Remark]()
    taken = taken_values(subject)
    for answer in answers_of(subject):
        if any(answer.values.get(name, only[0]) not in only for name, only in taken.items()):
            continue  # which values there are is another matter
        remark = _refused_choice(subject, answer) or (
            _of_crash(subject, answer) if answer.crashed else _of_refusal(subject, answer)
        )
        if remark is not None:
            told.setdefault((remark.where, remark.message), remark)
    yield from told.values()


def _refused_choice(subject: Subject, answer: Answer) -> Remark | None:
    """A value that the schema lists, refused by name."""
    for part in _top(subject):
        value = answer.values.get(part.name)
        if value not in part.choices or not isinstance(value, str) or not value:
            continue
        looked_up = answer.error == "KeyError" and answer.message == repr(value)
        if looked_up or (_UNWELCOME.search(answer.message) and _quotes(answer.message, value)):
            message = f"the schema offers {json.dumps(value)}, which the tool does not take"
            return Remark("choices", "ill", part.where, message, answer.evidence, "take it out of the schema")
    return None


def _of_crash(subject: Subject, answer: Answer) -> Remark | None:
    want = want_of(answer)
    if want is None or re.search(want.told, said_by(subject), re.IGNORECASE):
        return None
    wanted = [part for part in _top(subject) if part.name in want.names]
    where = wanted[0].where if len(wanted) == 1 else "parameters"
    which = "" if len(wanted) == 1 else "one of them "
    return _remark(where, f"{which}{want.words}, which nothing says", answer)


def _of_refusal(subject: Subject, answer: Answer) -> Remark | None:
    if not is_demand(answer.message) or is_told(subject, answer):
        return None
    named = [part for part in _top(subject) if _quotes(answer.message, part.name)]
    reason = cut(answer.message, REASON)  # two constraints of one parameter differ in nothing else
    if len(named) > 1:
        message = f"{_list(named)} depend on each other in a way that is not documented: {reason}"
        return _remark("parameters", message, answer)
    candidates = named or _candidates(subject, answer)
    where = candidates[0].where if len(candidates) == 1 else "parameters"
    return _remark(where, f"has a constraint that is not documented: {reason}", answer)


def _candidates(subject: Subject, answer: Answer) -> list[Part]:
    given = [part for part in _top(subject) if part.name in answer.values]
    return given or _top(subject)


def _top(subject: Subject) -> list[Part]:
    return [part for part in subject.parts if len(part.path) == 1]


def _quotes(message: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) is not None


def _list(parts: list[Part]) -> str:
    return ", ".join(part.name for part in parts[:-1]) + f" and {parts[-1].name}"


def _remark(where: str, message: str, answer: Answer) -> Remark:
    advice = "say it in the description, and in the schema where it can be said there"
    return Remark("constraint", "under", where, message, answer.evidence, advice)
