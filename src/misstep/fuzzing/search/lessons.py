"""Learns from the reactions to calls: what to keep, and what to try next."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Observation, Reaction
from misstep.fuzzing.branch_solver import opened, openings
from misstep.fuzzing.inputs.slots import put
from misstep.fuzzing.returned import is_returned
from misstep.fuzzing.search.acceptance import SAFE, general, places_in, quotes
from misstep.fuzzing.search.corpus import CallIdea, CorpusEntry, Feature, Features, Feedback
from misstep.fuzzing.search.harvest import (
    absolute_files,
    asks_for_ending,
    files_told,
)
from misstep.fuzzing.search.helpers import Helpers, advised, without_values
from misstep.fuzzing.search.inspiration import Inspiration
from misstep.fuzzing.search.mutation import renumbered
from misstep.fuzzing.search.sequences import stage_of
from misstep.fuzzing.search.subject import FuzzSubject, Parameter

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
_TOLD = 64  # observations of a call that tokens are taken from
_DATA_URL = "data:text/plain;base64,SGVsbG8="
_READ = 1 << 14  # characters of a result
_TELLING = frozenset(("detail", "details", "error", "hint", "message", "reason", "suggestion"))


class _Prepared(msgspec.Struct):
    """Whether, in one attempt, helpers returned something for the first time, and whether one refused."""

    is_news: bool = False
    is_broken: bool = False


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
        self._tried = set[tuple[str, str]]()  # parameters with names and URLs that they were tried with
        self._turns = Feedback(0)  # pairs of consecutive results in sequences

    def learn(
        self, idea: CallIdea, reactions: Sequence[Reaction], judged: Sequence[Judged]
    ) -> list[CallIdea]:
        """Take in the reactions to an idea, and return the follow-up ideas."""
        gain = 0.0
        before: Feature | None = None
        prepared = _Prepared()
        follow_ups = list[CallIdea]()
        for index, (reaction, ruling) in enumerate(zip(reactions, judged, strict=False)):
            tool, arguments = idea.calls[index]
            if tool in self._helpers:
                self._hear_helper(idea, index, reaction, ruling, prepared)
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
            if subject.described.kind == "mcp":
                follow_ups += self._hear_server(idea, index, reaction, ruling, prepared)
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
        news = self._helpers.take_news()
        for each in news:
            each.urgent = True
        return [*news, *follow_ups]

    def _hear_helper(
        self, idea: CallIdea, index: int, reaction: Reaction, ruling: Judged, prepared: _Prepared
    ) -> None:
        if ruling.was_refused:
            self._helpers.hear_own_refusal(idea, index, _words_of(reaction))
            prepared.is_broken = True
        else:
            prepared.is_news |= self._ideas.harvest.gather(reaction, idea.calls[index][0])

    def _hear_server(
        self, idea: CallIdea, index: int, reaction: Reaction, ruling: Judged, prepared: _Prepared
    ) -> list[CallIdea]:
        """Learn what a server's tool accepts and needs first."""
        calls, accepted = idea.calls[: index + 1], ruling.ruling == "fine"
        subject, words = self._subjects[calls[-1][0]], "" if accepted else _words_of(reaction)
        if not accepted and idea.origin in _SENSIBLE and not idea.broken:
            refused = calls[-1:] if prepared.is_broken else calls
            subject.hear_refusal(refused, words)
            if not subject.acceptance.accepted:
                self._helpers.hear_refusal(refused, words)
        subject.hear(calls, accepted, idea.source if idea.origin == SAFE else None)
        if idea.origin == "prepared" and index == len(idea.calls) - 1:
            stage = 0 if prepared.is_broken else subject.acceptance.stage_of(calls, words)
            self._ideas.credit_preparation(idea, accepted, stage)
            if prepared.is_news and not accepted:
                return self._passing_on(idea.source or "")
        return [*self._without_network(idea, index)] if ruling.ruling == "environment" else []

    def _passing_on(self, preparation: str) -> list[CallIdea]:
        """The prepared call again, if what the helpers have returned for the first time is part of it."""
        idea = self._ideas.prepared(preparation)
        is_passed_on = any(is_returned(value) for _, value in places_in(idea.calls[-1][1]))
        return [idea] if is_passed_on else []

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
        own_words = without_values(message.replace(tool, ""), arguments)
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
        stems = _stems_told(message, own_words, arguments, subject.all_files)
        for name, stem in [each for each in stems if each not in self._tried]:
            self._tried.add((name, stem))
            subject.supply.learn((name,), stem)
            yield CallIdea((*before, (tool, {**arguments, name: stem})), "advice")
        for name, value in advised(message, subject, arguments):
            subject.supply.learn((name,), value)
            subject.remember_value(name, value)
            yield CallIdea((*before, (tool, {**arguments, name: value})), "advice")

    def _without_network(self, idea: CallIdea, index: int) -> Iterator[CallIdea]:
        """The same with a URL that needs no network, for each parameter that had one which does."""
        before, (tool, arguments) = idea.calls[:index], idea.calls[index]
        subject = self._subjects[tool]
        local = [f"file://{file}" for file in subject.all_files if file.startswith("/")][:1]
        for parameter in subject.parameters:
            given = arguments.get(parameter.name, parameter.schema.get("default"))
            if isinstance(given, str) and given.startswith(("http://", "https://")):
                tried = [url for url in (_DATA_URL, *local) if (parameter.name, url) not in self._tried]
                for url in tried:
                    self._tried.add((parameter.name, url))
                    subject.supply.learn((parameter.name,), url)
                    changed = {**arguments, parameter.name: url}
                    yield CallIdea((*before, (tool, changed)), "advice")

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


def _switched(message: str, parameters: Sequence[Parameter]) -> Iterator[tuple[Parameter, bool]]:
    """The switches that a refusal says to set: "Use overwrite=true to replace it"."""
    for parameter in parameters:
        told = re.search(rf"\b{re.escape(parameter.name)}\b ?[=:] ?(true|false)\b", message, re.IGNORECASE)
        if told is not None and "boolean" in parameter.kinds:
            yield parameter, told[1].lower() == "true"


_PATHS = re.compile(r"\babsolute\b|no such file|\bENOENT\b", re.IGNORECASE)
_DOCUMENTS = re.compile(r"\b(?:file|document|note|page)s?\b", re.IGNORECASE)


def _stems_told(
    message: str, own_words: str, arguments: Mapping[str, Any], files: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Names of files without folder and ending, for texts that a refusal takes for those of files.

    Not where it asks for absolute ones or for an ending, or the system looked for the file.
    """
    if _PATHS.search(own_words) or asks_for_ending(own_words) or not _DOCUMENTS.search(own_words):
        return
    stems = dict.fromkeys(file.rpartition("/")[2].partition(".")[0] for file in files)
    for name, value in arguments.items():
        if isinstance(value, str) and quotes(message, value):
            yield from ((name, stem) for stem in islice(filter(None, stems), _STEMS))


def _words_of(reaction: Reaction) -> str:
    """What a reaction says; of a JSON object, only what it says about an error."""
    text = reaction.raised.message if reaction.raised else reaction.text
    if not text.startswith("{") or len(text) > _READ:
        return text
    with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        found = msgspec.json.decode(text)
        told = [value for name, value in found.items() if name in _TELLING and isinstance(value, str)]
        return "\n".join(told) or text
    return text


def _differ(one: Reaction, other: Reaction) -> bool:
    first, second = [(it.ended, it.text, it.structured, it.raised and it.raised.kind) for it in (one, other)]
    return first != second
