"""What the interface says to requests that no good client makes."""

import socket
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.tasks import initial_state
from tests.benchmarks.forge.asking import ask

NEW = {"message": "m", "content": "eA==", "branch": "herbs"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "~/issues/3"),
        ("PUT", "~/issues"),
        ("POST", "~"),
        ("GET", "~/nothing/here"),
        ("GET", "/repos/somebody/else"),
        ("GET", "/"),
        ("PATCH", "/user"),
        ("OPTIONS", "~"),
        ("GET", "~/issues/3x"),
        ("GET", "~/issues/%EF%BC%93"),  # a digit, but a wide one
        ("GET", "~/issues/comments/%EF%BC%91001"),
        ("GET", "~/contents/a%ff.txt"),
        ("GET", "~/issues/" + "9" * 5000),
        ("GET", "~/issues/comments/-1"),
        ("GET", "~/git/blobs/zz"),
        ("GET", "~/git/commits/HEAD"),
        ("GET", "~/git/ref/heads/main^{tree}"),
        ("GET", "~/branches/main%0A"),
        ("GET", "~/branches/HEAD"),
        ("GET", "~/contents/%00"),
        ("GET", "~/contents/../../etc/passwd"),
        ("GET", "~/contents/README.md/x"),
        ("GET", "/fernwood/seedling/raw/main/../../config"),
        ("DELETE", "~/issues/3/labels/nope"),
    ],
)
def test_what_is_not_there(forge: Forge, method: str, path: str) -> None:
    got = ask(forge, method, path)
    assert (got.status, got.body["status"]) == (404, "404")
    assert got.body["message"] in ("Not Found", "Branch not found", "Label does not exist")
    assert got.body["documentation_url"].startswith("https://")
    assert forge.state() == initial_state()


@pytest.mark.parametrize(
    "path",
    [
        "../evil.txt",
        "a/../../evil.txt",
        "./a",
        "a//b",
        ".git/config",
        "a/.GIT/hooks/x",
        "x" * 300,
        "a/\0b",
        "a/" * 200 + "b",
    ],
)
def test_paths_that_lead_astray(forge: Forge, path: str) -> None:
    got = ask(forge, "PUT", f"~/contents/{quote(path)}", NEW)
    assert (got.status, got.body["message"]) == (422, "path contains a malformed path component")
    tree = {"tree": [{"path": path, "mode": "100644", "type": "blob", "content": "x"}]}
    assert ask(forge, "POST", "~/git/trees", tree).status == 422
    assert forge.state() == initial_state()


def test_names_that_are_no_text(forge: Forge) -> None:
    assert ask(forge, "PUT", "~/contents/a%0Ab%ff.txt", NEW).status == 422
    assert forge.state() == initial_state()


