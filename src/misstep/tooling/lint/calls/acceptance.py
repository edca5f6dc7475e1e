"""Demands of a schema that the tool does not make."""

from collections.abc import Iterator

from misstep.core.remark import Remark
from misstep.tooling.lint.subject import Subject


def needless_demands(subject: Subject) -> Iterator[Remark]:
    """By calls that the schema forbids and that were taken without a word."""
    for finding in subject.findings:
        if finding.kind == "acceptance" and len(finding.calls) == 1:
            keyword, _, place = finding.message.partition(" at ")
            where = f"parameters.{place}" if place else "parameters"
            message = f"the schema demands {keyword}, the tool does not"
            advice = "let the schema allow it, or the tool refuse it"
            evidence = f"{finding.calls[0].arguments} was taken without a word"
            yield Remark("acceptance", "over", where, message, evidence, advice)
