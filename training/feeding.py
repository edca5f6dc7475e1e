"""Batches of conversations of about one length, made by processes beside the training."""

import multiprocessing
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from misstep.core.case import Case
from misstep.core.rng import Dice, derive_seed
from misstep.errors import MisstepError
from misstep.planning.training import solve_case
from training.conversations import Conversation, by_react, by_tools, tokenise
from training.course import Kind, draw_varied, pick
from training.names import Words, rename
from training.phrasing import reworded
from training.weights import Source

SHIPPED = 0.25  # of the problems keep the names of a shipped topic
REWORDED = 0.5  # are said in more ways than the lexicon has
AGAIN = 0.25  # are problems that went wrong before, where there are such
REACT = 0.08  # of the order problems are told in the words of `react`
POOL = 4096  # conversations that are sorted by their length at a time
LONGEST = 1536  # tokens; longer conversations are left out
MULTIPLE = 32
AHEAD = 8  # batches that are ready before they are asked for


class Batch(NamedTuple):
    """Texts of about one length, filled up at the end, and what is learnt of them."""

    texts: Tensor
    learnt: Tensor


class Maker:
    """Makes conversations out of seeds."""

    def __init__(self, weights: Path) -> None:
        self._tokenizer = Source(weights).tokenizer()
        self._words = Words(list(self._tokenizer.get_vocab()))

    def make(
        self, shares: Mapping[Kind, float], seed: int, again: tuple[Case, ...] = ()
    ) -> Conversation | None:
        """A conversation; now and then on one of the problems that went wrong, in other words."""
        dice = Dice(derive_seed(seed, "conversation"))
        try:
            kind = pick(shares, dice)
            case = dice.pick(again) if again and dice.chance(AGAIN) else draw_varied(kind, seed)
            if dice.chance(REWORDED):
                case = reworded(case, dice)
            calls = solve_case(case)
        except MisstepError:
            return None
        if calls is None:
            return None
        is_plain = kind.mixture == "order"
        chat = by_react(case, calls) if is_plain and dice.chance(REACT) else by_tools(case, calls)
        if not dice.chance(SHIPPED):
            chat = rename(chat, case, self._words, dice)
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
            context.Process(
                target=_work, args=(weights, derive_seed(seed, number), told, self._made), daemon=True
            )
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
        """Batches of so many tokens, in random order within a pool; some are ready ahead of time."""
        ready = queue.Queue[Batch](AHEAD)

        def fill() -> None:
            while True:
                pool = self._pool()
                pool.sort(key=lambda made: len(made.tokens))
                for batch in dice.shuffled(cut(pool, budget)):
                    ready.put(together(batch))

        threading.Thread(target=fill, daemon=True).start()
        while True:
            yield ready.get()

    def _pool(self) -> list[Conversation]:
        pool = list[Conversation]()
        while len(pool) < POOL:
            lesson, made = self._made.get(timeout=300)
            if lesson == self._lesson:
                pool += made
        return pool

    def close(self) -> None:
        """End the workers; what they have not read yet is not waited for."""
        for told in self._told:
            told.cancel_join_thread()
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
    batch = Batch(torch.from_numpy(texts), torch.from_numpy(learnt))
    return Batch(batch.texts.pin_memory(), batch.learnt.pin_memory()) if torch.cuda.is_available() else batch


def _work(weights: Path, seed: int, told: Any, made: Any) -> None:
    torch.set_num_threads(1)
    maker, number = Maker(weights), 0
    lesson, shares, again = told.get()
    while True:
        with suppress(queue.Empty):
            lesson, shares, again = told.get_nowait()
        fresh = list[Conversation]()
        while len(fresh) < 64:
            number += 1
            if conversation := maker.make(shares, derive_seed(seed, number), again):
                fresh.append(conversation)
        made.put((lesson, fresh))
