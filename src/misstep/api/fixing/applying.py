"""Better words put where the tools are written down."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import structs

from misstep.api.fixing.sources import (
    change_of,
    read_data,
    read_source,
    refuse_changed,
    refuse_overridden,
    refuse_unwritable,
)
from misstep.api.runs import find_run
from misstep.api.trust import refuse_foreign
from misstep.api.workbenches import Workbenches
from misstep.core.descriptions import wording_of
from misstep.core.fixing import FixReport, FixRun
from misstep.core.settings import Settings
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.store.files import opened
from misstep.tooling.fixing.docstring import rewrite, same_words

_Tools: TypeAlias = Mapping[tuple[str, str], Described]  # by their specs and names


def apply_fixes(settings: Settings, run: FixRun) -> list[str]:
    """Put the words that are better into the source of their tools; the files that have changed.

    Tools that say so already are left alone. A file is written whole or not at all, and stays as it was
    unless the tools say so when loaded again.
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
    """Write what is to be in files, given with what is there; take it all back if something is wrong."""
    written = list[str]()
    try:
        for file, (original, anew) in texts.items():
            if read_data(file) != original:
                raise UsageError("has changed just now: nothing was written", "try again", where=file)
            written.append(file)
            _write(file, anew)
        check()
    except BaseException:
        for file in written:
            original, anew = texts[file]
            if read_data(file) == anew:  # else somebody has been at it meanwhile, who knows best
                _write(file, original)
        raise


def _rewritten(file: str, reports: Sequence[FixReport]) -> tuple[bytes, bytes]:
    """What is in a file, and what is to be there."""
    original = read_data(file)
    text, encoding = read_source(file)
    anew = rewrite(text, [change_of(report, report.found) for report in reports])
    try:
        return original, anew.encode(encoding)
    except UnicodeEncodeError as error:
        hint = "nothing was written; use the override (--out)"
        raise UsageError(f"can't hold the new words in {encoding}", hint, where=file) from error


def _loaded(settings: Settings, specs: Sequence[str]) -> _Tools:
    """The tools as they are when they are loaded anew."""
    with Workbenches(settings) as benches:
        return {(spec, tool.name): tool for spec in specs for tool in benches.tools_of(spec)}


def _placed(report: FixReport, tools: _Tools) -> FixReport:
    """The report with the place at which its function stands by now."""
    tool = next((each for (_, name), each in tools.items() if name == report.tool), None)
    if tool is None:
        hint = "it was there when the run began: use the override (--out)"
        raise UsageError(f"there is no tool '{report.tool}' any more", hint, where=report.file)
    source = tool.source if tool.kind == "function" else None
    file, line = (os.path.realpath(source.file), source.line) if source else ("", 0)
    return structs.replace(report, file=file, line=line)


def _is_said(report: FixReport, tools: _Tools) -> bool:
    """Whether the tool says what was found."""
    own = [tool for (_, name), tool in tools.items() if name == report.tool]
    return any(same_words(wording_of(each.tool), report.found) for each in own)


def _check(before: _Tools, after: _Tools, reports: Sequence[FixReport]) -> None:
    """See that the tools say what they are to say, and all others what they said before."""
    hint = "everything is as it was; use the override (--out)"
    for report in reports:
        if not _is_said(report, after):
            message = f"the tool '{report.tool}' does not say what was written into its docstring"
            raise UsageError(message, hint, where=report.file)
    mended = {report.tool for report in reports}
    for place, tool in before.items():
        now = after.get(place)
        if place[1] not in mended and (now is None or wording_of(now.tool) != wording_of(tool.tool)):
            message = f"the tool '{place[1]}', which nobody has tried, would say something else too"
            raise UsageError(message, hint, where=place[0])


def _write(file: str, data: bytes) -> None:
    with opened(file) as target:
        target.write(data)
