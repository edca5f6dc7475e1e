"""Functions whose ways are known by heart; line numbers matter."""

import json
import threading


def straight(x: int) -> int:
    y = x + 1
    return y  # noqa: RET504


def fork(x: int) -> str:
    if x > 0:
        return "up"
    return "down"


def loop(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total


def library(text: str) -> object:
    return json.loads(text)


def outer(x: int) -> str:
    """Calls another one.

    This documentation is no code.
    """
    word = fork(x)
    if word == "never":
        word = "a"
        word = "b"

        word = "c"
    return word


def raising() -> None:
    raise ValueError("no")


def threaded() -> None:
    thread = threading.Thread(target=fork, args=(1,))
    thread.start()
    thread.join()


class Kept:
    def __init__(self) -> None:
        self.value = 1

    def read(self) -> int:
        return self.value


def keeping() -> int:
    return Kept().read()
