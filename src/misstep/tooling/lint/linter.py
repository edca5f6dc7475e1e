"""Puts tools to all rules."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from misstep.core.remark import LintedTool, Remark
from misstep.core.words import cut
from misstep.tooling.lint.calls.acceptance import needless_demands
from misstep.tooling.lint.calls.constraints import hidden_constraints
from misstep.tooling.lint.code.choices import wrong_choices
from misstep.tooling.lint.documents.defaults import wrong_defaults
from misstep.tooling.lint.documents.examples import wrong_examples
from misstep.tooling.lint.documents.names import refused_names
from misstep.tooling.lint.documents.phantoms import phantom_parameters
from misstep.tooling.lint.documents.promises import broken_promises
from misstep.tooling.lint.documents.saying import (
    long_description,
    missing_description,
    undescribed_parameters,
)
from misstep.tooling.lint.documents.twins import twins_of
from misstep.tooling.lint.subject import Subject

LONGEST = 500  # characters of what is said in one place

_RULES: tuple[Callable[[Subject], Iterator[Remark]], ...] = (
    refused_names,
    missing_description,
    long_description,
    undescribed_parameters,
    phantom_parameters,
    wrong_choices,
    wrong_defaults,
    wrong_examples,
    broken_promises,
    hidden_constraints,
    needless_demands,
)


def lint(subjects: Sequence[Subject]) -> list[LintedTool]:
    """All that is to be said about each tool of a set, in the order of the rules, nothing twice."""
    return [
        _linted(subject, _remarks(subject, [*subjects[:place], *subjects[place + 1 :]]))
        for place, subject in enumerate(subjects)
    ]


def _linted(subject: Subject, remarks: Sequence[Remark]) -> LintedTool:
    source = subject.described.source
    file, line = (source.file, source.line) if source else ("", 1)
    return LintedTool(subject.name, tuple(remarks), file, line)


def _remarks(subject: Subject, others: Sequence[Subject]) -> list[Remark]:
    found = [*twins_of(subject, others), *(remark for rule in _RULES for remark in rule(subject))]
    distinct = {(remark.where, remark.message): remark for remark in reversed(found)}
    return [_bounded(remark) for remark in reversed(distinct.values())]


def _bounded(remark: Remark) -> Remark:
    """The remark at a length that can be read, however much a schema or a tool says."""
    message, evidence = cut(remark.message, LONGEST), cut(remark.evidence, LONGEST)
    return structs.replace(remark, message=message, evidence=evidence)
