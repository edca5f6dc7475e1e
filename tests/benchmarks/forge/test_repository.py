"""The repository is the same every time, comes back whole, and is looked at before it is served."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from misstep.benchmarks.forge import tools
from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.git import GitTrouble
from misstep.benchmarks.forge.tasks import initial_state
from misstep.benchmarks.forge.tools import ForgeError
from misstep.errors import UsageError
from tests.benchmarks.forge.asking import ask

MAIN = "deecad08428dc2933d790c9691ee6ca45b526335"


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_commits_are_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    with Forge() as forge:
        assert forge.state().branches["main"].tip == MAIN
        assert forge.state() == initial_state()


def test_everything_comes_back(forge: Forge) -> None:
    tools.create_branch("a/b")
    tools.delete_file("README.md", "herbs")
    tools.comment_on_issue(3, "x")
    tools.create_pull_request("t", "b", "herbs")
    ask(forge, "DELETE", "~/git/refs/heads/frost-dates")
    ask(forge, "DELETE", "~/git/refs/heads/export-ics")
    sha = initial_state().branches["main"].tip
    for ref in ("refs/heads/export-ics/deeper", "refs/tags/v1"):
        assert ask(forge, "POST", "~/git/refs", {"ref": ref, "sha": sha}).status == 201
    ask(forge, "PATCH", "~/issues/5", {"state": "closed", "labels": ["odd"]})
    assert forge.state().refs == {"refs/tags/v1": sha}
    forge.reset()
    assert forge.state() == initial_state()


def test_a_forge_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Forge() as forge:
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="not running"):
        forge.state()


def test_a_folder_of_ones_own_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "forge"
    with Forge(folder) as forge:
        ask(forge, "PUT", "~/contents/kept.txt", {"message": "m", "content": "eA=="})
    with Forge(folder) as again:
        assert "kept.txt" in again.state().branches["main"].files


def _lock(folder: Path) -> None:
    (folder / "refs/heads/main.lock").touch()


def _detach(folder: Path) -> None:
    (folder / "HEAD").write_text(initial_state().branches["main"].tip + "\n")


def _elsewhere(folder: Path) -> None:
    (folder / "HEAD").write_text("ref: refs/heads/herbs\n")


def _lose_an_object(folder: Path) -> None:
    _loose(folder)
    sha = _git(folder, "rev-parse", "main:README.md")
    (folder / "objects" / sha[:2] / sha[2:]).unlink()


def _spoil_an_object(folder: Path) -> None:
    _loose(folder)
    sha = _git(folder, "rev-parse", "main^{tree}")
    path = folder / "objects" / sha[:2] / sha[2:]
    path.chmod(0o600)
    path.write_bytes(b"nonsense")


def _loose(folder: Path) -> None:
    """Objects one by one, so that one of them can go."""
    for pack in list((folder / "objects/pack").glob("*.pack")):
        data = pack.read_bytes()
        for path in pack.parent.glob(f"{pack.stem}.*"):
            path.unlink()
        subprocess.run(["git", "-C", str(folder), "unpack-objects", "-q"], input=data, check=True)


def _work_tree(folder: Path) -> None:
    shutil.rmtree(folder)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


def _dirty(folder: Path) -> None:
    _work_tree(folder)
    (folder / "unsaved.txt").write_text("mine")


def _merge(folder: Path) -> None:
    """Two sides that don't go together, and nobody has said what is right."""
    _work_tree(folder)
    _commit(folder, "one", "-b", "main")
    _commit(folder, "two", "-b", "other")
    _commit(folder, "three", "-B", "main", "main")
    subprocess.run(["git", "-C", str(folder), "merge", "-q", "other"], capture_output=True, check=False)


def _commit(folder: Path, text: str, *branch: str) -> None:
    _git(folder, "checkout", "-q", *branch)
    (folder / "a.txt").write_text(text)
    _git(folder, "add", "a.txt")
    _git(folder, "commit", "-q", "-m", text)


