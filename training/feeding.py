"""Batches of conversations of similar length, generated in separate processes during training."""

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

SHIPPED = 0.25  # share of problems that keep the names of a shipped topic
REWORDED = 0.5  # share of problems with phrases beyond the lexicon
AGAIN = 0.25  # share of problems that failed before, if there are any
REACT = 0.08  # share of order problems in the prompt format of `react`
POOL = 4096  # conversations that are sorted by length at a time
LONGEST = 1536  # tokens; longer conversations are left out
MULTIPLE = 32
AHEAD = 8  # batches prepared in advance


class Batch(NamedTuple):
    """Padded texts of similar length, and a mask of the tokens in the loss."""

    texts: Tensor
    learnt: Tensor


class Maker:
    """Makes conversations from seeds."""

    def __init__(self, weights: Path) -> None:
        self._tokenizer = Source(weights).tokenizer()
        self._words = Words(list(self._tokenizer.get_vocab()))

    def make(
        self, shares: Mapping[Kind, float], seed: int, again: tuple[Case, ...] = ()
    ) -> Conversation | None:
        """A conversation, sometimes about a problem that failed before, possibly in other words."""
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
    """An endless supply of conversations; no seed is used twice."""

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
        """Set the kinds of problems, and the failed problems to repeat, from now on."""
        self._lesson += 1
        for told in self._told:
            told.put((self._lesson, shares, again))

    def batches(self, budget: int, dice: Dice) -> Iterator[Batch]:
        """Batches of at most `budget` tokens, in random order within a pool; some are prepared in advance."""
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
        """Terminate the workers without waiting for unread messages."""
        for told in self._told:
            told.cancel_join_thread()
        for worker in self._workers:
            worker.terminate()


def cut(pool: list[Conversation], budget: int) -> list[list[Conversation]]:
    """Split a sorted pool into batches that fill the budget."""
    batches, batch, length = list[list[Conversation]](), list[Conversation](), 0
    for made in pool:
        length = padded(len(made.tokens))
        if batch and length * (len(batch) + 1) > budget:
            batches.append(batch)
            batch = []
        batch.append(made)
    return batches  # the incomplete last batch is dropped


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
