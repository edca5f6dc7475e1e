"""Learns from reactions: what to keep in the corpus, what to mark, what to try next."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from misstep.core.results.trial import Judged
from misstep.core.rng import Dice
from misstep.core.tool import Observation, Reaction
from misstep.fuzzing.search.attempt import CallIdea
from misstep.fuzzing.search.corpus import CorpusEntry, Feature, Feedback, is_bad, is_costly
from misstep.fuzzing.search.inspiration import Inspiration
from misstep.fuzzing.search.mutation import renumbered
from misstep.fuzzing.search.sequences import stage_of
from misstep.fuzzing.search.subject import FuzzSubject, solve_branches

_OPENINGS = 24  # openings per call
_DEFECT = 3.0  # value of a new defect, in units of new coverage
_CHOICES = 4  # other choices to try with a call that reached something
_NUMBERS = 24  # texts with another number to try with it
_LEARNT = 1 << 12  # characters of arguments whose values are learnt
_URGENT = 8  # urgent ideas per call
_TOLD = 64  # observations of a call that tokens are taken from


class Lessons:
    """Turns reactions into corpus entries and follow-up ideas."""

    def __init__(
        self,
        subjects: Mapping[str, FuzzSubject],
        inspiration: Inspiration,
        dice: Dice,
    ) -> None:
        self._subjects = subjects
        self._dice = dice
        self._ideas = inspiration
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
            subject = self._subjects[tool]
            features = subject.feedback.features(reaction, ruling, arguments)
            fresh = subject.feedback.fresh(features)
            shape = features[-1]
            if before is not None:
                turn = (f"{before} > {shape}",)
                features = (*features, *turn)
                fresh += self._turns.fresh(turn)
            before = shape if self._ideas.stateful else None
            gain = max(gain, self._gain(fresh, ruling))
            self._ideas.hazards.note(tool, arguments, is_costly(reaction))
            if fresh or self._ideas.stateful:
                self._ideas.harvest.gather(reaction, tool if stage_of(tool) == 0 else "")
            follow_ups += self._keep(idea, index, features, fresh, is_bad(ruling), is_costly(reaction))
            if idea.mark:
                follow_ups += self._read(subject, idea, index, reaction.observations)
        if idea.origin == "again" and len(reactions) > 1 and _differ(reactions[0], reactions[-1]):
            self._ideas.suspect_state()
        self._ideas.reward(idea, gain)
        for follow_up in follow_ups[:_URGENT] if gain else ():
            follow_up.urgent = True
        return follow_ups

    def _gain(self, fresh: Sequence[Feature], ruling: Judged) -> float:
        if is_bad(ruling) and ruling.signature not in self._signatures:
            self._signatures.add(ruling.signature)
            return _DEFECT
        return 1.0 if fresh else 0.0

    def _keep(
        self,
        idea: CallIdea,
        index: int,
        features: Sequence[Feature],
        fresh: Sequence[Feature],
        bad: bool,
        costly: bool,
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
        if bad or len(calls) > 1 or not _has_edge(fresh):
            return []
        for name, value in arguments.items():
            if value != subject.simple.get(name) and idea.size < _LEARNT:
                subject.supply.learn((name,), value)
        return [
            *self._closer(idea, entry, subject),
            *self._beside(arguments, subject),
            *self._renumbered(arguments, subject),
        ]

    def _closer(self, idea: CallIdea, entry: CorpusEntry, subject: FuzzSubject) -> Iterator[CallIdea]:
        """The same calls again, marked."""
        if not idea.mark and subject.marking:
            closer = CallIdea(entry.calls, idea.origin, mark=True, again=True)
            closer.entry = entry
            closer.source = ""
            yield closer

    def _beside(self, arguments: dict[str, Any], subject: FuzzSubject) -> Iterator[CallIdea]:
        """The same with another choice for one parameter: marks cannot show that the code tests it."""
        others = (
            {**arguments, name: choice}
            for name, choices in subject.choices.items()
            for choice in choices
            if choice != arguments.get(name)
        )
        for each in islice(others, _CHOICES):
            yield CallIdea(((subject.name, each),), "mutation")

    def _renumbered(self, arguments: dict[str, Any], subject: FuzzSubject) -> Iterator[CallIdea]:
        """The same with a constant of the code as a number in a text: converting to a number loses marks."""
        others = (
            {**arguments, name: other}
            for number in dict.fromkeys((0, *subject.constants.numbers))
            for name, value in arguments.items()
            if type(value) is str and len(value) < _LEARNT
            for other in renumbered(value, number)
        )
        for each in islice(others, _NUMBERS):
            yield CallIdea(((subject.name, each),), "mutation")

    def _read(
        self, subject: FuzzSubject, idea: CallIdea, index: int, observations: Sequence[Observation]
    ) -> Iterator[CallIdea]:
        """Ideas from the observations of a marked call."""
        subject.heard(bool(observations))
        if not subject.sights.are_new(observations):
            return
        for observation in observations[:_TOLD]:
            token = _text_in(observation.operand)
            if token:
                subject.learn_token(token)
        before = idea.calls[:index]
        for arguments in islice(solve_branches(idea.calls[index][1], observations, self._dice), _OPENINGS):
            yield CallIdea((*before, (subject.name, arguments)), "gate", mark=True)


def _has_edge(features: Sequence[Feature]) -> bool:
    return any([type(feature) is int for feature in features])


def _text_in(operand: str) -> str:
    try:
        value = msgspec.json.decode(operand)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return ""
    return value if isinstance(value, str) else ""


def _differ(one: Reaction, other: Reaction) -> bool:
    kinds = [each.raised.kind if each.raised else "" for each in (one, other)]
    return (one.ended, one.text, one.structured) != (other.ended, other.text, other.structured) or len(
        {*kinds}
    ) > 1
