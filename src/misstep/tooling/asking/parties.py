"""Whom a test through the agent has to do with."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, TypeVar

from misstep.core.answer_schema import AnswerSchema
from misstep.core.ruling import Judged
from misstep.core.tool import Described, Invocation
from misstep.core.trial import Trial
from misstep.tooling.asking.prompts import Stage

Role: TypeAlias = Literal["generator", "judge"]

T = TypeVar("T")


class Models(Protocol):
    """Language models by the role they play."""

    async def ask(self, role: Role, stage: Stage, form: AnswerSchema[T], **places: str) -> T:
        """What the form makes of the answer to the question of a stage, its places filled.

        Raises `Unusable` if the model gives no answer of which anything can be made.
        """
        ...


class Trials(Protocol):
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
