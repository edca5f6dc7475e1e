"""Results of the search for better tool descriptions, which are scored against the tool's own."""

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec
from msgspec import structs

from misstep.core.outcome import JUDGEMENTS, Judgement, Usage
from misstep.core.results.benchmark import PassRate
from misstep.core.results.descriptions import Wording
from misstep.core.stats import mcnemar

FIX_VERSION = 1
MOST_WORDS = 100  # per candidate
ORIGINAL = 0  # candidate number of the tool's own description

Strategy = Literal["findings", "description", "source", "explore"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Part = Literal["validation", "test"]

# What a description is scored on: a call without a run-time error or refusal, an answer that is also right,
# or a benchmark task.
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
    """A description proposed by a model, if usable. `why` is the model's reason, or what was wrong with it.

    `tried` are calls that the model made first, with the tool's answers.
    """

    number: int
    strategy: Strategy
    wording: Wording | None = None
    why: str = ""
    tried: tuple[str, ...] = ()


class FixAttempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent did with a request under a candidate; `called` if it called the tool."""

    candidate: int
    trying: str
    verdict: Judgement
    why: str = ""
    called: bool = False
    steps: int = 0
    tokens: int = 0

    @property
    def is_judged(self) -> bool:
        return self.verdict in ("passed", "failed")


class Standing(msgspec.Struct, frozen=True):
    """How well a candidate did on one part of the requests; `steps` and `tokens` are per judged request."""

    rate: PassRate
    steps: float | None = None
    tokens: float | None = None


class Duel(msgspec.Struct, frozen=True):
    """A candidate compared with the original: ids of requests that only one of them passed."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def p(self) -> float:
        return mcnemar(len(self.lost), len(self.gained))

    @property
    def is_better(self) -> bool:
        return len(self.gained) > len(self.lost)


class FixReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of the search for better descriptions of one tool; `usage` is by model role.

    `file` and `line` locate the source of a tool that is a function; `digest` is the hash of its code when
    the search began. `examples` are descriptions of what went wrong, for a model.
    """

    name: str
    tool: str
    original: Wording
    trying: tuple[Trying, ...] = ()
    examples: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    attempts: tuple[FixAttempt, ...] = ()
    ended: Literal["done", "stopped"] = "done"
    file: str = ""
    line: int = 0
    digest: str = ""
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # human-readable description
    place: int = 0  # position among the tools of its run
    version: int = FIX_VERSION

    @property
    def usable(self) -> list[Candidate]:
        return [each for each in self.candidates if each.wording is not None]

    @property
    def calls(self) -> int:
        return sum(attempt.steps for attempt in self.attempts)

    @property
    def verdict(self) -> Judgement:
        """Passed if there is a better description; inconclusive if the original could not be judged."""
        if not self.standing(ORIGINAL, "validation").rate.judged:
            return "inconclusive"
        return "passed" if self.is_better else "failed"

    @property
    def chosen(self) -> Candidate | None:
        """The best candidate on the validation part, the shortest of equals; None if the original is best."""

        def passed(number: int) -> int:
            return self.standing(number, "validation").rate.passed

        def rank(candidate: Candidate) -> tuple[int, int, int, int]:
            wording = candidate.wording or Wording()
            return -passed(candidate.number), wording.words, wording.characters, candidate.number

        best = min(self.usable, key=rank, default=None)
        return best if best and passed(best.number) > passed(ORIGINAL) else None

    @property
    def duel(self) -> Duel | None:
        """The chosen candidate compared with the original on requests that were not used before."""
        return self.compare(self.chosen.number, "test") if self.chosen else None

    @property
    def is_better(self) -> bool:
        return self.ended == "done" and self.duel is not None and self.duel.is_better

    @property
    def found(self) -> Wording:
        """The chosen candidate's description; empty if there is none."""
        return (self.chosen.wording if self.chosen else None) or Wording()

    def words_of(self, number: int) -> Wording:
        """The full description that an agent gets under a candidate."""
        wordings = [each.wording for each in self.candidates if each.number == number]
        if number == ORIGINAL or (wording := wordings[0]) is None:
            return self.original
        said = self.original.description if wording.description is None else wording.description
        return Wording(said, {**self.original.parameters, **wording.parameters})

    def part(self, part: Part) -> list[Trying]:
        return [each for each in self.trying if each.part == part]

    def made(self, number: int, part: Part) -> dict[str, FixAttempt]:
        """Attempts under a candidate, by request id. See `settle` for what counts as passed."""
        ids = {each.id for each in self.part(part)}
        own = [each for each in self.attempts if each.candidate == number and each.trying in ids]
        if number != ORIGINAL and not any(each.matter == "task" for each in self.trying):
            own = settle(own, self.made(ORIGINAL, part).values())
        return {each.trying: each for each in own}

    def standing(self, number: int, part: Part) -> Standing:
        made = list(self.made(number, part).values())
        verdicts, judged = [each.verdict for each in made], [each for each in made if each.is_judged]
        rate = PassRate(*[verdicts.count(judgement) for judgement in JUDGEMENTS])
        if not judged:
            return Standing(rate)
        steps, tokens = (sum(each.steps for each in judged), sum(each.tokens for each in judged))
        return Standing(rate, steps / len(judged), tokens / len(judged))

    def compare(self, number: int, part: Part) -> Duel:
        """Compare what both have tried. A request that passed and can't be judged now counts as lost."""
        before, after = self.made(ORIGINAL, part), self.made(number, part)
        gained, lost = list[str](), list[str]()
        for each in before:
            if each in after and before[each].verdict == "failed" and after[each].verdict == "passed":
                gained.append(each)
            if each in after and before[each].verdict == "passed" and after[each].verdict != "passed":
                lost.append(each)
        return Duel(tuple(gained), tuple(lost))


class FixRun(msgspec.Struct, frozen=True):
    """The result of a whole run; `source` is the run whose findings it started from.

    `wordings` are replacement descriptions that were in effect from the beginning, by tool name.
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


def settle(attempts: Iterable[FixAttempt], before: Iterable[FixAttempt]) -> list[FixAttempt]:
    """Count passes as failures where the description only stopped the agent from calling the tool.

    Not calling it is fine for a request where it did not work before, as long as the tool is still called
    successfully for some other request.
    """
    own = list(attempts)
    used = {each.trying for each in before if each.verdict == "passed" and each.called}
    works = any([each.called and each.verdict == "passed" for each in own])
    return [
        structs.replace(each, verdict="failed", why="the tool is no longer called")
        if each.verdict == "passed" and not each.called and (each.trying in used or not works)
        else each
        for each in own
    ]
