"""The fuzzer of a tool or a toolkit: says which calls to make, and is told what came of them."""

from misstep.fuzzing.search.attempt import CallSequence
from misstep.fuzzing.search.fuzzer import Fuzzer
from misstep.fuzzing.search.subject import Opener, Supply

__all__ = ["CallSequence", "Fuzzer", "Opener", "Supply"]
