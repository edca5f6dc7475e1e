"""The models that a test of tools asks, in their roles."""

from typing import TypeVar

from misstep.api.execution import known_secrets
from misstep.api.models import Tell, open_model
from misstep.core.answer_schema import AnswerSchema
from misstep.core.rate_limiter import RateLimiters
from misstep.core.secrets import Redactor
from misstep.core.settings import Settings
from misstep.core.spending import Account
from misstep.engine.structured_client import Admit, StructuredClient
from misstep.models.throttle import Throttles
from misstep.tooling.asking.parties import Role
from misstep.tooling.asking.prompts import Prompts, Stage

T = TypeVar("T")


class RoleModels:
    """Asks the model of a role in the words of a stage; it is `Models`. Models are opened when needed.

    Those who share `gates` share a model's limits; the roles always do.
    """

    def __init__(
        self,
        settings: Settings,
        prompts: Prompts,
        account: Account,
        admit: Admit,
        tell: Tell = lambda _: None,
        gates: RateLimiters | None = None,
    ) -> None:
        self._settings = settings
        self._prompts = prompts
        self._account = account
        self._admit = admit
        self._tell = tell
        self._gates = gates or Throttles()
        self._desks = dict[str, StructuredClient]()

    async def ask(self, role: Role, stage: Stage, form: AnswerSchema[T], **places: str) -> T:
        question = Redactor(known_secrets())(self._prompts.fill(stage, **places))
        return await self._desk(role).ask(question, form)

    async def close(self) -> None:
        for desk in self._desks.values():
            await desk.close()

    def _desk(self, role: Role) -> StructuredClient:
        if role not in self._desks:
            model = open_model(self._settings, self._tell, role, self._gates)
            limit = self._settings.request_seconds
            self._desks[role] = StructuredClient(model, role, limit, self._account, self._admit)
        return self._desks[role]
