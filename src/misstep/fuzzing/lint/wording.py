"""Checks documentation: names and descriptions by themselves, and what they say against schema and code."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from misstep.core.text import cut
from misstep.errors import did_you_mean
from misstep.fuzzing.contracts.examples import SAID_EXAMPLE
from misstep.fuzzing.lint.subject import Function, LintSubject, Remark, SchemaPart, args_of
from misstep.schemas.limits import is_number
from misstep.schemas.schema import fits
from misstep.schemas.shape import as_list

LONGEST_NAME = 64  # characters
_TOOL = re.compile(r"[a-zA-Z0-9_-]*")
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]*")


def refused_names(subject: LintSubject) -> Iterator[Remark]:
    """Tool names that OpenAI or Anthropic refuse, and parameter names that Anthropic refuses."""
    if problem := _problem(subject.name, _TOOL):
        message = f"{problem} OpenAI and Anthropic allow in a tool name"
        advice = f"use a-z, A-Z, 0-9, _ and -, at most {LONGEST_NAME} characters"
        yield Remark("name", "ill", "name", message, cut(repr(subject.name), 200), advice)
    for part in subject.parts:
        if problem := _problem(part.name, _PARAMETER):
            message = f"{problem} Anthropic allows in a parameter name"
            advice = f"use a-z, A-Z, 0-9, _, . and -, at most {LONGEST_NAME} characters"
            yield Remark("name", "ill", part.where, message, cut(repr(part.name), 200), advice)


def _problem(name: str, allowed: re.Pattern[str]) -> str:
    if not name:
        return "is empty: that is not what"
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters, more than the {LONGEST_NAME} that"
    return "" if allowed.fullmatch(name) else "has characters other than those that"


def phantom_parameters(subject: LintSubject) -> Iterator[Remark]:
    """Parameters in the docstring that neither schema nor code have, unless the code takes `**kwargs`."""
    function = subject.function
    if function is not None and function.args.kwarg is not None:
        return
    names = [part.name for part in subject.parts]
    arguments = (*args_of(function), function.args.vararg) if function is not None else ()
    known = {*names, *(each.arg for each in arguments if each is not None)}
    for name, text in subject.documented.items():
        if name not in known:
            message = f"documents '{name}', which is not a parameter"
            advice = did_you_mean(name, names) or "remove it, or add the parameter"
            yield Remark("phantom", "ill", "description", message, f"“{name}: {text}”", advice)


LONGEST_DESCRIPTION = 1_024  # characters that OpenAI accepts
FEWEST = 3  # words of a useful description
FRESH = 2  # words that are not in the name, for shorter descriptions
_INPUT = re.compile(r"\b(?:input|argument|parameter)s?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def missing_description(subject: LintSubject) -> Iterator[Remark]:
    """A tool with no description, or with one that says almost nothing."""
    said, name = _words(subject.description), _words(_apart(subject.name))
    fresh = [word for word in said if word not in name]
    if fresh and (len(said) >= FEWEST or len(fresh) >= FRESH):
        return
    message = "says almost nothing" if said else "is missing: an agent only sees the name"
    advice = "say what the tool does, when to use it, and what it returns"
    evidence = f"“{subject.description.strip()}”" if subject.description.strip() else ""
    yield Remark("description", "under", "description", message, evidence, advice)


def long_description(subject: LintSubject) -> Iterator[Remark]:
    length = len(subject.description)
    if length > LONGEST_DESCRIPTION:
        message = f"is longer than the {LONGEST_DESCRIPTION:,} characters that OpenAI allows"
        yield Remark("length", "over", "description", message, f"{length:,} characters", "make it shorter")


def undescribed_parameters(subject: LintSubject) -> Iterator[Remark]:
    """Parameters that neither their own description nor the tool's mentions."""
    described = [name for name, text in subject.documented.items() if text.strip()]
    if len(subject.parts) == 1 and _INPUT.search(subject.description):
        return  # it can only mean this one
    told = _words(subject.description)
    for part in subject.parts:
        own = _words(_apart(part.name))  # the name itself, or the words in it
        is_named = own and any(told[place : place + len(own)] == own for place in range(len(told)))
        if part.description or part.name in described or is_named:
            continue
        if len(part.choices) == 1 and isinstance(part.choices[0], str):
            continue  # a discriminator of an object type
        others = [each.name for each in subject.parts if each.description or each.name in described]
        evidence = f"others have one: {', '.join(others[:5])}" if others else ""
        advice = "say what it means, and its unit or format"
        yield Remark("parameter", "under", part.where, "has no description", evidence, advice)


def _apart(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text[:20_000])]


SHORTEST = 3  # words of a description that can be compared


def twins_of(subject: LintSubject, others: Sequence[LintSubject]) -> Iterator[Remark]:
    """Names or descriptions that this tool shares with others of the set."""
    name, said = _bare(subject)
    if alike := [other.name for other in others if name and _bare(other)[0] == name]:
        message = "is too similar to another tool's name"
        advice = "give them names that differ in a word, not in spelling"
        yield Remark("twins", "ill", "name", message, ", ".join(dict.fromkeys(alike)), advice)
    if alike := [other.name for other in others if said and _bare(other)[1] == said]:
        message = "is the same as another tool's: nothing says which one to use"
        advice = "say how they differ"
        yield Remark("twins", "ill", "description", message, ", ".join(dict.fromkeys(alike)), advice)


