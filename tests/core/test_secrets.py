"""What is masked: values of variables whose names say so, and what looks like a key."""

import hashlib
import random
import string
import uuid

import pytest

from misstep.core.secrets import MASK, Redactor, mask_shapes, secrets_in, without_values
from misstep.planning.synthesis.suite import Suite, make_case

# Joined here, so that no scanner takes this file for one with keys in it.
KEYS = [
    "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90",
    "sk-" + "ant-api03-" + "x1Y2" * 8,
    "ghp_" + "a1B2c3D4e5" * 3,
    "github_pat_" + "11ABCDE" + "z9" * 12,
    "xoxb-" + "1234567890-abcdefghij",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "hf_" + "QwErTyUiOpAsDfGhJkLz",
    "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0" + ".c2lnbmF0dXJlc2lnbg",
    "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEow\n-----END RSA PRIVATE" + " KEY-----",
]
INNOCENT = [
    "The stock count has been carried out successfully.",
    "sk-learn is a library, and so is task-runner",
    "misstep plan test --agent sim:greedy --count 200",
    hashlib.sha256(b"x").hexdigest(),
    str(uuid.UUID(int=12345678901234567890)),
    "ChatCompletionMessageToolCallParameterVersion2024Extended",
    "/usr/lib/python3.11/site-packages/some_package_1/module_name_2.py",
    "https://example.com/a/very/long/path/with-many-parts-2026/and-a-name",
    "aGVsbG8gd29ybGQ" * 40,  # a picture is longer than a key
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:6])
def test_keys_are_known_by_their_shape(key: str) -> None:
    assert mask_shapes(f"use {key}, please") == f"use {MASK}, please"
    assert mask_shapes(key) == MASK


@pytest.mark.parametrize("text", INNOCENT, ids=lambda text: text[:12])
def test_what_is_no_key_is_left_alone(text: str) -> None:
    assert mask_shapes(text) == text


def test_long_random_values_are_masked() -> None:
    chance, alphabet = random.Random(3), string.ascii_letters + string.digits
    values = ["".join(chance.choices(alphabet, k=chance.randint(40, 100))) for _ in range(500)]
    assert sum(mask_shapes(f"token={value}\n") == f"token={MASK}\n" for value in values) > 490


@pytest.mark.parametrize("families", [("order",), ("data",), ("budget",), ("time", "order"), ("dynamic",)])
def test_nothing_of_ours_looks_like_a_key(families: tuple[str, ...]) -> None:
    for index in range(20):
        case = make_case(Suite(seed=5, low=4, high=5, families=families), index)  # type: ignore[arg-type]
        for text in (case.id, case.query, *map(str, case.world.values.values())):
            assert mask_shapes(text) == text


@pytest.mark.parametrize(
    "name",
    ["MY_KEY_FILE", "TOKENS_FOR_US", "THE_SECRET_THING", "DBPASSWORD2", "apikeyprod", "X_PASSWD"],
)
def test_words_anywhere_in_the_name_of_a_variable(name: str) -> None:
    assert Redactor(secrets_in({name: "hunter2hunter2"}))("say hunter2hunter2") == f"say {MASK}"


def test_other_variables_are_no_secret() -> None:
    assert secrets_in({"HOME": "/home/somebody", "LANG": "en_GB.UTF-8", "EDITOR": "vim -u none"}) == ()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("server --api-key plainsecret1 --port 80", "server --api-key ... --port 80"),
        ("server --api-key=plainsecret1 -v", "server --api-key=... -v"),
        ("server --token --verbose", "server --token --verbose"),
        ("docker run -e API_TOKEN=abc image", "docker run -e API_TOKEN=... image"),
        ("server postgresql://me:pw@host/db", "server postgresql://...@host/db"),
        ("server https://host/mcp?api_key=a&b=c#d", "server https://host/mcp?api_key=...&b=...#d"),
        ("server https://host/mcp?plainsecret1#d", "server https://host/mcp?...#d"),
        ("server --url=https://me:pw@host/mcp?plainsecret1&b", "server --url=https://...@host/mcp?...&..."),
        ("server --folder /a/b?c=d", "server --folder /a/b?c=d"),
    ],
)
def test_a_command_is_shown_without_what_may_be_secret(words: str, shown: str) -> None:
    assert " ".join(without_values(words.split(), "...")) == shown
