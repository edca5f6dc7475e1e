"""Intercepts calls between a framework and the tool's own function."""

import functools
import inspect
import traceback
from collections.abc import Callable
from typing import Any

from misstep.adapters.toolset.calling.loops import drained, no_loop_running
from misstep.adapters.toolset.calling.refusals import ArgumentsRefused
from misstep.adapters.toolset.calling.returned import spent
from misstep.adapters.toolset.functions import signature_of
from misstep.adapters.toolset.slots import Slot
from misstep.adapters.toolset.sources import is_async, source_of
from misstep.core.words import in_words


class CallInterceptor:
    """Stands in the place of a tool's own function and calls it.

    Frameworks check arguments before it, and some turn exceptions into texts after it. Both can be told from
    here: what has not come through was refused, and what was raised is kept. `set` puts another function
    behind the door, such as one that watches the first.
    """

    def __init__(self, slot: Slot) -> None:
        self._inner: Callable[..., Any] = slot.get()
        self._signature = signature_of(self._inner)
        source = source_of(self._inner)
        self._home = source.file if source else ""
        self.reached = False
        self.raised: BaseException | None = None
        self.result: Any = None
        slot.set(self._awaiting() if is_async(self._inner) else self._plain())

    def get(self) -> Callable[..., Any]:
        return self._inner

    def set(self, function: Callable[..., Any]) -> None:
        self._inner = function

    def shut(self) -> None:
        """Forget about the call before."""
        self.reached, self.raised, self.result = False, None, None

    def blame(self, error: BaseException) -> BaseException:
        """What to raise for a call that ended so: the tool's own exception, a refusal or the error itself."""
        if self.raised is not None:
            return self.raised
        if self.reached or not isinstance(error, Exception) or self._is_at_home(error):
            return error
        return refused(error)

    def check(self, answer: str) -> None:
        """Raise what a framework has made a text of: an exception of the tool's own, or its refusal."""
        if self.raised is not None:
            raise self.raised
        if not self.reached:
            raise ArgumentsRefused(answer)

    def _plain(self) -> Callable[..., Any]:
        @functools.wraps(self._inner)
        def enter(*arguments: Any, **named: Any) -> Any:
            self.reached = True
            try:
                with no_loop_running():
                    self.result = spent(self._inner(*arguments, **named))
            except BaseException as error:
                self._note(error, arguments, named)
                raise
            self.raised = None
            return self.result

        return enter

    def _awaiting(self) -> Callable[..., Any]:
        @functools.wraps(self._inner)
        async def enter(*arguments: Any, **named: Any) -> Any:
            self.reached = True
            try:
                value = self._inner(*arguments, **named)
                self.result = await (drained(value) if inspect.isasyncgen(value) else value)
            except BaseException as error:
                self._note(error, arguments, named)
                raise
            self.raised = None
            return self.result

        return enter

    def _note(self, error: BaseException, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.raised = error
        if isinstance(error, TypeError) and not takes(self._signature, arguments, named):
            self.raised = refused(error)

    def _is_at_home(self, error: Exception) -> bool:
        """Whether code in the tool's own file had a part in an error, such as a validator of its author's.

        Pydantic tells of those by an error of its own, which has no such part any more.
        """
        frames = traceback.walk_tb(error.__traceback__)
        return bool(self._home) and any(frame.f_code.co_filename == self._home for frame, _ in frames)


def refused(error: BaseException) -> ArgumentsRefused:
    """The refusal that an error of somebody who checks arguments means."""
    refusal = ArgumentsRefused(in_words(error))
    refusal.__cause__ = error
    return refusal


def takes(signature: inspect.Signature | None, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether a function can be called so at all; if it does not say what it takes, it can."""
    try:
        if signature is not None:
            signature.bind(*arguments, **named)
    except TypeError:
        return False
    return True
