"""Defaults on which schema, code and description disagree."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from misstep.core.remark import Remark
from misstep.tooling.lint.parts import Part
from misstep.tooling.lint.subject import Function, Subject

ADVICE = "say the same everywhere"

# What stands for itself: a quotation, a number with no unit after it, a truth value.
_SAID = re.compile(
    r"""\bdefault(?:s|ed)?(?:\s+value)?(?:\s+(?:is|to|of))?\s*[:=]?\s*
    (?: (?P<mark>['"`“])(?P<text>[^'"`“”\n]{0,100})['"`”]
      | (?P<number>-?\d+(?:\.\d+)?)(?![\w%.:/-]*\w)(?!\s*%)(?!\s+(?!(?:and|or)\b)[a-zA-Z])
      | (?P<truth>true|false)\b )""",
    re.IGNORECASE | re.VERBOSE,
)


def wrong_defaults(subject: Subject) -> Iterator[Remark]:
    """Null stands for anything that the code makes up: it contradicts nobody."""
    signature = _defaults(subject.function) if subject.function is not None else {}
    for part in subject.parts:
        own = part.schema.get("default")
        said = stated_default("\n".join([part.description, subject.documented.get(part.name, "")]), part)
        code = signature.get(part.name) if len(part.path) == 1 else None
        if own is not None and code is not None and not _same(own, code):
            yield _remark(part, f"is {_json(own)} in the schema, but {_json(code)} in the code", "")
        given, where = (code, "the code") if own is None else (own, "the schema")
        if given is not None and said is not None and not _same(said[0], given):
            yield _remark(part, f"is {_json(given)} in {where}, but the description says otherwise", said[1])


def stated_default(text: str, part: Part) -> tuple[Any, str] | None:
    """The default that a text states, and its words; None where it states none that could be compared."""
    found = _SAID.search(text[:20_000])
    if found is None:
        return None
    if found["number"] and part.types & {"integer", "number"}:
        return json.loads(found["number"]) if _plain(found["number"]) else float(found["number"]), found[
            0
        ].strip()
    if found["truth"] and "boolean" in part.types:
        return found["truth"].lower() == "true", found[0].strip()
    if found["mark"] and part.types == {"string"}:
        return found["text"], found[0].strip()
    return None


def _plain(number: str) -> bool:
    return not re.match(r"-?0\d", number)


def _defaults(function: Function) -> dict[str, Any]:
    given = function.args
    places = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(places), reversed(given.defaults), strict=False)]
    pairs += [(each, value) for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
    return {each.arg: value for each, node in pairs if (value := _value(node)) is not None}


def _value(node: ast.expr) -> Any:
    """A default that JSON knows, else None."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    value = list(value) if isinstance(value, tuple) else value
    return value if isinstance(value, str | int | float | list | dict) else None


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _remark(part: Part, message: str, evidence: str) -> Remark:
    words = f"“{evidence}”" if evidence else ""
    return Remark("default", "ill", part.where, f"the default {message}", words, ADVICE)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
