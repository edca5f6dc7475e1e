"""Writes improved descriptions into the source of tools, and shows them as diffs or as a file."""

import hashlib
import io
import os
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import unified_diff
from typing import TypeAlias

from msgspec import structs

from misstep.core.results.descriptions import Wording, wording_of, write_descriptions
from misstep.core.results.fixing import FixReport, FixRun
from misstep.core.settings import StoreSettings, ToolRunSettings, ToolSettings
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.fuzzing.descriptions.docstring import DocstringChange, code_of, rewrite, same_words
from misstep.runs.lookup import find_run
from misstep.runs.setup.workbenches import Workbenches
from misstep.runs.trust import refuse_foreign
from misstep.store import files
from misstep.store.files import opened

LIBRARIES = ("site-packages", "dist-packages")
OVERRIDE = "omit --write: the descriptions are printed, or written with --out for --descriptions"
ANY_WORDS = Wording("Other words.")


def refuse_overridden(settings: ToolSettings) -> None:
    """Raise a `UsageError` if a file overrides descriptions, since the source would not be what is tested."""
    if settings.descriptions:
        hint = "the source would differ from what was tested: use --out"
        raise UsageError("--write can't be combined with --descriptions", hint)


def refuse_unwritable(reports: Iterable[FixReport]) -> None:
    changes = dict[str, list[DocstringChange]]()
    for report in reports:
        if not report.file:
            raise UsageError(f"the tool '{report.tool}' is not a function", OVERRIDE, where="--write")
        if any(part in LIBRARIES for part in report.file.split(os.sep)):
            raise UsageError("belongs to an installed package", OVERRIDE, where=report.file)
        files.refuse_unwritable(report.file, OVERRIDE)
        changes.setdefault(report.file, []).append(change_of(report, ANY_WORDS))
    for file, some in changes.items():
        rewrite(read_source(file)[0], some)


def refuse_changed(report: FixReport) -> None:
    """Raise a `UsageError` if a function has changed since the search for its description started."""
    if not report.digest or digest_at(report.file, report.line) != report.digest:
        hint = "the description was tested with the old code: start a new run, or use --out"
        where = f"{report.file}:{report.line}"
        raise UsageError("has changed since the run started: nothing was written", hint, where=where)


def change_of(report: FixReport, wording: Wording) -> DocstringChange:
    return DocstringChange(report.line, wording, f"{report.file}:{report.line}")


def digest_at(file: str, line: int) -> str:
    """A digest of the function at a line, to detect changes; empty if there is none."""
    try:
        text, _ = read_source(file)
        return hashlib.sha256(code_of(text, line, file).encode("utf-8", "surrogatepass")).hexdigest()
    except UsageError:
        return ""


def read_source(file: str) -> tuple[str, str]:
    """The text of a Python file with its original line endings, and its encoding."""
    data = read_data(file)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), encoding
    except (SyntaxError, ValueError, LookupError) as error:
        raise UsageError("can't be read", str(error), where=file) from error


def read_data(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), where=file) from error


def override_of(run: FixRun) -> str:
    """The improved descriptions as a file for `--descriptions`, with those that it had before."""
    if not run.better:
        return ""
    wordings = dict(run.wordings)
    for report in run.better:
        before, found = wordings.get(report.tool, Wording()), report.found
        said = found.description or before.description
        wordings[report.tool] = Wording(said, {**before.parameters, **found.parameters})
    return write_descriptions(wordings)


def changed_since(run: FixRun) -> list[str]:
    return [
        f"{report.file}:{report.line}"
        for report in run.better
        if report.digest and digest_at(report.file, report.line) != report.digest
    ]


def diffs_of(run: FixRun) -> dict[str, str]:
    return {report.name: _diff_of(report) for report in run.better}


def _diff_of(report: FixReport) -> str:
    """The diff of the chosen description: of the source if it can be written, else of the description."""
    wording = report.found
    if report.digest and report.digest == digest_at(report.file, report.line):
        try:
            text, _ = read_source(report.file)
            anew = rewrite(text, [change_of(report, wording)])
            return _diff(text, anew, os.path.basename(report.file))
        except UsageError:
            pass  # the diff of the description is enough
    said = {name: report.original.parameters.get(name, "") for name in wording.parameters}
    before = write_descriptions({report.tool: Wording(report.original.description, said)})
    return _diff(before, write_descriptions({report.tool: wording}), report.tool)