def _bare(subject: LintSubject) -> tuple[str, str]:
    """Name and description without case and punctuation; a description that is too short is empty."""
    words = re.findall(r"\w+", subject.description[:20_000].casefold())
    name = re.sub(r"[\W_]+", "", subject.name).casefold()
    return name, " ".join(words) if len(words) >= SHORTEST else ""


ADVICE = "make them agree"

# Only unambiguous values: a quotation, a number without a unit, a truth value.
_SAID_DEFAULT = re.compile(
    r"""\bdefault(?:s|ed)?(?:\s+value)?(?:\s+(?:is|to|of))?\s*[:=]?\s*
    (?: (?P<mark>['"`“])(?P<text>[^'"`“”\n]{0,100})['"`”]
      | (?P<number>-?\d+(?:\.\d+)?)(?![\w%.:/-]*\w)(?!\s*%)(?!\s+(?!(?:and|or)\b)[a-zA-Z])
      | (?P<truth>true|false)\b )""",
    re.IGNORECASE | re.VERBOSE,
)


def wrong_defaults(subject: LintSubject) -> Iterator[Remark]:
    """Defaults on which schema, code and description disagree. Null never contradicts anything."""
    signature = _defaults(subject.function) if subject.function is not None else {}
    for part in subject.parts:
        own = part.schema.get("default")
        said = stated_default("\n".join([part.description, subject.documented.get(part.name, "")]), part)
        code = signature.get(part.name) if len(part.path) == 1 else None
        if own is not None and code is not None and not _same(own, code):
            message = f"the default is {_json(own)} in the schema, but {_json(code)} in the code"
            yield Remark("default", "ill", part.where, message, advice=ADVICE)
        given, where = (code, "the code") if own is None else (own, "the schema")
        if given is not None and said is not None and not _same(said[0], given):
            message = f"the default is {_json(given)} in {where}, but the description says otherwise"
            yield Remark("default", "ill", part.where, message, f"“{said[1]}”", ADVICE)


def stated_default(text: str, part: SchemaPart) -> tuple[Any, str] | None:
    """The default stated in a text, and the words that state it; None if it cannot be compared."""
    found = _SAID_DEFAULT.search(text[:20_000])
    if found is None:
        return None
    words, number = found[0].strip(), found["number"]
    if number and part.types & {"integer", "number"}:
        return float(number) if re.match(r"-?0\d", number) else json.loads(number), words
    if found["truth"] and "boolean" in part.types:
        return found["truth"].lower() == "true", words
    return (found["text"], words) if found["mark"] and part.types == {"string"} else None


