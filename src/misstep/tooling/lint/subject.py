"""What the rules look at: a tool with all that is known about it."""

import ast
import textwrap
from functools import cached_property
from pathlib import PurePath

from misstep.core.docstring import Documented, parse_docstring
from misstep.core.finding import Comparisons, Finding, Refusal
from misstep.core.syntax import parse_module
from misstep.core.tool import Described
from misstep.tooling.lint.parts import Part, parts_of

LONGEST = 200_000  # characters of words that are read

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Subject:
    """A tool under the rules. `module` is the text of the file it stands in, empty where nobody has that.

    `refusals`, `findings` and `compared` are what fuzzing has shown of this tool.
    """

    def __init__(
        self,
        described: Described,
        module: str = "",
        refusals: tuple[Refusal, ...] = (),
        findings: tuple[Finding, ...] = (),
        compared: tuple[Comparisons, ...] = (),
    ) -> None:
        self.described = described
        self.refusals = refusals
        self.findings = findings
        self.compared = compared
        self._module = module

    @property
    def name(self) -> str:
        return self.described.name

    @property
    def description(self) -> str:
        return self.described.tool.description

    @cached_property
    def parts(self) -> list[Part]:
        return parts_of(self.described.tool.parameters)

    @property
    def said(self) -> str:
        """All that an agent is told about it in words."""
        return "\n".join([self.description, *(part.description for part in self.parts)])[:LONGEST]

    @cached_property
    def function(self) -> Function | None:
        """The function that takes the arguments, where it can be read; of a class the first that could."""
        source = self.described.source
        tree = parse_module(textwrap.dedent(source.text)) if source is not None else None
        found = tree.body[0] if tree is not None and tree.body else None
        if isinstance(found, ast.ClassDef):
            bodies = [each for each in found.body if isinstance(each, Function) and self._takes(each)]
            return bodies[0] if bodies else None
        return found if isinstance(found, Function) else None

    def code_at(self, where: str) -> str:
        """The line of code at a place like `tools.py:12 in f`; empty if that is not in the tool's file."""
        file, _, rest = where.rpartition(" in ")[0].rpartition(":")
        source, lines = self.described.source, self._module.splitlines()
        if source is None or not rest.isdecimal() or PurePath(source.file).name != file:
            return ""
        return lines[int(rest) - 1] if 0 < int(rest) <= len(lines) else ""

    @cached_property
    def module(self) -> ast.Module | None:
        """The file it stands in."""
        return parse_module(textwrap.dedent(self._module)) if self._module else None

    @cached_property
    def documented(self) -> dict[str, str]:
        """What the docstring, or the description in a docstring's form, says about parameters."""
        docstring = ast.get_docstring(self.function) if self.function is not None else None
        texts: list[Documented] = [
            parse_docstring(each[:LONGEST]) for each in (self.description, docstring) if each
        ]
        return {name: said for each in texts for name, said in each.parameters.items()}

    def _takes(self, function: Function) -> bool:
        """Whether it is a method with a parameter for each of the tool's."""
        names = {each.arg for each in arguments_of(function)}
        return bool(self.parts) and {part.name for part in self.parts if len(part.path) == 1} <= names


def arguments_of(function: Function) -> list[ast.arg]:
    """All that can be given by name or by place, but for `*args` and `**kwargs`."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
