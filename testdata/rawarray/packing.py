"""The two encodings that Julia's RawArray.jl writes under flag bit 1: LEB128 integers and bit arrays."""

from collections.abc import Iterable


def zigzag(value: int) -> int:
    """0, -1, 1, -2, ... as 0, 1, 2, 3, ... at any width (Julia's own writer goes wrong above 64 bits)."""
    return value * 2 if value >= 0 else -value * 2 - 1


def leb128(values: Iterable[int], signed: bool) -> bytes:
    """Groups of seven bits, lowest first; the high bit says that more follow."""
    out = bytearray()
    for value in values:
        rest = zigzag(value) if signed else value
        while rest >= 128:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)
    return bytes(out)


def leb128_count(data: bytes, width: int) -> tuple[int, int]:
    """How many values of `width` bytes the data starts with, and how many bytes those take."""
    count = at = 0
    while at < len(data):
        end = at
        while end < len(data) and data[end] & 128:
            end += 1
        group = data[at : end + 1]
        value = sum((byte & 127) << 7 * k for k, byte in enumerate(group))
        if end == len(data) or len(group) > -(-8 * width // 7) or value >> 8 * width:
            break
        count, at = count + 1, end + 1
    return count, at


def leb128_fits(data: bytes, width: int, count: int) -> bool:
    """True when the data are exactly `count` values."""
    return leb128_count(data, width) == (count, len(data))


def bit_words(flags: Iterable[int], unused: int = 0) -> bytes:
    """u64 words, little-endian; element k in bit k % 64 of word k // 64; `unused` fills the rest."""
    flags = list(flags)
    words = -(-len(flags) // 64)
    packed = sum(flag << k for k, flag in enumerate(flags))
    packed |= unused << len(flags) & (1 << 64 * words) - 1
    return packed.to_bytes(8 * words, "little")
