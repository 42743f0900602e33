//! Conversion of single and double precision to double.

use std::sync::{Mutex, PoisonError};

use container_core::dtype::ByteOrder;
use container_core::source::try_zeroed_vec;
use container_core::threads::on_threads;
use container_core::{Error, Result};

use super::{CopyRanges, Rows, StackedChunks, fill_pattern};
use crate::ChunkType;
use crate::read_buffer::ReadBuffer;

impl StackedChunks<'_> {
    /// `rows` of every frame as double precision, frame after frame, in this machine's byte order, on up to `threads` threads.
    /// The conversion is exact.
    ///
    /// # Errors
    /// `Usage` for rows past the last one and for stacks of other types; `Limit`; those of the source.
    pub fn read_f64(&self, rows: &Rows<'_>, threads: usize) -> Result<Vec<f64>> {
        let single = match (self.chunk_type, &self.singles) {
            (ChunkType::Double, None) => false,
            (ChunkType::Float, None) => true,
            (ChunkType::Double, Some(_)) => false,
            _ => return Err(Error::usage(format!("{} are not real numbers", self.chunk_type.name()))),
        };
        let limits = &self.file.options().limits;
        let width = u64::from(self.m);
        let wide = CopyRanges::new(rows, self.n, width.saturating_mul(8))?;
        let narrow = CopyRanges::new(rows, self.n, width.saturating_mul(4))?;
        let values = wide.rows.checked_mul(width).and_then(|len| len.checked_mul(self.places.len() as u64));
        let values = values.ok_or_else(|| Error::limit("memory in bytes", u64::MAX, limits.memory))?;
        let mut dst = try_zeroed_vec::<f64>(values, limits)?;
        let Some(frame_len) = dst.len().checked_div(self.places.len()).filter(|len| *len > 0) else {
            return Ok(dst);
        };
        let is_single = |slot: usize| match &self.singles {
            Some(singles) => singles.get(slot).copied().unwrap_or(false),
            None => single,
        };
        let frames = Mutex::new(dst.chunks_exact_mut(frame_len).enumerate());
        on_threads(threads.min(self.places.len()), &|| {
            let mut window = ReadBuffer::new(self.file.source(), *limits);
            let mut singles: Vec<f32> = Vec::new();
            loop {
                let next = frames.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((slot, values)) = next else { return Ok(()) };
                self.stop.check()?;
                let place = self.places.get(slot).copied().unwrap_or(0);
                if is_single(slot) && (place > 0 || self.chunk_type == ChunkType::Float) {
                    if singles.len() != values.len() {
                        singles = try_zeroed_vec(values.len() as u64, limits)?;
                    }
                    self.copy_runs(&narrow, place, bytemuck::cast_slice_mut(&mut singles), &mut window)?;
                    let order = self.file.header().byte_order;
                    for (to, from) in values.iter_mut().zip(&singles) {
                        let native = if order == ByteOrder::NATIVE { *from } else { swapped(*from) };
                        *to = native.into();
                    }
                } else {
                    self.copy_runs(&wide, place, bytemuck::cast_slice_mut(values), &mut window)?;
                    if self.file.header().byte_order != ByteOrder::NATIVE {
                        values
                            .iter_mut()
                            .for_each(|value| *value = f64::from_bits(value.to_bits().swap_bytes()));
                    }
                }
            }
        })?;
        Ok(dst)
    }

    /// The rows of one chunk; of the default at place 0.
    fn copy_runs(
        &self,
        runs: &CopyRanges<'_>,
        place: u64,
        mut dst: &mut [u8],
        window: &mut ReadBuffer<'_>,
    ) -> Result<()> {
        let len = usize::try_from(runs.run_len).unwrap_or(usize::MAX);
        for run in 0..runs.count {
            let (piece, rest) = dst.split_at_mut(len.min(dst.len()));
            let offset = runs.start_of(run);
            if place == 0 {
                fill_pattern(&self.default, offset, piece);
            } else {
                window.copy(place.saturating_add(offset), piece)?;
            }
            dst = rest;
        }
        Ok(())
    }
}

fn swapped(value: f32) -> f32 {
    f32::from_bits(value.to_bits().swap_bytes())
}
