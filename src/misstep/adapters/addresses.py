"""Where the model of the case that runs now is to be found, for agents that start a process for each."""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

# The environment variables that point a client there; none where nothing stands between agent and model.
NOWHERE: Mapping[str, str] = MappingProxyType({})
current_addresses: ContextVar[Mapping[str, str]] = ContextVar("current_addresses", default=NOWHERE)
