"""The recording proxy: shows what a model asked for if a framework hides it."""

from misstep.adapters.proxy.agent import ProxiedAgent
from misstep.adapters.proxy.server import RecordingProxy

__all__ = ["ProxiedAgent", "RecordingProxy"]
