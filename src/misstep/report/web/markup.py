"""HTML and SVG in which a text can be nothing but text."""

import html
import re

import msgspec

from misstep.report.text import plain, plain_lines

_NOT_XML = re.compile("[\ufffe\uffff]")
_EMPTY = {"br", "circle", "line", "meta", "path", "polygon", "polyline", "rect"}
LONGEST = 2_000


class Markup(msgspec.Struct, frozen=True):
    """Markup that is ready to be written out; a plain `str` never is."""

    source: str


def text(content: str, most: int = LONGEST) -> Markup:
    """A text on one line, harmless, none too long."""
    return Markup(_escape(plain(content, most)))


def lines(content: str, most: int = 20_000) -> Markup:
    """The same for a text whose own line breaks are kept."""
    return Markup(_escape(plain_lines(content, most)))


def verbatim(source: str) -> Markup:
    """Text of our own making as it is, for elements whose content is no markup."""
    return Markup(source)


def element(name: str, /, *children: Markup | str, **attributes: str | float) -> Markup:
    """An element; children and attributes that are text are escaped.

    Attributes are written as keywords: `class_` is class, `stroke_width` is stroke-width. Empty ones are left
    out.
    """
    given = "".join(f' {_name(key)}="{_value(value)}"' for key, value in attributes.items() if value != "")
    inside = together(*children).source
    return Markup(f"<{name}{given}{'/>' if name in _EMPTY else f'>{inside}</{name}>'}")


def together(*parts: Markup | str) -> Markup:
    """One after the other."""
    return Markup("".join((text(part) if isinstance(part, str) else part).source for part in parts))


def _name(keyword: str) -> str:
    return keyword.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return _escape(plain(value, len(value)))
    return f"{value:.1f}".removesuffix(".0")


def _escape(content: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", content))
