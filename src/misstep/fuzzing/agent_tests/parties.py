"""Whom a test through the agent has to do with.

Tells errors of tools that requests have led to from bad days of whatever the tools run on.

Why a test through the agent tells nothing, in words.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, TypeVar

from msgspec import structs

from misstep.core.model import Unusable
from misstep.core.results.finding import RUNTIME_ERRORS
from misstep.core.results.trial import Judged, Trial, Use
from misstep.core.text import cut
from misstep.core.tool import Described, Invocation
from misstep.fuzzing.agent_tests.prompts import Stage
from misstep.fuzzing.triage.replay import is_same
from misstep.schemas.answers import AnswerSchema

Role: TypeAlias = Literal["generator", "judge"]

T = TypeVar("T")


class Models(Protocol):
    """Language models by the role they play."""

    async def ask(self, role: Role, stage: Stage, form: AnswerSchema[T], **places: str) -> T:
        """What the form makes of the answer to the question of a stage, its places filled.

        Raises `Unusable` if the model gives no answer of which anything can be made.
        """
        ...


class AgentTrials(Protocol):
    """The agent under test, with the real tools."""

    @property
    def tools(self) -> Sequence[Described]: ...

    async def run(self, request: str, tools: Sequence[str]) -> Trial:
        """What the agent does with a request when it has these tools, which are as they were at the start."""
        ...

    async def rehearse(self, request: str, tools: Sequence[str]) -> Trial:
        """The same, but for the tools: nothing happens, and every call is told to be done."""
        ...

    async def make(self, calls: Sequence[Invocation]) -> Judged:
        """The ruling on the last of some calls, made without the agent, from a fresh start."""
        ...


REPLAYS = 3  # from a fresh start, until an error shows itself again


def shows_defect(use: Use) -> bool:
    """Whether what came of a call is an error of the tool's at run time."""
    return use.judged.ruling in RUNTIME_ERRORS


async def confirmed(trial: Trial, trials: AgentTrials) -> Trial:
    """The trial, in which errors that can't be shown again from a fresh start are the environment's."""
    uses = list(trial.uses)
    for place, use in enumerate(trial.uses):
        if shows_defect(use):
            uses[place] = await _replayed(use, trial.calls_up_to(place), trials)
    return structs.replace(trial, uses=tuple(uses))


async def _replayed(use: Use, calls: Sequence[Invocation], trials: AgentTrials) -> Use:
    for times in range(1, REPLAYS + 1):
        if is_same(await trials.make(calls), use.judged):
            return structs.replace(use, replayed=times, reproduced=1)
    why = f"{use.judged.error} was seen, but not again from a fresh start"
    return structs.replace(use, judged=Judged("environment", why), replayed=REPLAYS)


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
