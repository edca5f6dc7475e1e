"""What is not said about a tool, or said at too great length."""

import re
from collections.abc import Iterator

from misstep.core.remark import Remark
from misstep.tooling.lint.subject import Subject

LONGEST = 1_024  # characters of a description that OpenAI takes
FEWEST = 3  # words of a description that says anything
FRESH = 2  # words, for fewer, that the name does not have
_INPUT = re.compile(r"\b(?:input|argument|parameter)s?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def missing_description(subject: Subject) -> Iterator[Remark]:
    """A tool that says nothing about itself, or next to nothing."""
    said, name = _words(subject.description), _words(_apart(subject.name))
    fresh = [word for word in said if word not in name]
    if fresh and (len(said) >= FEWEST or len(fresh) >= FRESH):
        return
    message = "says next to nothing" if said else "there is none: an agent has only the name to go by"
    advice = "say what the tool does, when to use it, and what it gives back"
    yield Remark("description", "under", "description", message, _shown(subject.description), advice)


def long_description(subject: Subject) -> Iterator[Remark]:
    """A description that a provider would not take."""
    length = len(subject.description)
    if length > LONGEST:
        message = f"is longer than the {LONGEST:,} characters that OpenAI takes"
        yield Remark("length", "over", "description", message, f"{length:,} characters", "make it shorter")


def undescribed_parameters(subject: Subject) -> Iterator[Remark]:
    """Parameters about which nothing is said, neither by themselves nor in the tool's description."""
    described = [name for name, text in subject.documented.items() if text.strip()]
    told = subject.description
    if len(subject.parts) == 1 and _INPUT.search(told):
        return  # there is but one that it could be about
    for part in subject.parts:
        if part.description or part.name in described or _mentions(told, part.name):
            continue
        if part.choices and all(isinstance(each, str) for each in part.choices) and len(part.choices) == 1:
            continue  # a mark that tells one kind of object from another
        others = [each.name for each in subject.parts if each.description or each.name in described]
        evidence = f"others have one: {', '.join(others[:5])}" if others else ""
        advice = "say what it means, and in which unit or format"
        yield Remark("parameter", "under", part.where, "has no description", evidence, advice)


def _mentions(text: str, name: str) -> bool:
    """Whether a text speaks of a parameter: by its name, or by the words that the name is made of."""
    words, own = _words(text), _words(_apart(name))
    return bool(own) and any(words[place : place + len(own)] == own for place in range(len(words)))


def _apart(name: str) -> str:
    """`getUserName` and `get_user_name` as words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text[:20_000])]


def _shown(text: str) -> str:
    return f"“{text.strip()}”" if text.strip() else ""
