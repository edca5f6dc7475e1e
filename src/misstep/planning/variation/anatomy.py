"""A case split into the parts that can be changed, and reassembled; announcements are split as well.

On reassembly the world is reduced to what the constraints still need.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import product

import msgspec

from misstep.core.case import Action, Case, World
from misstep.core.constraint import Before, Condition, Constraint, Handover, Spend, StandIn, Window
from misstep.core.rng import derive_seed
from misstep.errors import UsageError
from misstep.planning.admission.validation import validate_case
from misstep.planning.language import syntax
from misstep.planning.language.lexicon import Topic, load_lexicon, load_topics
from misstep.planning.language.requests import load_requests, write_request, write_rules
from misstep.planning.language.semantics import mentioned, paragraph_constraints
from misstep.planning.language.skeletons import read_skeleton, shown
from misstep.planning.plans.order import order_of
from misstep.planning.plans.search import TooManyPlans, survey
from misstep.planning.synthesis.composition import CaseText, Setting, needed_values, order_case, problem_case
from misstep.planning.synthesis.problems import rehearse
from misstep.planning.synthesis.suite import ASSISTANT
from misstep.planning.variation.phrasing import Drawn, PhraseSlot, find_words, replay, say, slots_of


class WordedAnnouncement(msgspec.Struct, frozen=True):
    """What the result of the action `voice` adds to the request, with its words."""

    voice: str
    sentence: syntax.Sentence
    words: Drawn


def _read_announcement(
    voice: str, text: str, pairs: Sequence[tuple[int, int]], names: Sequence[str]
) -> WordedAnnouncement:
    firsts, thens = [tuple(dict.fromkeys(side)) for side in zip(*pairs, strict=True)]
    for form, direction in product(syntax.FORMS, syntax.DIRECTIONS):
        subject, object_ = (firsts, thens) if direction == "<" else (thens, firsts)
        sentence = syntax.Sentence(
            (syntax.Clause(form, direction, syntax.Group(subject), syntax.Group(object_)),)
        )
        words = find_words(sentence, names, text)
        if words is not None:
            return WordedAnnouncement(voice, sentence, words)
    raise UsageError(f"misstep has no words for {shown(text)}")


def fitting_world(world: World, constraints: Sequence[Constraint]) -> World:
    """The world without anything that no constraint needs; that of a generated case is unchanged.

    Tools that fail at first are kept: no constraint mentions them.
    """
    if world == World():
        return world
    handed = {(c.giver, c.parameter) for c in constraints if isinstance(c, Handover)}
    asked = {c.asks for c in constraints if isinstance(c, Condition)}
    replaced = {c.action for c in constraints if isinstance(c, StandIn)}
    voices = {c.announced for c in constraints if isinstance(c, Before)}
    is_timed = any([isinstance(c, Window) for c in constraints])
    given = {
        giver: {name: series for name, series in values.items() if (giver, name) in handed}
        for giver, values in world.values.items()
    }
    changed = msgspec.structs.replace(
        world,
        day=world.day if is_timed else None,
        durations=world.durations if is_timed else {},
        attempts=world.attempts if is_timed else 1,
        values={giver: values for giver, values in given.items() if values},
        findings={asks: found for asks, found in world.findings.items() if asks in asked},
        costs=world.costs if any([isinstance(c, Spend) for c in constraints]) else {},
        broken=tuple([action for action in world.broken if action in replaced]),
        announcements={voice: said for voice, said in world.announcements.items() if voice in voices},
    )
    return msgspec.structs.replace(changed, values=needed_values(changed, constraints))


class Anatomy(msgspec.Struct, frozen=True):
    """A case split into its tree, the phrase in every slot, and its setting.

    `request` is the name of the request template. Actions in the paragraph are indices into `actions`.
    `words` are those of each sentence. `announced` are announced constraints; their text is in the world.
    """

    seed: int
    request: str
    topic: Topic
    actions: tuple[Action, ...]
    distractors: tuple[Action, ...]
    paragraph: syntax.Paragraph
    words: tuple[Drawn, ...]
    world: World = World()
    announced: tuple[Before, ...] = ()
    redundant: tuple[int, ...] = ()

    @property
    def ids(self) -> list[str]:
        return [action.id for action in self.actions]

    @property
    def names(self) -> list[str]:
        return [action.name for action in self.actions]

    @property
    def has_own_tools(self) -> bool:
        return any([action.parameters is not None for action in self.actions])

    @property
    def announcements(self) -> list[WordedAnnouncement]:
        """The announcements in parts; `UsageError` if one is not in misstep's own language."""
        found = list[WordedAnnouncement]()
        for voice in dict.fromkeys(said.announced for said in self.announced):
            own = [said for said in self.announced if said.announced == voice]
            pairs = [(self.ids.index(said.first), self.ids.index(said.then)) for said in own]
            found.append(_read_announcement(voice, self.world.announcements[voice], pairs, self.names))
        return found

    def announcing(self, announcements: Iterable[WordedAnnouncement]) -> "Anatomy":
        """The same with its announcements in these words, and with the current names of actions."""
        texts = {each.voice: say((each.sentence,), self.names, (each.words,))[0] for each in announcements}
        return msgspec.structs.replace(self, world=msgspec.structs.replace(self.world, announcements=texts))


def take_apart(case: Case) -> Anatomy:
    """The parts of a case that misstep has written; `assemble` makes the same case of them.

    Raises `UsageError` if the case is not in misstep's own language, or its text and constraints differ.
    """
    try:
        anatomy = _dissect(validate_case(case))
        whole = assemble(anatomy.announcing(anatomy.announcements))
    except UsageError as error:
        raise _refusal(case, error.message, *error.hints) from error
    if whole is None:
        raise _refusal(case, "it can't be solved from its text, or omits an action")
    for part in ("query", "constraints", "world"):
        if getattr(whole, part) != getattr(case, part):
            raise _refusal(case, f"its sentences give another {part.removesuffix('s')}")
    return anatomy


