"""A tool with everything the lint rules need: parameters, code, findings; and the remarks that rules make."""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import PurePath
from typing import Any, Literal

import msgspec

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import Comparisons, Refusal
from misstep.core.tool import Described
from misstep.schemas.shape import as_list, find_reference, mapping, names_in
from misstep.schemas.source import parse_docstring, parse_module

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


DEEPEST = 6  # nesting of objects
MOST = 500  # parameters of one tool

_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


class SchemaPart(msgspec.Struct, frozen=True):
    """A parameter: its path, its schema with references resolved, and whether it is required.

    `variants` are the alternatives of its schema, or just the schema if it has none.
    """

    path: tuple[str, ...]
    schema: Mapping[str, Any]
    required: bool
    variants: tuple[Mapping[str, Any], ...]

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def where(self) -> str:
        return ".".join(("parameters", *self.path))

    @property
    def description(self) -> str:
        said = [self.schema.get("description"), *(each.get("description") for each in self.variants)]
        return "\n".join(dict.fromkeys(text for text in said if isinstance(text, str) and text.strip()))

    @property
    def types(self) -> frozenset[str]:
        """The JSON types that it may have; empty if not specified."""
        kinds = [each.get("type") for each in self.variants]
        return frozenset(
            name for kind in kinds for name in names_in([kind] if isinstance(kind, str) else kind)
        )

    @property
    def choices(self) -> tuple[Any, ...]:
        """The allowed values, if every variant except null lists them; otherwise empty."""
        lists = [
            [each["const"]] if "const" in each else as_list(each.get("enum"))
            for each in self.variants
            if each.get("type") != "null"
        ]
        return tuple(value for each in lists for value in each) if lists and all(lists) else ()

    @property
    def may_be_null(self) -> bool:
        return "null" in self.types or self.schema.get("nullable") is True or None in self.choices


def parts_of(parameters: Mapping[str, Any]) -> list[SchemaPart]:
    """The parameters of a tool, each before the ones nested in it."""
    return list(islice(_parts(parameters, parameters, ()), MOST))


def _parts(schema: Mapping[str, Any], root: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[SchemaPart]:
    required = names_in(schema.get("required"))
    for name, inner in mapping(schema.get("properties")).items():
        own = _followed(inner, root)
        variants = tuple(_variants(own, root))
        yield SchemaPart((*path, name), own, name in required, variants)
        if len(path) + 1 < DEEPEST:
            for each in variants:
                yield from _parts(_followed(each.get("items", each), root), root, (*path, name))


def _followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with its reference resolved; its own keywords take precedence."""
    found = schema if isinstance(schema, Mapping) else {}
    for _ in range(DEEPEST):
        target = find_reference(found.get("$ref"), root)
        if not isinstance(target, Mapping):
            break
        found = {**target, **{key: value for key, value in found.items() if key != "$ref"}}
    return found


def _variants(
    schema: Mapping[str, Any], root: Mapping[str, Any], deep: int = 0
) -> Iterator[Mapping[str, Any]]:
    named = [each for key in _ALTERNATIVES for each in as_list(schema.get(key))] if deep < DEEPEST else []
    if not named:
        yield schema
    for each in named:
        yield from _variants(_followed(each, root), root, deep + 1)


LONGEST = 200_000  # characters of text that are read

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class LintSubject:
    """A tool to lint, the code of its file, empty if unknown, and the results of fuzzing it."""

    described: Described
    code: str = ""
    refusals: tuple[Refusal, ...] = ()
    findings: tuple[Finding, ...] = ()
    compared: tuple[Comparisons, ...] = ()

    @property
    def name(self) -> str:
        return self.described.name

    @property
    def description(self) -> str:
        return self.described.tool.description

    @cached_property
    def parts(self) -> list[SchemaPart]:
        return parts_of(self.described.tool.parameters)

    @property
    def top(self) -> list[SchemaPart]:
        """The parameters that are not nested in others."""
        return [part for part in self.parts if len(part.path) == 1]

    @property
    def said(self) -> str:
        """All text about the tool: what an agent sees, and its docstring."""
        seen = "\n".join([self.description, *(part.description for part in self.parts)])[:LONGEST]
        return "\n".join([seen, *self.documented.values()])

    @cached_property
    def function(self) -> Function | None:
        """The function that takes the arguments, if its source is known; in a class, the first that fits."""
        source = self.described.source
        tree = parse_module(textwrap.dedent(source.text)) if source is not None else None
        found = tree.body[0] if tree is not None and tree.body else None
        if isinstance(found, ast.ClassDef):
            wanted = {part.name for part in self.top}
            methods = [each for each in found.body if isinstance(each, Function) and self.parts]
            fitting = (each for each in methods if wanted <= {own.arg for own in args_of(each)})
            return next(fitting, None)
        return found if isinstance(found, Function) else None

    def code_at(self, where: str) -> str:
        """The line of code at a location like `tools.py:12 in f`; empty if that is not the tool's file."""
        file, _, rest = where.rpartition(" in ")[0].rpartition(":")
        source, lines = self.described.source, self.code.splitlines()
        if source is None or not rest.isdecimal() or PurePath(source.file).name != file:
            return ""
        return lines[int(rest) - 1] if 0 < int(rest) <= len(lines) else ""

    @cached_property
    def module(self) -> ast.Module | None:
        return parse_module(textwrap.dedent(self.code)) if self.code else None

    @cached_property
    def documented(self) -> dict[str, str]:
        """Parameter descriptions from the docstring, or from a description written like one."""
        docstring = ast.get_docstring(self.function) if self.function is not None else None
        texts = [parse_docstring(each[:LONGEST]) for each in (self.description, docstring) if each]
        return {name: said for each in texts for name, said in each.parameters.items()}


def args_of(function: Function) -> list[ast.arg]:
    """All named parameters, without `*args` and `**kwargs`."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
