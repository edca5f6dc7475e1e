"""`misstep.test_tools`, with tools that modules have and with such as nobody could import."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import misstep
from misstep.core.settings import Settings
from misstep.features.tool_fuzz.replay import replay_finding


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def cutting(separator: Any) -> Any:
    def cut(text: str) -> str:
        """The second part of a text."""
        return text.split(separator)[1]

    return cut


def test_a_closure_is_tested_and_replayed(tmp_path: Path) -> None:
    """No module has it: it goes into a file beside the store."""
    result = misstep.test_tools(cutting(","), calls=60)
    (finding,) = result.findings
    assert (finding.kind, finding.error) == ("crash", "IndexError")
    assert f"Replay: misstep replay {result.run}/{finding.id}" in str(result)
    assert repr(result) == f"ToolsResult(run='{result.run}', tools=['cut'], calls=60, findings=1)"
    assert "IndexError" in result._repr_html_()
    assert "<script" not in result._repr_html_()
    assert list((tmp_path / ".misstep/objects").glob("cut_*.py"))
    assert replay_finding(Settings(), result.run, finding.id)[1].ruling == "crash"


def test_it_works_inside_a_running_loop() -> None:
    async def cell() -> int:
        return len(misstep.test_tools([cutting(";")], calls=40).findings)

    assert asyncio.run(cell()) == 1


def test_a_module_of_a_package_is_imported_where_this_process_found_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not copied: what is mended in the file is mended for the next replay."""
    package = tmp_path / "src" / "shop_of_mine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "prices.py").write_text(
        'from shop_of_mine.coins import coin\n\ndef price(of: str) -> int:\n    """The price."""\n    return coin(of)\n'
    )
    (package / "coins.py").write_text("def coin(of):\n    return int(of.split()[0])\n")
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    from shop_of_mine.prices import price  # type: ignore[import-not-found]

    result = misstep.test_tools(price, calls=60)
    finding = result.findings[0]
    assert replay_finding(Settings(), result.run, finding.id)[1].ruling == "crash"
    (package / "coins.py").write_text("def coin(of):\n    return 1\n")
    assert replay_finding(Settings(), result.run, finding.id)[1].ruling == "fine"


def test_a_function_of_a_script_is_tested_without_running_the_script_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import misstep\n\n"
        'def cut(text: str) -> str:\n    """The second part."""\n    return text.split(SEPARATOR)[1]\n\n'
        'SEPARATOR = ","\n'
        "open('times', 'a').write('x')\n"
        "print(len(misstep.test_tools(cut, calls=40).findings))\n"
    )
    told = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert told.stdout == "1\n"
    assert (tmp_path / "times").read_text() == "x"


def test_tools_of_a_framework_that_no_module_has() -> None:
    langchain = pytest.importorskip("langchain_core.tools")
    made = langchain.StructuredTool.from_function(cutting(","), name="cut", description="The second part.")
    (finding,) = misstep.test_tools([made], calls=60).findings
    assert (finding.tool, finding.error) == ("cut", "IndexError")


def test_secrets_never_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sk-never-on-the-disk")
    with pytest.raises(misstep.UsageError, match="contains the value of a secret environment variable"):
        misstep.test_tools(cutting("sk-never-on-the-disk"), calls=5)
    assert not (tmp_path / ".misstep").exists()


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(misstep.UsageError, match="Did you mean 'calls'"):
        misstep.test_tools(cutting(","), cals=3)
    with pytest.raises(misstep.UsageError, match="None returns no tools"):
        misstep.test_tools(None)
    with pytest.raises(misstep.UsageError, match="can't be sent to another process"):
        misstep.test_tools(cutting(threading.Lock()))
