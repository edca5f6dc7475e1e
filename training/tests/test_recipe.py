"""All training stages, small enough for seconds on a laptop."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from tokenizers import Tokenizer

from misstep.core.model import Chat
from misstep.core.rng import Dice
from misstep.models.local.template import chat_prompt
from misstep.planning.language.lexicon import load_lexicon, load_topics
from misstep.planning.language.parts import LanguagePart, is_of, topics_of
from misstep.planning.training import solve_case
from training.adapter import read_adapter, write_adapter
from training.conversations import by_react, by_tools, tokenise
from training.course import MIXTURES, Kind, draw, harder, kinds, least_actions
from training.examination import Choice, Examiner, Sitting
from training.feeding import Maker, cut, padded, together
from training.learning import Learner, Pace
from training.names import Words, rename
from training.network import ADAPTED, RANK, Network
from training.phrasing import more_phrases, reworded

CPU = torch.device("cpu")
UNSEEN = LanguagePart("unseen", "unseen", "seen")
CONTROLS = {0: "<|endoftext|>", 1: "<|im_start|>", 2: "<|im_end|>"}


@pytest.fixture(scope="module")
def maker(weights: Path) -> Maker:
    return Maker(weights)


# Conversations.


@pytest.mark.parametrize("mixture", MIXTURES)
def test_what_is_learnt_are_the_replies_and_nothing_else(mixture: str, tokenizer: Tokenizer) -> None:
    case = draw(Kind(mixture, max(4, least_actions(MIXTURES[mixture]))), seed=3)
    calls = solve_case(case)
    assert calls
    made = tokenise(by_tools(case, calls), tokenizer)
    learnt = [token for token, wanted in zip(made.tokens, made.learnt, strict=True) if wanted]
    *replies, rest = tokenizer.decode(learnt, skip_special_tokens=False).split(CONTROLS[2])
    assert not rest
    assert [json.loads(reply) for reply in replies] == [
        *({"tool": call.tool, "arguments": call.arguments} for call in calls),
        {"answer": "Everything has been carried out."},
    ]


def test_the_model_reads_in_earnest_what_it_read_in_training(tokenizer: Tokenizer) -> None:
    case = draw(Kind("order", 4), seed=5)
    calls = solve_case(case)
    assert calls
    chat = by_tools(case, calls)
    whole = tokenizer.decode(tokenise(chat, tokenizer).tokens, skip_special_tokens=False)
    turns = [place for place, message in enumerate(chat.messages) if place > 1 and place % 2 == 0]
    for turn in turns:  # each of its own turns, with all that came before
        pieces = chat_prompt(Chat(chat.messages[:turn], chat.tools), taught=True)
        assert whole.startswith("".join([CONTROLS.get(piece, piece) for piece in pieces]))


def test_react_is_told_in_its_own_words(tokenizer: Tokenizer) -> None:
    case = draw(Kind("order", 3), seed=5)
    calls = solve_case(case)
    assert calls
    made = tokenise(by_react(case, calls), tokenizer)
    learnt = [token for token, wanted in zip(made.tokens, made.learnt, strict=True) if wanted]
    said = tokenizer.decode(learnt, skip_special_tokens=False)
    assert re.findall(r"Action: (\w+)", said) == [call.tool for call in calls]
    assert said.endswith("Final Answer: Everything has been carried out.<|im_end|>")


# What is kept back.


def test_no_name_is_made_of_words_that_only_topics_kept_back_have(tokenizer: Tokenizer) -> None:
    words = set(Words(list(tokenizer.get_vocab())).all)
    activities = {
        side: {
            word
            for name in topics_of(side)
            for text in load_topics()[name].activities
            for word in text.split()
        }
        for side in ("seen", "unseen")
    }
    assert len(words) > 10_000
    assert words.isdisjoint(activities["unseen"] - activities["seen"])
    assert not words.isdisjoint(activities["seen"])


def test_no_phrase_that_is_added_has_one_in_it_that_is_kept_back() -> None:
    kept_back = [phrase for phrase in _texts(msgspec.to_builtins(load_lexicon())) if is_of(phrase, "unseen")]
    assert {"must follow", "in advance of", "is followed at some point by"} <= {*kept_back}
    said = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, kept_back))})(?!\w)")
    assert said.search("which must follow the others")
    added = [form for more in more_phrases().values() for phrase in more for form in phrase.split("|")]
    assert [phrase for phrase in added if said.search(phrase)] == []


def test_phrases_that_are_added_say_as_much_as_those_that_they_are_like() -> None:
    texts = {*_texts(msgspec.to_builtins(load_lexicon()))}
    for like, more in more_phrases().items():
        assert like in texts
        assert {_slots(each) for each in more} == {_slots(like)}


def _slots(phrase: str) -> frozenset[str]:
    return frozenset(re.findall(r"{(\w+)}", phrase.replace("a_value", "value")))


def _texts(part: Any) -> Iterator[str]:
    """All texts of a lexicon."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list | tuple):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _texts(inner)


