"""Tools that take too much, or everything down with them."""

import ctypes
import os
import re
import sys
import time

JOBS = {"backup": "done", "index": "running"}


def job_state(job: str) -> str:
    """The state of a job: backup, index, or all to wait for all of them."""
    while job == "all":
        time.sleep(0.01)
    return JOBS.get(job, "no such job")


def collatz(n: int) -> int:
    """How many steps it takes to get from n to 1 by the rule of Collatz."""
    if n < 0:
        raise ValueError("n must be positive")
    n, steps = min(n, 10**6), 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def pad(text: str, width: int) -> str:
    """Pad a text with blanks to a width. Returns the padded text's length."""
    return str(len(text.ljust(max(0, min(width, 10**12)))))


def pages(selection: str) -> str:
    """List the pages of a selection such as 3-7."""
    if not re.fullmatch(r"[0-9]{1,12}-[0-9]{1,12}", selection):
        return "Error: write it like 3-7"
    first, last = selection.split("-")
    return f"{len([*range(int(first), int(last) + 1)])} pages"


def restart(service: str) -> str:
    """Restart a service, web or mail."""
    if service not in ("web", "mail"):
        sys.exit(f"no service {service}")
    return f"{service} restarted"


def stop_worker(worker: str) -> str:
    """Stop a worker: w1, w2 or main."""
    if worker == "main":
        os._exit(3)
    return f"{worker} stopped" if worker in ("w1", "w2") else "Error: no such worker"


def read_register(address: int) -> str:
    """Read a register of the device, 0 to 15."""
    if not 0 <= address <= 15:
        raise ValueError("registers are 0 to 15")
    return ctypes.string_at(0).hex() if address == 15 else "00"


def depth_of(brackets: str) -> str:
    """How deeply brackets such as (()) are nested."""
    if not re.fullmatch(r"[()]*", brackets):
        return "Error: only ( and ) are allowed"
    return str(_depth(brackets))


def _depth(brackets: str) -> int:
    return 1 + _depth(brackets[1:]) if brackets.startswith("(") else 0


tools = [job_state, collatz, pad, pages, restart, stop_worker, read_register, depth_of]
