"""Models whose answers may be late without ending a run."""

from typing import TypeVar

from misstep.core.answer_schema import AnswerSchema
from misstep.core.model import Late, ModelError, Unusable
from misstep.tooling.asking.parties import Models, Role
from misstep.tooling.asking.prompts import Stage

MOST_LATE = 3  # answers in a row, of which the last says that there is no point in going on
MORE_TIME = "allow more with --time-per-request"

T = TypeVar("T")


class LateTolerantModels:
    """Takes an answer that does not come in time for one of no use; it is `Models`.

    Where several in a row don't come, the model is as good as gone, which is an error.
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
