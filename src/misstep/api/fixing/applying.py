"""Better words put where the tools are written down."""

import io
import os
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from typing import TypeAlias

from misstep.api.fixing.preparing import digest_of
from misstep.api.runs import find_run
from misstep.api.workbenches import Workbenches
from misstep.core.descriptions import Wording, wording_of, write_descriptions
from misstep.core.fixing import FixReport, FixRun
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.store.files import opened
from misstep.tooling.fixing.docstring import Change, rewrite, same_words
from misstep.tooling.fixing.literal import find_docstring

ANYBODY_WRITES = 0o222  # bits of a file's mode
LIBRARIES = ("site-packages", "dist-packages")
_Said: TypeAlias = Mapping[tuple[str, str], Wording]
OVERRIDE = "leave out --write: what is found is printed, or written with --out, for --descriptions"


def refuse_unwritable(reports: Iterable[FixReport]) -> None:
    """Raise a `UsageError` where words could not be put into the source of a tool."""
    for report in reports:
        if not report.file:
            raise UsageError(f"the tool '{report.tool}' is no function", OVERRIDE, where="--write")
        if any(part in LIBRARIES for part in report.file.split(os.sep)):
            raise UsageError("belongs to a package that is installed", OVERRIDE, where=report.file)
        if not _is_writable(report.file):
            raise UsageError("can't be written", OVERRIDE, where=report.file)
        text, _ = _read(report.file)
        find_docstring(text, report.line, f"{report.file}:{report.line}")


def apply_fixes(settings: Settings, run: FixRun) -> list[str]:
    """Put the words that are better into the source of their tools; the files that have changed.

    A file is written whole or not at all, and stays as it was unless the tools say so when loaded again.
    """
    better = run.better
    refuse_unwritable(better)
    by_file = dict[str, list[FixReport]]()
    for report in better:
        by_file.setdefault(report.file, []).append(report)
    own = find_run(settings, run.run).settings.overlay({"descriptions": ""})
    before = _said(own, run.specs)
    texts = {file: _rewritten(file, reports) for file, reports in by_file.items()}
    written = dict[str, bytes]()
    try:
        for file, (original, data) in texts.items():
            _refuse_changed(file, by_file[file])
            written[file] = original
            _write(file, data)
        _check(before, _said(own, run.specs), better)
    except BaseException:
        for file, original in written.items():
            if _data(file) == texts[file][1]:  # else somebody has been at it meanwhile, who knows best
                _write(file, original)
        raise
    return list(texts)


def override_of(run: FixRun) -> str:
    """The words that are better, as a file for `--descriptions` has them, with those that held before."""
    if not run.better:
        return ""
    wordings = dict(run.wordings)
    for report in run.better:
        before, found = wordings.get(report.tool, Wording()), _found(report)
        said = found.description or before.description
        wordings[report.tool] = Wording(said, {**before.parameters, **found.parameters})
    return write_descriptions(wordings)


def diff_of(report: FixReport) -> str:
    """What changes with the chosen words: in the source where that can be written, else in what is said."""
    if report.chosen is None:
        return ""
    wording = _found(report)
    if report.file and report.digest == digest_of(report.file):
        try:
            text, _ = _read(report.file)
            return _diff(text, rewrite(text, [_change(report)]), os.path.basename(report.file))
        except UsageError:
            pass  # it can be told all the same
    said = {name: report.original.parameters.get(name, "") for name in wording.parameters}
    before = write_descriptions({report.tool: Wording(report.original.description, said)})
    return _diff(before, write_descriptions({report.tool: wording}), report.tool)


def _found(report: FixReport) -> Wording:
    assert report.chosen is not None
    return report.chosen.wording or Wording()


def _change(report: FixReport) -> Change:
    return Change(report.line, _found(report), f"{report.file}:{report.line}")


def _refuse_changed(file: str, reports: Sequence[FixReport]) -> None:
    if any(digest_of(file) != report.digest for report in reports):
        hint = "nothing was written: look at the change and make it by hand, or start again"
        raise UsageError("has changed since the run began", hint, where=file)


def _rewritten(file: str, reports: Sequence[FixReport]) -> tuple[bytes, bytes]:
    """What is in a file, and what is to be there."""
    text, encoding = _read(file)
    original = _data(file)
    _refuse_changed(file, reports)
    try:
        return original, rewrite(text, [_change(report) for report in reports]).encode(encoding)
    except UnicodeEncodeError as error:
        hint = "nothing was written; use the override (--out)"
        raise UsageError(f"can't hold the new words in {encoding}", hint, where=file) from error


def _said(settings: Settings, specs: Sequence[str]) -> dict[tuple[str, str], Wording]:
    """What tools say when they are loaded anew, by their specs and names."""
    with Workbenches(settings) as benches:
        tools = [(spec, tool) for spec in specs for tool in benches.tools_of(spec)]
    return {(spec, tool.name): wording_of(tool.tool) for spec, tool in tools}


def _check(before: _Said, after: _Said, reports: Sequence[FixReport]) -> None:
    """See that the tools say what they are to say, and all others what they said before."""
    hint = "everything is as it was; use the override (--out)"
    for report in reports:
        if not any(
            name == report.tool and same_words(said, _found(report)) for (_, name), said in after.items()
        ):
            message = f"the tool '{report.tool}' does not say what was written into its docstring"
            raise UsageError(message, hint, where=report.file)
    mended = {report.tool for report in reports}
    for place, said in before.items():
        if place[1] not in mended and after.get(place) != said:
            message = f"the tool '{place[1]}', which nobody has tried, would say something else too"
            raise UsageError(message, hint, where=place[0])


def _is_writable(file: str) -> bool:
    """Whether a file may be replaced; one that is marked as read-only is not, whoever asks."""
    try:
        marked = not os.stat(file).st_mode & ANYBODY_WRITES
    except OSError:
        return False
    return not marked and os.access(file, os.W_OK) and os.access(os.path.dirname(file), os.W_OK)


def _read(file: str) -> tuple[str, str]:
    """The text of a Python file with its line ends as they are, and its encoding."""
    try:
        data = _data(file)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), encoding
    except (OSError, SyntaxError, ValueError, LookupError) as error:
        raise UsageError("can't be read", str(error), where=file) from error


def _data(file: str) -> bytes:
    try:
        with open(file, "rb") as opened_file:
            return opened_file.read()
    except OSError as error:
        raise UsageError("can't be read", str(error), where=file) from error


def _write(file: str, data: bytes) -> None:
    with opened(file) as target:
        target.write(data)


def _diff(before: str, after: str, name: str) -> str:
    lines = unified_diff(
        before.splitlines(), after.splitlines(), f"{name} before", f"{name} after", lineterm=""
    )
    return "\n".join(lines)
