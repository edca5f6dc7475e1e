"""Tells a model that is out from an agent that has a bad moment."""

import re
import threading

from misstep.api.late_models import MORE_TIME
from misstep.core.model import ModelError
from misstep.core.trial import Trial
from misstep.core.words import cut

MOST_LATE = 3  # requests in a row to which an agent says nothing in time
SHOWN = 500  # characters of what was said

# Errors by their names, ours first, then those of the clients that frameworks use.
_NAMES = (
    "Unavailable",
    "AuthenticationError",
    "PermissionDeniedError",
    "RateLimitError",
    "InternalServerError",
    "ServiceUnavailableError",
    "APIConnectionError",
    "APITimeoutError",
    "OverloadedError",
)
_STATUS = r"(?:401|402|403|404|429|5\d\d)\b"
_BY_NAME = re.compile(rf"(?:AgentError: )?(?:{'|'.join(_NAMES)}):")
_BY_STATUS = re.compile(rf"\b(?:Error code|status_code): {_STATUS}")


class Outage:
    """Looks at one trial after the other, those of several threads as well, for a model that can't be had."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._late = 0

    def look_at(self, trial: Trial, has_begun: bool) -> None:
        """Raises a `ModelError` where there is no point in going on. Who `has_begun` has made a call."""
        if is_out(trial.error):
            raise ModelError(
                f"the agent's model is out: {cut(trial.error.removeprefix('Unavailable: '), SHOWN)}"
            )
        with self._lock:
            self._late = self._late + 1 if trial.ended == "timeout" and not has_begun else 0
            if self._late < MOST_LATE:
                return
            self._late = 0
        raise ModelError(f"the agent did not answer {MOST_LATE} times in a row: {trial.error}", MORE_TIME)


def is_out(error: str) -> bool:
    """Whether an error of an agent says that its model refuses everybody, or can't be reached."""
    return bool(_BY_NAME.match(error) or _BY_STATUS.search(error))
