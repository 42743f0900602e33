//! LZ4 blocks: the walk over them, against lz4_flex and against a decoder that follows the specification to the letter.

use container_codecs::lz4::{BlockEnd, Lz4, block_shape, decode_prefix};
use container_core::codec::Codec;

/// Most bytes that are decoded.
const MAX_DECODED: usize = 1 << 18;

/// The walk accepts the blocks that lz4_flex decodes, and finds as much of the others as there is.
pub fn lz4_walk(data: &[u8]) {
    let shape = block_shape(data, u64::MAX);
    assert!(shape.encoded_len <= data.len());
    assert!(shape.decoded_len <= 255 * data.len() as u64);
    let Some(len) = usize::try_from(shape.decoded_len).ok().filter(|len| *len <= MAX_DECODED) else {
        assert_eq!(block_shape(data, MAX_DECODED as u64).end, BlockEnd::PastLimit);
        return;
    };
    let (decoded, complete) = by_the_letter(data);
    assert_eq!((decoded.len(), complete), (len, shape.end == BlockEnd::Complete), "{shape:?}");
    for room in [0, 1, len / 2, len.saturating_sub(1), len, len + 1, len + 100] {
        let mut dst = vec![0xa5; room];
        let made = decode_prefix(data, &mut dst);
        assert_eq!(made, len.min(room));
        assert!(dst[..made] == decoded[..made], "the first {made} of {len}");
        assert!(dst[made..].iter().all(|byte| *byte == 0xa5));

        let flex = lz4_flex::block::decompress_into(data, &mut dst).is_ok_and(|made| made == room);
        let walked = block_shape(data, room as u64).is_exactly(room as u64);
        assert_eq!(flex, walked, "lz4_flex and the walk, into {room} bytes: {shape:?}");
        assert_eq!(Lz4.decode(data, &mut dst).is_ok(), walked);
        assert!(!walked || dst == decoded);
    }
}

/// Spec: <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>. What decodes, and whether the block ends there.
fn by_the_letter(src: &[u8]) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut bytes = src.iter().copied();
    let complete = sequences(&mut bytes, &mut out).is_some();
    (out, complete)
}

fn sequences(bytes: &mut (impl ExactSizeIterator<Item = u8> + Clone), out: &mut Vec<u8>) -> Option<()> {
    loop {
        let token = bytes.next()?;
        for _ in 0..length(bytes, token >> 4)? {
            out.push(bytes.next()?);
        }
        if bytes.len() == 0 {
            return Some(());
        }
        let offset = usize::from(bytes.next()?) + 256 * usize::from(bytes.next()?);
        let from = out.len().checked_sub(offset).filter(|_| offset > 0)?;
        let len = length(bytes, token & 15)? + 4;
        for at in from..from + len {
            out.push(out[at]);
        }
    }
}

fn length(bytes: &mut impl Iterator<Item = u8>, nibble: u8) -> Option<usize> {
    let mut len = usize::from(nibble);
    if nibble == 15 {
        loop {
            let more = bytes.next()?;
            len += usize::from(more);
            if more != 255 {
                break;
            }
        }
    }
    Some(len)
}
