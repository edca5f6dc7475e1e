"""Changes of a case in one respect that leave its demands exactly the same."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from misstep.core.case import Action
from misstep.core.rng import Dice
from misstep.planning.language.lexicon import Topic, load_topics
from misstep.planning.language.rendering import fresh_phrases, possible_moods
from misstep.planning.synthesis.composition import action_for
from misstep.planning.variation import phrasing
from misstep.planning.variation.anatomy import Anatomy, slots
from misstep.planning.variation.retelling import retell

DRAFTS = 20  # tries, after which there is assumed to be only one way to say something


def substitute_words(anatomy: Anatomy, avoid: Collection[str], dice: Dice) -> Anatomy | None:
    """The case with another phrase in every slot whose phrase must be avoided; all others are kept.

    A phrase is given by its singular or its plural. None if a slot has no other phrase.
    """
    announcements = anatomy.announcements
    heard = [word for words in (*anatomy.words, *(each.words for each in announcements)) for word in words]
    choosing = phrasing.Choosing(avoid, dice, heard)
    try:
        words = tuple([choosing.substitute(found) for found in slots(anatomy)])
        told = [phrasing.slots_of(each.sentence, phrasing.replay(each.words)) for each in announcements]
        others = [choosing.substitute(found) for found in told]
    except phrasing.NothingLeft:
        return None
    said = zip(announcements, others, strict=True)
    return replace(anatomy, words=words).announcing([replace(each, words=other) for each, other in said])


def change_topic(anatomy: Anatomy, dice: Dice, avoid: Collection[str] = ()) -> Anatomy | None:
    """The same problem in another topic: other activities with their tools.

    None if there is no other topic outside `avoid`, and for the user's own tools, which have none.
    """
    if anatomy.has_own_tools:
        return None
    old = [*anatomy.actions, *anatomy.distractors]
    for topic in dice.shuffled(list(load_topics().values())):
        fresh = _fresh_activities(topic, old)
        if topic.name not in (*avoid, anatomy.topic.name) and len(fresh) >= len(old):
            return _set_in(anatomy, topic, dice.sample(fresh, len(old)))
    return None


def rename(anatomy: Anatomy, avoid: Collection[str], dice: Dice) -> Anatomy | None:
    """The same problem with other activities of the same topic in place of those to be avoided.

    None if the topic has no others, and for the user's own tools, which keep their names.
    """
    old = [*anatomy.actions, *anatomy.distractors]
    unwanted = [number for number, action in enumerate(anatomy.actions) if action.name in avoid]
    fresh = [name for name in _fresh_activities(anatomy.topic, old) if name not in avoid]
    if anatomy.has_own_tools or len(fresh) < len(unwanted):
        return None
    names = [action.name for action in old]
    for number, name in zip(unwanted, dice.sample(fresh, len(unwanted)), strict=True):
        names[number] = name
    return _set_in(anatomy, anatomy.topic, names)


def rephrase(anatomy: Anatomy, dice: Dice) -> Anatomy:
    """The same problem in other sentences.

    They demand an equivalent order, use another form for everything else if there is one, and new words.
    Announcements stay as they are.
    """
    drafts = (retell(anatomy, dice) for _ in range(DRAFTS))
    paragraph = next((draft for draft in drafts if draft != anatomy.paragraph), anatomy.paragraph)
    announced = [word for each in anatomy.announcements for word in each.words]
    moods = (phrasing.heard_mood(announced),) if announced else possible_moods(paragraph)
    fresh = fresh_phrases(dice, mood=dice.pick(moods))
    words = tuple([phrasing.draw_words(sentence, fresh) for sentence in paragraph])
    return replace(anatomy, paragraph=paragraph, words=words, redundant=())


def _fresh_activities(topic: Topic, old: Sequence[Action]) -> list[str]:
    """Activities whose names contain none of the old ones."""
    return [name for name in topic.activities if not any(action.name in name for action in old)]


def _set_in(anatomy: Anatomy, topic: Topic, names: Sequence[str]) -> Anatomy:
    announcements = anatomy.announcements
    old = [*anatomy.actions, *anatomy.distractors]
    renamed = [
        action_for(action.id, name, bool(action.description)) for action, name in zip(old, names, strict=True)
    ]
    size = len(anatomy.actions)
    changed = replace(anatomy, topic=topic, actions=tuple(renamed[:size]), distractors=tuple(renamed[size:]))
    return changed.announcing(announcements)
