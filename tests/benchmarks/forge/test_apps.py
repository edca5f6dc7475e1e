"""Apps introduce themselves with a signed token, and get one of their own."""

import time
from functools import cache
from typing import Any

import pytest

from misstep.benchmarks.forge.forge import Forge
from misstep.benchmarks.forge.rest.signatures import read_public_key
from misstep.errors import UsageError
from tests.benchmarks.forge.asking import ask

github: Any = pytest.importorskip("github")
jwt: Any = pytest.importorskip("jwt")
rsa: Any = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
serialization: Any = pytest.importorskip("cryptography.hazmat.primitives.serialization")


@cache
def key(number: int = 1) -> tuple[str, str]:
    """Both halves of a key in PEM, the private one first; another number, another key."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return (
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode(),
        private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode(),
    )


def test_an_app_works_as_langchain_lets_it() -> None:
    private, public = key()
    with Forge(app_key=public, private=True) as forge:
        quick = {"seconds_between_requests": None, "seconds_between_writes": None, "retry": None}
        app = github.GithubIntegration(auth=github.Auth.AppAuth("1", private), base_url=forge.url, **quick)
        installation = app.get_installations()[0]
        assert app.get_repo_installation("fernwood", "seedling").id == installation.id
        assert [repo.full_name for repo in installation.get_repos()] == [forge.repository]
        with installation.get_github_for_installation() as asked:
            asked.get_repo(forge.repository).get_issue(3).create_comment("by the app")
        assert forge.state().threads[3].comments[-1].body == "by the app"
        assert forge.errors == []
        app.close()


def test_tokens_that_are_not_signed_as_they_should_be() -> None:
    private, public = key()
    other, _ = key(2)
    soon = {"iss": "1", "exp": int(time.time()) + 60}
    good = jwt.encode(soon, private, algorithm="RS256")
    bad = [
        jwt.encode(soon, other, algorithm="RS256"),
        jwt.encode(soon, "secret" * 10, algorithm="HS256"),
        jwt.encode(soon, private, algorithm="RS512"),
        jwt.encode({"iss": "1", "exp": int(time.time()) - 60}, private, algorithm="RS256"),
        jwt.encode({"iss": "1"}, private, algorithm="RS256"),
        good[:-4] + "AAAA",
        "a.b.c",
        "..",
        good.rsplit(".", 1)[0] + ".",
    ]
    with Forge(app_key=public) as forge:
        assert ask(forge, "GET", "/app", token=good).body["slug"] == "fernwood-helper"
        assert ask(forge, "POST", "~/issues", {"title": "t"}, token=good).status == 403
        for token in bad:
            got = ask(forge, "GET", "/app", token=token)
            assert (got.status, got.body["message"]) == (401, "A JSON web token could not be decoded")
        assert ask(forge, "GET", "/app/installations").status == 401
        assert ask(forge, "GET", "/app/installations/2", token=good).status == 404


def test_keys_that_are_none() -> None:
    private, public = key()
    assert read_public_key(public).exponent == 65537
    cut = public.replace(public.splitlines()[3], "")
    for pem in ("x", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", private, cut):
        with pytest.raises(UsageError, match="is not a public RSA key in PEM format"):
            read_public_key(pem)
