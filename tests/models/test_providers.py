"""Names of models, where to reach them, what they cost."""

from pathlib import Path

import pytest

from misstep.core.outcome import Usage
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.models.providers import (
    FREE,
    ModelName,
    check_base_url,
    find_endpoint,
    find_price,
    load_providers,
    parse_model,
)
from misstep.models.throttle import retry_after
from misstep.runs.setup.models import name_model


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("openai/gpt-4o", "openai", "gpt-4o"),
        ("openai:gpt-4o", "openai", "gpt-4o"),
        ("gpt-4o", "openai", "gpt-4o"),
        ("ollama/llama3:8b", "ollama", "llama3:8b"),
        ("ollama:llama3:8b", "ollama", "llama3:8b"),
        ("openrouter/meta-llama/llama-3", "openrouter", "meta-llama/llama-3"),
        *((text, "local", "smollm2-135m-planner") for text in ("local", "local/", "local:")),
        ("local/smollm2-135m-planner", "local", "smollm2-135m-planner"),
        ("local-base", "local", "smollm2-135m"),
        ("local/smollm2-135m", "local", "smollm2-135m"),
        ("local:smollm2-135m", "local", "smollm2-135m"),
    ],
)
def test_names(text: str, provider: str, model: str) -> None:
    name = parse_model(text)
    assert name == parse_model(str(name)) == ModelName(provider, model)


@pytest.mark.parametrize("text", ["local", "local-base"])
def test_embedded_models_are_on_no_server(text: str) -> None:
    assert parse_model(text, "http://127.0.0.1:1/v1").provider == "local"


def test_an_embedded_model_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="no embedded model 'smollm2'") as caught:
        parse_model("local/smollm2")
    assert "local is local/smollm2-135m-planner, local-base is local/smollm2-135m" in str(caught.value.hints)
    assert caught.value.hints[-1] == "Did you mean 'smollm2-135m'?"
    with pytest.raises(UsageError, match="no embedded model 'x'") as caught:
        parse_model("local/x")
    assert "Did you mean" not in str(caught.value.hints)


def test_a_server_of_one_s_own_may_call_its_models_anything() -> None:
    assert parse_model("meta-llama/Llama-3", "http://127.0.0.1:1/v1") == ModelName(
        "openai", "meta-llama/Llama-3"
    )


@pytest.mark.parametrize("text", ["opnai/gpt-4o", "meta-llama/Llama-3", "/", "x:y"])
def test_unknown_providers(text: str) -> None:
    with pytest.raises(UsageError, match="unknown provider"):
        parse_model(text)


def test_a_missing_key_is_said_at_once() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        find_endpoint(parse_model("gpt-4o"), "", {})
    with pytest.raises(UsageError) as caught:
        find_endpoint(parse_model("local_base"), "", {})
    assert caught.value.hints[-1] == "Did you mean 'local-base'?"
    assert find_endpoint(parse_model("gpt-4o"), "", {"OPENAI_API_KEY": "k"}).key == "k"
    assert find_endpoint(parse_model("gpt-4o"), "http://127.0.0.1:1/v1", {}).key == "none"
    assert find_endpoint(parse_model("vllm/x"), "", {}).base_url == load_providers()["vllm"].base_url


@pytest.mark.parametrize("url", ["x", "ftp://h/v1", "http://", "http://h:99999/v1", "//h/v1", "http://[/v1"])
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(UsageError, match="invalid"):
        check_base_url(url)


@pytest.mark.parametrize("url", ["http://me:pw@h/v1", "http://sk-x@h/v1", "http://h/v1?api_key=x"])
def test_urls_with_secrets_are_refused_since_they_are_stored(url: str) -> None:
    with pytest.raises(UsageError, match="contains a secret"):
        check_base_url(url)


def test_prices() -> None:
    price = find_price(parse_model("openai/gpt-4o"))
    assert price is not None
    assert price.of(Usage(1_000_000, 1_000_000)) == price.input + price.output
    assert price.of(Usage(1_000_000, 0, 1_000_000)) == price.cached < price.input
    assert find_price(parse_model("gpt-4o-2024-08-06")) == price
    assert find_price(parse_model("gpt-4o-2024-05-13")) != price
    assert find_price(parse_model("gpt-4o-audio")) is None
    free = ("local", "local-base", "ollama/x")
    assert [find_price(parse_model(name)) for name in free] == [FREE] * 3


def test_one_s_own_prices_go_first(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[openai]\n"gpt-4o" = [1, 2]\n"mine" = [3, 4, 0]\n')
    mine = find_price(parse_model("mine"), str(file))
    assert mine is not None
    assert (mine.input, mine.output, mine.cached) == (3, 4, 0)
    known = find_price(parse_model("gpt-4o"), str(file))
    assert known is not None
    assert (known.input, known.output, known.cached) == (1, 2, 1)
    assert find_price(parse_model("gpt-4o-mini"), str(file)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "x",
        '[openai]\n"m" = [1]',
        '[openai]\n"m" = [-1, 1]',
        '[openai]\n"m" = "dear"',
        "[openai]\nm = [1,2,3,4]",
    ],
)
def test_prices_that_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(UsageError, match="is not a list of prices"):
        find_price(parse_model("gpt-4o"), str(tmp_path / "p.toml"))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        find_price(parse_model("gpt-4o"), str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:40 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=lambda: 60.0) == seconds


def test_a_role_has_the_model_it_was_given_or_the_agents() -> None:
    settings = Settings(model="gpt-4o", model_roles={"judge": "anthropic/claude-sonnet-5"})
    assert name_model(settings) == ModelName("openai", "gpt-4o")
    assert name_model(settings, "judge") == ModelName("anthropic", "claude-sonnet-5")
    assert name_model(settings, "generator") == ModelName("openai", "gpt-4o")
    assert name_model(Settings()) is None