def assemble(anatomy: Anatomy) -> Case | None:
    """The whole case, with exactly these words; unused parts of its world are removed.

    None if it contradicts itself, can't be solved with what is told, or no longer mentions an action.
    """
    if len(spoken_of(anatomy.paragraph)) < len(anatomy.actions):
        return None
    constraints = tuple(demands_of(anatomy))
    world = fitting_world(anatomy.world, constraints)
    sentences = say(anatomy.paragraph, anatomy.names, anatomy.words)
    told = CaseText(anatomy.paragraph, sentences, constraints, anatomy.redundant)
    setting = Setting(anatomy.request, anatomy.topic, anatomy.actions, anatomy.distractors)
    if _is_about_order(constraints, world) and not anatomy.has_own_tools:
        try:
            order = order_of(anatomy.ids, [(c.first, c.then) for c in constraints if isinstance(c, Before)])
        except ValueError:  # it contradicts itself
            return None
        return order_case(anatomy.seed, setting, told, order)
    with suppress(TooManyPlans):
        found = survey(anatomy.ids, constraints, world)
        solution = rehearse(anatomy.ids, constraints, world) if found.witness else None
        if solution is not None:
            return problem_case(anatomy.seed, setting, told, world, found, solution)
    return None


def again(case: Case, number: int) -> Case:
    """The same case for another run: only its seed and id differ."""
    seed = derive_seed(case.seed, "again", number)
    return msgspec.structs.replace(case, seed=seed).identified()


def spoken_of(paragraph: syntax.Paragraph) -> set[int]:
    """The actions that the request makes due; giving arguments does not."""
    return mentioned(tuple([said for said in paragraph if not isinstance(said.parts[0], syntax.Giving)]))


def is_about_order(anatomy: Anatomy) -> bool:
    return _is_about_order(demands_of(anatomy), anatomy.world) and not anatomy.has_own_tools


def demands_of(anatomy: Anatomy) -> list[Constraint]:
    """All constraints, in the order in which they are stated, announced ones last."""
    return [*paragraph_constraints(anatomy.paragraph, anatomy.ids), *anatomy.announced]


def _is_about_order(constraints: Sequence[Constraint], world: World) -> bool:
    plain = all([type(constraint) is Before and not constraint.announced for constraint in constraints])
    return plain and world == World()


def _dissect(case: Case) -> Anatomy:
    paragraph = read_skeleton(case.skeleton, case.constraints)
    if mentioned(paragraph) - {*range(len(case.actions))}:
        raise UsageError("its skeleton refers to more actions than there are")
    own = any(action.parameters is not None for action in case.actions)
    topic = {ASSISTANT.name: ASSISTANT}.get(case.topic) if own else load_topics().get(case.topic)
    if topic is None:
        raise UsageError(f"its topic {shown(case.topic)} is unknown")
    return Anatomy(
        seed=case.seed,
        request=_template(case, topic),
        topic=topic,
        actions=case.actions,
        distractors=case.distractors,
        paragraph=paragraph,
        words=tuple(_words(case, paragraph)),
        world=case.world,
        announced=tuple([c for c in case.constraints if isinstance(c, Before) and c.announced]),
        redundant=case.redundant,
    )


def _template(case: Case, topic: Topic) -> str:
    rules = write_rules(case.constraints, case.world, len(case.distractors), topic is ASSISTANT)
    for template in load_requests().templates:
        if write_request(template, topic, case.sentences, rules) == case.query:
            return template
    raise UsageError("its request is not what misstep writes around its sentences")


def _words(case: Case, paragraph: syntax.Paragraph) -> Iterator[Drawn]:
    if len(case.sentences) != len(paragraph):
        raise UsageError(f"it has {len(case.sentences)} sentences", f"its skeleton has {len(paragraph)}")
    names, nouns = [action.name for action in case.actions], [v.noun for v in load_lexicon().data.values]
    for sentence, text in zip(paragraph, case.sentences, strict=True):
        part = sentence.parts[0]
        is_known = not isinstance(part, syntax.HandOver) or part.value in nouns
        words = find_words(sentence, names, text) if is_known else None
        if words is None:
            raise UsageError(f"misstep has no words for {shown(text)}")
        yield words


def _refusal(case: Case, why: str, *hints: str) -> UsageError:
    return UsageError(f"case {shown(case.id)} can't be taken apart", why, *hints)


class Worded(msgspec.Struct, frozen=True):
    """A sentence with its words; `redundant` if it deliberately repeats something."""

    sentence: syntax.Sentence
    words: Drawn
    redundant: bool = False


def said_in(anatomy: Anatomy) -> list[Worded]:
    told = zip(anatomy.paragraph, anatomy.words, strict=True)
    return [Worded(*each, redundant=number in anatomy.redundant) for number, each in enumerate(told)]


def saying(anatomy: Anatomy, said: Iterable[Worded]) -> Anatomy:
    said = list(said)
    return msgspec.structs.replace(
        anatomy,
        paragraph=tuple([each.sentence for each in said]),
        words=tuple([each.words for each in said]),
        redundant=tuple([number for number, each in enumerate(said) if each.redundant]),
    )


def slots(anatomy: Anatomy) -> list[tuple[PhraseSlot, ...]]:
    """The slots of each sentence: the options, and the current phrase."""
    said = zip(anatomy.paragraph, anatomy.words, strict=True)
    return [slots_of(sentence, replay(words)) for sentence, words in said]
