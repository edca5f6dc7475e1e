"""Learns from the reactions to calls: what to keep, and what to try next."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Described, Observation, Reaction
from misstep.fuzzing.branch_solver import opened, openings
from misstep.fuzzing.inputs.slots import put
from misstep.fuzzing.returned import READ, is_returned
from misstep.fuzzing.search.acceptance import SAFE, general, has_word, places_in, quotes
from misstep.fuzzing.search.corpus import CallIdea, Calls, CorpusEntry, Feature, Features, Feedback
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
from misstep.fuzzing.search.inspiration import Inspiration
from misstep.fuzzing.search.mutation import renumbered
from misstep.fuzzing.search.sequences import is_handle, stage_of
from misstep.fuzzing.search.subject import FuzzSubject, Parameter
from misstep.schemas.samples import words_of
from misstep.schemas.shape import as_list

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
_STEMS = 8  # names without ending
_MEANT = 2  # parameters that a value in a refusal is tried for
_TOLD = 64  # observations of a call that tokens are taken from
_RETRIES = 12  # other arguments for a helper that refuses those it was given
_HINTED_AT = 3  # helpers that refusals don't name
_COMMON = frozenset((
    "a", "an", "and", "are", "be", "been", "can", "could", "did", "do", "does", "error", "exist", "exists",
    "failed", "first", "for", "found", "get", "has", "have", "in", "invalid", "is", "it", "list", "missing",
    "must", "no", "not", "of", "on", "or", "please", "required", "set", "should", "that", "the", "this",
    "to", "update", "use", "using", "was", "with", "you",
))  # fmt: skip


class Helpers:
    """Other tools, which make what the examined one needs: one that a refusal names is called before it."""

    def __init__(
        self,
        tools: Sequence[Described],
        ideas: Inspiration,
        subject_of: Callable[[Described], FuzzSubject],
        dice: Dice,
    ) -> None:
        self.names = frozenset(tool.name for tool in tools)
        self._unused = {tool.name: tool for tool in tools}
        self._ideas = ideas
        self._subject_of = subject_of
        self._dice = dice
        self._called = dict[str, FuzzSubject]()  # by the preparation that ends with a call of it
        self._retried = Counter[str]()  # preparations

    def hear_refusal(self, calls: Calls, words: str) -> None:
        """Prepare with the tools that a refusal names or hints at: "Use create_board", "task not done"."""
        *before, (tool, _) = calls
        named = [name for name in self._unused if name in words and has_word(words, name)]
        for name in named or self._hinted_at(tool, words, bool(before)):
            helper = self._subject_of(self._unused.pop(name))
            arguments = self._ideas.related(helper, tuple(before))
            self._called[self._ideas.prepare_with((*before, (name, arguments)))] = helper

    def hear(self, idea: CallIdea, index: int, ruling: Judged) -> None:
        """Prepare with other arguments where a helper refuses those that it was given."""
        name = idea.source or ""
        helper = self._called.get(name)
        if (
            helper is None
            or not ruling.was_refused
            or index != len(idea.calls) - 2
            or self._retried[name] >= _RETRIES
        ):
            return
        self._retried[name] += 1
        arguments = self._ideas.related(helper, idea.calls[:index])
        for each in [each for each in arguments if not is_returned(arguments[each])]:
            entry = helper.supply.value((each,), self._dice)
            arguments |= {} if entry is None else {each: entry.value}
        self._ideas.prepare_with((*idea.calls[:index], (helper.name, arguments)), name)

    def _hinted_at(self, tool: str, words: str, is_prepared: bool) -> list[str]:
        """Tools that make or change something, whose names have a word of a refusal that its tool has not."""
        said = {*words_of(words[:READ])} - {*words_of(tool)} - _COMMON
        if len(self._called) >= _HINTED_AT:
            return []
        names = [name for name in self._unused if said & {*words_of(name)} and stage_of(name) in (0, 2)]
        return [name for name in names if is_prepared or not self._takes_handle(name)][:_HINTED_AT]

    def _takes_handle(self, name: str) -> bool:
        return any(map(is_handle, as_list(self._unused[name].tool.parameters.get("required"))))


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
                self._helpers.hear(idea, index, ruling)
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
                        self._helpers.hear_refusal(idea.calls[: index + 1], _words_of(reaction))
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
        for parameter, value in _switched(message, subject.parameters):
            yield CallIdea((*before, (tool, {**arguments, parameter.name: value})), "advice")
        for name, stem in _stems_told(message, arguments, subject.all_files):
            subject.supply.learn((name,), stem)
            yield CallIdea((*before, (tool, {**arguments, name: stem})), "advice")
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


def _switched(message: str, parameters: Sequence[Parameter]) -> Iterator[tuple[Parameter, bool]]:
    """The switches that a refusal says to set: "Use overwrite=true to replace it"."""
    for parameter in parameters:
        told = re.search(rf"\b{re.escape(parameter.name)}\b ?[=:] ?(true|false)\b", message, re.IGNORECASE)
        if told is not None and "boolean" in parameter.kinds:
            yield parameter, told[1].lower() == "true"


def _stems_told(
    message: str, arguments: Mapping[str, Any], files: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Names of files without folder and ending, for texts that a refusal takes for those of files."""
    if re.search(r"\b(?:file|document|note|page)s?\b", message, re.IGNORECASE) is None:
        return
    stems = dict.fromkeys(file.rpartition("/")[2].partition(".")[0] for file in files)
    for name, value in arguments.items():
        if isinstance(value, str) and quotes(message, value):
            yield from ((name, stem) for stem in islice(filter(None, stems), _STEMS))


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
