"""`python -m tests.packaging.windows ARGUMENTS…` runs misstep without what Python lacks on Windows.

It is no Windows: it shows that nothing is imported or called that isn't there.
"""

import asyncio
import os
import signal
import sys

from misstep.cli.commands import POSIX_ONLY

FUNCTIONS = (
    *("fork", "forkpty", "getegid", "getgid", "getpgid", "getpgrp", "getuid", "killpg", "mkfifo", "nice"),
    *("pidfd_open", "register_at_fork", "sched_getaffinity", "setpgid", "setsid", "waitid"),
)
SIGNALS = (
    *("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGRTMAX", "SIGSTOP", "SIGUSR1", "SIGUSR2", "SIGXCPU"),
    "setitimer",
)
HANDLING = ("add_signal_handler", "remove_signal_handler")


def main() -> None:
    for name in (*POSIX_ONLY, "pty", "tty"):
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, FUNCTIONS), (signal, SIGNALS)):
        for name in names:
            vars(module).pop(name, None)
    for name in HANDLING:
        setattr(asyncio.SelectorEventLoop, name, getattr(asyncio.AbstractEventLoop, name))
    from misstep.__main__ import main as run

    run()


if __name__ == "__main__":
    main()
