"""What `import misstep` gives."""

import inspect
import re

import misstep
from tests.reference.tables import first_line, table


def every_name() -> str:
    rows = [
        (f"`{name}{signature(getattr(misstep, name))}`", first_line(getattr(misstep, name)))
        for name in misstep.__all__
    ]
    return table(("name", "what it is"), rows)


def signature(named: object) -> str:
    """How it is called; of classes only that of functions matters."""
    if not inspect.isfunction(named):
        return ""
    text = str(inspect.signature(named))
    text = re.sub(r"\bmisstep(?:\.\w+)+\.(\w+)", r"\1", text)
    text = re.sub(r"\b(?:collections\.abc|typing|pathlib)\.", "", text)
    return re.sub(r"Callable\[\[RunStarted[^]]*\], None\]", "Listener", text)
