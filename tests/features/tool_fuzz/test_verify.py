"""`misstep verify`: whether another version of the tools has a finding."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp
import pytest

from misstep.adapters.mcp.entries import server_of
from misstep.adapters.mcp.packages import PackageCommand, read_command
from misstep.adapters.toolset.spec import servers_meant
from misstep.core.results.trial import Judged
from misstep.errors import UsageError
from misstep.features.tool_fuzz.other_version import other_spec
from misstep.features.tool_fuzz.verify import TriedVersion, compared
from tests.conftest import Command
from tests.features.tool_fuzz.test_issues import FINDING
from tests.features.tool_fuzz.two_versions import CODE, FIXED, RENAMED, SERVER

SHORT = ("--calls-per-tool", "20", "--display", "none", "--fail-on", "none")


@pytest.fixture
def finding(tmp_path: Path, misstep: Command) -> str:
    """The name of a finding in `shop.py`."""
    (tmp_path / "shop.py").write_text(CODE)
    misstep("tool", "fuzz", "shop.py:lookup", *SHORT)
    (found,) = json.loads(misstep("show", "last", "--json").out)["tools"][0]["findings"]
    assert found["error"] == "IndexError"
    return f"last/{found['id']}"


def tried(*shown: bool) -> TriedVersion:
    """Tries of `FINDING`, which have shown it or nothing."""
    known = Judged("crash", signature=FINDING.signature), Judged("fine", signature="fine")
    return TriedVersion("shop.py:lookup", tuple(known[not each] for each in shown))


@pytest.mark.parametrize(
    ("original", "other", "outcome", "why"),
    [
        ((True, True, True), (False, False, False), "gone", "in 3 tries"),
        ((True, False, False), (False, False, False), "cannot tell", "in only 1 of 3 tries"),
        ((True,), (False, False, False), "cannot tell", "in only 1 of 3 tries"),
        ((True, True, True), (False,), "cannot tell", "only 1 of 3 tries ended there"),
        ((True, False, False), (False, True, False), "still there", "in 1 of 3 tries"),
    ],
)
def test_it_is_gone_only_if_chance_can_not_explain_that(
    original: tuple[bool, ...], other: tuple[bool, ...], outcome: str, why: str
) -> None:
    found = compared(FINDING, tried(*original), tried(*other))
    assert (found[0], why in found[1]) == (outcome, True)


IN_RANGE = "[abs(index) % 2]"


@pytest.mark.full(after=2)
@pytest.mark.parametrize(
    ("other", "code", "outcome", "why"),
    [
        ("# A line more.\n" + CODE, 1, "still there", "shown in 3 of 3 tries from a fresh start"),
        (CODE.replace("[index]", IN_RANGE), 0, "gone", "in 3 tries from a fresh start: fine"),
        (CODE.replace("[index]", "[index] + 1"), 1, "still there", "shown in 3 of 3"),
        (
            CODE.replace('["a", "b"][index]', "{}[index]"),
            4,
            "different",
            "the same calls end otherwise: crash",
        ),
        (CODE.replace("index", "place"), 4, "cannot tell", "takes other arguments there"),
        (CODE.replace("lookup", "look"), 4, "cannot tell", "there is no 'lookup' here"),
        ("import nothing_like_it", 4, "cannot tell", "nothing_like_it"),
        (
            CODE.replace(
                "    return",
                '    if not -2 <= index < 2:\n        raise ValueError("index must be in range")\n    return',
            ),
            0,
            "gone",
            "refused, ValueError index must be in range",
        ),
    ],
)
def test_outcomes(
    finding: str, tmp_path: Path, misstep: Command, other: str, code: int, outcome: str, why: str
) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "shop.py").write_text(other)
    printed = misstep("verify", finding, "--against", "new", "--json")
    told = json.loads(printed.out)
    assert (printed.code, told["outcome"]) == (code, outcome)
    assert why in told["why"]
    assert (told["original"]["shown"], told["against"]) == (3, "new")


def test_an_original_that_shows_nothing_now_says_nothing(
    finding: str, tmp_path: Path, misstep: Command
) -> None:
    fixed = CODE.replace("[index]", IN_RANGE)
    (tmp_path / "shop.py").write_text(fixed)
    (tmp_path / "new.py").write_text(fixed)
    printed = misstep("verify", finding, "--against", "new.py")
    assert printed.code == 4
    assert "cannot tell in new.py: the original does not show it now: fine" in printed.out


def test_wrong_input_is_told(finding: str, tmp_path: Path, misstep: Command) -> None:
    (tmp_path / "empty").mkdir()
    run = finding.partition("/")[0]
    for name, against, told in (
        (finding, "there/is.py", "--against there/is.py  no such file or folder"),
        (finding, "1.2.3", "names no package of npx, uvx or pipx"),
        (finding, "!", "is neither a version nor a path"),
        (finding, "empty", "there is no shop.py in this folder"),
        (run, "shop.py", "'last' is not RUN/FINDING"),
        (f"{run}/zzz", "shop.py", "'zzz' is not a finding of run"),
    ):
        printed = misstep("verify", name, "--against", against)
        assert (printed.code, printed.out) == (2, "")
        assert told in printed.err


def test_files_of_servers_are_replaced(tmp_path: Path) -> None:
    for name in ("build/index.js", "one.py"):
        (tmp_path / "new" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "new" / name).touch()
    new = str(tmp_path / "new")
    with other_spec("mcp:node /old/build/index.js --flag", new) as spec:
        assert spec == f"mcp:node {new}/build/index.js --flag"
    with other_spec("mcp:python server.py", f"{new}/one.py") as spec:
        assert spec == f"mcp:python {new}/one.py"
    with other_spec("package.one:tool", f"{new}/one.py") as spec:
        assert spec == f"{new}/one.py:tool"
    for spec, message in (
        ("mcp:http://127.0.0.1:1/mcp", "no server of it is started by a command"),
        ("mcp:some-program", "'some-program' names no file that could be replaced"),
    ):
        with pytest.raises(UsageError, match=message), other_spec(spec, new):
            pass


def test_a_server_in_a_file_keeps_its_variables(tmp_path: Path) -> None:
    (tmp_path / "other.py").touch()
    path = tmp_path / "mcp.json"
    servers: dict[str, Any] = {
        "far": {"url": "http://127.0.0.1:1/mcp"},
        "desk": {"command": "python", "args": ["desk.py"], "env": {"PLACE": "here"}},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    with other_spec(str(path), str(tmp_path / "other.py")) as spec:
        entries = json.loads(Path(spec).read_text())["mcpServers"]
        assert Path(spec).parent.stat().st_mode & 0o77 == 0
    assert entries["desk"]["args"] == [str(tmp_path / "other.py")]
    assert entries["desk"]["env"] == {"PLACE": "here"}
    assert entries["far"]["url"] == "http://127.0.0.1:1/mcp"
    assert not Path(spec).exists()


@pytest.mark.parametrize(
    ("command", "other"),
    [
        ("npx -y @scope/server@1.2 /tmp", "npx -y @scope/server@3.0 /tmp"),
        ("npx -y -p @scope/server prog -y", "npx -y -p @scope/server@3.0 -- prog -y"),
        ("uvx mcp-server-git --repository .", "uvx mcp-server-git@3.0 --repository ."),
        ("uvx 'server[extra]>=1'", "uvx --from server[extra]==3.0 server"),
        ("uvx --from package --with 'mcp<2' server x", "uvx --with mcp<2 --from package==3.0 server x"),
        ("pipx run server==1.0", "uvx server@3.0"),
    ],
)
def test_the_version_in_a_command_is_replaced(command: str, other: str) -> None:
    found = read_command(server_of(command).command)
    assert found is not None
    words = found.at("3.0").words
    assert " ".join(words) == other
    again = read_command(words)
    assert isinstance(again, PackageCommand)
    assert again.packages[0] in ("@scope/server@3.0", f"{found.package}==3.0", "server[extra]==3.0")


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("uvx 'server[cli]==1.0'", "/new[cli]"),
        ("uvx server", "/new"),
        ("npx -y @scope/server", "/new"),
        ("uvx --from git+https://h/r server", "/new"),
    ],
)
def test_a_path_keeps_the_extras(command: str, package: str) -> None:
    found = read_command(server_of(command).command)
    assert found is not None
    assert found.at_path("/new").packages == (package,)


def test_one_of_several_servers_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    servers = {name: {"command": "npx", "args": [name]} for name in ("desk", "shop")}
    path.write_text(json.dumps({"mcpServers": servers}))
    with pytest.raises(UsageError, match="2 servers could be meant") as raised, other_spec(str(path), "1.0"):
        pass
    (hint,) = raised.value.hints
    named = servers_meant(hint.rpartition(" ")[2])
    assert [server.command for server in named or ()] == [("npx", "desk")]


def test_an_address_has_no_version() -> None:
    with (
        pytest.raises(UsageError, match="'git\\+https://h/r' has no version"),
        other_spec("mcp:uvx --from git+https://h/r server", "1.0"),
    ):
        pass


@pytest.mark.full
def test_versions_of_an_installed_server(
    tmp_path: Path, misstep: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions of a package as wheels, which are found without a network, and one in a folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    for number, source in (("1.0", SERVER), ("1.1", FIXED), ("2.0", RENAMED)):
        build(tmp_path, number, source)
    with_our_sdk(monkeypatch)
    misstep("tool", "fuzz", "mcp:uvx tried-server@1.0", *SHORT)
    (found,) = json.loads(misstep("show", "last", "--json").out)["tools"][0]["findings"]
    outcomes = {}
    for against in ("1.1", "checkout"):
        printed = misstep("verify", f"last/{found['id']}", "--against", against, "--json")
        outcomes[against] = printed.code, json.loads(printed.out)["outcome"]
    assert outcomes == {"1.1": (0, "gone"), "checkout": (4, "cannot tell")}
    assert list((tmp_path / "cache/misstep/servers").glob("other-*")) == []
    unknown = misstep("verify", f"last/{found['id']}", "--against", "9.9")
    assert (unknown.code, unknown.out) == (2, "")
    assert "tried-server==9.9" in unknown.err
    text = misstep("report", "last", "--format", "issue", "--report-dir", "-").out
    assert "- `uvx tried-server@1.0`\n- `tried-server 1.0`\n" in text


def build(folder: Path, number: str, source: str) -> None:
    """A wheel of the server, from the folder `checkout`, which holds the last one that was built."""
    checkout = folder / "checkout"
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir()
    (checkout / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "tried-server"\nversion = "{number}"\n'
        'scripts = {tried-server = "tried_server:main"}\n'
    )
    (checkout / "tried_server.py").write_text(source)
    wheel = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(checkout)]
    subprocess.run([sys.executable, "-m", "pip", *wheel], check=True, capture_output=True)


def with_our_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers use the SDK that is installed here, and let folders be built without a network."""
    monkeypatch.setenv("PYTHONPATH", str(Path(mcp.__file__).parents[1]))
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # which turns it off
