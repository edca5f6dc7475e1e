"""The fuzzer of a tool or toolkit: proposes calls and learns from the reactions."""

from misstep.fuzzing.search.corpus import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.fuzzing.search.subject import Supply

__all__ = ["CallSequence", "Fuzzer", "Supply"]
