"""Better words as people look at them: what changes, and a file that says so."""

import os
from difflib import unified_diff

from misstep.api.fixing.sources import change_of, digest_at, read_source
from misstep.core.descriptions import Wording, write_descriptions
from misstep.core.fixing import FixReport, FixRun
from misstep.errors import UsageError
from misstep.tooling.fixing.docstring import rewrite


def diffs_of(run: FixRun) -> dict[str, str]:
    """What changes with words that are better, by the names in the reports; nothing of others."""
    return {report.name: diff_of(report) for report in run.better}


def override_of(run: FixRun) -> str:
    """The words that are better, as a file for `--descriptions` has them, with those that held before."""
    if not run.better:
        return ""
    wordings = dict(run.wordings)
    for report in run.better:
        before, found = wordings.get(report.tool, Wording()), report.found
        said = found.description or before.description
        wordings[report.tool] = Wording(said, {**before.parameters, **found.parameters})
    return write_descriptions(wordings)


def changed_since(run: FixRun) -> list[str]:
    """Where functions with better words are not what they were any more."""
    return [
        f"{report.file}:{report.line}"
        for report in run.better
        if report.digest and digest_at(report.file, report.line) != report.digest
    ]


def diff_of(report: FixReport) -> str:
    """What changes with the chosen words: in the source where that can be written, else in what is said."""
    wording = report.found
    if report.digest and report.digest == digest_at(report.file, report.line):
        try:
            text, _ = read_source(report.file)
            anew = rewrite(text, [change_of(report, wording)])
            return _diff(text, anew, os.path.basename(report.file))
        except UsageError:
            pass  # it can be told all the same
    said = {name: report.original.parameters.get(name, "") for name in wording.parameters}
    before = write_descriptions({report.tool: Wording(report.original.description, said)})
    return _diff(before, write_descriptions({report.tool: wording}), report.tool)


def _diff(before: str, after: str, name: str) -> str:
    lines = unified_diff(
        before.splitlines(), after.splitlines(), f"{name} before", f"{name} after", lineterm=""
    )
    return "\n".join(lines)
