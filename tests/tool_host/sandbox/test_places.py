"""What a sandbox shows of the host's files: all that tools need in order to work, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.tool_fuzz.run import fuzz_tools
from misstep.tool_host.host import ToolHost
from misstep.tool_host.protocol import CallConditions
from tests.tool_host.trying import LIMITS, needs_bubblewrap, react

pytestmark = needs_bubblewrap

READING = """
import os
from pathlib import Path
HERE = Path(__file__).parent

def read(path: str) -> str:
    '''Read a file.'''
    return (HERE / path).read_text()
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def called(spec: str, tool: str = "read", conditions: CallConditions | None = None, **arguments: str) -> str:
    with ToolHost(spec, conditions or CallConditions(limits=LIMITS)) as bench:
        reaction = react(bench, tool, **arguments)
        return reaction.text or (reaction.raised.kind if reaction.raised else reaction.ended)


def test_a_tool_has_its_siblings_and_its_data(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"shop/tools.py": f"import sibling\n{READING}", "shop/sibling.py": "", "shop/data/x.txt": "x"},
    )
    write(tmp_path, {"above.txt": "above"})
    spec = f"{tmp_path}/shop/tools.py:read"
    assert called(spec, path="data/x.txt") == "x"
    assert called(spec, path="../above.txt") == "FileNotFoundError"


def test_a_file_in_a_package_has_the_whole_package(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/inner/__init__.py": "",
        "shop/inner/tools.py": READING,
        "shop/x.txt": "x",
    }
    write(tmp_path, {**files, "above.txt": "above"})
    spec = f"{tmp_path}/shop/inner/tools.py:read"
    assert called(spec, path="../x.txt") == "x"
    assert called(spec, path="../../above.txt") == "FileNotFoundError"


def test_modules_of_the_working_folder_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"tools/shop.py": f"import helpers, lib.more\n{READING}", "helpers.py": "", "lib/more.py": ""}
    write(tmp_path, {**files, "notes.txt": "private"})
    monkeypatch.chdir(tmp_path)
    for spec in ("tools/shop.py:read", "tools.shop:read"):
        assert called(spec, path="shop.py").startswith("import helpers")
        assert called(spec, path="../notes.txt") == "FileNotFoundError"


def test_of_a_home_only_code_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path,
        {"shop.py": f"import sibling\n{READING}", "sibling.py": "", "taxes.csv": "private", ".netrc": ""},
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    assert called(f"{tmp_path}/shop.py:read", path="taxes.csv") == "FileNotFoundError"
    assert called(f"{tmp_path}/shop.py:read", path="sibling.py") == "returned"


def test_links_lead_where_they_do_outside(tmp_path: Path) -> None:
    write(tmp_path, {"real/tools.py": READING, "real/x.txt": "x"})
    (tmp_path / "one").symlink_to("real")
    (tmp_path / "two").mkdir()
    (tmp_path / "two/tools.py").symlink_to("../one/tools.py")
    assert called(f"{tmp_path}/one/tools.py:read", path="x.txt") == "x"
    assert called(f"{tmp_path}/two/tools.py:read", path=f"{tmp_path}/real/x.txt") == "x"


@pytest.mark.parametrize("name", [".env", "keys/server.pem"])
def test_more_can_be_allowed(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"shop/tools.py": READING, f"shop/{name}": "key", "other/x.txt": "x"})
    spec = f"{tmp_path}/shop/tools.py:read"
    assert called(spec, path=name) == "PermissionError"
    assert called(spec, path="../other/x.txt") == "FileNotFoundError"
    allowed = CallConditions(limits=LIMITS, allow_read=(f"{tmp_path}/shop/{name}", f"{tmp_path}/other"))
    assert called(spec, "read", allowed, path=name) == "key"
    assert called(spec, "read", allowed, path="../other/x.txt") == "x"


def test_what_is_allowed_has_to_be_there(tmp_path: Path) -> None:
    write(tmp_path, {"tools.py": READING})
    with pytest.raises(UsageError, match="no such file or folder"):
        ToolHost(f"{tmp_path}/tools.py:read", CallConditions(allow_read=(f"{tmp_path}/none",)))


