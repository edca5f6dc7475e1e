"""Looks at what a push asks for before git does, which takes names for branches that mean something else."""

import re
from collections.abc import Iterator

from misstep.benchmarks.forge.repository.names import misleads

# A line of git's protocol: what was there, what is to be, the name; the first tells what the client knows.
_COMMAND = re.compile(
    rb"(?P<old>[0-9a-f]{40}) (?P<new>[0-9a-f]{40}) (?P<ref>[^\0\n]+)(?:\0(?P<abilities>.*))?\n?", re.DOTALL
)
LONGEST = 65_000  # bytes of a line
_GONE = b"0" * 40
_END = b"0000"


def objections(body: bytes) -> bytes:
    """What git's client is told where a branch has a name that none may have; empty where all is well."""
    commands = [found for line in _lines(body) if (found := _COMMAND.fullmatch(line))]
    refs = [found["ref"] for found in commands]
    refused = [found["ref"] for found in commands if found["new"] != _GONE and _misleads(found["ref"])]
    if not refused:
        return b""
    report = _packed(b"unpack ok\n")
    for ref in refs:
        why = b"no name for a branch" if ref in refused else b"pushed together with one that is refused"
        report += _packed(b"ng %s %s\n" % (ref, why))
    aside = b"side-band-64k" in (commands[0]["abilities"] or b"")
    return _aside(report + _END) if aside else report + _END


def _aside(report: bytes) -> bytes:
    """As git's client takes it where it listens to several things at once."""
    starts = range(0, len(report), LONGEST)
    return b"".join(_packed(b"\x01" + report[start : start + LONGEST]) for start in starts) + _END


def _misleads(ref: bytes) -> bool:
    return misleads(ref.decode("utf-8", "surrogateescape"))


def _lines(body: bytes) -> Iterator[bytes]:
    """The lines ahead of what is pushed; none from where it is not git's protocol on."""
    start = 0
    while (head := body[start : start + 4]) != _END:
        if not re.fullmatch(rb"[0-9a-fA-F]{4}", head) or (length := int(head, 16)) <= len(_END):
            return
        yield body[start + 4 : start + length]
        start += length


def _packed(data: bytes) -> bytes:
    return b"%04x%s" % (len(data) + 4, data)
