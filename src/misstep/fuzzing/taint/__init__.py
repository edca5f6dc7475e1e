"""Marked values: they behave like plain ones and record what code does with them.

Used in the process that calls tools. Code that tests for an exact type, as in `type(x) is str`, can tell a
marked value from a plain one, so a finding counts only if a plain call shows it too.
"""

from misstep.fuzzing.taint.marking import Marks, observe
from misstep.fuzzing.taint.text import plain

__all__ = ["Marks", "observe", "plain"]