@pytest.mark.parametrize("path", ["README.md/inside", "docs", "src/seedling"])
def test_files_and_folders_are_not_each_other(forge: Forge, path: str) -> None:
    assert ask(forge, "PUT", f"~/contents/{path}", NEW).status == 422


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("POST", "~/issues", b"{", 400, "Problems parsing JSON"),
        ("POST", "~/issues", b'{"title": "\xff"}', 400, "Problems parsing JSON"),
        ("POST", "~/issues", b"[" * 100_000, 400, "Problems parsing JSON"),
        ("POST", "~/issues", b'{"title": "\\ud800"}', 400, "Problems parsing JSON"),
        ("POST", "~/issues", [1], 400, "Body should be a JSON object"),
        ("POST", "~/issues", {"title": 1}, 422, "For 'properties/title', the value given is not a string."),
        ("POST", "~/issues", {"title": "x" * 300}, 422, "title is too long (maximum is 256 characters)"),
        (
            "POST",
            "~/issues",
            {"title": "t", "labels": "bug"},
            422,
            "the value given is not an array of strings.",
        ),
        ("POST", "~/issues", {"title": "t", "assignees": ["nobody-knows"]}, 422, "Validation Failed"),
        ("POST", "~/issues/3/comments", {}, 422, "Validation Failed"),
        ("POST", "~/issues/3/comments", {"body": " \n"}, 422, "Validation Failed"),
        ("POST", "~/issues/3/comments", {"body": "x" * 65_537}, 422, "body is too long"),
        ("PATCH", "~/issues/3", {"state": "lost"}, 422, "Validation Failed"),
        ("PUT", "~/contents/a", {"content": ""}, 422, '"message" wasn\'t supplied.'),
        ("PUT", "~/contents/a", {"message": "m"}, 422, '"content" wasn\'t supplied.'),
        ("PUT", "~/contents/a", {"message": "m", "content": "?"}, 422, "content is not valid Base64"),
        ("PUT", "~/contents/a", NEW | {"author": {"name": "<>"}}, 422, '"name" wasn\'t supplied.'),
        ("DELETE", "~/contents/README.md", {"message": "m"}, 422, '"sha" wasn\'t supplied.'),
        (
            "POST",
            "~/git/refs",
            {"ref": "main", "sha": "0" * 40},
            422,
            "Reference name must start with 'refs/'",
        ),
        ("POST", "~/git/refs", {"ref": "refs/heads/a..b", "sha": "0" * 40}, 422, "is not a valid ref name."),
        ("POST", "~/git/refs", {"ref": "refs/heads/-a", "sha": "0" * 40}, 422, "is not a valid ref name."),
        ("POST", "~/git/refs", {"ref": "refs/heads/a", "sha": "0" * 40}, 422, "Object does not exist"),
        ("POST", "~/git/refs", {"ref": "refs/heads/a", "sha": "main"}, 422, "Object does not exist"),
        ("POST", "~/git/refs", {"ref": "refs/pull/1/head", "sha": "0" * 40}, 422, "kept for pull requests"),
        ("GET", "~/issues?state=foo", None, 422, "Validation Failed"),
        ("GET", "~/pulls?state=", None, 422, "Validation Failed"),
        ("BREW", "~", None, 405, "Unsupported method ('BREW')"),
        ("DELETE", "~/git/refs/heads/nope", None, 422, "Reference does not exist"),
        ("POST", "~/git/commits", {"message": "m", "tree": "0" * 40}, 422, "Tree SHA does not exist"),
        ("POST", "~/git/trees", {"tree": [{"path": "a", "mode": "0"}]}, 422, "Must supply a valid tree.mode"),
        (
            "POST",
            "~/git/trees",
            {"tree": [{"path": "a", "mode": "040000", "content": "x"}]},
            422,
            "tree.sha is not a valid tree oid",
        ),
        ("GET", "~/issues?" + "a=1&" * 101, None, 400, "More than 100 fields in a query"),
        ("POST", "~/pulls", {"title": "t", "head": "herbs"}, 422, '"base" wasn\'t supplied.'),
        ("GET", "/search/issues", None, 422, "Validation Failed"),
        ("GET", "/search/code?q=" + "x" * 300, None, 422, "Validation Failed"),
    ],
)
def test_what_is_refused(forge: Forge, method: str, path: str, body: Any, status: int, message: str) -> None:
    got = ask(forge, method, path, body)
    assert got.status == status
    assert message in got.body["message"]
    assert forge.state() == initial_state()


def test_a_tree_takes_only_what_its_modes_say(forge: Forge) -> None:
    tip = ask(forge, "GET", "~/git/ref/heads/main").body["object"]["sha"]
    tree = ask(forge, "GET", f"~/git/trees/{tip}").body["sha"]
    for mode, sha, status in [("040000", tip, 422), ("100644", tree, 422), ("040000", tree, 201)]:
        line = {"path": "a", "mode": mode, "sha": sha}
        assert ask(forge, "POST", "~/git/trees", {"tree": [line]}).status == status


def test_a_branch_in_the_way_of_another(forge: Forge) -> None:
    sha = initial_state().branches["main"].tip
    got = ask(forge, "POST", "~/git/refs", {"ref": "refs/heads/main/x", "sha": sha})
    assert got.status == 422
    assert "in its way" in got.body["message"]
    tree = ask(forge, "GET", "~/git/trees/main").body["sha"]
    assert ask(forge, "POST", "~/git/refs", {"ref": "refs/heads/x", "sha": tree}).status == 422


@pytest.mark.parametrize("name", ["größe", "日本語/分支", "emoji-🌱", "with.dots.and_more"])
def test_names_from_everywhere(forge: Forge, name: str) -> None:
    sha = initial_state().branches["main"].tip
    assert ask(forge, "POST", "~/git/refs", {"ref": f"refs/heads/{name}", "sha": sha}).status == 201
    assert ask(forge, "GET", f"~/branches/{quote(name)}").body["name"] == name
    put, path = NEW | {"branch": name}, f"{name}/{name.replace('/', '-')}.txt"
    assert ask(forge, "PUT", f"~/contents/{quote(path)}", put).status == 201
    got = ask(forge, "GET", f"~/contents/{quote(name)}?ref={quote(name)}")
    assert [each["path"] for each in got.body] == [path]
    raw = urlsplit(got.body[0]["download_url"]).path
    assert ask(forge, "GET", raw, token=None).data == b"x"
    assert path in forge.state().branches[name].files


def test_authors_that_git_would_not_take_as_they_are(forge: Forge) -> None:
    given = NEW | {"message": "a\0b", "author": {"name": "J\0o\n<x>", "email": "jo\0@x"}}
    got = ask(forge, "PUT", "~/contents/a", given)
    assert got.status == 201
    assert got.body["commit"]["author"]["name"] == "J o x"