def _defaults(function: Function) -> dict[str, Any]:
    given = function.args
    places = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(places), reversed(given.defaults), strict=False)]
    pairs += [(each, value) for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
    return {each.arg: value for each, node in pairs if (value := _value(node)) is not None}


def _value(node: ast.expr) -> Any:
    """A default that JSON can represent, else None."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    value = list(value) if isinstance(value, tuple) else value
    return value if isinstance(value, str | int | float | list | dict) else None


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)


LONGEST = 200  # characters of an example
_LIMITS = ("enum", "const", "pattern", "minLength", "maxLength")


def wrong_examples(subject: LintSubject) -> Iterator[Remark]:
    """Examples that don't fit the schema: whole calls, values for a parameter, values in descriptions."""
    root = subject.described.tool.parameters
    for text in subject.described.examples:
        if misfit := fits(root, json.loads(text)):
            yield _on_example("parameters", "an example does not fit the schema", text, misfit)
    for part in subject.parts:
        own = part.schema
        given = [*as_list(own.get("examples")), *([own["example"]] if "example" in own else [])]
        values = [(value, "an example does not fit the schema") for value in given]
        if own.get("default") is not None:
            values.append((own["default"], "the default does not fit the schema"))
        said = "the description gives an example that does not fit"
        for value, message in (*values, *((value, said) for value in _mentioned(part))):
            if misfit := fits(own, value, root):
                yield _on_example(part.where, message, json.dumps(value, ensure_ascii=False), misfit)


def _mentioned(part: SchemaPart) -> Iterator[Any]:
    """Example values in the description that can be read in only one way."""
    for found in SAID_EXAMPLE.finditer(part.description[:20_000]):
        if found["mark"] and part.types == {"string"} and any(key in part.schema for key in _LIMITS):
            yield found["text"]
        if found["number"] and part.types and part.types <= {"integer", "number"}:
            yield float(found["number"]) if "." in found["number"] else int(found["number"])


def _on_example(where: str, message: str, value: str, misfit: str) -> Remark:
    advice = "give one that fits, or relax the schema"
    evidence = f"{cut(value, LONGEST)}: {cut(misfit, LONGEST)}"
    return Remark("example", "ill", where, message, evidence, advice)


_NUMBER = r"(-?\d+(?:\.\d+)?)(?![\d.]*\w)"
_BETWEEN = re.compile(rf"\b(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}", re.IGNORECASE)
_AT_MOST = re.compile(rf"(?i)\b(?:at most|no more than|maximum(?: of| is)?:?|max\.?:?)\s+{_NUMBER}")
_AT_LEAST = re.compile(rf"(?i)\b(?:at least|no less than|minimum(?: of| is)?:?|min\.?:?)\s+{_NUMBER}")
_SEPARATED = re.compile(r"(?i)\b(?:comma|semicolon|space|newline|pipe)[- ]?(?:separated|delimited)\b")
_OPTIONAL = re.compile(
    r"(?i)^\W*optional\b(?!ly)|\(optional\)|\bis optional\b"
    r"|\bif (?:omitted|not (?:given|provided|specified|set))\b"
)
_REQUIRED = re.compile(
    r"(?i)^\W*required\b(?=\W*$|[.,:;)])|\(required\)|\bis (?:always )?required\s*(?:[.;)]|$)"
)
_JSON_TEXT = re.compile(r"\bJSON[- ](?:encoded\s+)?(?:string|text)\b|\bJSON-encoded\b", re.IGNORECASE)
_DAY_ALONE = re.compile(r"\bYYYY-MM-DD\b(?![T ]*['\"]?[T ]?['\"]?HH)")
_WRITTEN_DATE = re.compile(r"\bYYYY-MM-DD\b|\bISO[- ]?8601\b", re.IGNORECASE)
_LENGTH = re.compile(r"^\s*(?:characters?|chars?|letters?)\b", re.IGNORECASE)
_COUNT = re.compile(r"^\s*(?:items?|elements?|entries)\b", re.IGNORECASE)


def broken_promises(subject: LintSubject) -> Iterator[Remark]:
    """Descriptions of parameters that contradict the schema."""
    strict = subject.described.kind == "openai-agents"  # its strict schemas mark every parameter as required
    for part in subject.parts:
        text = part.description[:20_000]
        yield from _wrong_type(part, text)
        yield from _bounds(part, text)
        if not strict:
            yield from _wanted(part, text)


def _wrong_type(part: SchemaPart, text: str) -> Iterator[Remark]:
    types = part.types
    if types == {"array"} and (found := _SEPARATED.search(text)):
        yield _on_promise(part, "is an array, but the description asks for a string", found[0])
    if types and types <= {"array", "object"} and (found := _JSON_TEXT.search(text)):
        yield _on_promise(part, "takes JSON, but the description asks for a JSON string", found[0])
    if types and types <= {"integer", "number"} and (found := _WRITTEN_DATE.search(text)):
        yield _on_promise(part, "is a number, but the description asks for a date string", found[0])
    if part.schema.get("format") == "date-time" and (found := _DAY_ALONE.search(text)):
        yield _on_promise(part, "is a date and time, but the description asks for a date", found[0])


def _bounds(part: SchemaPart, text: str) -> Iterator[Remark]:
    """Limits in the description that differ from those in the schema."""
    for found in _BETWEEN.finditer(text):
        low, high = _keywords(part, text[found.end() :])
        yield from _against(part, low, float(found[1]), found[0])
        yield from _against(part, high, float(found[2]), found[0])
    for pattern, place in ((_AT_LEAST, 0), (_AT_MOST, 1)):
        for found in pattern.finditer(text):
            yield from _against(part, _keywords(part, text[found.end() :])[place], float(found[1]), found[0])


def _keywords(part: SchemaPart, after: str) -> tuple[str, str]:
    if part.types <= {"integer", "number", "null"}:
        return "minimum", "maximum"
    if "string" in part.types and _LENGTH.match(after):
        return "minLength", "maxLength"
    return ("minItems", "maxItems") if "array" in part.types and _COUNT.match(after) else ("", "")


def _against(part: SchemaPart, keyword: str, said: float, words: str) -> Iterator[Remark]:
    bounds = [each[keyword] for each in part.variants if is_number(each.get(keyword))]
    if len(bounds) == 1 and bounds[0] != said:
        message = f"the schema has {keyword} {bounds[0]}, but the description says otherwise"
        yield _on_promise(part, message, words)


def _wanted(part: SchemaPart, text: str) -> Iterator[Remark]:
    if part.required and not part.may_be_null:
        stated = stated_default(text, part)
        if found := _OPTIONAL.search(text):
            yield _on_promise(part, "is required, but the description says it is optional", found[0])
        elif stated and "default" not in part.schema:
            yield _on_promise(part, "is required, but the description states a default", stated[1])
    elif not part.required and part.schema.get("default") is None and (found := _REQUIRED.search(text)):
        yield _on_promise(part, "is optional, but the description says it is required", found[0])


def _on_promise(part: SchemaPart, message: str, words: str) -> Remark:
    advice = "change one of them: an agent can't follow both"
    return Remark("promise", "ill", part.where, message, f"“{' '.join(words.split()).strip()}”", advice)
