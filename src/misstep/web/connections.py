"""Connections that can't be kept open by clients that say nothing, or say it slowly."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedProtocol(H11Protocol):  # type: ignore[misc]  # it has no types
    """HTTP where each request has to arrive within `seconds`, on no more than `most` connections at once."""

    seconds = 20.0
    most = 200

    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.close()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_incomplete():
            self._await_request()
        elif self._alarm:
            self._alarm.cancel()
            self._alarm = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._alarm:
            self._alarm.cancel()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        """What has begun keeps its first alarm: a byte now and then gains no time."""
        self._alarm = self._alarm or self.loop.call_later(self.seconds, self._hang_up)

    def _is_incomplete(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _hang_up(self) -> None:
        self._alarm = None
        if self._is_incomplete() and not self.transport.is_closing():
            self.transport.abort()
