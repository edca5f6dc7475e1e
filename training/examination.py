"""Evaluates a network on many problems at a time, with misstep's mock tools and judge.

Decoding is greedy, as in the embedded model: tool names are constrained to those offered. Arguments are not
constrained here, while the embedded model constrains them to their schema.
"""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from tokenizers import Tokenizer

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.core.model import Chat, Message, System, User
from misstep.core.outcome import Call, Transcript
from misstep.models.local.grammar import ANSWER_HEAD, call_head
from misstep.models.local.template import END, chat_prompt
from misstep.planning.judging.check import judge
from misstep.planning.world.mock import MockWorld
from training.conversations import INSTRUCTIONS, said
from training.network import Network

BUDGET = 400_000  # tokens per forward pass
MOST_ARGUMENTS = 64  # maximum tokens of the arguments of a call
SPARE_CALLS = 6


class Choice(NamedTuple):
    """The head that was written (a tool, or the answer), and the text after it."""

    head: int
    rest: str


class Sitting:
    """One problem in progress."""

    def __init__(self, case: Case, tokenizer: Tokenizer) -> None:
        self.case = case
        self.tools: tuple[Tool, ...] = tuple(MockWorld(case).tools)
        self._world = MockWorld(case)
        self._tokenizer = tokenizer
        self._messages: list[Message] = [System(INSTRUCTIONS), User(case.query)]
        self._read = 0
        self._tokens = list[int]()
        self.calls = list[Call]()
        self.answered = False
        heads = [call_head(tool.name).rstrip() for tool in self.tools]
        self.heads = [tokenizer.encode(head).ids for head in (*heads, ANSWER_HEAD.rstrip())]

    @property
    def is_over(self) -> bool:
        """Whether the model has answered, or has made so many calls that it must have failed."""
        return self.answered or len(self.calls) > len(self.case.solution or self.case.actions) + SPARE_CALLS

    @property
    def passed(self) -> bool:
        transcript = Transcript(
            self.case.id, tuple(self.calls), ended="answered" if self.answered else "timeout"
        )
        return judge(self.case, transcript).verdict == "passed"

    def prompt(self) -> list[int]:
        """The tokens so far; only new messages are tokenised."""
        pieces = chat_prompt(Chat(tuple(self._messages), self.tools), taught=True)
        for piece in pieces[self._read : -2]:
            self._tokens += [piece] if isinstance(piece, int) else self._tokenizer.encode(piece).ids
        self._read = len(pieces) - 2
        last = [
            piece if isinstance(piece, int) else self._tokenizer.encode(piece).ids for piece in pieces[-2:]
        ]
        return [*self._tokens, last[0], *last[1]]

    def takes_arguments(self, head: int) -> bool:
        return head < len(self.tools) and bool(self.tools[head].parameters.get("properties"))

    def go_on(self, choice: Choice) -> None:
        if choice.head == len(self.tools):
            self.answered = True
            return
        tool = self.tools[choice.head].name
        written = choice.rest.strip().removesuffix("}") if self.takes_arguments(choice.head) else "{}"
        arguments = _read(written)
        result = self._world.answer(tool, arguments)
        self.calls.append(Call(tool, arguments, result, len(self.calls) + 1))
        self._messages += said(len(self.calls), tool, written, result)


def _read(text: str):
    try:
        return json.loads(text)
    except ValueError:
        return text


class Examiner:
    def __init__(self, network: Network, tokenizer: Tokenizer, device: torch.device) -> None:
        self._network = network
        self._tokenizer = tokenizer
        self._device = device

    def examine(self, cases: Sequence[Case]) -> list[bool]:
        """Whether each problem was solved."""
        return [sitting.passed for sitting in self.sit(cases)]

    def sit(self, cases: Sequence[Case]) -> list[Sitting]:
        """Run all problems to their end."""
        sittings = [Sitting(case, self._tokenizer) for case in cases]
        while waiting := [sitting for sitting in sittings if not sitting.is_over]:
            for group in _groups(waiting):
                prompts = [prompt for _, prompt in group]
                choices = self._choose([sitting for sitting, _ in group], prompts)
                for (sitting, _), choice in zip(group, choices, strict=True):
                    sitting.go_on(choice)
        return sittings

    @torch.inference_mode()
    def _choose(self, sittings: list[Sitting], prompts: list[list[int]]) -> list[Choice]:
        """Generate the next turn of each conversation."""
        network, device = self._network, self._device
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=device)
        texts = torch.zeros(len(prompts), int(lengths.max()), dtype=torch.long)
        for row, prompt in enumerate(prompts):
            texts[row, : len(prompt)] = torch.tensor(prompt)
        longest = max(len(head) for sitting in sittings for head in sitting.heads)
        known, memories = network.read(texts.to(device), longest + MOST_ARGUMENTS + 1)
        last = known[torch.arange(len(prompts), device=device), lengths - 1]
        pens = [_Pen(sitting) for sitting in sittings]
        places = lengths
        while True:
            scores = network.scores(last)
            tokens = _next_tokens(pens, scores)
            if all(pen.is_done for pen in pens):
                break
            last = network.go_on(torch.tensor(tokens, device=device), places, memories)
            places = places + 1
        return [Choice(pen.head, self._tokenizer.decode(pen.rest, skip_special_tokens=False)) for pen in pens]


class _Pen:
    """Writes one turn: an allowed head, then arguments if the tool takes any."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting
        self._left = dict(enumerate(sitting.heads))
        self._written = 0
        self.head = -1
        self.rest = list[int]()
        self.is_done = False

    def allowed(self) -> list[int]:
        """The allowed next tokens; empty if all are allowed, or if the turn is done."""
        if self.is_done or (self.head >= 0 and self._written >= len(self._sitting.heads[self.head])):
            return []
        return sorted({head[self._written] for head in self._left.values()})

    def write(self, token: int) -> None:
        if self.is_done:
            return
        if self.head >= 0 and self._written >= len(self._sitting.heads[self.head]):
            self.is_done = token == END or len(self.rest) == MOST_ARGUMENTS
            if token != END:
                self.rest.append(token)
            return
        self._left = {number: head for number, head in self._left.items() if head[self._written] == token}
        self._written += 1
        if len(self._left) == 1:
            (self.head,) = self._left
            self.is_done = not self._sitting.takes_arguments(self.head)


def _next_tokens(pens: list[_Pen], scores: torch.Tensor) -> list[int]:
    allowed = [pen.allowed() for pen in pens]
    free = scores.argmax(-1).tolist()
    width = max(1, *(len(tokens) for tokens in allowed))
    ids = torch.tensor(
        [[*tokens, *[tokens[0] if tokens else 0] * (width - len(tokens))] for tokens in allowed]
    )
    best = scores.gather(1, ids.to(scores.device)).argmax(-1).tolist()
    tokens = [each[place] if each else other for each, place, other in zip(allowed, best, free, strict=True)]
    for pen, token in zip(pens, tokens, strict=True):
        pen.write(token)
    return tokens


def _groups(sittings: list[Sitting]) -> Iterator[list[tuple[Sitting, list[int]]]]:
    """Groups of conversations of similar length, each within the token budget."""
    prompts = sorted([(sitting, sitting.prompt()) for sitting in sittings], key=lambda item: len(item[1]))
    group = list[tuple[Sitting, list[int]]]()
    for item in prompts:
        if group and len(item[1]) * (len(group) + 1) > BUDGET:
            yield group
            group = []
        group.append(item)
    if group:
        yield group
