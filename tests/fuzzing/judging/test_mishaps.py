"""Every mishap of a Python tool gets the ruling that its code deserves."""

import json
from typing import Any

import pydantic
import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.judging.exceptions import describe_exception
from misstep.fuzzing.judging.ruling import judge
from tests.fuzzing.judging import mishaps
from tests.fuzzing.judging.mishaps import MISHAPS, Mishap, Order

TOOL = Described(Tool("planted", "", {"type": "object", "properties": {"value": {}}}), "function")


def owns(file: str) -> bool:
    return file == mishaps.__file__


def call(mishap: Mishap) -> tuple[Judged, Reaction]:
    _, function, value = mishap
    given = value.__name__ if isinstance(value, type) else value
    try:
        function(value)
    except BaseException as error:
        reaction = Reaction("raised", raised=describe_exception(error, owns))
    else:
        reaction = Reaction("returned")
    return judge(TOOL, Invocation("planted", json.dumps({"value": given})), True, "", reaction), reaction


@pytest.mark.parametrize("number", range(len(MISHAPS)))
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::SyntaxWarning")
def test_a_mishap_is_ruled_on_as_its_code_deserves(number: int) -> None:
    judged, reaction = call(MISHAPS[number])
    assert judged.ruling == MISHAPS[number][0], f"{judged.why} <- {reaction.raised}"
    assert judged.why


def test_the_reason_names_the_place() -> None:
    slip, library = (
        next(each for each in MISHAPS if call(each)[0].error == kind)
        for kind in ("IndexError", "JSONDecodeError")
    )
    place = call(slip)[0].where.partition(" in ")[0]
    assert place.startswith("mishaps.py:")
    assert call(slip)[0].why == f"unhandled IndexError at {place} (index past the end of a sequence)"
    assert " (raised by raw_decode at decoder.py:" in call(library)[0].why


@pytest.mark.parametrize(
    ("amount", "fits", "ruling"),
    [("x", False, "refused"), ("x", True, "schema"), (13, True, "refused"), (13, False, "refused")],
)
def test_validation_is_held_against_the_schema(amount: Any, fits: bool, ruling: str) -> None:
    with pytest.raises(pydantic.ValidationError) as caught:
        Order(amount=amount)
    reaction = Reaction("raised", raised=describe_exception(caught.value, owns))
    assert reaction.raised is not None
    assert reaction.raised.validation
    invocation = Invocation("planted", json.dumps({"amount": amount}))
    assert judge(TOOL, invocation, fits, "", reaction).ruling == ruling
