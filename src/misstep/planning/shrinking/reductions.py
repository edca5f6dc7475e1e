"""Every single step that makes a problem smaller or plainer, the most drastic first."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from misstep.planning.shrinking.cuts import (
    Steps,
    drop_actions,
    drop_many_actions,
    drop_many_sentences,
    drop_parts,
    drop_relatives,
    drop_sentences,
    merely_mention,
    shorten_lists,
)
from misstep.planning.shrinking.measure import measure
from misstep.planning.shrinking.plainness import (
    ease_remarks,
    simplify_announcements,
    simplify_everything,
    simplify_forms,
    simplify_phrases,
    split_sentences,
)
from misstep.planning.shrinking.removals import (
    drop_all_distractors,
    drop_distractors,
    drop_families,
    ease_world,
    shorten_announcements,
)
from misstep.planning.shrinking.tightening import drop_actions_tightly
from misstep.planning.variation.anatomy import Anatomy

Stage: TypeAlias = Callable[[Anatomy], Steps]

STAGES: tuple[Stage, ...] = (
    drop_many_actions,
    drop_many_sentences,
    drop_families,
    drop_all_distractors,
    drop_actions,
    drop_actions_tightly,
    drop_sentences,
    simplify_everything,
    drop_distractors,
    ease_world,
    shorten_announcements,
    drop_parts,
    drop_relatives,
    shorten_lists,
    merely_mention,
    split_sentences,
    ease_remarks,
    simplify_forms,
    simplify_phrases,
    simplify_announcements,
)


def smaller(anatomy: Anatomy, stage: Stage) -> Iterator[Anatomy]:
    """What one kind of step makes of a problem, where that makes it smaller."""
    now = measure(anatomy)
    return (step for step in stage(anatomy) if step is not None and measure(step) < now)