def test_a_renamed_conversation_is_the_same_but_for_its_names(tokenizer: Tokenizer) -> None:
    case = draw(Kind("data", 4), seed=8)
    calls = solve_case(case)
    assert calls
    chat = by_tools(case, calls)
    words = Words(list(tokenizer.get_vocab()))
    renamed = rename(chat, case, words, Dice(1))
    old, new = [tool.name for tool in chat.tools], [tool.name for tool in renamed.tools]
    assert len({*new}) == len(old)
    assert not {*new} & {*old}
    text = str(renamed)
    assert not any(action.name in text or action.tool in text for action in case.actions)
    places = [old.index(m.calls[0].name) for m in chat.messages if getattr(m, "calls", ())]
    assert places == [new.index(m.calls[0].name) for m in renamed.messages if getattr(m, "calls", ())]


@pytest.mark.parametrize("mixture", MIXTURES)
def test_a_reworded_problem_keeps_its_constraints(mixture: str) -> None:
    cases = [draw(Kind(mixture, 5), seed) for seed in range(100)]
    others = [reworded(case, Dice(number)) for number, case in enumerate(cases)]
    assert sum(one.query != other.query for one, other in zip(cases, others, strict=True)) >= 90
    assert all(sentence in other.query for other in others for sentence in other.sentences)
    names = [[action.name for action in case.actions if action.name in case.query] for case in cases]
    assert all(name in other.query for other, named in zip(others, names, strict=True) for name in named)
    assert not any("{" in sentence or "|" in sentence for other in others for sentence in other.sentences)
    assert [case.constraints for case in cases] == [case.constraints for case in others]


# The course.


def test_lessons_grow_and_rounds_turn_to_what_goes_wrong() -> None:
    few, many = kinds(4, 0.3, 3), kinds(10, 0.3, 6)
    assert max(kind.actions for kind in few) == 4 < max(kind.actions for kind in many) == 10
    assert sum(many.values()) == pytest.approx(1)
    assert sum(share for kind, share in many.items() if kind.mixture == "order") == pytest.approx(0.7)
    hard, easy = Kind("order", 9), Kind("order", 2)
    turned = harder(many, {hard: 0.9, easy: 0.0}, floor=0.1)
    assert sum(turned.values()) == pytest.approx(1)
    assert turned[hard] / turned[easy] == pytest.approx(10)


def test_the_same_seed_makes_the_same_conversation(maker: Maker) -> None:
    shares = kinds(5, 0.4, 4)
    assert [maker.make(shares, seed) for seed in range(8)] == [maker.make(shares, seed) for seed in range(8)]


# Batches.


def test_batches_hold_neighbours_in_length_and_lose_nothing(maker: Maker) -> None:
    shares = {Kind("order", size): 1 / 3 for size in (2, 3, 4)}
    pool = sorted(
        [made for seed in range(40) if (made := maker.make(shares, seed))], key=lambda m: len(m.tokens)
    )
    batches = cut(pool, 4096)
    assert sum(map(len, batches)) > 0.8 * len(pool)
    for batch in batches:
        laid = together(batch)
        assert laid.texts.shape[1] == padded(len(batch[-1].tokens))
        assert laid.texts.numel() <= 4096
        for row, made in enumerate(batch):
            assert laid.texts[row, : len(made.tokens)].tolist() == made.tokens
            assert not laid.learnt[row, len(made.tokens) :].any()


# The network.


def test_going_on_from_a_memory_is_the_same_as_reading_it_all(network: Network) -> None:
    for _, adapted in network.learnt():
        torch.nn.init.normal_(adapted.b, std=0.1)
    texts = torch.randint(0, 49_152, (3, 12))
    places = torch.tensor([11, 7, 9])
    with torch.no_grad():
        whole = network(texts)[torch.arange(3), places]
        _, memories = network.read(texts[:, :11], room=2)
        on = network.go_on(texts[torch.arange(3), places], places, memories)
    assert torch.allclose(whole, on, atol=1e-4)