def test_bodies_of_any_size(forge: Forge) -> None:
    large = {"Content-Length": str(1 << 40)}
    assert ask(forge, "POST", "~/issues", b"", headers=large).status == 413
    for wrong in ("many", "-1"):
        assert ask(forge, "POST", "~/issues", b"", headers={"Content-Length": wrong}).status == 400
    data = "eHh4" * 1_000_000
    assert ask(forge, "PUT", "~/contents/large", NEW | {"content": data}).status == 201
    assert ask(forge, "GET", "~/contents/large?ref=herbs").body["size"] == 3_000_000


def test_pieces_of_a_body(forge: Forge) -> None:
    place = urlsplit(forge.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as raw:
        head = f"POST /repos/{forge.repository}/issues HTTP/1.1\r\nHost: x\r\nAuthorization: token {forge.token}\r\n"
        raw.sendall(f"{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode())
        raw.sendall(b'a\r\n{"title": \r\n4\r\n"t"}\r\n0\r\n\r\n')
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 201 ")


@pytest.mark.parametrize("path", ["../..", ":(glob)**", "a%00b", "-p", "nope"])
def test_the_history_of_nothing(forge: Forge, path: str) -> None:
    got = ask(forge, "GET", f"~/commits?path={path}")
    assert (got.status, got.body) == (200, [])


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"GET /fernwood/seedling.git/info/refs?service=git-upload-pack\0", 400),
        (b"PUT /fernwood/seedling.git/info/refs?service=git-upload-pack", 405),
        (b"GET /repos/fernwood/seedling/contents/\0\xff%ff", 404),
        (b"BREW /repos/fernwood/seedling", 405),
        (b"GET " + b"/x" * 40_000, 414),
    ],
)
def test_lines_that_no_client_sends(forge: Forge, line: bytes, status: int) -> None:
    place = urlsplit(forge.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as raw:
        raw.sendall(line + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert int(raw.recv(65536).split()[1]) == status


def test_pages_lead_to_each_other(forge: Forge) -> None:
    first = ask(forge, "GET", "~/issues?state=all&per_page=7")
    here = f"{forge.url}/repos/{forge.repository}/issues?state=all&per_page=7&page="
    assert first.headers["link"] == f'<{here}2>; rel="next", <{here}3>; rel="last"'
    middle = ask(forge, "GET", "~/issues?state=all&per_page=7&page=2").headers["link"]
    assert middle == ", ".join(
        f'<{here}{number}>; rel="{name}"'
        for name, number in (("prev", 1), ("next", 3), ("last", 3), ("first", 1))
    )
    last = ask(forge, "GET", "~/issues?state=all&per_page=7&page=3")
    assert (len(last.body), last.headers["link"]) == (
        2,
        f'<{here}2>; rel="prev", <{here}1>; rel="first"',
    )
    far = ask(forge, "GET", "~/issues?state=all&per_page=7&page=" + "9" * 30)
    assert (far.body, far.headers["link"]) == ([], f'<{here}3>; rel="prev", <{here}1>; rel="first"')
    assert "link" not in ask(forge, "GET", "~/issues?state=all&per_page=1000").headers
    assert len(ask(forge, "GET", "~/issues?state=all&per_page=-1&page=x").body) == 16


def test_nothing_is_sent_twice(forge: Forge) -> None:
    first = ask(forge, "GET", "~/issues/3")
    again = ask(forge, "GET", "~/issues/3", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.data) == (304, b"")
    ask(forge, "POST", "~/issues/3/comments", {"body": "news"})
    assert ask(forge, "GET", "~/issues/3", headers={"If-None-Match": first.headers["etag"]}).status == 200


def test_a_head_without_a_body(forge: Forge) -> None:
    got = ask(forge, "HEAD", "~/issues/3")
    assert (got.status, got.data) == (200, b"")
    assert int(got.headers["content-length"]) > 100


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("token {}", 200),
        ("Bearer {}", 200),
        ("bearer  {}", 200),
        ("Basic !!", 401),
        ("Basic Og==", 401),
        ("Bearer", 401),
        ("Bearer a.b.c", 401),
        ("token ü", 401),
    ],
)
def test_tokens(forge: Forge, authorization: str, status: int) -> None:
    sent = {"Authorization": authorization.format(forge.token).encode("utf-8").decode("latin-1")}
    assert ask(forge, "GET", "/user", token=None, headers=sent).status == status


def test_dates_are_the_same_every_time(forge: Forge) -> None:
    def play() -> list[Any]:
        made = ask(forge, "PUT", "~/contents/a", NEW).body["commit"]["sha"]
        said = ask(forge, "POST", "~/issues/3/comments", {"body": "x"}).body
        return [made, said["id"], said["created_at"]]

    first = play()
    forge.reset()
    assert play() == first
