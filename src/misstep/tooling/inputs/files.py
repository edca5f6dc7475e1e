"""Which places in a tool's arguments want the name of a file."""

from collections.abc import Mapping
from typing import Any

from misstep.core.tool import Path
from misstep.schemas.shape import flatten
from misstep.tooling.inputs.slots import Slot, slots_within
from misstep.tooling.inputs.suggestions.ideas import kinds_within
from misstep.tooling.inputs.suggestions.semantic import topics_for

TOPICS = ("path", "directory")


def file_places(schema: Mapping[str, Any]) -> list[Path]:
    """Places for texts that are about files or folders more than about anything else."""
    return [slot.path for slot in slots_within(Slot((), schema), schema) if _wants_file(slot, schema)]


def _wants_file(slot: Slot, root: Mapping[str, Any]) -> bool:
    flat = flatten(slot.schema, root) or {}
    if "string" not in kinds_within(flat, root) or "enum" in flat:
        return False
    topics = topics_for(slot.name, slot.description, flat.get("format"))
    return bool(topics) and topics[0].name in TOPICS
