"""Git itself clones, fetches and pushes, as from any forge."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from misstep.benchmarks.forge import tools
from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.tasks import initial_state
from tests.benchmarks.forge.asking import ask

PLAIN = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Jo",
    "GIT_AUTHOR_EMAIL": "jo@fernwood.example",
    "GIT_COMMITTER_NAME": "Jo",
    "GIT_COMMITTER_EMAIL": "jo@fernwood.example",
}


def git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=PLAIN, capture_output=True, text=True, check=False
    )


def test_clone_fetch_and_push(forge: Forge, tmp_path: Path) -> None:
    assert git(tmp_path, "clone", "-q", forge.clone_url, "here").returncode == 0
    here = tmp_path / "here"
    assert (here / "docs/zones.md").read_text().startswith("# Zones\n")
    assert git(here, "rev-parse", "HEAD").stdout.strip() == initial_state().branches["main"].tip
    tools.create_branch("fresh")
    tools.create_file("new.txt", "new\n", "fresh")
    assert git(here, "fetch", "-q", "origin").returncode == 0
    assert git(here, "show", "origin/fresh:new.txt").stdout == "new\n"
    (here / "pushed.txt").write_text("pushed\n")
    git(here, "add", ".")
    git(here, "commit", "-qm", "By hand")
    refused = git(here, "push", "-q", "origin", "main")
    assert refused.returncode != 0
    assert "could not read Username" in refused.stderr
    address = forge.clone_url.replace("http://", f"http://x-access-token:{forge.token}@")
    assert git(here, "push", "-q", address, "main").returncode == 0
    assert tools.read_file("pushed.txt") == "pushed\n"


def test_a_reader_may_clone_what_is_private_and_push_nothing(tmp_path: Path) -> None:
    with Forge(private=True) as forge:
        assert git(tmp_path, "clone", "-q", forge.clone_url, "no").returncode != 0
        address = forge.clone_url.replace("http://", f"http://reader:{forge.read_token}@")
        assert git(tmp_path, "clone", "-q", "--depth=1", address, "yes").returncode == 0
        git(tmp_path / "yes", "commit", "-qm", "Empty", "--allow-empty")
        assert "403" in git(tmp_path / "yes", "push", "-q", "origin", "main").stderr
        assert forge.state() == initial_state()


def test_nothing_but_git_is_served_below_the_repository(forge: Forge) -> None:
    for rest in (
        "config",
        "HEAD",
        "objects/info/packs",
        "../config",
        "info/../config",
        "info/refs/../config",
    ):
        assert ask(forge, "GET", f"/{forge.repository}.git/{rest}").status == 404
    assert ask(forge, "GET", f"/{forge.repository}.git/info/refs").status == 403
    assert (
        ask(forge, "GET", f"/{forge.repository}.git/info/refs?service=git-upload-pack", token="bad").status
        == 401
    )


def test_two_forges_side_by_side(forge: Forge, tmp_path: Path) -> None:
    with Forge() as other:
        assert (other.url, other.token) != (forge.url, forge.token)
        ask(other, "POST", "~/issues/3/comments", {"body": "only there"})
        assert forge.state() == initial_state()
        assert other.state() != initial_state()
        assert ask(other, "GET", "~", token=forge.token).status == 401


def test_many_at_once(forge: Forge) -> None:
    def write(number: int) -> int:
        body = {"message": "m", "content": "eA==", "branch": "herbs"}
        commented = ask(forge, "POST", "~/issues/3/comments", {"body": str(number)}).status
        return commented + ask(forge, "PUT", f"~/contents/many/{number}.txt", body).status

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(write, range(16))) == [402] * 16
    state = forge.state()
    assert sorted(int(each.body) for each in state.threads[3].comments) == list(range(16))
    assert {f"many/{number}.txt" for number in range(16)} <= {*state.branches["herbs"].files}


def test_what_is_pushed_is_looked_at(forge: Forge, tmp_path: Path) -> None:
    address = forge.clone_url.replace("http://", f"http://x-access-token:{forge.token}@")
    git(tmp_path, "clone", "-q", address, "here")
    here = tmp_path / "here"
    (here / "commit").write_text(f"tree {git(here, 'rev-parse', 'HEAD^{tree}').stdout}\nno author\n")
    odd = git(here, "hash-object", "-t", "commit", "-w", "--literally", "commit").stdout.strip()
    assert "missingAuthor" in git(here, "push", "origin", f"{odd}:refs/heads/odd").stderr
    assert "hidden ref" in git(here, "push", "origin", "HEAD:refs/pull/1/head").stderr
    assert forge.state() == initial_state()


def test_what_is_not_gits_protocol(forge: Forge) -> None:
    for service in ("git-receive-pack", "git-upload-pack"):
        sent = {"Content-Type": f"application/x-{service}-request"}
        got = ask(forge, "POST", f"/{forge.repository}.git/{service}", b"nonsense", headers=sent)
        assert (got.status, got.data) == (400, b"This is not git's protocol\n")


def test_names_and_dates_of_any_sort_may_be_pushed(forge: Forge, tmp_path: Path) -> None:
    address = forge.clone_url.replace("http://", f"http://x-access-token:{forge.token}@")
    git(tmp_path, "clone", "-q", address, "here")
    here, who = tmp_path / "here", f"Jo <jo@fernwood.example> {10**15} +0000"
    tree = git(here, "rev-parse", "HEAD^{tree}").stdout
    (here / "commit").write_text(f"tree {tree}author {who}\ncommitter {who}\n\nLate\n")
    sha = git(here, "hash-object", "-t", "commit", "-w", "commit").stdout.strip()
    odd = os.fsdecode(b"b\xff\xc2\x85")
    assert git(here, "push", "-q", "origin", f"{sha}:refs/heads/{odd}").returncode == 0
    assert forge.state().branches.keys() == {*initial_state().branches, "b\udcff\x85"}
    assert "b\ufffd\x85" in [each["name"] for each in ask(forge, "GET", "~/branches").body]
    assert "refs/heads/b\ufffd\x85" in [each["ref"] for each in ask(forge, "GET", "~/git/refs").body]
    assert ask(forge, "GET", f"~/git/commits/{sha}").body["author"]["date"] == "9999-12-31T23:59:59Z"
    forge.reset()
    assert forge.state() == initial_state()
