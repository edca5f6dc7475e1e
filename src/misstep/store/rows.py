"""Outcomes as rows: the slim columns that are summed up, the document that holds everything."""

import hashlib
from typing import Any

import msgspec

from misstep.core.case import Case
from misstep.core.outcome import Outcome
from misstep.core.spending import Spent
from misstep.core.transcript import storable

SLIM = (
    "run",
    "case_id",
    "verdict",
    "error",
    "chance",
    "text_order",
    "ignores_family",
    "calls",
    "input",
    "output",
    "cached",
    "seconds",
    "fingerprint",
)

_MOST_TOKENS = 2**40  # what a server claims is bounded, so that no sum overflows
_LONGEST_KEY = 200  # databases index no text of any length

_encoder = msgspec.json.Encoder()
_outcome_decoder = msgspec.json.Decoder(Outcome)
_spent_decoder = msgspec.json.Decoder(Spent)

encode = _encoder.encode
decode_outcome = _outcome_decoder.decode
decode_spent = _spent_decoder.decode


class Digest:
    """A digest of many cases, whatever their order."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0

    def add(self, case: Case) -> bytes:
        """Count a case; gives its own fingerprint."""
        own = fingerprint(case)
        self.count += 1
        self._sum = (self._sum + int.from_bytes(own)) % 2**64
        return own

    def __bytes__(self) -> bytes:
        return self._sum.to_bytes(8)


def fingerprint(case: Case) -> bytes:
    """A digest of the case's whole content."""
    return hashlib.blake2b(encode(case), digest_size=8).digest()


def key_of(text: str) -> str:
    """A name as databases can hold and index it; different names stay different, beginnings beginnings."""
    if "\\" in text or "\0" in text:
        text = text.replace("\\", "\\\\").replace("\0", "\\0")
    if not text.isascii():
        text = storable(text)
    if len(text) > _LONGEST_KEY:
        text = text[:_LONGEST_KEY] + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return text


class Row(msgspec.Struct, frozen=True):
    """An outcome taken apart for its two tables."""

    key: str
    slim: tuple[Any, ...]  # in the order of `SLIM`, less the run
    document: bytes


def row_of(outcome: Outcome) -> Row:
    case, verdict, transcript = outcome.case, outcome.verdict, outcome.transcript
    key, usage = key_of(case.id), transcript.usage
    tokens = (_bounded(usage.input), _bounded(usage.output), _bounded(usage.cached))
    naive = outcome.baselines
    passing = (naive.text_order, naive.ignores_family) if naive else (None, None)
    judged = (verdict.verdict, verdict.error, case.chance, *passing)
    slim = (key, *judged, len(transcript.calls), *tokens, outcome.seconds, fingerprint(case))
    return Row(key, slim, encode(outcome))


def _bounded(tokens: int) -> int:
    return tokens if -_MOST_TOKENS < tokens < _MOST_TOKENS else _MOST_TOKENS if tokens > 0 else -_MOST_TOKENS
