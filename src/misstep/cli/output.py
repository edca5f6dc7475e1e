"""Machine-readable output on standard output."""

import sys

import msgspec

from misstep.core.settings import Settings


def print_json(value: msgspec.Struct) -> None:
    """One JSON object and nothing else."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


def to_stdout(settings: Settings) -> bool:
    return settings.out in ("", "-")
