"""Decides which calls to make next, and learns from the reactions to earlier ones."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from types import MappingProxyType
from typing import Any

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.rng import Dice, Hashes, derive_seed
from misstep.core.tool import Described, Invocation, Observation, Reaction, with_markers
from misstep.fuzzing.branch_solver import opened, openings
from misstep.fuzzing.inputs.pool import Pool
from misstep.fuzzing.inputs.slots import put
from misstep.fuzzing.search.acceptance import SAFE, general, has_word, places_in
from misstep.fuzzing.search.corpus import (
    CallIdea,
    Calls,
    CallSequence,
    CorpusEntry,
    Feature,
    Features,
    Feedback,
)
from misstep.fuzzing.search.harvest import (
    absolute_files,
    allowed_numbers_in,
    as_kinds,
    files_told,
    limited_by,
    meant_by,
    offers_in,
    texts_named_in,
)
from misstep.fuzzing.search.inspiration import Inspiration, written_calls
from misstep.fuzzing.search.mutation import changed_value, renumbered
from misstep.fuzzing.search.sequences import stage_of
from misstep.fuzzing.search.subject import FuzzSubject, Parameter, Supply, encode

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
_VARIATIONS = 24  # of accepted calls that are repetitions, before one of them is made again
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
        others = Helpers(helpers, self._ideas, subject_of)
        self._lessons = Lessons(self._subjects, self._ideas, self._dice, others)
        self._front = deque[CallIdea](maxlen=_WAITING)
        self._tried = Hashes()
        self._flying = dict[int, CallIdea]()
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
        for left in reversed(range(_VARIATIONS)) if behind else ():
            idea = _varied(self._dice.pick(behind), self._dice)
            idea.again = idea.again or not left
            if len(idea.calls) > self._left:  # it would be cut off, and tried again without end
                continue
            if (attempt := self._accepted(idea)) is not None:
                return attempt
        if (prepared := self._prepared()) is not None:
            return self._accepted(prepared)
        unheard = [each for each in self._examined if each.acceptance.is_unknown]
        if not unheard or self._front or not self._dice.chance(_ORDINARY):
            return None
        subject = self._dice.pick(unheard)
        corrected = self._corrected(subject)
        if corrected is not None and self._dice.chance(_CORRECTED):
            return self._accepted(corrected)
        return None if self._ideas.prepares else self._accepted(_ordinary(subject, self._dice))

    def _prepared(self) -> CallIdea | None:
        """A prepared call, or a refused one corrected, while a tool has accepted none; advice comes first."""
        acceptance = self._examined[0].acceptance
        if not self._ideas.prepares or not acceptance.calls or acceptance.accepted:
            return None
        is_advised = bool(self._front) and self._front[0].urgent and len(self._front[0].calls) > 1
        if is_advised or not self._dice.chance(_PREPARED):
            return None
        again = acceptance.was_prepared and self._dice.chance(_PREPARED_AGAIN)
        corrected = self._corrected(self._examined[0]) if again else None
        return self._ideas.prepared() if corrected is None else corrected

    def _corrected(self, subject: FuzzSubject) -> CallIdea | None:
        return subject.acceptance.corrected(subject.supply.value, subject.optional, self._dice)

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
    return subject.acceptance.varied(
        subject.supply.value, lambda value: changed_value(value, subject, dice), subject.optional, dice
    )


_OPENINGS = 24  # openings per call
_DEFECTS = frozenset({"crash", "hang", "blow-up", "schema", "protocol", "acceptance", "suspicious-refusal"})
_SENSIBLE = frozenset({"simple", "example", "semantic", "prepared", "advice"})  # origins of ordinary calls
_COSTLY = frozenset({"hung", "died", "exhausted"})  # similar calls are avoided
_DEFECT = 3.0  # value of a new defect, in units of new coverage
_CHOICES = 4  # other choices to try with a call that reached something
_OTHERS = 6  # other values of each parameter to try with it, if marks say nothing
_NUMBERS = 24  # texts with another number to try with it
_LEARNT = 1 << 12  # characters of arguments whose values are learnt
_URGENT_IDEAS = 8  # urgent ideas per call
_FILES = 3  # that a refusal may ask for
_MEANT = 2  # parameters that a value in a refusal is tried for
_TOLD = 64  # observations of a call that tokens are taken from


class Helpers:
    """Other tools, which make what the examined one needs: one that a refusal names is called before it."""

    def __init__(
        self, tools: Sequence[Described], ideas: Inspiration, subject_of: Callable[[Described], FuzzSubject]
    ) -> None:
        self.names = frozenset(tool.name for tool in tools)
        self._unused = {tool.name: tool for tool in tools}
        self._ideas = ideas
        self._subject_of = subject_of

    def hear_refusal(self, words: str) -> None:
        """Prepare with the tools that a refusal names: "Use create_board first"."""
        for name in [name for name in self._unused if name in words and has_word(words, name)]:
            helper = self._subject_of(self._unused.pop(name))
            self._ideas.prepare_with(((name, helper.simple),))


class Lessons:
    """Turns reactions into corpus entries and follow-up ideas."""

    def __init__(
        self,
        subjects: Mapping[str, FuzzSubject],
        ideas: Inspiration,
        dice: Dice,
        helpers: Helpers,
    ) -> None:
        self._subjects = subjects
        self._helpers = helpers
        self._dice = dice
        self._ideas = ideas
        self._signatures = set[str]()
        self._turns = Feedback(0)  # pairs of consecutive results in sequences

    def learn(
        self, idea: CallIdea, reactions: Sequence[Reaction], judged: Sequence[Judged]
    ) -> list[CallIdea]:
        """Take in the reactions to an idea, and return the follow-up ideas."""
        gain = 0.0
        before: Feature | None = None
        follow_ups = list[CallIdea]()
        for index, (reaction, ruling) in enumerate(zip(reactions, judged, strict=False)):
            tool, arguments = idea.calls[index]
            if tool in self._helpers.names:
                self._ideas.harvest.gather(reaction, tool)
                continue
            subject = self._subjects[tool]
            features = subject.feedback.features(reaction, ruling, arguments)
            fresh = subject.feedback.fresh(features)
            shape = features[-1]
            if before is not None:
                turn = (f"{before} > {shape}",)
                features = (*features, *turn)
                fresh += self._turns.fresh(turn)
            before = shape if self._ideas.stateful else None
            gain = max(gain, 1.0 if fresh else 0.0)
            bad, costly = ruling.ruling in _DEFECTS, reaction.ended in _COSTLY
            if bad and ruling.signature not in self._signatures:
                self._signatures.add(ruling.signature)
                gain = _DEFECT
            self._ideas.hazards.note(tool, arguments, costly)
            if fresh or self._ideas.stateful:
                self._ideas.harvest.gather(reaction, tool if stage_of(tool) == 0 else "")
            accepted = ruling.ruling == "fine"
            if subject.described.kind == "mcp":
                if not accepted and idea.origin in _SENSIBLE and not idea.broken:
                    subject.hear_refusal(idea.calls[: index + 1], _words_of(reaction))
                    if not subject.acceptance.accepted:
                        self._helpers.hear_refusal(_words_of(reaction))
                subject.hear(idea.calls[: index + 1], accepted, idea.source if idea.origin == SAFE else None)
                if idea.origin == "prepared" and index == len(idea.calls) - 1:
                    self._ideas.credit_preparation(idea, accepted)
            follow_ups += self._keep(idea, index, features, fresh, bad, costly)
            if ruling.was_refused and fresh:  # advice comes first, since only few other values are accepted
                follow_ups = [*self._follow_advice(idea, index, reaction), *follow_ups]
            if idea.mark:
                follow_ups += self._read(subject, idea, index, reaction.observations)
        if idea.origin == "again" and len(reactions) > 1 and _differ(reactions[0], reactions[-1]):
            self._ideas.suspect_state()
        self._ideas.reward(idea, gain)
        for follow_up in follow_ups[:_URGENT_IDEAS] if gain else ():
            follow_up.urgent = True
        return follow_ups

    def _keep(
        self, idea: CallIdea, index: int, features: Features, fresh: Features, bad: bool, costly: bool
    ) -> list[CallIdea]:
        """Add the calls so far to the corpus if they reached something new, or the same with less input."""
        corpus = self._ideas.corpus
        if idea.entry is not None:
            corpus.credit(idea.entry, features)
            return []
        is_last = index == len(idea.calls) - 1
        if costly or idea.broken or not (fresh or (is_last and corpus.improved_by(idea.size, features))):
            return []
        calls = idea.calls[: index + 1]
        entry = CorpusEntry(calls, idea.size * (index + 1) // len(idea.calls), bad)
        corpus.add(entry, features)
        tool, arguments = calls[-1]
        subject = self._subjects[tool]
        subject.remember(arguments)
        if bad or len(calls) > 1 or not any([type(feature) is int for feature in fresh]):
            return []
        if subject.acceptance.is_closed:  # what refusals say leads further than other values
            return []
        for name, value in arguments.items():
            if value != subject.simple.get(name) and idea.size < _LEARNT:
                subject.supply.learn((name,), value)
        follow_ups = list(self._unmarkable(arguments, subject))
        if not subject.marking:
            return [*follow_ups, *self._with_others(arguments, subject)]
        if idea.mark:
            return follow_ups
        closer = CallIdea(entry.calls, idea.origin, mark=True, again=True, source="", entry=entry)
        return [closer, *follow_ups]

    def _follow_advice(self, idea: CallIdea, index: int, reaction: Reaction) -> Iterator[CallIdea]:
        """The same with a value that the refusal offers, for the parameters that it seems to mean."""
        before, (tool, arguments) = idea.calls[:index], idea.calls[index]
        subject = self._subjects[tool]
        message = _words_of(reaction)
        own_words = _without_values(message.replace(tool, ""), arguments)
        for place, file in absolute_files(message, places_in(arguments), subject.all_files):
            subject.supply.learn(general(place), file)
            yield CallIdea((*before, (tool, put(arguments, place, file))), "advice")
        for path, files in subject.files.items():
            for file in files_told(own_words, files, subject.all_files)[:_FILES]:
                subject.supply.learn(path, file)
                changed = put(arguments, path, file)
                for place in [each for each, _ in places_in(arguments) if general(each) == path]:
                    changed = put(changed, place, file)
                yield CallIdea((*before, (tool, changed)), "advice")
        for parameter, value in _advised(message, subject, arguments):
            for typed in as_kinds(value, parameter.kinds):
                subject.supply.learn((parameter.name,), typed)
                subject.remember_value(parameter.name, typed)
                yield CallIdea((*before, (tool, {**arguments, parameter.name: typed})), "advice")

    def _unmarkable(self, arguments: dict[str, Any], subject: FuzzSubject) -> Iterator[CallIdea]:
        """The same with other values that marks cannot lead to.

        Marks don't show that the code tests a choice, and they are lost when part of a text becomes a number.
        """
        chosen = (
            {**arguments, name: choice}
            for name, choices in subject.choices.items()
            for choice in choices
            if choice != arguments.get(name)
        )
        numbered = (
            {**arguments, name: other}
            for number in dict.fromkeys((0, *subject.integers))
            for name, value in arguments.items()
            if type(value) is str and len(value) < _LEARNT
            for other in renumbered(value, number)
        )
        for each in (*islice(chosen, _CHOICES), *islice(numbered, _NUMBERS)):
            yield CallIdea(((subject.name, each),), "mutation")

    def _with_others(self, arguments: dict[str, Any], subject: FuzzSubject) -> Iterator[CallIdea]:
        """The same with another value for one parameter: what was reached took the values of the others."""
        for _ in range(_OTHERS):
            for parameter in subject.parameters:
                entry = subject.supply.value((parameter.name,), self._dice)
                if entry is not None:
                    changed = {**arguments, parameter.name: entry.value}
                    yield CallIdea(((subject.name, changed),), "mutation")

    def _read(
        self, subject: FuzzSubject, idea: CallIdea, index: int, observations: Sequence[Observation]
    ) -> Iterator[CallIdea]:
        """Ideas from the observations of a marked call."""
        subject.heard(bool(observations))
        if not subject.sights.are_new(observations):
            return
        for observation in observations[:_TOLD]:
            with suppress(msgspec.DecodeError, UnicodeEncodeError):
                subject.learn_token(msgspec.json.decode(observation.operand))
        before, (_, arguments) = idea.calls[:index], idea.calls[index]
        for opening in openings(arguments, observations, self._dice)[:_OPENINGS]:
            yield CallIdea((*before, (subject.name, opened(arguments, opening))), "gate", mark=True)


def _advised(
    message: str, subject: FuzzSubject, arguments: Mapping[str, Any]
) -> Iterator[tuple[Parameter, Any]]:
    """The values that a refusal offers, and numbers in its ranges, with the parameters they are for."""
    for about, value in (*offers_in(message), *(("", text) for text in texts_named_in(message))):
        for parameter in meant_by(about, message, subject.parameters, arguments)[:_MEANT]:
            yield parameter, value
    for about, number in allowed_numbers_in(message):
        for parameter in limited_by(about, message, subject.parameters)[:_MEANT]:
            yield parameter, number


def _without_values(message: str, arguments: Mapping[str, Any]) -> str:
    """What a refusal says itself, without the texts that it was given."""
    for _, value in places_in(arguments):
        if isinstance(value, str) and len(value) > 1:
            message = message.replace(value, "")
    return message


def _words_of(reaction: Reaction) -> str:
    return reaction.raised.message if reaction.raised else reaction.text


def _differ(one: Reaction, other: Reaction) -> bool:
    first, second = [(it.ended, it.text, it.structured, it.raised and it.raised.kind) for it in (one, other)]
    return first != second
