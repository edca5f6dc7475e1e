"""Values that were drawn for a tool, with what is known about them."""

from typing import Any, Literal, TypeAlias, get_args

import msgspec

from misstep.core.tool import Path

Kind: TypeAlias = Literal["valid", "boundary", "invalid"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Origin: TypeAlias = Literal[
    "schema",  # what it demands
    "semantic",  # the names and descriptions of parameters
    "harvested",  # the tool's source, documentation and examples
    "learnt",  # earlier calls
]


class Breach(msgspec.Struct, frozen=True):
    """A value that breaks one demand of its schema: `broken` is the keyword, `at` the place in the value."""

    value: Any
    broken: str
    at: Path = ()


class Drawn(msgspec.Struct, frozen=True, gc=False):
    """Arguments for a call. What lies within them is shared with other draws and must not be changed.

    `origin` is where the value comes from that the draw is about. Where the arguments are invalid, `broken`
    is the keyword of the schema that they break, and `at` the place where they do.
    """

    arguments: dict[str, Any]
    kind: Kind
    origin: Origin
    broken: str = ""
    at: Path = ()