def test_an_environment_with_code_that_is_written_elsewhere(tmp_path: Path) -> None:
    """By a line in a file, and by a table of setuptools; made from an interpreter in somebody's home."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    (site,) = (tmp_path / "env").glob("lib/python3*/site-packages")
    packages = next(Path(path) for path in sys.path if os.path.exists(f"{path}/msgspec"))
    finder = f"import sys\nMAPPING: dict[str, str] = {{'mapped': {str(tmp_path / 'elsewhere/mapped')!r}}}\n"
    finder += (
        "def install():\n    import importlib.util\n    class Finder:\n"
        "        @classmethod\n        def find_spec(cls, name, path=None, target=None):\n"
        "            if name in MAPPING:\n"
        "                return importlib.util.spec_from_file_location(name, MAPPING[name] + '/__init__.py')\n"
        "    sys.meta_path.append(Finder)\n"
    )
    write(
        tmp_path,
        {
            f"{site}/plain.pth": f"{tmp_path}/lined\n{packages}\n",
            f"{site}/__editable__.mapped-1.pth": "import __editable___mapped_finder as f; f.install()\n",
            f"{site}/__editable___mapped_finder.py": finder,
            "lined/lining.py": "",
            "elsewhere/mapped/__init__.py": "",
            "elsewhere/private.txt": "private",
            "shop/tools.py": f"import lining, mapped\n{READING}",
        },
    )
    conditions = CallConditions(limits=LIMITS, python=f"{tmp_path}/env/bin/python")
    assert called(f"{tmp_path}/shop/tools.py:read", "read", conditions, path="tools.py").startswith(
        "import lining"
    )
    private = f"{tmp_path}/elsewhere/private.txt"
    assert called(f"{tmp_path}/shop/tools.py:read", "read", conditions, path=private) == "FileNotFoundError"


def test_what_the_sandbox_denies_is_no_finding(tmp_path: Path) -> None:
    """A file that is not shown, or that is hidden, is missing because of where the tool is tested."""
    text = (
        "\n\ndef taxes(year: int) -> str:\n    '''Read.'''\n    return (HERE / '../taxes.csv').read_text()\n"
    )
    text += "\n\ndef key(name: str) -> str:\n    '''Read.'''\n    return (HERE / '.env').read_text()\n"
    text += "\n\ndef ask(name: str) -> str:\n    '''Ask.'''\n    import socket\n"
    text += "    with socket.socket(socket.AF_UNIX) as line:\n        line.connect('/run/x')\n    return ''\n"
    write(
        tmp_path,
        {"shop/tools.py": f"{READING}{text}tools = [taxes, key, ask]\n", "shop/.env": "", "taxes.csv": ""},
    )
    settings = Settings(store=str(tmp_path / "store.db"), calls_per_tool=20, timeout=2.0, jobs=1)
    report = fuzz_tools(settings, [f"{tmp_path}/shop/tools.py:tools"])
    assert [finding.error for finding in report.findings] == []
    told = {tool.name: tool.environment > 0 for tool in report.tools}
    assert [told[name] for name in ("taxes", "key", "ask")] == [True, True, True]


@pytest.mark.parametrize("paths", ["5", "[nothing]", "[" * 5000, "['/no/such/folder']", "{'a': 1}"])
def test_an_object_handed_over_in_a_damaged_file_ends_in_no_traceback(tmp_path: Path, paths: str) -> None:
    """Whatever its list of folders has become, the file is looked at and left to the interpreter."""
    opening = "Something that a test or a notebook has given to misstep, for processes that need it too."
    (tmp_path / "given.py").write_text(f'"""{opening}"""\n\nimport sys\n\npaths = {paths}\n')
    with pytest.raises(UsageError):  # there are no tools in it, or it can't be loaded
        ToolHost(f"{tmp_path}/given.py:tools", CallConditions(limits=LIMITS)).start()
