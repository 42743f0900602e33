//! Up to six filters in a row, over one block.

use container_core::{Error, Result};

use super::{
    Filter, Pipeline, bitshuffle, bitshuffle_blosc1, bitunshuffle, bitunshuffle_blosc1,
    bytedelta_buggy_decode, bytedelta_decode, bytedelta_encode, delta_decode, delta_encode, int_trunc,
    ndcell_decode, ndcell_encode, ndmean_decode, ndmean_encode, shuffle, trunc_prec, unknown, unshuffle,
};
use crate::Plugins;

/// Properties of a block that its filters need in addition to its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockContext<'a> {
    /// Bytes of an element, by the header of the chunk.
    pub(crate) typesize: usize,
    /// Bytes of an element by the frame, if there is one: the number of streams that 0 means for BYTEDELTA.
    pub(crate) schunk_typesize: usize,
    /// Version of the chunk. Blosc1 (1 and 2) has its own rule for bit shuffle.
    pub(crate) version: u8,
    /// Block 0 as it is decoded, for DELTA; `None` for block 0 and for blocks of variable length.
    ///
    /// When a lossy filter is before DELTA this differs from the encoder's input ([`Pipeline::is_lossy`]): decode block 0
    /// first. C-Blosc2 takes the source instead, and decodes other values.
    pub(crate) reference: Option<&'a [u8]>,
    /// Shape of a block in elements, outermost axis first; empty for a chunk without one.
    pub(crate) blockshape: &'a [usize],
    /// Filters that are not built in.
    pub(crate) plugins: &'a Plugins,
}

/// Buffers between two filters. Kept from block to block.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    one: Vec<u8>,
    other: Vec<u8>,
}

impl Pipeline {
    /// Encodes one block. The result is in `scratch`, or `src` itself when no slot is filled.
    ///
    /// # Errors
    /// `Usage` for a filter that does not fit the block, `Unsupported` for a missing plugin, `Io` when there is no memory.
    pub(crate) fn encode<'b>(
        &self,
        cx: &BlockContext<'_>,
        src: &'b [u8],
        scratch: &'b mut Scratch,
    ) -> Result<&'b [u8]> {
        let Scratch { one, other } = scratch;
        let (mut current, mut next) = (one, other);
        let mut moved = false;
        for filter in self.filters().filter(|filter| !cx.is_identity(*filter)) {
            let from = if moved { &current[..src.len()] } else { src };
            encode_one(filter, cx, from, room(next, src.len())?)?;
            std::mem::swap(&mut current, &mut next);
            moved = true;
        }
        Ok(if moved { &current[..src.len()] } else { src })
    }

    /// Decodes one block from `streams`, its joined streams, into `dst`, which is as long. `streams` is left in any state.
    ///
    /// # Errors
    /// `Malformed` for a filter that does not fit the block, `Unsupported` for a missing plugin, `Io` when there is no memory.
    pub(crate) fn decode(
        &self,
        cx: &BlockContext<'_>,
        streams: &mut [u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let moves = self.moves(cx);
        if moves == 0 {
            dst.copy_from_slice(streams);
            return self.decode_in_place(cx, dst);
        }
        let (mut current, mut next) = (streams, dst);
        // With an even number of moves the first goes aside, so that the last ends in `dst`.
        let mut aside =
            if moves.is_multiple_of(2) { Some(room(&mut scratch.one, next.len())?) } else { None };
        for filter in self.filters().rev() {
            if cx.moves(filter) {
                match aside.take() {
                    Some(room) => {
                        decode_moving(filter, cx, current, room)?;
                        current = room;
                    }
                    None => {
                        decode_moving(filter, cx, current, next)?;
                        std::mem::swap(&mut current, &mut next);
                    }
                }
            } else {
                decode_in_place(filter, cx, current)?;
            }
        }
        Ok(())
    }

    /// Returns the number of filters that cannot be undone in place. With none, decode the streams to where they belong and
    /// call [`Pipeline::decode_in_place`].
    pub(crate) fn moves(&self, cx: &BlockContext<'_>) -> usize {
        self.filters().filter(|filter| cx.moves(*filter)).count()
    }

    /// Decodes one block where it is, if [`Pipeline::moves`] is 0.
    ///
    /// # Errors
    /// `Unsupported` for an unavailable filter.
    pub(crate) fn decode_in_place(&self, cx: &BlockContext<'_>, block: &mut [u8]) -> Result<()> {
        self.filters().rev().try_for_each(|filter| decode_in_place(filter, cx, block))
    }
}

