"""Calls that the fuzzer wants to be made."""

import msgspec

from misstep.core.tool import Invocation


class Attempt(msgspec.Struct, frozen=True):
    """Calls to be made one after the other.

    `mark` asks for what the code does with their arguments. `origin` says how they were come by. `fits` says
    of each whether its arguments are what the schema asks for; `broken` is what is wrong with the first that
    are not.
    """

    number: int
    calls: tuple[Invocation, ...]
    mark: bool
    origin: str
    fits: tuple[bool, ...]
    broken: str = ""
