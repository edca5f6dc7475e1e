"""Waits for what other people's code may give now or later."""

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def settled(value: Any) -> Any:
    """The value, or what comes of it where it has to be awaited, also while an event loop runs."""
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1) as beside_the_loop:
        return beside_the_loop.submit(asyncio.run, wait()).result()
