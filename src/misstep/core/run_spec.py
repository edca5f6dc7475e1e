"""What a run is for: tests of an agent or of tools, or a look into the failures of another run."""

from typing import Literal

import msgspec

RunKind = Literal[
    "test",
    "capability",
    "dissect",
    "shrink",
    "paper",
    "fuzz",
    "consistency",
    "crosstalk",
    "fix",
    "files",
    "forge",
]

ON_TOOLS: tuple[RunKind, ...] = ("fuzz", "consistency", "crosstalk", "fix")  # which are about tools
BENCHMARKS: tuple[RunKind, ...] = ("files", "forge")
INQUIRIES: tuple[RunKind, ...] = (
    "dissect",
    "shrink",
)  # whose cases are of their own making: no rate of theirs means anything
# What runs are made of that are not of cases.
UNITS: dict[RunKind, str] = {
    "fuzz": "tools",
    "consistency": "tools",
    "crosstalk": "groups",
    "fix": "tools",
    "files": "tasks",
    "forge": "tasks",
}


class RunSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """The command behind a run; where it looks into cases of another run, that one and their ids.

    `tools` are the specs of the tools that are tested, or that the agent is given. `descriptions` is the text
    of the file with other words about them. `signature` shows who started the run (`store/trust`).
    """

    verb: RunKind = "test"
    run: str = ""
    cases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    descriptions: str = ""
    signature: str = ""

    @property
    def command(self) -> str:
        """The words by which it is given."""
        group = "tool" if self.verb in ON_TOOLS else "bench" if self.verb in BENCHMARKS else "plan"
        return f"{group} {self.verb}"


TESTING = RunSpec()
