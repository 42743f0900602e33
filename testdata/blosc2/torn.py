"""What an append leaves that was interrupted: the new chunk goes where the index was, then come the new index, the header, the
trailer, and the length of the frame. Each state is made of the file before and the one after."""

import struct

import numpy as np

import tool
import view
from bad_header import bad
from frames import WHOLE, hexed
from parts import Fixture
from values import noise

NEW = noise(400, 9)


def of_frames(peer: tool.Peer, start: str) -> list[Fixture]:
    request = {"hex": WHOLE.hex(), "typesize": 4, "chunksize": 400}
    old = tool.made(peer, "frame", ".b2frame", **request)
    new = tool.made(peer, "frame", ".b2frame", ["append", hexed(NEW)], **request)
    before, after = view.parse(old), view.parse(new)
    at = before.header_len + before.cbytes
    chunk = new[at : after.header_len + after.cbytes]
    (trailer_len,) = struct.unpack(">I", new[-22:-18])
    index = new[after.header_len + after.cbytes : -trailer_len]
    trailer = new[-trailer_len:]
    head_old, head_new = old[: before.header_len], new[: after.header_len]
    # The frame's length is written last of all.
    head_between = head_new[:16] + head_old[16:24] + head_new[24:]
    body = old[before.header_len : at]
    five = np.frombuffer(WHOLE, "V4")
    six = np.frombuffer(WHOLE + NEW, "V4")

    def over(data: bytes) -> bytes:
        return data + old[len(data) :]

    return [
        bad(f"{start}torn_chunk_8", "8 bytes of the new chunk", over(head_old + body + chunk[:8]), producer=peer.producer, repaired=five),
        bad(f"{start}torn_chunk_200", "half of the new chunk", over(head_old + body + chunk[:200]), producer=peer.producer, repaired=five),
        bad(f"{start}torn_chunk", "the new chunk, and no index", over(head_old + body + chunk), producer=peer.producer, repaired=six),
        bad(f"{start}torn_index_half", "half of the new index", over(head_old + body + chunk + index[:20]), producer=peer.producer, repaired=six),
        bad(f"{start}torn_index", "the new index, and the header of old", over(head_old + body + chunk + index), producer=peer.producer, repaired=six),
        bad(f"{start}torn_header", "the new header, and no trailer", over(head_between + body + chunk + index), producer=peer.producer, repaired=six),
        bad(f"{start}torn_trailer", "half of the trailer", over(head_between + body + chunk + index + trailer[:10]), producer=peer.producer, repaired=six),
        bad(f"{start}torn_length", "all but the length of the frame", over(head_between + body + chunk + index + trailer), producer=peer.producer, repaired=six),
    ]  # fmt: skip


def of_updates() -> list[Fixture]:
    """The old release puts what does not fit where the index was."""
    peer = tool.old()
    request = {"hex": WHOLE.hex(), "typesize": 4, "chunksize": 400}
    old = tool.made(peer, "frame", ".b2frame", **request)
    new = tool.made(peer, "frame", ".b2frame", ["update", 1, hexed(NEW)], **request)
    before, after = view.parse(old), view.parse(new)
    at = before.header_len + before.cbytes
    chunk = new[at : after.header_len + after.cbytes]
    data = old[:at] + chunk
    return [
        bad("old_torn_update", "the new chunk of an update, and no index", data + old[len(data) :], producer=peer.producer),
    ]  # fmt: skip


def fixtures() -> list[Fixture]:
    return [*of_frames(tool.new(), ""), *of_frames(tool.old(), "old_"), *of_updates()]
