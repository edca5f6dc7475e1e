"""Reads out of a request which files it is about, without a look at what has written it."""

import re

from misstep.benchmarks.files.operations import Selection

_HEAD = r"(?:[A-Za-z0-9]+(?: \w+)? \(\.(?P<type>\w+)\)|\.(?P<ending>\w+) files|files)"
_PLACE = (
    r"(?:(?P<all>in the current folder (?:and all its subfolders|\(at any depth\)))"
    r"|(?P<top>directly in the current folder \(not in its subfolders\))"
    r"|in '(?P<below>[^']+)' and its subfolders"
    r"|anywhere in '(?P<anywhere>[^']+)' \(subfolders included\)"
    r"|directly in '(?P<directly>[^']+)' \(not in its subfolders\)"
    r"|at the top level of '(?P<level>[^']+)'"
    r"|in(?: the folder)? '(?P<folder>[^']+)')"
)
_RULE = (
    r"(?: whose names end in '(?P<end>[^']+)'"
    r"| whose names start with '(?P<start>[^']+)'"
    r"| with '(?P<word>[^']+)' in their names"
    r"| that contain the line '(?P<line>[^']+)'"
    r"| that are larger than (?P<larger>\d+) bytes)?"
)
_FILES = re.compile(rf"{_HEAD} {_PLACE}{_RULE}")


def read_selection(request: str) -> Selection:
    """The first files that a request is about."""
    found = _FILES.search(request)
    assert found, request
    ending = found["type"] or found["ending"]
    deep = found["below"] or found["anywhere"]
    return Selection(
        deep or found["directly"] or found["level"] or found["folder"] or "",
        deep=bool(deep or found["all"]),
        suffix=f".{ending}" if ending else found["end"] or "",
        prefix=found["start"] or "",
        word=found["word"] or "",
        line=found["line"] or "",
        larger=int(found["larger"]) if found["larger"] else None,
    )
