"""Why a test through the agent tells nothing, in words."""

from misstep.core.model import Unusable
from misstep.core.trial import Trial
from misstep.core.words import cut

SHOWN = 500  # characters of what broke


def told(error: Unusable) -> str:
    """What was wrong with a model's answers."""
    return "; ".join((error.message, *error.hints))


def trouble_with(trial: Trial) -> str:
    """Why a trial that shows no error tells nothing about its tools; empty if it does."""
    if not trial.is_usable:
        return f"the agent did not answer: {cut(trial.error or trial.ended, SHOWN)}"
    for use in trial.uses:
        if use.judged.ruling == "environment":
            return f"the tool can't work here: {cut(use.judged.why, SHOWN)}"
    return ""
