"""Applies all lint rules to tools."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from misstep.core.text import cut
from misstep.fuzzing.lint.code import wrong_choices
from misstep.fuzzing.lint.refusals import hidden_constraints, needless_demands
from misstep.fuzzing.lint.subject import LintedTool, LintSubject, Remark
from misstep.fuzzing.lint.wording import (
    broken_promises,
    long_description,
    missing_description,
    phantom_parameters,
    refused_names,
    twins_of,
    undescribed_parameters,
    wrong_defaults,
    wrong_examples,
)

LONGEST = 500  # characters of a message or of evidence

_RULES: tuple[Callable[[LintSubject], Iterator[Remark]], ...] = (
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


def lint(subjects: Sequence[LintSubject]) -> list[LintedTool]:
    """The remarks on each tool, in the order of the rules and without duplicates, at a readable length."""
    linted = list[LintedTool]()
    for place, subject in enumerate(subjects):
        others = [*subjects[:place], *subjects[place + 1 :]]
        found = [*twins_of(subject, others), *(remark for rule in _RULES for remark in rule(subject))]
        distinct = {(remark.where, remark.message): remark for remark in reversed(found)}
        remarks = tuple(
            structs.replace(each, message=cut(each.message, LONGEST), evidence=cut(each.evidence, LONGEST))
            for each in reversed(distinct.values())
        )
        source = subject.described.source
        file, line = (source.file, source.line) if source else ("", 1)
        linted.append(LintedTool(subject.name, remarks, file, line))
    return linted
