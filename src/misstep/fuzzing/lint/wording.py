"""Checks names and descriptions: missing, too long, ambiguous, refused by providers, or out of date."""

import re
from collections.abc import Callable, Iterator, Sequence

from misstep.core.results.remark import Remark
from misstep.core.text import cut
from misstep.errors import did_you_mean
from misstep.fuzzing.lint.subject import LintSubject, arguments_of

LONGEST_NAME = 64  # characters
_TOOL = re.compile(r"[a-zA-Z0-9_-]*")
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]*")


def refused_names(subject: LintSubject) -> Iterator[Remark]:
    """Tool names that OpenAI or Anthropic refuse, and parameter names that Anthropic refuses."""
    if problem := _problem(subject.name, _TOOL):
        yield _remark(
            "name",
            subject.name,
            f"{problem} OpenAI and Anthropic take in the name of a tool",
            "a-z, A-Z, 0-9, _ and -",
        )
    for part in subject.parts:
        if problem := _problem(part.name, _PARAMETER):
            message = f"{problem} Anthropic takes in the name of a parameter"
            yield _remark(part.where, part.name, message, "a-z, A-Z, 0-9, _, . and -")


def _problem(name: str, allowed: re.Pattern[str]) -> str:
    if not name:
        return "is empty: that is not what"
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters, more than the {LONGEST_NAME} that"
    return "" if allowed.fullmatch(name) else "has characters other than those that"


def _remark(where: str, name: str, message: str, allowed: str) -> Remark:
    return Remark(
        "name", "ill", where, message, cut(repr(name), 200), f"use {allowed}, {LONGEST_NAME} at the most"
    )


def phantom_parameters(subject: LintSubject) -> Iterator[Remark]:
    """Parameters in the docstring that neither schema nor code have, unless the code takes `**kwargs`."""
    function = subject.function
    if function is not None and function.args.kwarg is not None:
        return
    names = [part.name for part in subject.parts]
    known = {*names, *(each.arg for each in arguments_of(function))} if function is not None else {*names}
    if function is not None and function.args.vararg is not None:
        known.add(function.args.vararg.arg)
    for name, text in subject.documented.items():
        if name not in known:
            message = f"documents '{name}', which is no parameter"
            advice = did_you_mean(name, names) or "take it out, or add the parameter"
            yield Remark("phantom", "ill", "description", message, f"“{name}: {text}”", advice)


LONGEST = 1_024  # characters of a description that OpenAI accepts
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
    message = "says next to nothing" if said else "there is none: an agent has only the name to go by"
    advice = "say what the tool does, when to use it, and what it gives back"
    yield Remark("description", "under", "description", message, _shown(subject.description), advice)


def long_description(subject: LintSubject) -> Iterator[Remark]:
    """A description that is too long for a provider."""
    length = len(subject.description)
    if length > LONGEST:
        message = f"is longer than the {LONGEST:,} characters that OpenAI takes"
        yield Remark("length", "over", "description", message, f"{length:,} characters", "make it shorter")


def undescribed_parameters(subject: LintSubject) -> Iterator[Remark]:
    """Parameters that neither their own description nor the tool's mentions."""
    described = [name for name, text in subject.documented.items() if text.strip()]
    told = subject.description
    if len(subject.parts) == 1 and _INPUT.search(told):
        return  # it can only mean this one
    for part in subject.parts:
        if part.description or part.name in described or _mentions(told, part.name):
            continue
        if part.choices and all(isinstance(each, str) for each in part.choices) and len(part.choices) == 1:
            continue  # a discriminator of an object type
        others = [each.name for each in subject.parts if each.description or each.name in described]
        evidence = f"others have one: {', '.join(others[:5])}" if others else ""
        advice = "say what it means, and in which unit or format"
        yield Remark("parameter", "under", part.where, "has no description", evidence, advice)


def _mentions(text: str, name: str) -> bool:
    """Whether a text mentions a parameter, by its name or by the words in its name."""
    words, own = _words(text), _words(_apart(name))
    return bool(own) and any(words[place : place + len(own)] == own for place in range(len(words)))


def _apart(name: str) -> str:
    """Split `getUserName` into words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text[:20_000])]


def _shown(text: str) -> str:
    return f"“{text.strip()}”" if text.strip() else ""


SHORTEST = 3  # words of a description that can be compared


def twins_of(subject: LintSubject, others: Sequence[LintSubject]) -> Iterator[Remark]:
    """Names or descriptions that this tool shares with others of the set."""
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


def _alike(
    subject: LintSubject, others: Sequence[LintSubject], bare: Callable[[LintSubject], str]
) -> list[LintSubject]:
    own = bare(subject)
    return [other for other in others if own and bare(other) == own]


def _bare_name(subject: LintSubject) -> str:
    return re.sub(r"[\W_]+", "", subject.name).casefold()


def _bare_description(subject: LintSubject) -> str:
    words = re.findall(r"\w+", subject.description[:20_000].casefold())
    return " ".join(words) if len(words) >= SHORTEST else ""


def _names(subjects: Sequence[LintSubject]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in subjects))
