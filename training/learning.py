"""Training steps, and their throughput."""

import time

import torch
from torch import Tensor
from torch.nn import functional

from training.feeding import Batch
from training.network import Network

WARM_UP = 60  # steps
CLIP = 1.0


class Learner:
    """Trains a network, one batch at a time."""

    def __init__(self, network: Network, device: torch.device, rate: float) -> None:
        self.network = network
        self._rate = rate
        self._device = device
        self._parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(
            self._parameters, lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=device.type == "cuda"
        )
        self.steps = 0

    def learn(self, batch: Batch, strength: float = 1.0) -> Tensor:
        """Make one step and return the loss before it. `strength` scales the learning rate."""
        self.steps += 1
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * strength * min(1.0, self.steps / WARM_UP)
        loss = self.loss(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parameters, CLIP)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy on the masked tokens; logits are computed only at their positions."""
        texts = batch.texts.to(self._device, non_blocking=True)
        learnt = batch.learnt.to(self._device, non_blocking=True)
        known = self.network(texts)[:, :-1][learnt[:, 1:]]
        return functional.cross_entropy(self.network.scores(known).float(), texts[:, 1:][learnt[:, 1:]])


class Pace:
    """Measures tokens and arithmetic per second since the start, and the time spent waiting for batches."""

    def __init__(self, network: Network) -> None:
        shape = network.shape
        own = shape.width * (2 * shape.width + 2 * shape.groups * shape.head + 3 * shape.hidden)
        small = sum(adapted.a.numel() + adapted.b.numel() for _, adapted in network.learnt())
        # Forward and backward pass through frozen weights, plus the weight gradient for trained ones.
        self._per_token = 4 * own * shape.layers + 6 * small
        self._per_word = 4 * shape.words * shape.width
        # Causal attention: per token, proportional to the length of its text.
        self._per_length = 6 * shape.layers * shape.width
        self._began = time.monotonic()
        self.tokens = self.padding = self.words = 0
        self._arithmetic = 0.0
        self.waited = 0.0

    def count(self, batch: Batch) -> None:
        rows, length = batch.texts.shape
        words = int(batch.learnt.sum())
        self.tokens += rows * length
        self.padding += int((batch.texts == 0).sum())
        self.words += words
        self._arithmetic += (
            rows * length * (self._per_token + self._per_length * length) + words * self._per_word
        )

    def told(self) -> dict[str, float]:
        seconds = time.monotonic() - self._began
        return {
            "seconds": round(seconds, 1),
            "tokens_per_second": round(self.tokens / seconds),
            "teraflops": round(self._arithmetic / seconds / 1e12, 1),
            "padding": round(self.padding / max(1, self.tokens), 4),
            "waiting": round(self.waited / seconds, 4),
        }
