"""Whether Inspect is there."""

from importlib.util import find_spec

from misstep.errors import MissingExtra


def check_inspect() -> None:
    if find_spec("inspect_ai") is None:
        raise MissingExtra("Inspect", "inspect")
