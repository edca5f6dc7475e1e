"""Something that is done again and again while other work goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 1.0  # seconds


@contextmanager
def ticking(do: Callable[[], object], pause: float = PAUSE) -> Iterator[None]:
    """Call `do` after each pause, in a thread of its own, and once more at the end.

    It ends with the first time that goes wrong, which is raised when the work is done; what went wrong with
    the work itself comes first.
    """
    over, wrong = threading.Event(), list[Exception]()

    def tick() -> None:
        try:
            while not over.wait(pause):
                do()
        except Exception as error:
            wrong.append(error)

    thread = threading.Thread(target=tick, name="ticking", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if wrong:
        raise wrong[0]
    do()