def test_only_the_small_matrices_learn_and_a_batch_is_soon_known(network: Network, maker: Maker) -> None:
    batch = together([made for seed in range(2) if (made := maker.make({Kind("order", 2): 1.0}, seed))])
    before = {name: buffer.clone() for name, buffer in network.named_buffers()}
    learner = Learner(network, CPU, rate=0.05)
    losses = [float(learner.learn(batch)) for _ in range(12)]
    assert losses[-1] < losses[0] - 0.3
    assert all(torch.equal(before[name], buffer) for name, buffer in network.named_buffers())
    pace = Pace(network)
    pace.count(batch)
    assert pace.tokens == batch.texts.numel()
    assert pace.told()["teraflops"] >= 0


def test_an_adapter_comes_back_as_it_was_written_and_is_small_enough(
    network: Network, tmp_path: Path
) -> None:
    for _, adapted in network.learnt():
        torch.nn.init.normal_(adapted.b, std=0.1)
    kept = {
        name: (adapted.a.detach().clone(), adapted.b.detach().clone()) for name, adapted in network.learnt()
    }
    assert len(kept) == 2 * len(ADAPTED)
    write_adapter(network, tmp_path / "adapter.gguf", "small")
    for _, adapted in network.learnt():
        torch.nn.init.zeros_(adapted.a)
    read_adapter(network, tmp_path / "adapter.gguf")
    for name, adapted in network.learnt():
        for now, then in zip((adapted.a, adapted.b), kept[name], strict=True):
            assert (now - then).abs().max() < then.abs().max() / 100
    # The real one: 30 layers, 8.5 bits for a number.
    sides = {
        "attn_q": 1152,
        "attn_v": 768,
        "attn_output": 1152,
        "ffn_gate": 2112,
        "ffn_up": 2112,
        "ffn_down": 2112,
    }
    assert sum(sides[name] for name in ADAPTED) * 30 * RANK * 8.5 / 8 < 10_000_000


# Examinations.


def test_a_sitting_is_passed_by_a_correct_plan_alone(tokenizer: Tokenizer) -> None:
    case = draw(Kind("order", 4), 1, UNSEEN)
    calls = solve_case(case)
    assert calls
    for wanted, planned in ((True, [*calls]), (False, [*reversed(calls)]), (False, [*calls[:-1]])):
        sitting = Sitting(case, tokenizer)
        names = [tool.name for tool in sitting.tools]
        for call in planned:
            assert sitting.prompt()[-3:] == tokenizer.encode("assistant\n").ids
            sitting.go_on(Choice(names.index(call.tool), ""))
        sitting.go_on(Choice(len(names), ""))
        assert sitting.is_over
        assert sitting.passed == wanted


def test_a_network_that_knows_nothing_still_makes_calls_that_exist(
    network: Network, tokenizer: Tokenizer
) -> None:
    cases = [draw(Kind("order", 2), seed) for seed in range(3)] + [draw(Kind("timed", 2), 1)]
    sittings = Examiner(network, tokenizer, CPU).sit(cases)
    assert all(sitting.is_over for sitting in sittings)
    assert any(sitting.calls for sitting in sittings)
    for sitting in sittings:
        assert {call.tool for call in sitting.calls} <= {tool.name for tool in sitting.tools}


def test_the_whole_recipe_at_a_toy_size(weights: Path, tmp_path: Path) -> None:
    sizes = "--layers 1 --workers 1 --tokens 2048 --papers 1 --probes 1 --most 3"
    lengths = "--steps 3 --rounds 1 --round 1 --settling 1"
    command = [
        sys.executable,
        "-m",
        "training",
        "--weights",
        str(weights),
        "--out",
        str(tmp_path),
        "--no-compile",
    ]
    done = subprocess.run(
        [*command, *sizes.split(), *lengths.split()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [event["what"] for event in events if event["event"] == "examined"] == [
        "before",
        "lessons",
        "round 1",
        "settled",
    ]
    assert (tmp_path / "planner-settled.gguf").stat().st_size > 100_000
    rows = (tmp_path / "table.md").read_text().splitlines()
    assert "| before | lessons | round 1 | settled |" in rows[0]
    assert any(row.startswith("| order | 3 | topics, words |") for row in rows)
