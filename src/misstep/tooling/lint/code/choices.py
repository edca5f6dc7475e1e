"""Values that the code takes and the schema hides, or that the schema offers and the code refuses."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from misstep.core.remark import Remark
from misstep.tooling.lint.calls.comparisons import values_seen
from misstep.tooling.lint.code.comparisons import Compared, compare
from misstep.tooling.lint.parts import Part
from misstep.tooling.lint.subject import Subject

MOST = 30  # values that anybody would list
SEEN = ", seen while it was called"


def wrong_choices(subject: Subject) -> Iterator[Remark]:
    """By the code, comparisons, sets, cases and tables; then by what more it was seen to compare with."""
    for part in subject.parts:
        read, seen = _read(subject, part), values_seen(subject, part)
        if part.choices:
            yield from _against_choices(part, read)
            yield from _hidden_choices(part, _without(seen.known, read.known), SEEN)
        elif part.types <= {"string", "integer", "null"}:
            yield from _hidden(subject, part, read) if read.only else _hidden(subject, part, seen, SEEN)


def taken_values(subject: Subject) -> dict[str, tuple[Any, ...]]:
    """All values that the code takes, for each parameter of which it takes only certain ones."""
    parts = [part for part in subject.parts if len(part.path) == 1]
    found = {part.name: _read(subject, part).only or values_seen(subject, part).only for part in parts}
    return {name: only for name, only in found.items() if only}


def _read(subject: Subject, part: Part) -> Compared:
    function = subject.function
    if function is None or len(part.path) != 1:
        return Compared()
    return compare(function, subject.module, part.name)


def _without(values: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [each for each in values if each not in others]


def _against_choices(part: Part, compared: Compared) -> Iterator[Remark]:
    yield from _hidden_choices(part, compared.known)
    refused = [
        each for each in part.choices if each is not None and each not in (compared.only or part.choices)
    ]
    if refused:
        message = f"the schema offers {_listed(refused)}, which the code refuses"
        evidence = f"the code takes {_listed(compared.only or ())}"
        yield Remark("choices", "ill", part.where, message, evidence, "take it out of the schema")


def _hidden_choices(part: Part, known: Sequence[Any], how: str = "") -> Iterator[Remark]:
    kinds = {type(each) for each in part.choices}
    hidden = [each for each in known if type(each) in kinds and each != "" and each not in part.choices]
    if hidden:
        message = f"the code knows {_listed(hidden)}, which the schema does not offer"
        advice = "offer it in the schema, or take it out of the code"
        evidence = f"the schema has {_listed(part.choices)}{how}"
        yield Remark("choices", "under", part.where, message, evidence, advice)


def _hidden(subject: Subject, part: Part, compared: Compared, how: str = "") -> Iterator[Remark]:
    only = [each for each in compared.only or () if each != ""]
    said = "\n".join([subject.said, *subject.documented.values()])
    missing = [each for each in only if not _is_told(each, said)]
    if not missing or len(only) > MOST:
        return
    message = (
        f"takes only certain values, and nothing says that {_listed(missing)} {_are(missing)} among them"
    )
    advice = "list them as an enum, which is a Literal in Python"
    yield Remark("choices", "under", part.where, message, f"the code takes {_listed(only)}{how}", advice)


def _is_told(value: Any, said: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", said, re.IGNORECASE) is not None


def _are(values: Sequence[Any]) -> str:
    return "is" if len(values) == 1 else "are"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(json.dumps(each, ensure_ascii=False) for each in values)
