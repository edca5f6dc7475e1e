"""What a run is for: tests, or a look into the failures of another one."""

from typing import Literal

import msgspec

Verb = Literal["test", "capability", "dissect", "shrink", "paper"]


class Purpose(msgspec.Struct, frozen=True, omit_defaults=True):
    """The command behind a run; where it looks into cases of another run, that one and their ids."""

    verb: Verb = "test"
    run: str = ""
    cases: tuple[str, ...] = ()


TESTING = Purpose()
