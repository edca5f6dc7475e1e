"""The real PyGithub client finds what it expects of GitHub."""

from collections.abc import Iterator
from typing import Any

import pytest

from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.tasks import initial_state

github: Any = pytest.importorskip("github")


def client(forge: Forge, token: str | None = None, **options: Any) -> Any:
    quick = {"seconds_between_requests": None, "seconds_between_writes": None, "retry": None}
    auth = github.Auth.Token(token) if token else None
    return github.Github(base_url=forge.url, auth=auth, **quick, **options)


@pytest.fixture
def repo(forge: Forge) -> Iterator[Any]:
    found = client(forge, forge.token)
    yield found.get_repo(forge.repository)
    found.close()


def test_the_repository_and_its_branches(repo: Any, forge: Forge) -> None:
    assert (repo.full_name, repo.default_branch, repo.private) == ("fernwood/seedling", "main", False)
    assert repo.clone_url == forge.clone_url
    assert repo.permissions.push
    assert {branch.name for branch in repo.get_branches()} == set(initial_state().branches)
    main = repo.get_branch("main")
    assert main.commit.sha == initial_state().branches["main"].tip
    assert main.commit.commit.message == "Keep a change log"
    assert main.commit.author.login == "mara-lindqvist"
    assert [commit.commit.message for commit in repo.get_commits(path="CONTRIBUTING.md")] == [
        "Describe how to take part"
    ]
    assert repo.get_commits().totalCount == 3


def test_people(forge: Forge, repo: Any) -> None:
    with client(forge, forge.token) as asked:
        assert asked.get_user().login == "fernwood-helper"
        assert asked.get_user("ines-castanheira").name == "Inês Castanheira"
        assert asked.get_rate_limit().resources.core.limit == 5000
    assert repo.has_in_collaborators("mara-lindqvist")
    assert not repo.has_in_collaborators("nobody-knows")
    assert repo.owner.login == "fernwood"


def test_files_are_read(repo: Any) -> None:
    assert repo.get_contents("docs/zones.md").decoded_content.startswith(b"# Zones\n")
    assert repo.get_contents("src/seedling/data/größen.csv", ref="herbs").name == "größen.csv"
    assert repo.get_contents("docs/draft notes.md", ref="docs-refresh").size > 0
    top = {content.path: content.type for content in repo.get_contents("")}
    assert (top["docs"], top["README.md"]) == ("dir", "file")
    assert repo.get_readme().path == "README.md"
    assert len(repo.get_git_tree("main", recursive=True).tree) > 15
    with pytest.raises(github.UnknownObjectException):
        repo.get_contents("no/such/file")
    with pytest.raises(github.GithubException, match="No commit found for the ref nope: 404"):
        repo.get_contents("README.md", ref="nope")


def test_a_file_is_created_updated_and_deleted(repo: Any, forge: Forge) -> None:
    made = repo.create_file("a/b/ü c.txt", "Create it", "one\n", branch="herbs")
    assert forge.state().branches["herbs"].tip == made["commit"].sha
    assert repo.get_commit(made["commit"].sha).author.login == "fernwood-helper"
    changed = repo.update_file("a/b/ü c.txt", "Change it", "two\n", made["content"].sha, branch="herbs")
    assert repo.get_contents("a/b/ü c.txt", ref="herbs").decoded_content == b"two\n"
    repo.delete_file("a/b/ü c.txt", "Delete it", changed["content"].sha, branch="herbs")
    assert forge.state().branches["herbs"].files == initial_state().branches["herbs"].files
    messages = [commit.commit.message for commit in repo.get_commits(sha="herbs")]
    assert messages[:3] == ["Delete it", "Change it", "Create it"]


def test_files_that_were_not_read_are_kept(repo: Any) -> None:
    with pytest.raises(github.GithubException) as without:
        repo.create_file("README.md", "Over it", "mine")
    assert (without.value.status, without.value.data["message"]) == (
        422,
        'Invalid request.\n\n"sha" wasn\'t supplied.',
    )
    with pytest.raises(github.GithubException) as outdated:
        repo.update_file("README.md", "Over it", "mine", "0" * 40)
    assert (outdated.value.status, outdated.value.data["message"]) == (
        409,
        f"README.md does not match {'0' * 40}",
    )
    with pytest.raises(github.UnknownObjectException, match="Branch nope not found"):
        repo.create_file("new.txt", "New", "mine", branch="nope")


