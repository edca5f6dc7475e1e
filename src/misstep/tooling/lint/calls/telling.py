"""Whether the documentation of a tool says what the tool says when it refuses."""

import re

from misstep.tooling.lint.calls.answers import Answer
from misstep.tooling.lint.subject import Subject

ENOUGH = 0.5  # share of the words of a message that the documentation has too
STEM = 5  # letters by which words are the same

# About what is there at the moment and what is not, which no documentation can tell.
_WORLD = (
    r"\bnot found\b|\bno such\b|\bnot exist|n't exist|\balready\b|\bunknown\b|\bno match",
    r"\bdenied\b|\bpermi(?:ssion|tted)|\boutside\b|\bescapes?\b|\bauthori[sz]|\bcredential|\bapi key\b",
    r"\btime[ds]? ?out\b|\bconnect|\bnetwork\b|\bErrno\b|\bE[A-Z]{4,}\b",
    r"\bleft\b|\bremaining\b|\bin stock\b|\b(?:not |un|n't )available\b",
    r"\bunable to\b|\bfailed\b|\bcould(?: not|n't)\b",
    r"\bnot (?:a )?(?:file|directory|folder|repository)\b|\bis a directory\b",
)
# About what the arguments should have been.
_DEMAND = (
    r"\bmust\b|\bshould\b|\bneeds?\b|\bha(?:s|ve) to\b|\brequire[sd]?\b|\bexpect(?:s|ed)?\b|\bonly\b",
    r"\binvalid\b|\bnot (?:an? )?valid\b|\bmalformed\b|\bunsupported\b|\bnot supported\b|\bone of\b",
    r"\bca(?:n't|nnot|n not)\b|\bmay not\b|\bat (?:least|most)\b|\bno more than\b|\bout of range\b",
    r"\b(?:less|greater|fewer|more|longer|shorter) than\b|\bexceed|\btoo \w+\b",
)
# Words that any refusal may have.
_GENERIC = (
    r"an?|and|any|are|arguments?|as|at|bad|be|been|both|by|can|can't|cannot|errors?|exactly|expected|field|for|from",
    r"given|got|has|have|if|in|inputs?|instead|invalid|is|its?|may|must|needs?|not|of|on|one|only|or|parameters?",
    r"please|provided?|requires?|required|should|so|string|supplied|text|than|that|the|there|this|to|too|tool|type",
    r"using|valid|validation|values?|was|were|when|which|with|your?|executing|found",
)
_LIMITS = (r"positive|negative|non-?zero|greater|smaller|at least|at most|minimum|maximum|[<>≤≥]|\bup to\b",)
_OF_LIMITS = (
    "positive",
    "negative",
    "zero",
    "greater",
    "less",
    "fewer",
    "more",
    "least",
    "most",
    "larger",
    "smaller",
)
_LAYOUT = (r"format|e\.g\.|example|such as|YYYY|ISO|['\"`“]",)

_QUOTED = re.compile(r"""(?<!\w)(['"`])(.{1,80}?)\1(?!\w)""")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")
_WORD = re.compile(r"[^\W\d_]{2,}(?:'t)?")


def said_by(subject: Subject) -> str:
    """All that is said about a tool in words, for agents and for whoever reads its code."""
    return "\n".join([subject.said, *subject.documented.values()])


def is_demand(message: str) -> bool:
    """Whether a tool says what the arguments should have been, and not what the world is like."""
    return _has(_DEMAND, message) and not _has(_WORLD, message)


def is_told(subject: Subject, answer: Answer) -> bool:
    """Whether the documentation says what the message says: its literals, else its words."""
    said, literals = said_by(subject), _literals(subject, answer)
    if literals:
        return all(each.strip().casefold() in said.casefold() for each in literals)
    words = _own_words(subject, answer)
    if any(word.startswith(_OF_LIMITS) for word in words):
        return _has(_LIMITS, said)
    if not words:
        return _has(_LAYOUT, said)
    known = {word[:STEM] for word in _words(said)}
    return sum(word[:STEM] in known for word in words) >= ENOUGH * len(words)


def _literals(subject: Subject, answer: Answer) -> list[str]:
    """Quotations and numbers that come neither from the arguments nor from names."""
    quoted = [text for _, text in _QUOTED.findall(answer.message)]
    given = {float(each) for each in _NUMBER.findall(answer.arguments)}
    numbers = [each for each in _NUMBER.findall(answer.message) if float(each) not in given]
    names = {subject.name, *(part.name for part in subject.parts)}
    return [*(each for each in quoted if each not in answer.arguments and each not in names), *numbers]


def _own_words(subject: Subject, answer: Answer) -> list[str]:
    """The words of a message that say something of their own."""
    names = [subject.name, *(part.name for part in subject.parts)]
    known = {*_words(" ".join(names).replace("_", " ")), *_words(answer.arguments)}
    generic = re.compile("|".join(_GENERIC))
    return [word for word in _words(answer.message) if word not in known and not generic.fullmatch(word)]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text[:40_000])]


def _has(patterns: tuple[str, ...], text: str) -> bool:
    return re.search("|".join(patterns), text, re.IGNORECASE) is not None
