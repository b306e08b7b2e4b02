"""What a digest covers, written so that no two different lists of parts are written alike, whatever the parts hold."""

from __future__ import annotations


def joined(*parts: object) -> bytes:
    """Return parts (bytes, or what is written as text), each after its length in 8 bytes.

    The first part says what the digest is for: then a digest of one thing is never one of another.
    """
    whole = bytearray()
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        whole += len(raw).to_bytes(8) + raw
    return bytes(whole)
