"""Something that is done again and again while other work goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 1.0  # seconds


@contextmanager
def ticking(do: Callable[[], object], pause: float = PAUSE) -> Iterator[None]:
    """Call `do` after each pause, in a thread of its own, and once more at the end."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(pause):
            do()

    thread = threading.Thread(target=tick, name="ticking", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        do()
