"""Answers that don't come in time, and a model that is as good as gone."""

import asyncio
from typing import Any

import pytest

from misstep.core.model import Late, ModelError, Unusable
from misstep.runs.setup.roles import LateTolerantModels
from misstep.schemas.answers import AnswerSchema

FORM = AnswerSchema[str]({}, str)


class Slow:
    """Models that answer in time, or not, as they are told."""

    def __init__(self, *late: bool) -> None:
        self._late = list(late)

    async def ask(self, role: Any, stage: Any, form: AnswerSchema[Any], **places: str) -> Any:
        try:
            async with asyncio.timeout(0 if self._late.pop(0) else None):
                await asyncio.sleep(0)
        except TimeoutError:
            raise Late("x gave no answer in 0 seconds") from None
        return form.read("yes")


def test_the_third_late_answer_in_a_row_is_an_error() -> None:
    asked = list[str]()

    async def ask(models: LateTolerantModels) -> None:
        try:
            asked.append(await models.ask("generator", "request", FORM))
        except ModelError as error:
            asked.append(f"{type(error).__name__}: {error.message}")

    async def main() -> None:
        models = LateTolerantModels(Slow(True, True, False, True, True, True))
        for _ in range(6):
            await ask(models)

    asyncio.run(main())
    late = "Unusable: x gave no answer in 0 seconds"
    gone = "ModelError: x gave no answer in 0 seconds, 3 times in a row"
    assert asked == [late, late, "yes", late, late, gone]


def test_other_errors_are_handed_on() -> None:
    class Out:
        async def ask(self, role: Any, stage: Any, form: AnswerSchema[Any], **places: str) -> Any:
            raise ModelError("out of order")

    with pytest.raises(ModelError, match=r"^out of order$") as raised:
        asyncio.run(LateTolerantModels(Out()).ask("judge", "judge", FORM))
    assert not isinstance(raised.value, Unusable)
