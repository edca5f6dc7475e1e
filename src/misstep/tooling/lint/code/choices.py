"""Values that the code takes and the schema hides, or that the schema offers and the code refuses."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from misstep.core.remark import Remark
from misstep.tooling.lint.code.comparisons import Compared, compare
from misstep.tooling.lint.parts import Part
from misstep.tooling.lint.subject import Subject

MOST = 30  # values that anybody would list


def wrong_choices(subject: Subject) -> Iterator[Remark]:
    """By the code: comparisons, sets, cases and tables."""
    function = subject.function
    if function is None:
        return
    for part in (part for part in subject.parts if len(part.path) == 1):
        compared = compare(function, subject.module, part.name)
        if part.choices:
            yield from _against_choices(part, compared)
        elif compared.only and part.types <= {"string", "integer", "null"}:
            yield from _hidden(subject, part, compared)


def taken_values(subject: Subject) -> dict[str, tuple[Any, ...]]:
    """All values that the code takes, for each parameter of which it takes only certain ones."""
    function, module = subject.function, subject.module
    if function is None:
        return {}
    names = [part.name for part in subject.parts if len(part.path) == 1]
    return {name: only for name in names if (only := compare(function, module, name).only)}


def _against_choices(part: Part, compared: Compared) -> Iterator[Remark]:
    kinds = {type(each) for each in part.choices}
    hidden = [
        each for each in compared.known if type(each) in kinds and each != "" and each not in part.choices
    ]
    if hidden:
        message = f"the code knows {_listed(hidden)}, which the schema does not offer"
        advice = "offer it in the schema, or take it out of the code"
        yield Remark(
            "choices", "under", part.where, message, f"the schema has {_listed(part.choices)}", advice
        )
    refused = [
        each for each in part.choices if each is not None and each not in (compared.only or part.choices)
    ]
    if refused:
        message = f"the schema offers {_listed(refused)}, which the code refuses"
        evidence = f"the code takes {_listed(compared.only or ())}"
        yield Remark("choices", "ill", part.where, message, evidence, "take it out of the schema")


def _hidden(subject: Subject, part: Part, compared: Compared) -> Iterator[Remark]:
    only = [each for each in compared.only or () if each != ""]
    said = "\n".join([subject.said, *subject.documented.values()])
    missing = [each for each in only if not _is_told(each, said)]
    if not missing or len(only) > MOST:
        return
    message = (
        f"takes only certain values, and nothing says that {_listed(missing)} {_are(missing)} among them"
    )
    advice = "list them as an enum, which is a Literal in Python"
    yield Remark("choices", "under", part.where, message, f"the code takes {_listed(only)}", advice)


def _is_told(value: Any, said: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", said, re.IGNORECASE) is not None


def _are(values: Sequence[Any]) -> str:
    return "is" if len(values) == 1 else "are"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(json.dumps(each, ensure_ascii=False) for each in values)
