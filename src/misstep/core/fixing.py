"""Descriptions of a tool that are tried in place of its own, with what comes of them."""

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec
from msgspec import structs

from misstep.core.benchmark import PassRate
from misstep.core.descriptions import Wording
from misstep.core.statistics import mcnemar
from misstep.core.transcript import Usage
from misstep.core.verdict import JUDGEMENTS, Judgement

FIX_VERSION = 1
MOST_WORDS = 100  # of a candidate
ORIGINAL = 0  # the number of what the tool says itself

Strategy = Literal["findings", "description", "source", "explore"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Part = Literal["validation", "test"]

# What a description is scored on: neither an error at run time nor a refusal, an answer that is right beside
# that, or a task of a benchmark.
Matter = Literal["call", "answer", "task"]


class Trying(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request that candidates are tried on; `expected` is what is known of the right answer."""

    id: str
    request: str
    part: Part
    matter: Matter = "call"
    tools: tuple[str, ...] = ()
    expected: str = ""


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """Words that a model proposes, if it had some that can be used. `why` is its argument, or what was wrong.

    `tried` are calls that it made before, with what the tool answered.
    """

    number: int
    strategy: Strategy
    wording: Wording | None = None
    why: str = ""
    tried: tuple[str, ...] = ()


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent made of a request under a candidate, by its number; `called` if the tool was called."""

    candidate: int
    trying: str
    verdict: Judgement
    why: str = ""
    called: bool = False
    steps: int = 0
    tokens: int = 0


class Standing(msgspec.Struct, frozen=True):
    """How well a candidate did on a part; `steps` and `tokens` are to a request that could be judged."""

    rate: PassRate
    steps: float | None = None
    tokens: float | None = None


class Duel(msgspec.Struct, frozen=True):
    """A candidate beside the original: ids of what only one of them passed."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def p(self) -> float:
        return mcnemar(len(self.lost), len(self.gained))

    @property
    def is_better(self) -> bool:
        return len(self.gained) > len(self.lost)


class FixReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the search for better words came to, for one tool; `usage` is by the role of the model.

    `file` is the source of a tool that is a function, from its `line` on, and `digest` that of the function's
    code when the search began. `examples` are what has gone wrong, in words for a model.
    """

    name: str
    tool: str
    original: Wording
    trying: tuple[Trying, ...] = ()
    examples: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    ended: Literal["done", "stopped"] = "done"
    file: str = ""
    line: int = 0
    digest: str = ""
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # in words
    place: int = 0  # among the tools of its run
    version: int = FIX_VERSION

    @property
    def usable(self) -> list[Candidate]:
        return [each for each in self.candidates if each.wording is not None]

    @property
    def calls(self) -> int:
        return sum(attempt.steps for attempt in self.attempts)

    @property
    def verdict(self) -> Judgement:
        """Passed if there are better words; undecided if nothing could be judged with those of its own."""
        if not self.standing(ORIGINAL, "validation").rate.judged:
            return "inconclusive"
        return "passed" if self.is_better else "failed"

    @property
    def chosen(self) -> Candidate | None:
        """The best on the validation part, the shortest of equals; None where none beats the original."""
        own = self.standing(ORIGINAL, "validation").rate.passed
        ranked = [
            (-self.standing(each.number, "validation").rate.passed, *_length(each)) for each in self.usable
        ]
        if not ranked:
            return None
        best, *_, number = min(ranked)
        return self.find(number) if -best > own else None

    @property
    def duel(self) -> Duel | None:
        """The chosen one beside the original, on what nobody had seen before."""
        return self.compare(self.chosen.number, "test") if self.chosen else None

    @property
    def is_better(self) -> bool:
        """Whether there are words that have been shown to be better."""
        return self.ended == "done" and self.duel is not None and self.duel.is_better

    @property
    def found(self) -> Wording:
        """The words of the chosen one; none where none is."""
        return (self.chosen.wording if self.chosen else None) or Wording()

    def find(self, number: int) -> Candidate:
        return next(each for each in self.candidates if each.number == number)

    def words_of(self, number: int) -> Wording:
        """All that an agent is told about the tool under a candidate."""
        wording = self.find(number).wording if number != ORIGINAL else None
        if wording is None:
            return self.original
        said = self.original.description if wording.description is None else wording.description
        return Wording(said, {**self.original.parameters, **wording.parameters})

    def part(self, part: Part) -> list[Trying]:
        return [each for each in self.trying if each.part == part]

    def made(self, number: int, part: Part) -> dict[str, Attempt]:
        """What was tried under a candidate, by the id of the request. See `settle` for what counts."""
        ids = {each.id for each in self.part(part)}
        own = [each for each in self.attempts if each.candidate == number and each.trying in ids]
        if number == ORIGINAL:
            return {each.trying: each for each in own}
        tasks = {each.id for each in self.trying if each.matter == "task"}
        before = {} if tasks else self.made(ORIGINAL, part)
        return {each.trying: each for each in (own if tasks else settle(own, before.values()))}

    def standing(self, number: int, part: Part) -> Standing:
        verdicts = [each.verdict for each in self.made(number, part).values()]
        judged = [each for each in self.made(number, part).values() if _is_judged(each)]
        count = len(judged)
        return Standing(
            PassRate(*[verdicts.count(judgement) for judgement in JUDGEMENTS]),
            sum(each.steps for each in judged) / count if count else None,
            sum(each.tokens for each in judged) / count if count else None,
        )

    def compare(self, number: int, part: Part) -> Duel:
        """What both have tried. To have passed before and not to be judged any more is a loss, not a gap."""
        before, after = self.made(ORIGINAL, part), self.made(number, part)
        both = [
            each
            for each in before
            if each in after
            and _is_judged(before[each])
            and (_is_judged(after[each]) or before[each].verdict == "passed")
        ]
        passes = {each: (before[each].verdict == "passed", after[each].verdict == "passed") for each in both}
        return Duel(
            tuple(each for each, passed in passes.items() if passed == (False, True)),
            tuple(each for each, passed in passes.items() if passed == (True, False)),
        )


class FixRun(msgspec.Struct, frozen=True):
    """What a whole run came to; `source` is the run whose findings it began with.

    `wordings` are other words that held from the beginning, by the names of tools.
    """

    run: str
    specs: tuple[str, ...]
    source: str
    tools: tuple[FixReport, ...]
    seconds: float = 0.0
    usd: float | None = None
    wordings: dict[str, Wording] = {}

    @property
    def better(self) -> list[FixReport]:
        return [each for each in self.tools if each.is_better]


def settle(attempts: Iterable[Attempt], before: Iterable[Attempt]) -> list[Attempt]:
    """The same, but that nothing is won by words which keep an agent from calling the tool at all.

    Not to call it is right where it did not work before, as long as it still is called for something else.
    """
    own = list(attempts)
    used = {each.trying for each in before if each.verdict == "passed" and each.called}
    works = any([each.called and each.verdict == "passed" for each in own])
    return [
        structs.replace(each, verdict="failed", why="the tool is not called any more")
        if each.verdict == "passed" and not each.called and (each.trying in used or not works)
        else each
        for each in own
    ]


def _is_judged(attempt: Attempt) -> bool:
    return attempt.verdict in ("passed", "failed")


def _length(candidate: Candidate) -> tuple[int, int, int]:
    wording = candidate.wording or Wording()
    return wording.words, wording.characters, candidate.number
