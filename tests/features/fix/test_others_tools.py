"""Better words for tools whose source is not ours to change: a server's, and a framework's."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.features.consistency.test_run import CHAIN, SERVER
from tests.features.fix.test_command import BETTER, Travelling, given
from tests.features.stdio_server import SPEAKING

pytestmark = pytest.mark.full

WORDS = str(BETTER["description"])
SPECS = {"mcp": f"mcp:{sys.executable} served.py", "langchain": "chain.py:road"}


@pytest.mark.parametrize("kind", SPECS)
def test_words_are_printed_written_to_a_file_and_used_but_never_put_into_source(
    tmp_path: Path, misstep: Command, kind: str
) -> None:
    if kind == "langchain" and find_spec("langchain_core") is None:
        pytest.skip("langchain_core is not installed")
    (tmp_path / "served.py").write_text(SERVER + SPEAKING)
    (tmp_path / "chain.py").write_text(CHAIN)
    spec = SPECS[kind]
    with Travelling().server as server:
        sets = ("--variants", "4", "--count", "2")
        assert misstep(*given(server, "consistency", *sets, spec=spec)).code == 1
        before = len(server.model_requests)
        fix = ("--from", "last", "--candidates", "1")
        refused = misstep(*given(server, "fix", *fix, "--write", spec=spec))
        assert (refused.code, len(server.model_requests)) == (2, before)
        assert "the tool 'road' is not a function" in refused.err
        printed = misstep(*given(server, "fix", *fix, spec=spec))
        assert printed.code == 0
        assert f"[tools.road]\ndescription = {json.dumps(WORDS)}" in printed.out
        assert misstep("tool", "fix", "--resume", "last", "--write").code == 2
        assert misstep("tool", "fix", "--resume", "last", "--out", "words.toml").code == 0
        again = misstep(*given(server, "consistency", *sets, "--descriptions", "words.toml", spec=spec))
        assert (again.code, "no set failed" in again.out) == (0, True)
    assert (tmp_path / "served.py").read_text() == SERVER + SPEAKING
    assert (tmp_path / "chain.py").read_text() == CHAIN
