"""The same problem without something that goes beyond order."""

from collections.abc import Collection

import msgspec

from misstep.core.constraint import family_of
from misstep.planning.language.hanging import without_times
from misstep.planning.language.semantics import constraints_of
from misstep.planning.language.syntax import Clause, SubSentence
from misstep.planning.variation.anatomy import Anatomy, demands_of, is_about_order
from misstep.planning.variation.phrasing import Drawn, draw_words
from misstep.planning.variation.rewriting.clauses import phrased
from misstep.planning.variation.rewriting.restructuring import parts_of, put_together
from misstep.planning.variation.rewriting.retelling import left_over, mention
from misstep.planning.variation.words import Choosing, Worded, said_in, saying
from misstep.planning.variation.worlds import fitting_world


def without_families(anatomy: Anatomy, families: Collection[str], choosing: Choosing) -> Anatomy:
    """The case without what these families have to say; actions that nothing else speaks of are mentioned.

    Without choices there is nothing to save, so a budget goes with them.
    """
    families = {*families, "budget"} if "choice" in families else families
    told = [each for each in said_in(anatomy) if not _is_of(each, anatomy, families)]
    changed = saying(anatomy, [_untimed(each, choosing) for each in told] if "time" in families else told)
    if "dynamic" in families:
        world = msgspec.structs.replace(anatomy.world, failures={}, retries=0)
        changed = msgspec.structs.replace(changed, announced=(), world=world)
    return mention_left_over(changed, choosing)


def mention_left_over(anatomy: Anatomy, choosing: Choosing) -> Anatomy:
    """The case with a sentence for actions that no other speaks of, in a world that fits it."""
    fitting = msgspec.structs.replace(anatomy, world=fitting_world(anatomy.world, demands_of(anatomy)))
    rest = left_over(fitting.paragraph, fitting)
    if not rest:
        return fitting
    sentence = mention(choosing.dice.shuffled(rest), is_about_order(fitting))
    return saying(fitting, [*said_in(fitting), Worded(sentence, draw_words(sentence, choosing))])


def _is_of(said: Worded, anatomy: Anatomy, families: Collection[str]) -> bool:
    """Whether a sentence is a remark of one of the families."""
    if isinstance(said.sentence.parts[0], Clause):
        return False
    ids = [action.id for action in anatomy.actions]
    return any([family_of(demand) in families for demand in constraints_of(said.sentence, ids, 0)])


def _untimed(said: Worded, choosing: Choosing) -> Worded:
    parts = [_untimed_part(part, words, choosing) for part, words in parts_of(said)]
    return put_together(parts, said)


def _untimed_part(part: SubSentence, words: Drawn, choosing: Choosing) -> tuple[SubSentence, Drawn]:
    if not isinstance(part, Clause):
        return part, words
    clause = without_times(part)
    return clause, msgspec.structs.replace(phrased(part, words), clause=clause).words(choosing)
