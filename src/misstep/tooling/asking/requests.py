"""Requests that a model thinks of."""

from collections.abc import Collection, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from misstep.core.answer_schema import AnswerSchema, FormatError, form_of, texts
from misstep.core.tool import Described
from misstep.core.words import tidy
from misstep.tooling.asking.documentation import documentation_of, listed
from misstep.tooling.asking.parties import Models
from misstep.tooling.asking.prompts import PLACES, Stage

MOST_REQUEST = 20_000  # characters

# Whether a model that is asked outright sees the documentation of a tool alone, or its source as well.
Outright: TypeAlias = Literal["greybox", "whitebox"]
Aim: TypeAlias = Literal["answers", "crashes"]

_STAGES: dict[tuple[Aim, Outright], Stage] = {
    ("answers", "greybox"): "answers-greybox",
    ("answers", "whitebox"): "answers-whitebox",
    ("crashes", "greybox"): "crashes-greybox",
    ("crashes", "whitebox"): "crashes-whitebox",
}


class _Requests(msgspec.Struct, frozen=True):
    requests: Annotated[tuple[str, ...], Meta(min_length=1)]


def requests_form(count: int, used: Collection[str] = ()) -> AnswerSchema[tuple[str, ...]]:
    """Up to so many requests, each once, and none that has been used."""

    def make(form: _Requests) -> tuple[str, ...] | FormatError:
        good = [each for each in map(tidy, form.requests) if 0 < len(each) <= MOST_REQUEST]
        requests = tuple(dict.fromkeys(good))
        fresh = tuple(each for each in requests if each not in used)[:count]
        nothing = f"The messages are empty, or longer than {MOST_REQUEST:,} characters."
        return fresh or FormatError("All of these were used before." if requests else nothing)

    return form_of(_Requests, requests=texts(1, count)).then(make)


def lacking(means: Outright, tool: Described) -> str:
    """What keeps a model from being asked by these means; empty if nothing does."""
    return "the source of the tool is not known" if means == "whitebox" and tool.source is None else ""


async def ask_outright(
    aim: Aim, means: Outright, tool: Described, models: Models, count: int, used: Sequence[str] = ()
) -> tuple[str, ...]:
    """Up to so many requests with which a tool fails, none of which was used before. Raises `Unusable`."""
    stage = _STAGES[aim, means]
    places = {
        "tools": documentation_of([tool], with_source=means == "whitebox"),
        "used": listed(used),
        "count": str(count),
    }
    told = {name: places[name] for name in PLACES[stage]}
    return await models.ask("generator", stage, requests_form(count, used), **told)
