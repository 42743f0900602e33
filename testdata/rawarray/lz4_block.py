"""A small encoder and decoder of raw LZ4 blocks, written from the LZ4 block format description.

Kept apart from every LZ4 library so that the fixtures are a second opinion on the one under test. Greedy
matching over a plain dictionary: the same input gives the same block everywhere, which no library promises
across versions.
"""

MIN_MATCH = 4
MAX_OFFSET = 65535
LAST_LITERALS = 5  # the last five bytes of a block are always literals
MATCH_MARGIN = 12  # and no match starts in the last twelve


class DamagedError(ValueError):
    """The block breaks off or points outside itself; `prefix` holds the whole sequences before that."""

    def __init__(self, why: str, prefix: bytes, cut_literals: bytes = b""):
        super().__init__(why)
        self.prefix = prefix
        self.cut_literals = cut_literals


def _long_length(length: int) -> bytes:
    """The bytes that follow a nibble of 15: 255 each while more is to come, then the rest."""
    rest = length - 15
    return b"\xff" * (rest // 255) + bytes([rest % 255])


def sequence(literals: bytes, offset: int = 0, match_len: int = 0) -> bytes:
    """Literals, then a copy of `match_len` bytes from `offset` back. Without a match: the last sequence."""
    lit_nibble = min(len(literals), 15)
    match_nibble = min(match_len - MIN_MATCH, 15) if match_len else 0
    out = bytes([lit_nibble << 4 | match_nibble])
    if lit_nibble == 15:
        out += _long_length(len(literals))
    out += literals
    if match_len:
        out += offset.to_bytes(2, "little")
        if match_nibble == 15:
            out += _long_length(match_len - MIN_MATCH)
    return out


def compress(plain: bytes) -> bytes:
    """One block. Like the C tool it keeps the result even when it is longer than the input."""
    out = bytearray()
    seen: dict[bytes, int] = {}
    literals_at = here = 0
    while here < len(plain) - MATCH_MARGIN:
        key = plain[here : here + MIN_MATCH]
        candidate = seen.get(key, -1)
        seen[key] = here
        if candidate < 0 or here - candidate > MAX_OFFSET:
            here += 1
            continue
        match_len = MIN_MATCH
        while (
            here + match_len < len(plain) - LAST_LITERALS
            and plain[candidate + match_len] == plain[here + match_len]
        ):
            match_len += 1
        out += sequence(plain[literals_at:here], here - candidate, match_len)
        here += match_len
        literals_at = here
    return bytes(out + sequence(plain[literals_at:]))


def _read_length(block: bytes, at: int, nibble: int, done: bytearray) -> tuple[int, int]:
    length = nibble
    if nibble == 15:
        while True:
            if at >= len(block):
                raise DamagedError("the block ends within a length", bytes(done))
            length += block[at]
            at += 1
            if block[at - 1] != 255:
                break
    return length, at


def decompress(block: bytes, limit: int) -> bytes:
    """All bytes of the block. Raises `DamagedError` unless they are one whole block and at most `limit`."""
    out = bytearray()
    at = 0
    while True:
        if at >= len(block):
            raise DamagedError("the block ends where a token is due", bytes(out))
        token = block[at]
        literal_len, at = _read_length(block, at + 1, token >> 4, out)
        literals = block[at : at + literal_len]
        if len(literals) < literal_len:
            raise DamagedError("the block ends within literals", bytes(out), literals)
        at += literal_len
        if at == len(block):
            out += literals
            break
        offset = int.from_bytes(block[at : at + 2], "little")
        if at + 2 > len(block):
            raise DamagedError("the block ends within an offset", bytes(out), literals)
        match_len, at = _read_length(block, at + 2, token & 15, out)
        match_len += MIN_MATCH
        if not 0 < offset <= len(out) + literal_len:
            raise DamagedError("an offset points before the start", bytes(out), literals)
        if len(out) + literal_len + match_len > limit:
            raise DamagedError("more is decoded than allowed", bytes(out), literals)
        out += literals
        for _ in range(match_len):
            out.append(out[-offset])
    if len(out) > limit:
        raise DamagedError("more is decoded than allowed", b"")
    return bytes(out)


def salvage(block: bytes) -> tuple[bytes, bytes]:
    """What whole sequences decode to, and the literals there are of the sequence that breaks off."""
    try:
        return decompress(block, 1 << 20), b""
    except DamagedError as damage:
        return damage.prefix, damage.cut_literals


def fits(block: bytes, length: int) -> bool:
    """True when this is one whole block that decodes to exactly `length` bytes."""
    try:
        return len(decompress(block, length)) == length
    except DamagedError:
        return False
