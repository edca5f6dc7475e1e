"""Verifies the signed tokens with which apps authenticate."""

import base64
import binascii
import hashlib
import hmac
import re
import time
from typing import Any

import msgspec

from misstep.errors import UsageError

SEQUENCE, INTEGER, BITS = 0x30, 0x02, 0x03
_SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")  # the prefix of the hash in a signature


class PublicKey(msgspec.Struct, frozen=True):
    modulus: int
    exponent: int

    @property
    def size(self) -> int:
        return (self.modulus.bit_length() + 7) // 8

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        """Whether it is an RS256 signature of the message by the private key."""
        number = int.from_bytes(signature, "big")
        if len(signature) != self.size or number >= self.modulus:
            return False
        end = _SHA256 + hashlib.sha256(message).digest()
        expected = b"\0\1" + b"\xff" * (self.size - len(end) - 3) + b"\0" + end
        opened = pow(number, self.exponent, self.modulus).to_bytes(self.size, "big")
        return hmac.compare_digest(opened, expected)


def read_public_key(pem: str) -> PublicKey:
    """Read a public key in PEM, as openssl writes it."""
    found = re.search(r"-----BEGIN PUBLIC KEY-----(.+?)-----END PUBLIC KEY-----", pem, re.DOTALL)
    try:
        data = base64.b64decode("".join(found[1].split()), validate=True) if found else b""
        [info] = _read(data, SEQUENCE)
        _, bits = _read(info, SEQUENCE, BITS)
        [key] = _read(bits[1:], SEQUENCE)
        modulus, exponent = _read(key, INTEGER, INTEGER)
    except (ValueError, IndexError):
        raise UsageError(
            "the app's key is not a public RSA key in PEM format",
            "expected -----BEGIN PUBLIC KEY-----, which `openssl rsa -pubout` writes",
        ) from None
    return PublicKey(int.from_bytes(modulus, "big"), int.from_bytes(exponent, "big"))


def read_claims(token: str, key: PublicKey) -> dict[str, Any] | None:
    """The claims of a JSON web token, if it is signed with the key by RS256 and has not expired."""
    try:
        head, claims, signature = token.split(".")
        header, told = (msgspec.json.decode(_plain(part), type=dict[str, Any]) for part in (head, claims))
        signed = key.has_signed(f"{head}.{claims}".encode(), _plain(signature))
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        return None
    expires = told.get("exp")
    lasts = isinstance(expires, int | float) and expires > time.time()
    return told if signed and lasts and header.get("alg") == "RS256" else None


def _plain(part: str) -> bytes:
    return base64.b64decode(part.encode("ascii") + b"=" * (-len(part) % 4), altchars=b"-_", validate=True)


def _read(data: bytes, *tags: int) -> list[bytes]:
    """The contents of DER elements with these tags, which are all that the data consist of."""
    contents = list[bytes]()
    for tag in tags:
        length, start = data[1], 2
        if length & 0x80:
            start += length & 0x7F
            length = int.from_bytes(data[2:start], "big")
        if data[0] != tag or len(data) < start + length:
            raise ValueError("another element, or one that is cut off")
        contents.append(data[start : start + length])
        data = data[start + length :]
    if data:
        raise ValueError("more elements than expected")
    return contents
