"""Asks a model for answers that have to fit a schema."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from misstep.core.model import Assistant, Chat, LanguageModel, Late, Message, Unusable, User
from misstep.core.outcome import Usage
from misstep.core.spending import UNCOUNTED, Account
from misstep.core.text import cut, tidy
from misstep.engine.recorder import Deadline
from misstep.schemas.answers import AnswerSchema, FormatError, find_copied

TRIES = 3
REPEATED = 20_000  # characters of an invalid answer that are sent back to the model
SHOWN = 500  # characters of what was wrong with it
QUOTED = 200  # characters of the last such answer shown to the user

T = TypeVar("T")


# Called before every request; raises if it may not be made.
Admit: TypeAlias = Callable[[Sequence[Message]], None]


class StructuredClient:
    """Asks one model in one role. An invalid answer is sent back with an explanation of what is wrong."""

    def __init__(
        self,
        model: LanguageModel,
        role: str,
        timeout: float,
        account: Account = UNCOUNTED,
        admit: Admit = lambda _: None,
    ) -> None:
        self._model = model
        self._role = role
        self._timeout = timeout
        self._account = account
        self._admit = admit
        self._deadline = Deadline(timeout)
        self.requests = 0
        self.usage = Usage()

    def spend(self, usage: Usage) -> None:
        self.usage += usage
        self._account.spend(self._role, usage)

    def wait(self, seconds: float) -> None:
        self._deadline.extend(seconds)

    async def ask(self, question: str, form: AnswerSchema[T]) -> T:
        """Ask and parse the answer, or the valid part of an invalid one; raises `Unusable` or `Late`."""
        messages: list[Message] = [User(question)]
        text, wrong, rest = "", "", None
        for _ in range(TRIES):
            text = await self._reply(messages, form.schema)
            found = find_copied(question, text) or form.read(text)
            if not isinstance(found, FormatError):
                return found
            wrong, rest = found.text, rest if found.rest is None else found.rest
            again = f"{cut(wrong, REPEATED)} Send the whole JSON object again, corrected, and nothing else."
            messages += [Assistant(cut(text, REPEATED)), User(again)]
        if rest is not None:
            return cast("T", rest)
        raise Unusable(
            f"{self._model.name} gave no valid answer in {TRIES} attempts",
            f"last problem: {cut(wrong, SHOWN)}",
            f"last answer: {cut(' '.join(tidy(text).split()), QUOTED) or '(nothing)'}",
        )

    async def _reply(self, messages: Sequence[Message], schema: dict[str, Any]) -> str:
        self._admit(messages)
        self._deadline = Deadline(self._timeout)
        self.requests += 1
        try:
            async with self._deadline:
                return (await self._model.chat(Chat(tuple(messages), form=schema), self)).text
        except TimeoutError:
            raise Late(f"{self._model.name} gave no answer in {self._timeout:g} seconds") from None

    async def close(self) -> None:
        await self._model.close()