def _diff(before: str, after: str, name: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    return "\n".join(unified_diff(old, new, f"{name} before", f"{name} after", lineterm=""))


_Tools: TypeAlias = Mapping[tuple[str, str], Described]  # by spec and name


def apply_fixes(settings: StoreSettings, run: FixRun) -> list[str]:
    """Write improved descriptions into the source of their tools, and return the changed files.

    Tools that already have them are left alone. A file is written completely or not at all, and is restored
    unless the tools have the new descriptions when loaded again.
    """
    stored = find_run(settings, run.run)
    refuse_foreign(settings, stored)
    own = stored.settings
    refuse_overridden(own)
    before = _loaded(own, run.specs)
    wanted = [_placed(report, before) for report in run.better if not _is_said(report, before)]
    refuse_unwritable(wanted)
    for report in wanted:
        refuse_changed(report)
    by_file = dict[str, list[FixReport]]()
    for report in wanted:
        by_file.setdefault(report.file, []).append(report)
    texts = {file: _rewritten(file, reports) for file, reports in by_file.items()}
    _write_all(texts, lambda: _check(before, _loaded(own, run.specs), wanted))
    return list(texts)


def _write_all(texts: Mapping[str, tuple[bytes, bytes]], check: Callable[[], None]) -> None:
    """Write files, given with their current content; restore all of them if something goes wrong."""
    written = list[str]()
    try:
        for file, (original, anew) in texts.items():
            if read_data(file) != original:
                raise UsageError("changed a moment ago: nothing was written", "try again", where=file)
            written.append(file)
            with opened(file) as target:
                target.write(anew)
        check()
    except BaseException:
        for file in written:
            original, anew = texts[file]
            if read_data(file) == anew:  # otherwise someone else has changed it meanwhile
                with opened(file) as target:
                    target.write(original)
        raise


def _rewritten(file: str, reports: Sequence[FixReport]) -> tuple[bytes, bytes]:
    original = read_data(file)
    text, encoding = read_source(file)
    anew = rewrite(text, [change_of(report, report.found) for report in reports])
    try:
        return original, anew.encode(encoding)
    except UnicodeEncodeError as error:
        hint = "nothing was written; write an override file with --out"
        raise UsageError(f"can't store the new description in {encoding}", hint, where=file) from error


def _loaded(settings: ToolRunSettings, specs: Sequence[str]) -> _Tools:
    with Workbenches(settings) as benches:
        return {(spec, tool.name): tool for spec in specs for tool in benches.tools_of(spec)}


def _placed(report: FixReport, tools: _Tools) -> FixReport:
    """The report with the current location of its function."""
    tool = next((each for (_, name), each in tools.items() if name == report.tool), None)
    if tool is None:
        hint = "it existed when the run started: write an override file with --out"
        raise UsageError(f"the tool '{report.tool}' no longer exists", hint, where=report.file)
    source = tool.source if tool.kind == "function" else None
    file, line = (os.path.realpath(source.file), source.line) if source else ("", 0)
    return structs.replace(report, file=file, line=line)


def _is_said(report: FixReport, tools: _Tools) -> bool:
    own = [tool for (_, name), tool in tools.items() if name == report.tool]
    return any(same_words(wording_of(each.tool), report.found) for each in own)


def _check(before: _Tools, after: _Tools, reports: Sequence[FixReport]) -> None:
    """Check that the tools have their new descriptions, and that all others are unchanged."""
    hint = "nothing was changed; write an override file with --out"
    for report in reports:
        if not _is_said(report, after):
            message = f"the tool '{report.tool}' does not use its docstring as its description"
            raise UsageError(message, hint, where=report.file)
    mended = {report.tool for report in reports}
    for place, tool in before.items():
        now = after.get(place)
        if place[1] not in mended and (now is None or wording_of(now.tool) != wording_of(tool.tool)):
            message = f"the tool '{place[1]}' would change as well, and it was not tested"
            raise UsageError(message, hint, where=place[0])
