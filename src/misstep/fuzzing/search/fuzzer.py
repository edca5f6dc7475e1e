"""Decides which calls to make next."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from misstep.core.results.trial import Judged
from misstep.core.rng import Dice, Hashes, derive_seed
from misstep.core.tool import Described, Invocation, Path, Reaction, with_markers
from misstep.fuzzing.inputs.pool import Pool
from misstep.fuzzing.search.acceptance import SAFE, general
from misstep.fuzzing.search.corpus import CallIdea, Calls, CallSequence
from misstep.fuzzing.search.helpers import Helpers
from misstep.fuzzing.search.inspiration import Inspiration, written_calls
from misstep.fuzzing.search.lessons import Lessons
from misstep.fuzzing.search.mutation import changed_value, respelled
from misstep.fuzzing.search.subject import FuzzSubject, Supply, encode

_INVALID = 0.1  # share of calls that the schema forbids
_TRIES = 300  # rejected ideas in a row after which nothing is left
_LARGEST = 1 << 18  # characters of one call's arguments
_URGENT, _OTHER = 4, 2  # one idea in this many is not a follow-up, while there are follow-ups
_WAITING = 2000  # ideas
_ORDINARY = 0.8  # share of ordinary calls while a server's tool has accepted none
_CORRECTED = 0.8  # share of corrections of refused calls among them
_PREPARED = 0.8  # share of prepared calls while a tool has accepted none, if there are any
_PREPARED_AGAIN = 0.5  # share of corrections of refused ones among them
_OPTIONAL = 0.15  # chance of a parameter in them
_PATIENCE = 4  # calls with known results for each call requested at once
_ONE_IN = 64  # one in this many other calls is marked
# Variations of accepted calls that may be repetitions before one of them is made again: half as many
# after each time that all were, since finding none takes longer than a call.
_VARIATIONS, _FEWEST_VARIATIONS = 24, 3
_RESPELLED = 0.7  # chance that a file's name is spelled in another way, where it is changed
_CONFIRMING = 0.9  # chance that a value which has to be repeated is
_LINGERING = 0.002  # chance of a call that may hang or crash


class Fuzzer:
    """The fuzzer of one tool, or of a toolkit whose tools share state.

    `supplies` provides arguments for a tool, by default from pools; `corpus` is what an earlier fuzzer kept;
    `files` are paths that the tools can find. `helpers` are other tools, and `preparations` calls of them
    that make something the tool may need; a tool that a refusal names is called, too. `hints` are values by
    parameter that other tools accepted. The same seed and the same reactions give the same attempts.
    """

    def __init__(
        self,
        tools: Sequence[Described],
        seed: int,
        supplies: Callable[[Described], Supply] | None = None,
        corpus: Iterable[str] = (),
        files: Sequence[str] = (),
        helpers: Sequence[Described] = (),
        preparations: Sequence[Calls] = (),
        hints: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    ) -> None:
        self._dice = Dice(derive_seed(seed, "fuzzing"))
        supply = supplies or (lambda tool: Pool(tool, seed))
        self._subjects = dict[str, FuzzSubject]()

        def subject_of(tool: Described) -> FuzzSubject:
            number = len(self._subjects)
            return self._subjects.setdefault(
                tool.name, FuzzSubject(tool, number, supply(tool), self._dice, files, hints)
            )

        self._examined = [subject_of(tool) for tool in tools]
        called = {tool for calls in preparations for tool, _ in calls}
        for tool in helpers:
            if tool.name in called:
                subject_of(tool)
        self._ideas = Inspiration(self._examined, list(corpus), self._dice, preparations)
        self._uses_results = any(tool.kind == "mcp" for tool in tools)
        others = Helpers(helpers, self._ideas, subject_of, self._dice)
        self._lessons = Lessons(self._subjects, self._ideas, self._dice, others)
        self._front = deque[CallIdea](maxlen=_WAITING)
        self._tried = Hashes()
        self._flying = dict[int, CallIdea]()
        self._variations = _VARIATIONS
        self._asked = self._invalid = self._told = self._under_way = self._turn = self._left = 0
        self.exhausted = False  # nothing is left to try

    @property
    def corpus(self) -> list[str]:
        """The calls worth keeping, as JSON texts, each a list of calls."""
        kept = [entry.calls for entry in self._ideas.corpus]
        return [written_calls(with_markers(calls) if self._uses_results else calls) for calls in kept]

    def ask(self, most: int) -> list[CallSequence]:
        """The next attempts, with at most `most` calls in total (or one longer attempt).

        There are fewer while little is known, so that each can learn from the one before. There are none
        while results are outstanding, and when nothing is left to try.
        """
        room, self._left = min(most, 1 + self._told // _PATIENCE - self._under_way), most
        attempts = list[CallSequence]()
        while room > 0 and not self.exhausted:
            attempt = self._next()
            if attempt is None:
                self.exhausted = not attempts
                break
            attempts.append(attempt)
            room -= len(attempt.calls)
            self._left -= len(attempt.calls)
        return attempts

    def tell(self, attempt: CallSequence, reactions: Sequence[Reaction], judged: Sequence[Judged]) -> None:
        """Take in the reactions to an attempt; fewer than calls if it was interrupted."""
        idea = self._flying.pop(attempt.number, None)
        if idea is None:
            return
        self._told += len(reactions)
        self._under_way -= len(attempt.calls)
        # Follow-ups of the latest discovery come first.
        self._front.extendleft(reversed(self._lessons.learn(idea, reactions, judged)))

    def forget_refusals(self) -> None:
        """Forget which values were refused, because something else was wrong."""
        for subject in self._subjects.values():
            subject.acceptance.forget_refusals()

    def _next(self) -> CallSequence | None:
        if self._ideas.is_spent(self._asked):
            return None
        if (safe := self._safe()) is not None:
            return safe
        idea = None
        for _ in range(_TRIES):
            idea = self._idea()
            if idea is None:
                continue
            if len(idea.calls) == 1 and self._ideas.prepares:
                idea.calls = self._examined[0].acceptance.prepared(idea.calls[0], self._dice)
            attempt = self._accepted(idea)
            if attempt is not None:
                return attempt
            self._ideas.waste(idea)
        if idea is None or self._ideas.finite:
            return None
        idea.again = True  # better a repetition than nothing, while not everything has been tried
        return self._accepted(idea)

    def _safe(self) -> CallSequence | None:
        """A variation of an accepted call, while too many are refused; better a repetition than none.

        While none was accepted, it is an ordinary call, mostly a refused one with another value. Does nothing
        for functions, whose refusals are not tracked.
        """
        if not self._uses_results:
            return None
        under_way = [idea.origin for idea in self._flying.values()]
        some, safe = len(under_way), under_way.count(SAFE)
        behind = [each for each in self._examined if each.acceptance.falls_behind(some, safe, self._dice)]
        if (
            behind
            and self._ideas.prepares
            and self._examined[0].acceptance.is_worn
            and self._dice.chance(0.5)
        ):
            return self._accepted(self._ideas.prepared())
        for left in reversed(range(self._variations)) if behind else ():
            idea = _varied(self._dice.pick(behind), self._dice)
            idea.again = idea.again or not left
            if len(idea.calls) > self._left:  # it would be cut off, and tried again without end
                continue
            if (attempt := self._accepted(idea)) is not None:
                most = 2 * self._variations if left else self._variations // 2
                self._variations = min(max(most, _FEWEST_VARIATIONS), _VARIATIONS)
                return attempt
        if (prepared := self._prepared()) is not None:
            return self._accepted(prepared)
        unheard = [each for each in self._examined if each.acceptance.is_unknown]
        if not unheard or self._front or not self._dice.chance(_ORDINARY):
            return None
        subject = self._dice.pick(unheard)
        corrected = subject.corrected(self._dice)
        if corrected is not None and self._dice.chance(_CORRECTED):
            return self._accepted(corrected)
        return None if self._ideas.prepares else self._accepted(_ordinary(subject, self._dice))

    def _prepared(self) -> CallIdea | None:
        """A prepared call, or a refused one corrected, while a tool has accepted none; advice comes first."""
        acceptance = self._examined[0].acceptance
        if not self._ideas.prepares or not acceptance.calls or acceptance.accepted:
            return None
        urgent = bool(self._front) and self._front[0].urgent
        is_advised = urgent and (len(self._front[0].calls) > 1 or not acceptance.needs_preparation)
        if is_advised or not self._dice.chance(_PREPARED):
            return None
        again = acceptance.was_refused and self._dice.chance(_PREPARED_AGAIN)
        corrected = self._examined[0].corrected(self._dice) if again else None
        return self._ideas.prepared() if corrected is None else corrected

    def _idea(self) -> CallIdea | None:
        """A follow-up of recent calls, with other ideas in between."""
        if self._front:
            self._turn += 1
            if self._turn % (_URGENT if self._front[0].urgent else _OTHER):
                return self._front.popleft()
        return self._ideas.next()

    def _accepted(self, idea: CallIdea) -> CallSequence | None:
        """The attempt for an idea; None if it is not worth a call."""
        subjects = self._subjects
        *before, (tool, arguments) = idea.calls
        if subjects[tool].confirmed and self._dice.chance(_CONFIRMING):
            idea.calls = (*before, (tool, subjects[tool].confirming(arguments)))
        try:
            made = with_markers([*idea.calls]) if self._uses_results else idea.calls
            calls = tuple([Invocation(tool, encode(arguments)) for tool, arguments in made])
        except (ValueError, RecursionError):
            return None
        idea.size = sum([len(call.arguments) for call in calls])
        if idea.size > _LARGEST or not all([subjects[call.tool].can_get(call.arguments) for call in calls]):
            return None
        if self._ideas.prepares and len(calls) > self._left:  # it would be cut off
            return None
        text = "\n".join([f"{call.tool} {call.arguments}" for call in calls])
        if not (self._tried.add(text) or idea.again):
            return None
        fits, idea.broken = self._fit(idea)
        if idea.broken and idea.origin == SAFE:
            return None
        if idea.broken and not idea.again and self._invalid > _INVALID * (self._asked + 10):
            return None
        if self._ideas.threatens(idea) and not self._dice.chance(_LINGERING):
            return None
        self._asked += len(calls)
        self._under_way += len(calls)
        self._invalid += bool(idea.broken)
        may_mark = subjects[calls[-1].tool].marking
        idea.mark = may_mark and (idea.mark or (len(calls) == 1 and self._dice.chance(1 / _ONE_IN)))
        self._flying[self._asked] = idea
        return CallSequence(self._asked, calls, idea.mark, idea.origin, fits, idea.broken)

    def _fit(self, idea: CallIdea) -> tuple[tuple[bool, ...], str]:
        if idea.broken is not None and len(idea.calls) == 1:
            return (not idea.broken,), idea.broken
        misfits = [self._subjects[tool].misfit(arguments) for tool, arguments in idea.calls]
        return tuple([misfit is None for misfit in misfits]), next(filter(None, misfits), "")


def _ordinary(subject: FuzzSubject, dice: Dice) -> CallIdea:
    """A call with values that the names, descriptions and answers suggest, mostly without optional ones."""
    arguments = dict(subject.simple)
    for each in subject.parameters:
        if each.required or dice.chance(_OPTIONAL):
            found = [subject.supply.value((each.name,), dice) for _ in range(3)]
            telling = [entry.value for entry in found if entry is not None and entry.origin != "schema"]
            arguments |= {each.name: telling[0]} if telling else {}
    return CallIdea(((subject.name, arguments),), "semantic")


def _varied(subject: FuzzSubject, dice: Dice) -> CallIdea:
    def altered(path: Path, value: Any) -> tuple[Any, str]:
        if isinstance(value, str) and general(path) in subject.files and dice.chance(_RESPELLED):
            return respelled(value, dice), "spelling"
        return changed_value(value, subject, dice), "mutation"

    return subject.acceptance.varied(subject.supply.value, altered, subject.optional, dice)
