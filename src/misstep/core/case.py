"""A case: a planning problem ready to run."""

import hashlib
from typing import TypeAlias

import msgspec

CASE_VERSION = 1


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing the request asks for; it has exactly one tool."""

    id: str
    name: str
    tool: str
    description: str = ""


class Before(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="kind",
    tag="before",
):
    """`first` has to be called before `then`; `sentence` is the index of the sentence that says so."""

    first: str
    then: str
    sentence: int | None = None


Constraint: TypeAlias = Before


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Actions, constraints and the text that says them.

    `witness` is one correct order of action ids, `chance` the share of all orders that are correct,
    `redundant` the indices of sentences that deliberately repeat what is already implied.
    """

    version: int
    id: str
    seed: int
    topic: str
    query: str
    actions: tuple[Action, ...]
    constraints: tuple[Constraint, ...]
    witness: tuple[str, ...] = ()
    chance: float | None = None
    skeleton: str = ""
    sentences: tuple[str, ...] = ()
    redundant: tuple[int, ...] = ()

    def identified(self) -> "Case":
        """This case under the id that its content gives it."""
        content = _encoder.encode(msgspec.structs.replace(self, id=""))
        return msgspec.structs.replace(self, id=hashlib.blake2b(content, digest_size=6).hexdigest())


_encoder = msgspec.json.Encoder()
