"""The adapter that teaches misstep's embedded model to plan, as a file."""

from pathlib import Path

__version__ = "1.0.0"


def adapter_path() -> Path:
    """The path of the adapter, a GGUF file; misstep checks its size and checksum before loading it."""
    return Path(__file__).with_name("planner.gguf")
