"""Questions to a model that has to answer in a form."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from misstep.core.model import Chat, Message, ModelError, Unusable
from misstep.core.outcome import Usage
from misstep.engine.structured_client import TRIES, StructuredClient
from misstep.schemas.answers import FormatError, form_of
from tests.fuzzing.consistency.performing import Ledger


class Counted(msgspec.Struct, frozen=True):
    number: int


FORM = form_of(Counted)


class Speaker:
    """A model that says one thing after the other; it is no `LanguageModel` of ours."""

    name = "test/speaker"

    def __init__(self, *said: str) -> None:
        self._said = list(said)
        self.heard = list[Sequence[Message]]()
        self.forms = list[object]()
        self.is_closed = False

    async def chat(self, request: Chat, meter: "StructuredClient") -> "Said":
        self.heard.append(request.messages)
        self.forms.append(request.form)
        meter.spend(Usage(10, 1))
        if not self._said:
            await asyncio.sleep(60)
        return Said(self._said.pop(0))

    async def close(self) -> None:
        self.is_closed = True


class Said(msgspec.Struct, frozen=True):
    text: str


def desk(speaker: Speaker, timeout: float = 5.0, ledger: Ledger | None = None) -> StructuredClient:
    return StructuredClient(speaker, "judge", timeout, ledger or Ledger())  # type: ignore[arg-type]


def test_what_is_good_in_answers_is_taken_in_the_end() -> None:
    def even(counted: Counted) -> int | FormatError:
        return counted.number if counted.number > 9 else FormatError("too few", counted.number)

    speaker = Speaker('{"number": 4}', '{"number": 5}', "none")
    assert asyncio.run(desk(speaker).ask("How many?", FORM.then(even))) == 5
    assert asyncio.run(desk(Speaker('{"number": 4}', '{"number": 12}')).ask("?", FORM.then(even))) == 12


def test_a_good_answer_is_read_at_once() -> None:
    speaker, ledger = Speaker('So: {"number": 4}'), Ledger()
    own = desk(speaker, ledger=ledger)
    assert asyncio.run(own.ask("How many?", FORM)) == Counted(4)
    assert (own.requests, own.usage, ledger.roles) == (1, Usage(10, 1), {"judge": 1})


def test_a_bad_answer_goes_back_with_what_is_wrong() -> None:
    speaker = Speaker("four", '{"number": "four"}', '{"number": 4}')
    assert asyncio.run(desk(speaker).ask("How many?", FORM)) == Counted(4)
    last = [getattr(message, "text", "") for message in speaker.heard[-1]]
    assert last[:2] == ["How many?", "four"]
    assert last[2].startswith("There is no JSON object in the answer. Send the whole JSON object again")
    assert "Expected `int`" in last[4]
    assert speaker.forms == [FORM.schema] * 3


def test_a_form_that_comes_back_as_it_was_goes_back_too() -> None:
    class Named(msgspec.Struct, frozen=True):
        name: str

    speaker = Speaker('{"name": "NAME"}', '{"name": "Ann"}')
    asked = desk(speaker).ask('Who? Answer so:\n{"name": "NAME"}', form_of(Named))
    assert asyncio.run(asked) == Named("Ann")
    assert "the placeholder 'NAME'" in getattr(speaker.heard[-1][-1], "text", "")


def test_after_some_tries_there_is_no_usable_answer() -> None:
    speaker = Speaker(*["never"] * TRIES)
    with pytest.raises(Unusable, match=f"no valid answer in {TRIES} attempts"):
        asyncio.run(desk(speaker).ask("How many?", FORM))


def test_a_model_that_takes_too_long() -> None:
    with pytest.raises(ModelError, match=r"gave no answer in 0\.05 seconds"):
        asyncio.run(desk(Speaker(), timeout=0.05).ask("How many?", FORM))


def test_nothing_is_asked_that_is_not_admitted() -> None:
    class Denied(Exception):
        pass

    def admit(_: Sequence[Message]) -> None:
        raise Denied

    speaker = Speaker('{"number": 4}')
    own = StructuredClient(speaker, "judge", 5.0, Ledger(), admit)  # type: ignore[arg-type]
    with pytest.raises(Denied):
        asyncio.run(own.ask("How many?", FORM))
    assert speaker.heard == []
