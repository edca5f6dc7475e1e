"""The files in which tools are written, as far as words can be put there."""

import hashlib
import io
import os
import tokenize
from collections.abc import Iterable

from misstep.core.descriptions import Wording
from misstep.core.fixing import FixReport
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.store import files
from misstep.tooling.fixing.docstring import Change, rewrite
from misstep.tooling.fixing.literal import code_of

LIBRARIES = ("site-packages", "dist-packages")
OVERRIDE = "leave out --write: what is found is printed, or written with --out, for --descriptions"
ANY_WORDS = Wording("Other words.")


def refuse_overridden(settings: Settings) -> None:
    """Raise a `UsageError` where tools are described by a file, so that their source is not what is tried."""
    if settings.descriptions:
        hint = "what the source says would not be what was tried: use --out"
        raise UsageError("--write can't go with --descriptions", hint)


def refuse_unwritable(reports: Iterable[FixReport]) -> None:
    """Raise a `UsageError` where no words at all could be put into the source of a tool."""
    changes = dict[str, list[Change]]()
    for report in reports:
        if not report.file:
            raise UsageError(f"the tool '{report.tool}' is no function", OVERRIDE, where="--write")
        if any(part in LIBRARIES for part in report.file.split(os.sep)):
            raise UsageError("belongs to a package that is installed", OVERRIDE, where=report.file)
        files.refuse_unwritable(report.file, OVERRIDE)
        changes.setdefault(report.file, []).append(change_of(report, ANY_WORDS))
    for file, some in changes.items():
        rewrite(read_source(file)[0], some)


def refuse_changed(report: FixReport) -> None:
    """Raise a `UsageError` where a function is not what it was when the search for its words began."""
    if not report.digest or digest_at(report.file, report.line) != report.digest:
        hint = f"the words were tried with what '{report.tool}' was: start again, or use the override (--out)"
        where = f"{report.file}:{report.line}"
        raise UsageError("has changed since the run began: nothing was written", hint, where=where)


def change_of(report: FixReport, wording: Wording) -> Change:
    return Change(report.line, wording, f"{report.file}:{report.line}")


def digest_at(file: str, line: int) -> str:
    """What tells whether the function at a line has changed; empty where there is none."""
    try:
        text, _ = read_source(file)
        return hashlib.sha256(code_of(text, line, file).encode("utf-8", "surrogatepass")).hexdigest()
    except UsageError:
        return ""


def read_source(file: str) -> tuple[str, str]:
    """The text of a Python file with its line ends as they are, and its encoding."""
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
