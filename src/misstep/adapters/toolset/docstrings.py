"""What the docstring of a function says."""

import inspect

from misstep.core.docstring import Documented, parse_docstring


def read_docstring(function: object) -> Documented:
    """A docstring in Google's, NumPy's or Sphinx's style, or in none at all."""
    return parse_docstring(inspect.getdoc(function) or "")
