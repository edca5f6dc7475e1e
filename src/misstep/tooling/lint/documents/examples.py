"""Examples that the tool's own schema forbids."""

import json
import re
from collections.abc import Iterator
from typing import Any

from misstep.core.remark import Remark
from misstep.core.words import cut
from misstep.schemas.schema import fits
from misstep.tooling.lint.parts import Part
from misstep.tooling.lint.subject import Subject

LONGEST = 200  # characters of an example that are shown
_LIMITS = ("enum", "const", "pattern", "minLength", "maxLength")
_SAID = re.compile(
    r"""(?:\be\.\s?g\.,?|\bfor\s+example,?|\bfor\s+instance,?|\bexamples?:|\bsuch\s+as)\s*:?\s*
    (?: (?P<mark>['"`“])(?P<text>[^'"`“”\n]{1,100})['"`”]
      | (?P<number>-?(?:0|[1-9]\d{0,12})(?:\.\d{1,6})?)(?![\w%.:/-]*\w)(?!\s+[a-zA-Z]) )""",
    re.IGNORECASE | re.VERBOSE,
)


def wrong_examples(subject: Subject) -> Iterator[Remark]:
    """Whole calls, values beside a parameter, and values that a description mentions."""
    root = subject.described.tool.parameters
    for text in subject.described.examples:
        if misfit := fits(root, json.loads(text)):
            yield _remark("parameters", "an example does not fit the schema", cut(text, LONGEST), misfit)
    for part in subject.parts:
        for value in _given(part):
            if misfit := fits(part.schema, value, root):
                yield _remark(part.where, "an example does not fit the schema", _json(value), misfit)
        default = part.schema.get("default")
        if default is not None and (misfit := fits(part.schema, default, root)):
            yield _remark(part.where, "the default does not fit the schema", _json(default), misfit)
        for value in _mentioned(part):
            if misfit := fits(part.schema, value, root):
                yield _remark(
                    part.where, "the description gives an example that does not fit", _json(value), misfit
                )


def _given(part: Part) -> list[Any]:
    listed = part.schema.get("examples")
    given = list(listed) if isinstance(listed, list) else []
    return [*given, part.schema["example"]] if "example" in part.schema else given


def _mentioned(part: Part) -> Iterator[Any]:
    """Values of which no more than one reading makes sense."""
    for found in _SAID.finditer(part.description[:20_000]):
        if found["mark"] and part.types == {"string"} and any(key in part.schema for key in _LIMITS):
            yield found["text"]
        if found["number"] and part.types and part.types <= {"integer", "number"}:
            yield float(found["number"]) if "." in found["number"] else int(found["number"])


def _remark(where: str, message: str, value: str, misfit: str) -> Remark:
    advice = "give one that fits, or let the schema take it"
    return Remark("example", "ill", where, message, f"{value}: {cut(misfit, LONGEST)}", advice)


def _json(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False), LONGEST)
