"""Calls with their reactions, and what contracts need to know about them."""

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Reaction, Sending
from misstep.fuzzing.contracts.promises import Contract
from misstep.fuzzing.judging.echoes import leaves_of
from misstep.fuzzing.search.sequences import stage_of
from misstep.schemas.samples import words_of
from misstep.schemas.shape import as_list, mapping

Calls = tuple[Invocation, ...]


class Step(msgspec.Struct, frozen=True):
    """A call that was made, the reaction to it, and the judgement on that alone."""

    tool: Described
    arguments: dict[str, Any]
    reaction: Reaction
    judged: Judged
    sent: Sending = "in turn"

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def is_fine(self) -> bool:
        return self.judged.ruling == "fine"

    @property
    def said(self) -> str:
        """The result or the error message."""
        return self.reaction.raised.message if self.reaction.raised else self.reaction.text

    def repeats(self, other: "Step") -> bool:
        return self.name == other.name and self.arguments == other.arguments


# Replies by which nothing was changed, without the flag of an error.
DECLINES = re.compile(
    r"\b(?:cancel+ed|aborted|confirm\w*|force|not (?:deleted|removed|updated|found|changed)|are you sure"
    r"|no (?:such|changes?|updates?)|nothing|invalid|unable|could ?n.t|can ?not|failed)\b",
    re.IGNORECASE,
)


# Sequences of calls; each is sent the steps that it led to, if it was made.
Experiments: TypeAlias = Generator[Calls, Sequence[Step] | None, None]


def is_fine(steps: Sequence[Step] | None) -> bool:
    return steps is not None and steps[-1].is_fine


class Breach(msgspec.Struct, frozen=True):
    """A promise that calls have broken: `tool` made it in these `words`, and `effect` contradicts it."""

    contract: Contract
    tool: str
    words: str
    effect: str


def listing_in_words(act: str, word: str, times: int) -> str:
    """The effect that a list doesn't show something once after a call."""
    told = f"it lists {word!r} {times} times" if times else f"it doesn't list {word!r}"
    return f"after {act}, {told}"


class Toolkit(msgspec.Struct, frozen=True):
    """Tools, for each some sequences of calls of which it accepted or refused the last, and their folder.

    `hung` has a call of each tool that was not answered in time.
    """

    tools: Mapping[str, Described]
    accepted: Mapping[str, Sequence[Calls]]
    refused: Mapping[str, Sequence[Calls]] = {}
    hung: Mapping[str, Calls] = {}
    folder: str = ""  # the tools' working directory, if it is known

    def base(self, tool: str) -> dict[str, Any] | None:
        """Arguments that the tool accepted, preferably without any preparation."""
        calls = min(self.accepted.get(tool, ()), key=len, default=None)
        return json.loads(calls[-1].arguments) if calls else None

    def alone(self, tool: str) -> list[Invocation]:
        """The accepted calls that need no preparation."""
        return [calls[0] for calls in self.accepted.get(tool, ()) if len(calls) == 1]


def parameters(described: Described) -> dict[str, dict[str, Any]]:
    found = mapping(described.tool.parameters.get("properties"))
    return {name: dict(mapping(schema)) for name, schema in found.items()}


def required(described: Described) -> list[str]:
    return [name for name in as_list(described.tool.parameters.get("required")) if isinstance(name, str)]


def call_of(tool: str, arguments: Mapping[str, Any]) -> Invocation:
    return Invocation(tool, json.dumps(arguments))


def texts_in(reaction: Reaction) -> Iterator[str]:
    """The result as it was printed, and all texts in it if it is JSON."""
    yield reaction.text
    for source in (reaction.text, reaction.structured or ""):
        if source.lstrip().startswith(("{", "[", '"')):
            try:
                leaves = leaves_of(json.loads(source), keys=False)
                yield from (leaf for leaf in leaves if isinstance(leaf, str))
            except (ValueError, RecursionError):
                continue


STEM = 5  # letters by which words are compared: follow, followers


def stems_of(tool: str) -> set[str]:
    """The beginnings of the words in a tool's name, without those that say that it makes something."""
    return {word.removesuffix("s")[:STEM] for word in words_of(tool) if stage_of(word) != 0}
