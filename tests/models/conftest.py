"""An engine of the embedded model, opened once for the tests of a module."""

from collections.abc import Iterator

import pytest

from misstep.models.local.engine import Engine, ModelFiles
from misstep.models.local.model import locate_weights


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    opened = Engine(ModelFiles(locate_weights()))
    yield opened
    opened.close()
