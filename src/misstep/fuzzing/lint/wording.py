"""Checks names and descriptions: missing, too long, ambiguous, refused by providers, or out of date."""

import re
from collections.abc import Iterator, Sequence

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
        message = f"{problem} OpenAI and Anthropic take in the name of a tool"
        advice = f"use a-z, A-Z, 0-9, _ and -, {LONGEST_NAME} at the most"
        yield Remark("name", "ill", "name", message, cut(repr(subject.name), 200), advice)
    for part in subject.parts:
        if problem := _problem(part.name, _PARAMETER):
            message = f"{problem} Anthropic takes in the name of a parameter"
            advice = f"use a-z, A-Z, 0-9, _, . and -, {LONGEST_NAME} at the most"
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
    known = {*names}
    if function is not None:
        known |= {each.arg for each in (*arguments_of(function), function.args.vararg) if each is not None}
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
    evidence = f"“{subject.description.strip()}”" if subject.description.strip() else ""
    yield Remark("description", "under", "description", message, evidence, advice)


def long_description(subject: LintSubject) -> Iterator[Remark]:
    """A description that is too long for a provider."""
    length = len(subject.description)
    if length > LONGEST:
        message = f"is longer than the {LONGEST:,} characters that OpenAI takes"
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
        if part.choices and all(isinstance(each, str) for each in part.choices) and len(part.choices) == 1:
            continue  # a discriminator of an object type
        others = [each.name for each in subject.parts if each.description or each.name in described]
        evidence = f"others have one: {', '.join(others[:5])}" if others else ""
        advice = "say what it means, and in which unit or format"
        yield Remark("parameter", "under", part.where, "has no description", evidence, advice)


def _apart(name: str) -> str:
    """Split `getUserName` into words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text[:20_000])]


SHORTEST = 3  # words of a description that can be compared


def twins_of(subject: LintSubject, others: Sequence[LintSubject]) -> Iterator[Remark]:
    """Names or descriptions that this tool shares with others of the set."""
    name, said = _bare(subject)
    if alike := [other.name for other in others if name and _bare(other)[0] == name]:
        message = "can't be told from the name of another tool"
        advice = "give them names that differ in a word, not in how it is written"
        yield Remark("twins", "ill", "name", message, ", ".join(dict.fromkeys(alike)), advice)
    if alike := [other.name for other in others if said and _bare(other)[1] == said]:
        message = "is that of another tool as well: nothing says which of them to use"
        advice = "say what this one does that the other does not"
        yield Remark("twins", "ill", "description", message, ", ".join(dict.fromkeys(alike)), advice)


def _bare(subject: LintSubject) -> tuple[str, str]:
    """Name and description without case and punctuation; a description that is too short is empty."""
    words = re.findall(r"\w+", subject.description[:20_000].casefold())
    name = re.sub(r"[\W_]+", "", subject.name).casefold()
    return name, " ".join(words) if len(words) >= SHORTEST else ""