def _merge_in_bare(folder: Path) -> None:
    (folder / "MERGE_HEAD").write_text(initial_state().branches["herbs"].tip + "\n")


def _nonsense_in_a_ref(folder: Path) -> None:
    (folder / "refs/heads").mkdir(parents=True, exist_ok=True)
    (folder / "refs/heads/odd").write_text("nonsense\n")


def _ref_to_nowhere(folder: Path) -> None:
    (folder / "refs/heads").mkdir(parents=True, exist_ok=True)
    (folder / "refs/heads/odd").write_text("1" * 40 + "\n")


def _ref_to_a_file(folder: Path) -> None:
    (folder / "refs/heads").mkdir(parents=True, exist_ok=True)
    (folder / "refs/heads/odd").write_text(_git(folder, "rev-parse", "main:README.md") + "\n")


def _bad_settings(folder: Path) -> None:
    (folder / "config").write_text("[core\nnonsense")


def _no_refs(folder: Path) -> None:
    shutil.rmtree(folder / "refs")


def _something_else(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_lock, "a lock was left in the repository: refs/heads/main.lock"),
        (_detach, "HEAD is detached, at "),
        (_elsewhere, "HEAD is at 'refs/heads/herbs', not at the branch main"),
        (_lose_an_object, "the repository is broken: .*missing blob"),
        (_spoil_an_object, "the repository is broken: "),
        (_work_tree, "has a work tree, a forge serves bare repositories only"),
        (_dirty, "has a work tree with changes: unsaved.txt"),
        (_merge, "a merge is half done in the repository: MERGE_HEAD"),
        (_merge_in_bare, "a merge is half done in the repository: MERGE_HEAD"),
        (_nonsense_in_a_ref, "the repository is broken: .*refs/heads/odd"),
        (_ref_to_nowhere, "the repository is broken: .*refs/heads/odd"),
        (_ref_to_a_file, "the repository is broken: .*refs/heads/odd"),
        (_bad_settings, "the repository is broken: .*bad config"),
        (_no_refs, "the repository is broken: "),
        (_something_else, "something in this folder, but no git repository"),
    ],
)
def test_repositories_in_a_strange_state(tmp_path: Path, spoil: Callable[[Path], None], words: str) -> None:
    folder = tmp_path / "forge"
    with Forge(folder):
        pass
    spoil(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(GitTrouble, match=words) as raised, Forge(folder):
        pass
    assert "give a folder that is empty" in raised.value.hints[0]
    assert sorted(folder.rglob("*")) == before


def test_a_lock_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Forge(tmp_path) as forge:
        for name, value in forge.environment.items():
            monkeypatch.setenv(name, value)
        lock = tmp_path / "refs/heads/herbs.lock"
        lock.touch()
        with pytest.raises(ForgeError, match=r"409 .*herbs\.lock"):
            tools.delete_file("README.md", "herbs")
        tools.create_branch("other")
        lock.rename(tmp_path / "refs/heads/other.lock")
        with pytest.raises(GitTrouble, match=r"other\.lock") as raised:
            forge.reset()
        assert "remove it" in raised.value.hints[0]
        (tmp_path / "refs/heads/other.lock").unlink()
        forge.reset()
        assert forge.state() == initial_state()


@pytest.mark.parametrize("spoil", [_lose_an_object, _spoil_an_object])
def test_an_object_that_goes_while_it_runs(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    with Forge(tmp_path) as forge:
        spoil(tmp_path)
        with pytest.raises(GitTrouble, match="a state that git can't work with"):
            forge.state()
        assert ask(forge, "GET", "~/contents/README.md").status == 409
        assert forge.errors == []


def test_without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="the git program is not installed"), Forge():
        pass


def test_a_port_that_is_taken(forge: Forge) -> None:
    port = int(forge.url.rpartition(":")[2])
    with pytest.raises(UsageError, match=f"can't listen on 127.0.0.1:{port}"), Forge(port=port):
        pass
