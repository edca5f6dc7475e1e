"""The wheel at work in an environment that has nothing but what it declares."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.packaging.bare import ROOT, BareEnvironment, build

pytestmark = pytest.mark.full

SHOP = '''
def unit_price(total: int, count: int) -> float:
    """Divide a total by a number of items."""
    return total / count
'''
PLAN = ("plan", "test", "--agent", "sim:greedy", "--count", "20", "--display", "none", "--json")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


def test_a_plain_installation_tests_agents(wheel: Path, tmp_path: Path) -> None:
    bare = BareEnvironment(tmp_path)
    bare.install(wheel)
    where = bare.run("python", "-c", "import misstep; print(misstep.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(bare.site), where.stderr
    version = re.search(r"-(\d[\w.]*)-py3", wheel.name)
    assert version is not None
    assert bare.run("misstep", "--version").stdout == f"misstep, version {version[1]}\n"
    tested = bare.run("misstep", *PLAN)
    assert (tested.returncode, tested.stderr) == (1, "")
    assert json.loads(tested.stdout)["cases"] == 20
    reported = bare.run("misstep", "report", "last")
    assert reported.returncode == 0, reported.stderr


def test_a_plain_installation_says_what_is_missing(wheel: Path, tmp_path: Path) -> None:
    bare = BareEnvironment(tmp_path)
    bare.install(wheel)
    (bare.work / "shop.py").write_text(SHOP)
    for command, extra in (
        (("tool", "fuzz", "shop.py:unit_price"), "fuzz"),
        (("plan", "test", "--agent", "tools", "--model", "local"), "local"),
        (("serve",), "web"),
    ):
        told = bare.run("misstep", *command)
        assert told.returncode == 2, told.stdout
        assert f"pip install '{wheel}[{extra}]'" in told.stderr
        assert "Traceback" not in told.stderr


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_the_extra_for_tools_is_complete(wheel: Path, tmp_path: Path) -> None:
    bare = BareEnvironment(tmp_path)
    bare.install(wheel, extras="fuzz")
    (bare.work / "shop.py").write_text(SHOP)
    fuzzed = bare.run(
        "misstep", "tool", "fuzz", "shop.py:unit_price", "--calls-per-tool", "200", "--display", "none"
    )
    assert fuzzed.returncode == 1, fuzzed.stderr
    assert "ZeroDivisionError" in fuzzed.stdout


def test_the_adapter_is_found_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    bare = BareEnvironment(tmp_path)
    bare.install(wheel, build(tmp_path, ROOT / "adapter"))
    code = "from misstep.models.local.model import locate_adapter; print(locate_adapter())"
    found = bare.run("python", "-c", code)
    assert Path(found.stdout.strip()) == bare.site / "misstep_planner" / "planner.gguf", found.stderr
