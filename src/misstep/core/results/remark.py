"""Remarks: where what an agent is told about a tool is not what the tool does."""

from typing import Literal

import msgspec

Fault = Literal[
    "under",  # something that a caller needs to know is not said
    "over",  # more is said, or asked for, than is so
    "ill",  # what is said is wrong, or says two things
]


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place where documentation and tool part ways.

    `where` is `name`, `description` or a parameter, as in `parameters.unit` or `parameters.filter.unit`.
    `evidence` is what shows it, in the words of schema, code or tool; `advice` is what to do.
    """

    rule: str
    fault: Fault
    where: str
    message: str
    evidence: str = ""
    advice: str = ""


class LintedTool(msgspec.Struct, frozen=True):
    """A tool by its name, with all there is to say about its documentation, and where its code begins."""

    name: str
    remarks: tuple[Remark, ...] = ()
    file: str = ""
    line: int = 1


class LintReport(msgspec.Struct, frozen=True):
    """`notes` are what stood in the way of looking closer, each once."""

    tools: tuple[LintedTool, ...]
    notes: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[Remark]:
        return [remark for tool in self.tools for remark in tool.remarks]