def test_branches_come_and_go(repo: Any, forge: Forge) -> None:
    sha = repo.get_branch("main").commit.sha
    ref = repo.create_git_ref("refs/heads/fix/zone-0", sha)
    assert repo.get_branch("fix/zone-0").commit.sha == sha
    with pytest.raises(github.GithubException) as twice:
        repo.create_git_ref("refs/heads/fix/zone-0", sha)
    assert (twice.value.status, twice.value.data["message"]) == (422, "Reference already exists")
    herbs = repo.get_branch("herbs").commit.sha
    ref.edit(herbs)
    assert repo.get_git_ref("heads/fix/zone-0").object.sha == herbs
    with pytest.raises(github.GithubException, match="not a fast forward"):
        ref.edit(repo.get_branch("frost-dates").commit.sha)
    ref.edit(sha, force=True)
    assert [each.ref for each in repo.get_git_matching_refs("heads/fix")] == ["refs/heads/fix/zone-0"]
    ref.delete()
    assert forge.state() == initial_state()


def test_a_commit_is_made_of_its_parts(repo: Any, forge: Forge) -> None:
    blob = repo.create_git_blob("aGVsbG8=", "base64")
    assert repo.get_git_blob(blob.sha).size == 5
    main = repo.get_git_commit(repo.get_branch("main").commit.sha)
    elements = [
        github.InputGitTreeElement("new/hello.txt", "100644", "blob", sha=blob.sha),
        github.InputGitTreeElement("LICENSE", "100644", "blob", sha=None),
        github.InputGitTreeElement("docs/run.sh", "100755", "blob", content="#!/bin/sh\n"),
    ]
    tree = repo.create_git_tree(elements, main.tree)
    author = github.InputGitAuthor("Jo", "jo@fernwood.example")
    commit = repo.create_git_commit("By hand", tree, [main], author=author)
    repo.get_git_ref("heads/main").edit(commit.sha)
    files = forge.state().branches["main"].files
    before = initial_state().branches["main"].files
    assert {*files} ^ {*before} == {"new/hello.txt", "LICENSE", "docs/run.sh"}
    assert repo.get_branch("main").commit.commit.author.name == "Jo"
    assert repo.get_git_tree(tree.sha).sha == tree.sha


def test_issues_and_comments(repo: Any, forge: Forge) -> None:
    assert [issue.number for issue in repo.get_issues()][:3] == [16, 15, 13]
    assert repo.get_issues(state="all").totalCount == 16
    assert {issue.number for issue in repo.get_issues(state="closed")} == {1, 14}
    assert {issue.number for issue in repo.get_issues(labels=["bug", "waiting"])} == {6}
    assert {issue.number for issue in repo.get_issues(assignee="mara-lindqvist")} == {11}
    issue = repo.get_issue(2)
    assert [comment.user.login for comment in issue.get_comments()] == ["mara-lindqvist", "ines-castanheira"]
    comment = issue.create_comment("Hello, *wörld* 🌱")
    assert issue.get_comment(comment.id).body == "Hello, *wörld* 🌱"
    comment.edit("Changed")
    assert forge.state().threads[2].comments[-1].body == "Changed"
    comment.delete()
    assert len(forge.state().threads[2].comments) == 2
    assert issue.pull_request is None
    assert repo.get_issue(7).pull_request is not None
    with pytest.raises(github.UnknownObjectException):
        repo.get_issue(99)


def test_issues_are_opened_and_changed(repo: Any, forge: Forge) -> None:
    issue = repo.create_issue("A title", "A text", labels=["bug", "brand new"], assignee="tobias-okafor")
    assert (issue.number, issue.user.login) == (17, "fernwood-helper")
    issue.edit(title="Another", state="closed")
    issue.add_to_labels("question")
    issue.remove_from_labels("bug")
    found = forge.state().threads[17]
    assert (found.title, found.state, found.labels) == ("Another", "closed", ("brand new", "question"))
    issue.set_labels("waiting")
    assert [label.name for label in issue.get_labels()] == ["waiting"]
    assert "brand new" in {label.name for label in repo.get_labels()}
    assert repo.get_label("good first issue").color == "7057ff"
    repo.create_label("later", "ffffff", "Not now")
    with pytest.raises(github.GithubException) as twice:
        repo.create_label("later", "ffffff")
    assert twice.value.data["errors"][0]["code"] == "already_exists"
    with pytest.raises(github.GithubException) as empty:
        repo.create_issue("")
    assert empty.value.data["errors"] == [{"resource": "Issue", "code": "missing_field", "field": "title"}]


def test_pull_requests(repo: Any, forge: Forge) -> None:
    assert [pull.number for pull in repo.get_pulls()] == [13, 7]
    assert [pull.number for pull in repo.get_pulls(head="fernwood:frost-dates")] == [7]
    pull = repo.get_pull(7)
    assert (pull.commits, pull.changed_files, pull.comments) == (1, 4, 1)
    assert [file.filename for file in pull.get_files()] == sorted(file.filename for file in pull.get_files())
    assert {file.status for file in pull.get_files()} == {"added"}
    assert [commit.commit.message for commit in pull.get_commits()] == ["Last frost dates by zone"]
    assert [user.login for user in pull.requested_reviewers] == ["mara-lindqvist"]
    made = repo.create_pull(base="main", head="release-0.4", title="Release", body="0.4.0", draft=True)
    changes = {file.filename: (file.status, file.additions, file.deletions) for file in made.get_files()}
    assert changes["pyproject.toml"] == ("modified", 1, 1)
    assert (made.number, made.additions, made.deletions, made.draft) == (17, 13, 1, True)
    made.create_review_request(reviewers=["ines-castanheira"])
    made.create_issue_comment("Please look")
    made.edit(title="Release 0.4.0")
    kept = forge.state().threads[17]
    assert kept.pull is not None
    assert (kept.title, kept.pull.reviewers, kept.pull.draft) == (
        "Release 0.4.0",
        ("ines-castanheira",),
        True,
    )


