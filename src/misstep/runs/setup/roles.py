"""The models that tests of tools ask in several roles, with late answers and outages handled."""

import re
import threading
from typing import TypeVar

from misstep.core.model import Late, ModelError, Unusable
from misstep.core.results.trial import Trial
from misstep.core.secrets import Redactor
from misstep.core.settings import ToolRunSettings
from misstep.core.spending import Account, RateLimiters
from misstep.core.text import cut
from misstep.engine.structured_client import Admit, StructuredClient
from misstep.fuzzing.agent_tests.parties import Models, Role
from misstep.fuzzing.agent_tests.prompts import Prompts, Stage
from misstep.models.throttle import Throttles
from misstep.runs.execution import known_secrets
from misstep.runs.setup.models import Tell, open_model
from misstep.schemas.answers import AnswerSchema

T = TypeVar("T")


class RoleModels:
    """Asks the model of a role with the prompts of a stage; it is `Models`. Models are opened when needed.

    Callers that share `rate_limiters` share a model's rate limits; the roles always do.
    """

    def __init__(
        self,
        settings: ToolRunSettings,
        prompts: Prompts,
        account: Account,
        admit: Admit,
        tell: Tell = lambda _: None,
        rate_limiters: RateLimiters | None = None,
    ) -> None:
        self._settings = settings
        self._prompts = prompts
        self._account = account
        self._admit = admit
        self._tell = tell
        self._rate_limiters = rate_limiters or Throttles()
        self._clients = dict[str, StructuredClient]()

    async def ask(self, role: Role, stage: Stage, form: AnswerSchema[T], **places: str) -> T:
        question = Redactor(known_secrets())(self._prompts.fill(stage, **places))
        if role not in self._clients:
            model = open_model(self._settings, self._tell, role, self._rate_limiters)
            limit = self._settings.request_seconds
            self._clients[role] = StructuredClient(model, role, limit, self._account, self._admit)
        return await self._clients[role].ask(question, form)

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()


MOST_LATE = 3  # late answers in a row before the model is given up
MORE_TIME = "raise --time-per-request"


class LateTolerantModels:
    """Treats a late answer as an unusable one; it is `Models`.

    Several late answers in a row are an error: the model is considered unavailable.
    """

    def __init__(self, models: Models) -> None:
        self._models = models
        self._late = 0

    async def ask(self, role: Role, stage: Stage, form: AnswerSchema[T], **places: str) -> T:
        try:
            found = await self._models.ask(role, stage, form, **places)
        except Late as error:
            self._late += 1
            if self._late == MOST_LATE:
                raise ModelError(f"{error.message}, {MOST_LATE} times in a row", MORE_TIME) from error
            raise Unusable(error.message, MORE_TIME) from error
        except ModelError:
            self._late = 0
            raise
        self._late = 0
        return found


MOST_SILENT = 3  # requests in a row that an agent does not answer in time
SHOWN = 500  # characters of an error that are shown

# Names of errors: ours, then those of the clients that frameworks use.
_NAMES = (
    "Unavailable|AuthenticationError|PermissionDeniedError|RateLimitError|InternalServerError"
    "|ServiceUnavailableError|APIConnectionError|APITimeoutError|OverloadedError"
)
_STATUS = r"(?:401|402|403|404|429|5\d\d)\b"
_BY_NAME = re.compile(rf"(?:AgentError: )?(?:{_NAMES}):")
_BY_STATUS = re.compile(rf"\b(?:Error code|status_code): {_STATUS}")


class Outage:
    """Detects from trials, also of several threads, that a model is unavailable."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._late = 0

    def look_at(self, trial: Trial, has_begun: bool) -> None:
        """Raise a `ModelError` if the model is unavailable. An agent that `has_begun` has made a call."""
        if is_out(trial.error):
            raise ModelError(
                f"the agent's model is unavailable: {cut(trial.error.removeprefix('Unavailable: '), SHOWN)}"
            )
        with self._lock:
            self._late = self._late + 1 if trial.ended == "timeout" and not has_begun else 0
            if self._late < MOST_SILENT:
                return
            self._late = 0
        raise ModelError(f"the agent did not answer {MOST_SILENT} times in a row: {trial.error}", MORE_TIME)


def is_out(error: str) -> bool:
    """Whether an agent's error says that its model refuses all requests or can't be reached."""
    return bool(_BY_NAME.match(error) or _BY_STATUS.search(error))
