"""Bold guesses at what a failure is about, from what the verdict says."""

from misstep.core.constraint import Before
from misstep.core.outcome import Outcome
from misstep.planning.shrinking.cuts import Steps, keep_sentences
from misstep.planning.variation.anatomy import Anatomy
from misstep.planning.variation.editing.lines import forget


def focus(anatomy: Anatomy, outcome: Outcome) -> Steps:
    """The problem with nothing but the actions that the verdict names, or nothing but the sentences.

    `outcome` is a failure of just this problem.
    """
    verdict = outcome.verdict
    broken = [outcome.case.constraints[index] for index in verdict.core]
    ordered = [(c.first, c.then, c.announced) for c in broken if isinstance(c, Before)]
    named = {*verdict.missing}.union(*ordered)
    if named:
        yield forget(anatomy, {i for i, action in enumerate(anatomy.actions) if action.id not in named})
    sentences = {c.sentence for c in broken if c.sentence is not None}
    if sentences:
        yield keep_sentences(anatomy, sentences)
