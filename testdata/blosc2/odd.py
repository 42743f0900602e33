"""Sound frames with something to note, built byte by byte."""

from hand import CHUNKS, FOUR, WHOLE, array, four, of_array, packed, plain
from parts import Fixture, Frame, copied, special, ZEROS
from values import noise

import blosc2


def fixtures() -> list[Fixture]:
    gap = b"\xaa" * 50
    moved = CHUNKS[2] + gap + CHUNKS[0] + CHUNKS[3] + CHUNKS[1] + gap
    size = len(CHUNKS[0])
    backwards = [size + 50, 3 * size + 50, 0, 2 * size + 50]
    shared = [FOUR[0], FOUR[1], FOUR[0]]
    mixed = [
        blosc2.compress2(data, codec=codec, filters=[filter_], typesize=4, nthreads=1)
        for data, codec, filter_ in zip(
            FOUR,
            (blosc2.Codec.LZ4, blosc2.Codec.ZSTD, blosc2.Codec.ZLIB, blosc2.Codec.BLOSCLZ),
            (blosc2.Filter.SHUFFLE, blosc2.Filter.BITSHUFFLE, blosc2.Filter.NOFILTER, blosc2.Filter.SHUFFLE),
        )
    ]
    padded = of_array()
    padded.chunks = [*padded.chunks[:3], padded.chunks[3][:-4] + b"\1\2\3\4"]
    return [
        plain("gap_before", "bytes before the first chunk that are no chunk", four(body=gap + b"".join(CHUNKS), offsets=[50 + size * it for it in range(4)])),
        plain("gaps", "bytes between and behind chunks, and chunks in any order", four(body=moved, offsets=backwards)),
        plain("shared_chunk", "a chunk that stands at two places of the index", Frame(CHUNKS[:2], typesize=4, offsets=[0, size, 0], nbytes=1200), b"".join(shared)),
        plain("mixed_codecs", "each chunk by another codec and filter", Frame(mixed, typesize=4, codec_flags=0x51, udcodec=1, filters=(0, 0, 0, 0, 0, 1))),
        plain("mixed_typesizes", "chunks of other typesizes than their frame says", Frame([copied(FOUR[0], 4), copied(FOUR[1], 2), copied(FOUR[2], 1)], typesize=4), WHOLE[:1200]),
        Fixture("trailing_bytes", "bytes behind the frame", four().done() + b"more bytes", plain=(WHOLE, 4), trailing=10),
        Fixture("trailing_zeros", "zeros behind the frame, as a lost write leaves them", four().done() + bytes(512), plain=(WHOLE, 4), trailing=512),
        Fixture("trailing_frame", "a frame behind the frame", four().done() + Frame().done(), plain=(WHOLE, 4), trailing=132),
        plain("fingerprint", "a fingerprint of 128 bits, which nobody checks", four(fingerprint=b"\x03" + noise(16))),
        plain("vlmeta_flag", "the header does not tell of the user metadata", four(vlmetas=[(b"a", packed(1))], has_vlmetas=False), reference=False),
        plain("stored_zeros", "a chunk of zeros that is stored, which readers of C-Blosc2 refuse", Frame([CHUNKS[0], special(ZEROS, 400, 4), CHUNKS[1]], typesize=4), FOUR[0] + bytes(400) + FOUR[1], reference=False),
        array("padding", "bytes that are not zero where an array has no item", padded),
    ]  # fmt: skip
