"""Texts with places to be filled, such as the words that are put to models."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from misstep.errors import UsageError, did_you_mean

PLACE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


class Template(msgspec.Struct, frozen=True):
    """A text with places such as `{{request}}`."""

    text: str

    def fill(self, **values: str) -> str:
        """The text with every place filled; what is filled in is not looked into again."""
        return PLACE.sub(lambda match: values[match[1]], self.text)


def check_template(text: str, where: str, known: Sequence[str], needed: Sequence[str] = ()) -> Template:
    """The template in a text. A `UsageError` for a place that nobody fills, and for one that is missing."""
    places = PLACE.findall(text)
    for place in places:
        if place not in known:
            hint = f"known places: {', '.join(f'{{{{{name}}}}}' for name in known)}"
            raise UsageError(f"unknown place {{{{{place}}}}}", hint, did_you_mean(place, known), where=where)
    for place in needed:
        if place not in places:
            raise UsageError(f"there is no {{{{{place}}}}} in it", "say where it is to stand", where=where)
    return Template(text)


def read_template(path: str) -> str:
    """The text of a template of the user's own."""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("can't be read", str(error), where=path) from error


def fenced(text: str) -> str:
    """Text from outside between two lines that are not in it, so that it can't end itself."""
    fence = "-" * 20
    while fence in text:
        fence += "-"
    return f"{fence}\n{text}\n{fence}"
