"""Names that git itself would not take are refused, however they come in."""

import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.git import is_path
from misstep.benchmarks.forge.tasks import initial_state
from tests.benchmarks.forge.asking import ask
from tests.benchmarks.forge.test_git import PLAIN, git

BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # of no content
GUARDED = ("-c", "core.protectHFS=true", "-c", "core.protectNTFS=true")
NAMES = [
    ".git",
    ".GIT",
    ".git ",
    ".git. .",
    ".git::$INDEX_ALLOCATION",
    ".git:x",
    ".git x",
    ".gitx",
    ".git~1",
    "git~1",
    "GIT~1 .",
    "git~2",
    "git~1x",
    ".g\u200cit",
    "\ufeff.Git",
    ".g\u206fit\u200e",
    ".g\u2060it",
    ".\u0261it",
    "a\\.git",
    "a\\.git\\b",
    "a\\git~1 ",
    "a\\b.git",
    ".gitignore",
    ".gitmodules",
    "...",
    ". ",
    "git",
]


def by_git(path: str, folder: Path) -> bool:
    """Whether git takes a path into its index, with all its guards up."""
    command = ["git", *GUARDED, "update-index", "--add", "--cacheinfo", f"100644,{BLOB},{path}"]
    return subprocess.run(command, cwd=folder, env=PLAIN, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("form", ["{}", "{}/x", "a/{}", "a/{}/x"])
def test_paths_are_those_of_git(form: str, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    paths = [form.format(name) for name in NAMES]
    assert [path for path in paths if is_path(path)] == [path for path in paths if by_git(path, tmp_path)]


@pytest.mark.parametrize("path", [".git ", ".g\u200cit/x", ".git::$INDEX_ALLOCATION"])
def test_nobody_writes_where_git_keeps_its_own(forge: Forge, path: str) -> None:
    body = {"message": "m", "content": "eA==", "branch": "herbs"}
    assert ask(forge, "PUT", f"~/contents/{quote(path)}", body).status == 422
    tree = {"tree": [{"path": path, "mode": "100644", "content": "x"}]}
    assert ask(forge, "POST", "~/git/trees", tree).status == 422


@pytest.mark.parametrize("name", ["-dash", "HEAD", "@"])
def test_branches_that_would_be_taken_for_something_else(forge: Forge, tmp_path: Path, name: str) -> None:
    sha = initial_state().branches["main"].tip
    made = ask(forge, "POST", "~/git/refs", {"ref": f"refs/heads/{name}", "sha": sha})
    assert made.status == 422
    address = forge.clone_url.replace("http://", f"http://x-access-token:{forge.token}@")
    git(tmp_path, "clone", "-q", address, "here")
    pushed = git(tmp_path / "here", "push", "origin", "HEAD:refs/heads/good", f"HEAD:refs/heads/{name}")
    assert pushed.returncode != 0
    assert f"{name} (no name for a branch)" in pushed.stderr
    assert "good (pushed together with one that is refused)" in pushed.stderr
    assert forge.state() == initial_state()
    many = [f"HEAD:refs/heads/{'long' * 40}{number}" for number in range(500)]
    told = git(tmp_path / "here", "push", "origin", f"HEAD:refs/heads/{name}", *many).stderr
    assert told.count("pushed together with") == 500
    assert git(tmp_path / "here", "push", "origin", "HEAD:refs/heads/good").returncode == 0


def test_a_push_can_not_be_hidden(forge: Forge) -> None:
    sent = {"Content-Type": "application/x-git-receive-pack-request", "Content-Encoding": "gzip"}
    assert ask(forge, "POST", f"/{forge.repository}.git/git-receive-pack", b"x", headers=sent).status == 415


def test_content_comes_in_two_encodings(forge: Forge) -> None:
    for encoding, status in (("utf-8", 201), ("base64", 201), ("zz", 422), ("", 422), (5, 422)):
        body = {"content": "eA==", "encoding": encoding}
        assert ask(forge, "POST", "~/git/blobs", body).status == status


@pytest.mark.parametrize("headers", [{}, {"Transfer-Encoding": "chunked"}])
def test_a_body_that_is_too_large_is_refused_in_words(forge: Forge, headers: dict[str, str]) -> None:
    size = 17 << 20
    body = b"x" * size if not headers else b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size)
    got = ask(forge, "POST", "~/git/blobs", body, headers=headers)
    assert (got.status, got.body["message"]) == (413, "The request is larger than this forge takes.")