impl BlockContext<'_> {
    /// Returns the width of the elements that `filter` shuffles.
    fn width(&self, filter: Filter) -> usize {
        if filter.meta == 0 { self.typesize } else { usize::from(filter.meta) }
    }

    /// Returns the number of parts into which BYTEDELTA cuts the block.
    fn streams(&self, filter: Filter) -> usize {
        if filter.meta == 0 { self.schunk_typesize } else { usize::from(filter.meta) }
    }

    /// Whether `filter` leaves a block unchanged.
    fn is_identity(&self, filter: Filter) -> bool {
        filter.id == Filter::SHUFFLE && self.width(filter) <= 1
    }

    /// Whether reversing `filter` moves bytes.
    fn moves(&self, filter: Filter) -> bool {
        match filter.id {
            Filter::SHUFFLE => !self.is_identity(filter),
            Filter::BITSHUFFLE | Filter::NDCELL | Filter::NDMEAN => true,
            id => self.plugins.filter(id).is_some(),
        }
    }
}

/// Applies one filter.
fn encode_one(filter: Filter, cx: &BlockContext<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let typesize = cx.typesize;
    match filter.id {
        Filter::SHUFFLE => shuffle(cx.width(filter), src, dst),
        Filter::BITSHUFFLE if cx.version <= 2 => bitshuffle_blosc1(typesize, src, dst),
        Filter::BITSHUFFLE => bitshuffle(typesize, src, dst),
        Filter::DELTA => delta_encode(typesize, cx.reference, src, dst),
        Filter::BYTEDELTA => bytedelta_encode(cx.streams(filter), src, dst),
        Filter::TRUNC_PREC => trunc_prec(filter.meta.cast_signed(), typesize, src, dst)?,
        Filter::INT_TRUNC => int_trunc(filter.meta.cast_signed(), typesize, src, dst)?,
        Filter::NDCELL => ndcell_encode(filter.meta, cx.blockshape, typesize, src, dst)?,
        Filter::NDMEAN => ndmean_encode(filter.meta, cx.blockshape, typesize, src, dst)?,
        Filter::BYTEDELTA_BUGGY => {
            return Err(
                Error::unsupported("filter number 34 is only read").with_hint("bytedelta is number 35")
            );
        }
        id => cx.plugins.filter(id).ok_or_else(|| unknown(filter))?.forward(
            src,
            &cx.plugin(filter.meta),
            dst,
        )?,
    }
    Ok(())
}

/// Undoes a filter that puts bytes in another place.
fn decode_moving(filter: Filter, cx: &BlockContext<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
    match filter.id {
        Filter::SHUFFLE => unshuffle(cx.width(filter), src, dst),
        Filter::BITSHUFFLE if cx.version <= 2 => bitunshuffle_blosc1(cx.typesize, src, dst),
        Filter::BITSHUFFLE => bitunshuffle(cx.typesize, src, dst),
        Filter::NDCELL => ndcell_decode(filter.meta, cx.blockshape, cx.typesize, src, dst)?,
        Filter::NDMEAN => ndmean_decode(filter.meta, cx.blockshape, cx.typesize, src, dst)?,
        id => cx.plugins.filter(id).ok_or_else(|| unknown(filter))?.backward(
            src,
            &cx.plugin(filter.meta),
            dst,
        )?,
    }
    Ok(())
}

/// Undoes a filter where the bytes are.
fn decode_in_place(filter: Filter, cx: &BlockContext<'_>, block: &mut [u8]) -> Result<()> {
    match filter.id {
        Filter::DELTA => delta_decode(cx.typesize, cx.reference, block),
        Filter::BYTEDELTA => bytedelta_decode(cx.streams(filter), block),
        Filter::BYTEDELTA_BUGGY => bytedelta_buggy_decode(cx.streams(filter), block),
        // A shuffle of single bytes, and filters without an inverse.
        Filter::NONE | Filter::SHUFFLE | Filter::TRUNC_PREC | Filter::INT_TRUNC => {}
        _ => return Err(unknown(filter)),
    }
    Ok(())
}

/// Returns `len` bytes of `buffer`, which grows if it must.
fn room(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        let more = len - buffer.len();
        buffer
            .try_reserve_exact(more)
            .map_err(|_| Error::from(std::io::Error::from(std::io::ErrorKind::OutOfMemory)))?;
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}
