"""Requests say everything that decides what is right, in each of their phrasings."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from misstep.benchmarks.files import operations as ops
from misstep.benchmarks.files.operations import Selection, folders_of
from misstep.benchmarks.files.suite import FreshTasks, TaskWorld, public_tasks, world_of
from misstep.core.results.benchmark import Task

SIGNS = {" ": "space", "_": "underscore", "-": "hyphen"}


@cache
def _worlds() -> list[tuple[Task, TaskWorld]]:
    return [(task, world_of(task)) for task in (*public_tasks(), *FreshTasks(7, 200))]


def _values(part: Any) -> Iterator[str]:
    """Paths, texts and numbers in operations."""
    if isinstance(part, ops.Replaced) and part.old == " ":
        yield from (SIGNS[part.old], SIGNS[part.new])
    elif isinstance(part, ops.ByDate):
        yield part.folder
    elif isinstance(part, ops.Unroll):
        yield from (part.listing, part.folder, part.ending, part.text.removesuffix("{}\n"))
    elif isinstance(part, ops.Lowered):
        yield from ()
    elif isinstance(part, ops.Listing | ops.Totals | ops.Types):
        yield from _values(part.what)
    elif isinstance(part, msgspec.Struct):
        for field in part.__struct_fields__:
            yield from _values(getattr(part, field))
    elif isinstance(part, str | int) and not isinstance(part, bool):
        yield str(part).strip("\n")


def _says(request: str, value: str) -> bool:
    """As a whole, or a folder here and what is in it there."""
    above, _, name = value.rpartition("/")
    return value in request or (name in request and _says(request, above))


def test_whatever_an_operation_needs_is_in_every_phrasing() -> None:
    for task, world in _worlds():
        swapped = any(
            isinstance(each, ops.Move) and each.what.suffix.endswith(".aside") for each in world.operations
        )
        values = {
            value for operation in world.operations for value in _values(operation) if ".aside" not in value
        }
        for request in world.requests:
            assert not swapped or re.search(r"swap|exchange|the other one's name", request), request
            lacking = [value for value in values if not _says(request, value)]
            assert not lacking, (task.kind, request, lacking)


def _selections(part: Any) -> Iterator[Selection]:
    if isinstance(part, Selection):
        yield part
    elif isinstance(part, msgspec.Struct):
        for field in part.__struct_fields__:
            yield from _selections(getattr(part, field))


def test_it_is_always_said_whether_subfolders_count() -> None:
    for _, world in _worlds():
        for what in (each for operation in world.operations for each in _selections(operation)):
            inside = [
                path
                for path in folders_of(world.initial)
                if path.startswith(f"{what.folder}/" if what.folder else "")
            ]
            named = what.prefix and what.prefix == what.suffix  # a single file
            if not inside or named or what.folder not in (*folders_of(world.initial), ""):
                continue
            pattern = (
                r"subfolders|depth|everything in it" if what.deep else r"not in its subfolders|top level"
            )
            for request in world.requests:
                assert re.search(pattern, request), request


def test_the_form_of_what_is_written_is_always_said() -> None:
    forms = {
        ops.Listing: "newline",
        ops.Totals: "COUNT files, SUM bytes",
        ops.Types: "(?i)extension.*(count|number)",
    }
    for _, world in _worlds():
        for text in (each.text for each in world.operations if isinstance(each, ops.Write)):
            for request in world.requests:
                assert re.search(forms.get(type(text), "empty file|single line"), request), request
                assert isinstance(text, ops.Words) or "newline" in request, request
                assert not (isinstance(text, ops.Listing) and text.total) or "TOTAL" in request, request


def test_what_is_sorted_into_folders_comes_with_an_example() -> None:
    for _, world in _worlds():
        targets = [each.to for each in world.operations if isinstance(each, ops.Move)]
        if any(isinstance(to, ops.ByDate | ops.ByType) for to in targets):
            for request in world.requests:
                quoted = re.findall(r"(?<!\w)'([^']+)'(?!\w)", request)
                examples = {f"{folder}/{name}" for folder in quoted for name in quoted}
                assert examples & (world.expected.keys() - world.initial.keys()), request


def test_what_becomes_of_folders_that_are_empty_now_is_said() -> None:
    said = 0
    for _, world in _worlds():
        held, hold = ({path.rpartition("/")[0] for path in tree} for tree in (world.initial, world.expected))
        if any(path in world.expected for path in held - hold):
            said += 1
            assert all(
                re.search(r"folders.* (should stay|stay, even empty ones)\.$", text)
                for text in world.requests
            )
    assert said
