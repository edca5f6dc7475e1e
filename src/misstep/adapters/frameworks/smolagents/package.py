"""smolagents itself, which is imported when it is first needed."""

from typing import Any

from misstep.errors import MissingExtra


def load_smolagents() -> Any:
    try:
        import smolagents
    except ImportError as error:
        raise MissingExtra("smolagents", "smolagents") from error
    return smolagents
