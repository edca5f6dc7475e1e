"""Answers of models in a form that was asked for."""

import re
from typing import TypeVar

import msgspec

MOST_TEXT = 100_000  # characters of an answer
SHOWN = 500  # characters of what is wrong with it

_THOUGHTS_END = re.compile("</think(?:ing)?>")

T = TypeVar("T")


class Complaint(msgspec.Struct, frozen=True):
    """What is wrong with an answer, in words for whoever gave it."""

    text: str


def read_form(text: str, form: type[T]) -> T | Complaint:
    """The JSON object within an answer, which may have words round it, as what it is meant to be."""
    if len(text) > MOST_TEXT:
        return Complaint(f"The answer has {len(text):,} characters; at most {MOST_TEXT:,} are read.")
    said = _THOUGHTS_END.split(text)[-1]
    begin, end = said.find("{"), said.rfind("}")
    if begin < 0 or end < begin:
        return Complaint("There is no JSON object in the answer.")
    filled = said[begin : end + 1].encode("utf-8", "replace")
    try:
        return msgspec.json.decode(filled, type=form)
    except msgspec.ValidationError as error:
        return Complaint(f"The JSON object has not the form that was asked for: {str(error)[:SHOWN]}.")
    except (msgspec.DecodeError, RecursionError) as error:
        return Complaint(f"The answer is not valid JSON: {str(error)[:SHOWN]}.")
