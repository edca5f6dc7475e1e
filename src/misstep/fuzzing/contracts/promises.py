"""Finds what a tool promises: in its annotations, and in the words of its description."""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from misstep.core.tool import Described
from misstep.fuzzing.search.sequences import stage_of

Contract = Literal[
    "read-only",
    "not destructive",
    "idempotent",
    "all or nothing",
    "still readable",
    "read back",
    "deleted",
    "listed once",
    "nothing else",
    "pages",
    "error flag",
    "success flagged",
    "closed world",
    "example",
    "cancellation",
    "time-out",
    "concurrency",
    "unlisted tool",
    "path outside",
    "injection",
    "stack trace",
    "secret",
    "hidden text",
]
SECURITY: tuple[Contract, ...] = ("path outside", "injection", "stack trace", "secret", "hidden text")


class Promise(msgspec.Struct, frozen=True):
    """A promise of a tool; `words` quote the annotation or the sentence that makes it."""

    contract: Contract
    words: str


_SPOKEN: dict[Contract, str] = {
    "read-only": r"read[- ]only|(?:does|do|will) not (?:modify|change|write|alter)"
    r"|without (?:modifying|changing|altering)|never (?:modifies|changes|writes)",
    "not destructive": r"(?:never|does not|will not|won't|doesn't) (?:delete|remove|overwrite|lose)s?"
    r"|without (?:deleting|removing|overwriting|losing)",
    "idempotent": r"idempotent|safe to (?:repeat|retry|call (?:again|repeatedly|twice|multiple times))",
    "all or nothing": r"atomic(?:ally)?|all[- ]or[- ]nothing|rolled back|rolls back"
    r"|no changes (?:are|will be) made|nothing (?:is|will be) changed",
    "closed world": r"(?:works?|runs?) (?:entirely |fully |completely )?offline"
    r"|without (?:a |an |any )?(?:network|internet)(?: access| connection)?",
}
_ANNOTATIONS: dict[Contract, tuple[str, bool, str]] = {
    "read-only": ("read_only", True, "readOnlyHint: true"),
    "not destructive": ("destructive", False, "destructiveHint: false"),
    "idempotent": ("idempotent", True, "idempotentHint: true"),
    "closed world": ("open_world", False, "openWorldHint: false"),
}
_LONGEST = 160  # characters of a quotation


def promises_of(described: Described) -> Iterator[Promise]:
    """What the tool promises about its effects; an annotation counts before the description."""
    for contract, pattern in _SPOKEN.items():
        field, value, words = _ANNOTATIONS.get(contract, ("", True, ""))
        if field and getattr(described.promises, field) is not None:
            if getattr(described.promises, field) is value:
                yield Promise(contract, words)
        elif contract == "read-only" and stage_of(described.name) != 1:
            continue  # "updates a note without changing its title"
        elif spoken := sentence_with(described, rf"\b(?:{pattern})\b"):
            yield Promise(contract, spoken)


def sentence_with(described: Described, pattern: str) -> str:
    """The first sentence of the description in which the pattern occurs, in quotation marks."""
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", described.tool.description):
        if re.search(pattern, sentence, re.IGNORECASE):
            words = " ".join(sentence.split())
            return f'"{words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"}"'
    return ""
