"""Settings as they are kept with a run."""

import msgspec

from misstep.core.settings.fields import Settings
from misstep.core.settings.span import Span


def encode_settings(settings: Settings) -> bytes:
    return msgspec.json.encode(settings, enc_hook=str)


def decode_settings(stored: bytes | str) -> Settings:
    return msgspec.json.decode(stored, type=Settings, dec_hook=decode_part)


def decode_part(kind: type, given: object) -> object:
    """What msgspec does not know how to decode by itself."""
    if kind is Span:
        return Span.parse(given)
    raise NotImplementedError(kind)
