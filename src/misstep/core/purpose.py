"""What a run is for: tests of an agent or of tools, or a look into the failures of another run."""

from typing import Literal

import msgspec

Verb = Literal["test", "capability", "dissect", "shrink", "paper", "fuzz", "consistency", "crosstalk"]

ON_TOOLS: tuple[Verb, ...] = ("fuzz", "consistency", "crosstalk")  # which test tools


class Purpose(msgspec.Struct, frozen=True, omit_defaults=True):
    """The command behind a run; where it looks into cases of another run, that one and their ids.

    `tools` are the specs of the tools that are tested.
    """

    verb: Verb = "test"
    run: str = ""
    cases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The words by which it is given."""
        return f"{'tool' if self.verb in ON_TOOLS else 'plan'} {self.verb}"


TESTING = Purpose()
