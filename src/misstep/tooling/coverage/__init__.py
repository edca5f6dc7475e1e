"""Which places of a tool's own code a call reaches; used in the process in which tools are called."""

from misstep.tooling.coverage.coverage import Coverage, reach_of
from misstep.tooling.coverage.ownership import Ownership

__all__ = ["Coverage", "Ownership", "reach_of"]
