"""Which places of a tool's own code a call reaches; used in the process in which tools are called."""

from misstep.fuzzing.coverage.code import Ownership
from misstep.fuzzing.coverage.coverage import Coverage, reach_of

__all__ = ["Coverage", "Ownership", "reach_of"]
