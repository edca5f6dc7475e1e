"""Batches of conversations of about one length, made by processes beside the training."""

import multiprocessing
import queue
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from misstep.core.case import Case
from misstep.core.dice import Dice, derive_seed
from misstep.errors import MisstepError
from misstep.planning.training.solutions import solve_case
from training.conversations import Conversation, by_react, by_tools, tokenise
from training.course import Kind, draw_varied, pick
from training.names import known_words, rename
from training.weights import Source

SHIPPED = 0.25  # of the problems keep the names of a shipped topic
REACT = 0.08  # of the order problems are told in the words of `react`
POOL = 4096  # conversations that are sorted by their length at a time
LONGEST = 1536  # tokens; longer conversations are left out
MULTIPLE = 32


class Batch(NamedTuple):
    """Texts of about one length, filled up at the end, and what is learnt of them."""

    texts: Tensor
    learnt: Tensor


class Maker:
    """Makes conversations out of seeds."""

    def __init__(self, weights: Path) -> None:
        self._tokenizer = Source(weights).tokenizer()
        self._words = known_words(list(self._tokenizer.get_vocab()))

    def make(self, shares: Mapping[Kind, float], seed: int, again: tuple[Case, ...] = ()) -> Conversation | None:
        """A conversation; now and then on one of the problems that went wrong, in other words."""
        dice = Dice(derive_seed(seed, "conversation"))
        try:
            kind = pick(shares, dice)
            case = dice.pick(again) if again and dice.chance(0.25) else draw_varied(kind, seed)
            if not dice.chance(SHIPPED):
                case = rename(case, self._words, dice)
            calls = solve_case(case)
        except MisstepError:
            return None
        if calls is None:
            return None
        plain = not case.solution
        chat = by_react(case, calls) if plain and dice.chance(REACT) else by_tools(case, calls)
        made = tokenise(chat, self._tokenizer)
        return made if len(made.tokens) <= LONGEST else None


class Feed:
    """Conversations without end, from seeds that never come twice."""

    def __init__(self, weights: Path, seed: int, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._made: Any = context.Queue(maxsize=4 * workers)
        self._told = [context.Queue() for _ in range(workers)]
        self._lesson = 0
        self._workers = [
            context.Process(target=_work, args=(weights, derive_seed(seed, number), told, self._made), daemon=True)
            for number, told in enumerate(self._told)
        ]
        for worker in self._workers:
            worker.start()

    def turn_to(self, shares: Mapping[Kind, float], again: tuple[Case, ...] = ()) -> None:
        """What the conversations from now on are about."""
        self._lesson += 1
        for told in self._told:
            told.put((self._lesson, shares, again))

    def batches(self, budget: int, dice: Dice) -> Iterator[Batch]:
        """Batches of so many tokens, in random order within a pool."""
        while True:
            pool = self._pool()
            pool.sort(key=lambda made: len(made.tokens))
            for batch in dice.shuffled(cut(pool, budget)):
                yield together(batch)

    def _pool(self) -> list[Conversation]:
        pool = list[Conversation]()
        while len(pool) < POOL:
            lesson, made = self._made.get(timeout=300)
            if lesson == self._lesson:
                pool += made
        return pool

    def close(self) -> None:
        for worker in self._workers:
            worker.terminate()


def cut(pool: list[Conversation], budget: int) -> list[list[Conversation]]:
    """Neighbours, so many together that they fill the budget."""
    batches, batch, length = list[list[Conversation]](), list[Conversation](), 0
    for made in pool:
        length = padded(len(made.tokens))
        if batch and length * (len(batch) + 1) > budget:
            batches.append(batch)
            batch = []
        batch.append(made)
    return batches  # what is left over is too few to be worth a step


def padded(length: int) -> int:
    return -(-length // MULTIPLE) * MULTIPLE


def together(batch: list[Conversation]) -> Batch:
    length = padded(max(len(made.tokens) for made in batch))
    texts, learnt = np.zeros((len(batch), length), np.int64), np.zeros((len(batch), length), bool)
    for row, made in enumerate(batch):
        texts[row, : len(made.tokens)] = made.tokens
        learnt[row, : len(made.tokens)] = made.learnt
    return Batch(torch.from_numpy(texts), torch.from_numpy(learnt))


def _work(weights: Path, seed: int, told: Any, made: Any) -> None:
    torch.set_num_threads(1)
    maker, number = Maker(weights), 0
    lesson, shares, again = told.get()
    while True:
        try:
            lesson, shares, again = told.get_nowait()
        except queue.Empty:
            pass
        fresh = list[Conversation]()
        while len(fresh) < 64:
            number += 1
            if conversation := maker.make(shares, derive_seed(seed, number), again):
                fresh.append(conversation)
        made.put((lesson, fresh))
