"""Folder trees as values: what one is, how it gets onto a disk, back from there, and beside another."""

from misstep.benchmarks.tree.comparing import differences
from misstep.benchmarks.tree.content import (
    Content,
    File,
    Folder,
    Link,
    Other,
    Tree,
    complete,
    parents,
    shown,
    visible,
)
from misstep.benchmarks.tree.laying import lay, require_plain
from misstep.benchmarks.tree.surveying import Bounds, survey

__all__ = [
    "Bounds",
    "Content",
    "File",
    "Folder",
    "Link",
    "Other",
    "Tree",
    "complete",
    "differences",
    "lay",
    "parents",
    "require_plain",
    "shown",
    "survey",
    "visible",
]
