"""Benches with the wild tools on them, and calls to these."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from misstep.core.tool import Invocation, Probe, Reaction
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import MEGABYTE, CallConditions, Limits
from misstep.tool_host.sandbox.bubblewrap import find_bubblewrap

LIMITS = Limits(timeout=1.0, memory=256 * MEGABYTE, disk=32 * MEGABYTE, processes=24)
needs_bubblewrap = pytest.mark.skipif(
    bool(find_bubblewrap().problem), reason=f"no bubblewrap: {find_bubblewrap().problem}"
)


def probe(tool: str, mark: bool = False, **arguments: Any) -> Probe:
    return Probe(Invocation(tool, json.dumps(arguments)), mark)


def react(
    bench: ToolHost, tool: str, mark: bool = False, patience: float = 1.0, **arguments: Any
) -> Reaction:
    (reaction,) = bench.run([probe(tool, mark, **arguments)], patience)
    return reaction


def settle(folder: Path) -> str:
    """Copy the wild tools to a folder; the spec that means them there."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("wild.py"), folder / "wild.py")
    return f"{folder / 'wild.py'}:tools"


@contextmanager
def bench_in(folder: Path, **options: Any) -> Iterator[ToolHost]:
    options.setdefault("limits", LIMITS)
    with ToolHost(settle(folder), CallConditions(**options)) as bench:
        yield bench


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """All that there is to be seen of a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.lstat()
        found[str(path)] = (stat.st_mode, stat.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
    return found
