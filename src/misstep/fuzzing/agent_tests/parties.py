"""Interfaces to the models and the agent of a test, and checks of what its trials prove."""

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
    """Language models, addressed by role."""

    async def ask(self, role: Role, stage: Stage, form: AnswerSchema[T], **places: str) -> T:
        """Fill the stage's template, ask the model, and parse its answer. Raises `Unusable` if that fails."""
        ...


class AgentTrials(Protocol):
    """The agent under test, with the real tools."""

    @property
    def tools(self) -> Sequence[Described]: ...

    async def run(self, request: str, tools: Sequence[str]) -> Trial:
        """Run the agent on a request with these tools, which start in their initial state."""
        ...

    async def rehearse(self, request: str, tools: Sequence[str]) -> Trial:
        """Like `run`, but the tools do nothing and report every call as done."""
        ...

    async def make(self, calls: Sequence[Invocation]) -> Judged:
        """Make the calls without the agent, from a fresh start, and judge the last one."""
        ...


REPLAYS = 3  # attempts to reproduce an error from a fresh start


def shows_defect(use: Use) -> bool:
    return use.judged.ruling in RUNTIME_ERRORS


async def confirmed(trial: Trial, trials: AgentTrials) -> Trial:
    """The trial, with errors that don't recur from a fresh start attributed to the environment."""
    uses = list(trial.uses)
    for place, use in enumerate(trial.uses):
        if not shows_defect(use):
            continue
        why = f"{use.judged.error} was seen once, but not after a fresh start"
        uses[place] = structs.replace(use, judged=Judged("environment", why), replayed=REPLAYS)
        for times in range(1, REPLAYS + 1):
            if is_same(await trials.make(trial.calls_up_to(place)), use.judged):
                uses[place] = structs.replace(use, replayed=times, reproduced=1)
                break
    return structs.replace(trial, uses=tuple(uses))


SHOWN = 500  # characters of an error that are shown


def told(error: Unusable) -> str:
    """What was wrong with the model's answers."""
    return "; ".join((error.message, *error.hints))


def trouble_with(trial: Trial) -> str:
    """Why a trial without errors says nothing about its tools; empty if it does."""
    if not trial.is_usable:
        return f"the agent did not answer: {cut(trial.error or trial.ended, SHOWN)}"
    for use in trial.uses:
        if use.judged.ruling == "environment":
            return f"the tool does not work in this environment: {cut(use.judged.why, SHOWN)}"
    return ""