def test_pull_requests_that_make_no_sense(repo: Any) -> None:
    cases = {
        ("main", "frost-dates"): "A pull request already exists for fernwood:frost-dates.",
        ("herbs", "main"): "No commits between herbs and main",
    }
    for (base, head), message in cases.items():
        with pytest.raises(github.GithubException) as refused:
            repo.create_pull(base=base, head=head, title="T", body="")
        assert refused.value.status == 422
        assert refused.value.data["errors"][0]["message"] == message
    for base, head, field in (("main", "nope", "head"), ("nope", "herbs", "base")):
        with pytest.raises(github.GithubException) as unknown:
            repo.create_pull(base=base, head=head, title="T", body="")
        assert unknown.value.data["errors"] == [
            {"resource": "PullRequest", "code": "invalid", "field": field}
        ]


def test_reviews(repo: Any, forge: Forge) -> None:
    pull = repo.get_pull(13)
    review = pull.create_review(body="Lovely", event="APPROVE")
    assert [each.state for each in pull.get_reviews()] == ["APPROVED"]
    assert pull.get_review(review.id).body == "Lovely"
    pull.create_review_request(reviewers=["mara-lindqvist", "tobias-okafor"])
    pull.delete_review_request(reviewers=["mara-lindqvist"])
    assert [user.login for user in pull.get_review_requests()[0]] == ["tobias-okafor"]
    for login, words in (("nobody-knows", "not a collaborator"), ("ines-castanheira", "pull request author")):
        with pytest.raises(github.GithubException, match=words):
            pull.create_review_request(reviewers=[login])


def test_a_pull_request_closes_with_its_branch(repo: Any, forge: Forge) -> None:
    repo.get_git_ref("heads/frost-dates").delete()
    assert repo.get_pull(7).state == "closed"
    with pytest.raises(github.GithubException, match="default branch"):
        repo.get_git_ref("heads/main").delete()


def test_search(forge: Forge) -> None:
    with client(forge, forge.token) as asked:
        found = asked.search_issues("frost", repo=forge.repository)
        assert {issue.number for issue in found} == {7, 11}
        assert asked.search_issues("frost is:pr", repo=forge.repository).totalCount == 1
        assert (
            asked.search_issues("zone traceback label:bug state:open", repo=forge.repository)[0].number == 9
        )
        assert asked.search_issues("frost", repo="somebody/else").totalCount == 0
        code = asked.search_code("weeks_until", repo=forge.repository)
        assert {file.path for file in code} == {"src/seedling/calendar.py", "tests/test_calendar.py"}
        assert asked.search_code("weeks_until path:tests", repo=forge.repository).totalCount == 1


def test_pages(forge: Forge) -> None:
    with client(forge, forge.token, per_page=3) as asked:
        repo = asked.get_repo(forge.repository)
        issues = repo.get_issues(state="all")
        assert [issue.number for issue in issues] == list(range(16, 0, -1))
        assert [issue.number for issue in issues.reversed][:2] == [1, 2]
        assert [issue.number for issue in issues.get_page(1)] == [13, 12, 11]
        assert issues.get_page(9) == []


def test_releases_there_are_none(repo: Any) -> None:
    assert list(repo.get_releases()) == []
    for missing in (repo.get_latest_release, lambda: repo.get_release("v1")):
        with pytest.raises(github.UnknownObjectException):
            missing()


def test_who_may_do_what(forge: Forge) -> None:
    with (
        client(forge) as nobody,
        client(forge, forge.read_token) as reader,
        client(forge, "ghp_wrong") as stranger,
    ):
        assert nobody.get_repo(forge.repository).get_issue(3).title
        for visitor, status in ((nobody, 401), (reader, 403)):
            with pytest.raises(github.GithubException) as refused:
                visitor.get_repo(forge.repository).get_issue(3).create_comment("no")
            assert refused.value.status == status
        with pytest.raises(github.BadCredentialsException, match="Bad credentials"):
            stranger.get_repo(forge.repository)
    assert forge.state() == initial_state()


def test_a_private_repository_is_hidden() -> None:
    with Forge(private=True) as forge, client(forge) as nobody, client(forge, forge.read_token) as reader:
        assert reader.get_repo(forge.repository).private
        with pytest.raises(github.UnknownObjectException):
            nobody.get_repo(forge.repository)
