//! Writes a frame of any source as one contiguous run of bytes.

use container_core::format::Output;
use container_core::source::{PIECE_LEN, Source, try_zeroed_vec};
use container_core::{Error, Result};

use super::Frame;
use super::chunk_location::LocatedChunk;
use crate::checksums;
use crate::header::{ChunkSize, Header, Kind};
use crate::offsets::{Offset, Offsets};
use crate::trailer::{Fingerprint, Trailer};
use crate::writer::set_vlmetalayer;

impl Frame {
    /// Returns the frame as one run of bytes, what C-Blosc2 calls a cframe. A contiguous one is copied byte by byte, with its
    /// fingerprint; a sparse one is put together.
    ///
    /// # Errors
    /// As [`Frame::write_to`]; `Limit`.
    pub fn to_cframe(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.header().kind == Kind::Contiguous {
            self.options.limits.allocate(self.header().frame_len)?;
        }
        self.write_pieces(&mut |piece| {
            self.options.limits.allocate(bytes.len() as u64 + piece.len() as u64)?;
            let refused = |_| Error::out_of_memory(piece.len() as u64, 0);
            bytes.try_reserve(piece.len()).map_err(refused)?;
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Writes the bytes of [`Frame::to_cframe`] to `out`, in pieces.
    ///
    /// # Errors
    /// `Truncated` where the frame ends early; those of reading chunks, for a sparse one; those of source and output.
    pub fn write_to(&self, out: &mut dyn Output) -> Result<()> {
        self.write_pieces(&mut |piece| Ok(out.write_all(piece)?))
    }

    fn write_pieces(&self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.header().kind == Kind::Sparse {
            return self.assemble(put);
        }
        self.compare_all()?;
        let (start, end) = (self.layout.start(), self.layout.end());
        self.copy_range(&self.source, start..end, put)
    }

    /// Compares every chunk with its digest, where the frame has digests.
    ///
    /// # Errors
    /// `Checksum`; those of [`Frame::chunk`].
    fn compare_all(&self) -> Result<()> {
        if self.verified_reads().algorithm(self).is_none() {
            return Ok(());
        }
        let count = if matches!(self.layout.offsets(), Offsets::Same(..)) { 1 } else { self.chunk_count() };
        (0..count.min(self.chunk_count())).try_for_each(|index| self.chunk(index).map(|_| ()))
    }

    fn copy_range(
        &self,
        source: &dyn Source,
        range: std::ops::Range<u64>,
        put: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        container_core::source::check_range(&range, source.len())?;
        let most = usize::try_from(range.end - range.start).unwrap_or(usize::MAX).min(PIECE_LEN);
        let mut buffer: Vec<u8> = try_zeroed_vec(most as u64, &self.options.limits)?;
        let mut at = range.start;
        while at < range.end {
            let len = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(buffer.len());
            source.read_into(at, &mut buffer[..len])?;
            put(&buffer[..len])?;
            at += len as u64;
        }
        Ok(())
    }

    /// Assembles a frame: its chunks in the order of the index, one after the other, without dead space.
    pub(crate) fn assemble(&self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.compare_all()?;
        let old = self.header();
        let mut at = 0_u64;
        let offsets = match self.layout.offsets() {
            Offsets::Same(Offset::Special(special), count) => {
                Offsets::Same(Offset::Special(*special), *count)
            }
            offsets => {
                let mut numbers: Vec<i64> = try_zeroed_vec(offsets.len(), &self.options.limits)?;
                for (index, number) in (0_u64..).zip(&mut numbers) {
                    *number = match self.locate(index)? {
                        LocatedChunk::Special(special) => Offset::Special(special).to_raw(),
                        LocatedChunk::Stored(place) => {
                            let own = at.cast_signed();
                            at += place.range().end - place.range().start;
                            own
                        }
                    };
                }
                Offsets::Each(numbers)
            }
        };
        let mut index = Vec::new();
        offsets.encode(&mut index)?;
        let mut trailer = Trailer { fingerprint: Fingerprint::default(), ..self.layout.trailer().clone() };
        if let Some(digests) = checksums::moved(self, &offsets)? {
            set_vlmetalayer(&mut trailer.vlmetalayers, checksums::NAME, &digests)?;
        }
        let trailer = trailer.encode();
        let mut header = Header { kind: Kind::Contiguous, cbytes: at, ..old.clone() };
        if old.nbytes == 0 && old.chunksize != ChunkSize::Variable && offsets.is_empty() {
            index.clear();
        }
        let lens = [u64::from(old.header_len), at, index.len() as u64, trailer.len() as u64];
        header.frame_len = lens.iter().sum();
        put(&header.encode())?;
        let head = self.layout.header_range();
        let fixed = head.start + crate::header::FIXED_LEN as u64;
        self.copy_range(&self.source, fixed..head.end, put)?;
        for chunk in 0..offsets.len() {
            if let LocatedChunk::Stored(place) = self.locate(chunk)? {
                self.copy_range(place.source(), place.range(), put)
                    .map_err(|error| place.in_chunk(error, chunk))?;
            }
            // For an index that repeats one value no chunk is stored.
            if matches!(offsets, Offsets::Same(..)) {
                break;
            }
        }
        put(&index)?;
        put(&trailer)
    }
}
