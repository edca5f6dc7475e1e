"""A workbench with the tools of these tests, one for all of them."""

from collections.abc import Iterator

import pytest

from misstep.core.settings import Settings
from misstep.runs.setup.workbenches import Workbenches
from misstep.tool_host.host import ToolHost
from tests.fuzzing.consistency.roads import SOURCE


@pytest.fixture(scope="package")
def roads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolHost]:
    path = tmp_path_factory.mktemp("tools") / "roads.py"
    path.write_text(SOURCE)
    settings = Settings(timeout=20.0)
    with Workbenches(settings) as benches, benches.lend(f"{path}:tools") as bench:
        yield bench
