"""Marked values: they behave like plain ones and tell what code does with them.

Used in the process in which tools are called. Code that asks for the very type of a value, as in
`type(x) is str`, can tell that it is marked; so a finding counts only if a plain call shows it too.
"""

from misstep.fuzzing.taint.marking import Marks, observe, plain

__all__ = ["Marks", "observe", "plain"]
