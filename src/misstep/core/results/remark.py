"""Lint remarks: where a tool's documentation differs from what the tool does."""

from typing import Literal

import msgspec

Fault = Literal[
    "under",  # something that a caller needs to know is missing
    "over",  # the documentation states or requires more than is true
    "ill",  # the documentation is wrong or contradicts itself
]


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """One difference between documentation and tool.

    `where` is `name`, `description` or a parameter, as in `parameters.unit` or `parameters.filter.unit`.
    `evidence` quotes the schema, code or tool output that shows it; `advice` is what to do.
    """

    rule: str
    fault: Fault
    where: str
    message: str
    evidence: str = ""
    advice: str = ""


class LintedTool(msgspec.Struct, frozen=True):
    """A tool, all remarks about its documentation, and where its code begins."""

    name: str
    remarks: tuple[Remark, ...] = ()
    file: str = ""
    line: int = 1


class LintReport(msgspec.Struct, frozen=True):
    """The remarks about all tools; `notes` say what prevented a closer look, each once."""

    tools: tuple[LintedTool, ...]
    notes: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[Remark]:
        return [remark for tool in self.tools for remark in tool.remarks]
