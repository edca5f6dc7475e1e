"""Questions to a model that has to answer in a form."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from misstep.core.forms import Complaint
from misstep.core.model import Assistant, Chat, LanguageModel, Message, ModelError, Unusable, User
from misstep.core.spending import UNCOUNTED, Account
from misstep.core.transcript import Usage
from misstep.core.words import cut
from misstep.engine.deadline import Deadline

TRIES = 3
REPEATED = 20_000  # characters of a bad answer that a model is shown again
SHOWN = 500  # characters of what was wrong with it

T = TypeVar("T")


# Asked before every request whether it may be made; raises where it may not.
Admit: TypeAlias = Callable[[Sequence[Message]], None]


class Desk:
    """Asks one model in one role. What has not the form is sent back with what is wrong, some times."""

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

    async def ask(self, question: str, read: Callable[[str], T | Complaint]) -> T:
        """What `read` makes of the answer. Raises `Unusable` if that is a complaint each time."""
        messages: list[Message] = [User(question)]
        wrong = ""
        for _ in range(TRIES):
            text = await self.reply(messages)
            found = read(text)
            if not isinstance(found, Complaint):
                return found
            wrong = found.text
            messages += [Assistant(cut(text, REPEATED)), User(_again(wrong))]
        raise Unusable(
            f"{self._model.name} gave no usable answer in {TRIES} tries",
            f"the last time: {cut(wrong, SHOWN)}",
        )

    async def reply(self, messages: Sequence[Message]) -> str:
        """What the model says to this, within the time allowed."""
        self._admit(messages)
        self._deadline = Deadline(self._timeout)
        self.requests += 1
        try:
            async with self._deadline:
                return (await self._model.chat(Chat(tuple(messages)), self)).text
        except TimeoutError:
            raise ModelError(
                f"{self._model.name} gave no answer in {self._timeout:g} seconds", "allow more with --timeout"
            ) from None

    async def close(self) -> None:
        await self._model.close()


def _again(complaint: str) -> str:
    return f"{cut(complaint, REPEATED)} Give the whole JSON object once more, mended, and nothing else."
