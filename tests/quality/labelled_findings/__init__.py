"""Findings in packages that others wrote, each with its cause and a ruling by people, to judge again offline.

One file per package; `python -m tests.quality.labelled_findings` makes one from a stored run.
"""

from pathlib import Path
from typing import Literal

import msgspec

from misstep.core.tool import Described, Invocation, Reaction

HERE = Path(__file__).parent


class LabelledFinding(msgspec.Struct, kw_only=True):
    """The calls of a finding, how the tools reacted from a fresh start, and what people say about it.

    `cause` names the root cause within the package: findings with one name have one cause. `kind` and
    `error` are what misstep said when the finding was recorded.
    """

    cause: str = ""
    label: Literal["", "true", "debatable", "false"] = ""
    reason: str = ""
    kind: str
    error: str
    calls: tuple[Invocation, ...]
    reactions: tuple[Reaction, ...]


class LabelledPackage(msgspec.Struct):
    """A package, how its tools were loaded, what these say about themselves, and its labelled findings."""

    package: str
    version: str
    spec: str
    tools: tuple[Described, ...]
    findings: list[LabelledFinding]


def labelled_packages() -> list[LabelledPackage]:
    files = sorted(HERE.glob("*.json"))
    return [msgspec.json.decode(file.read_bytes(), type=LabelledPackage) for file in files]
