"""Where the tools lie."""

from pathlib import Path

import pytest

from tests.fuzzing.agent_tests.bills import SOURCE


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "bills.py").write_text(SOURCE)
    return tmp_path
