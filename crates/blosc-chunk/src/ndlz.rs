//! NDLZ, the codec of two-dimensional blocks of single bytes (compcode 32): cells of 4 by 4 or 8 by 8, each literal, of
//! one byte, or with rows taken from earlier literal cells.
//!
//! Only read. A stream begins with the number of axes (2) and the height and width of the block. Cells follow in C order,
//! those at the edges clipped. A cell is a token and the bytes that it requires. References point back into the *stream*, to
//! the literal bytes of an earlier cell.

use container_core::{Error, Result};

/// Bytes before the first cell: the number of axes, height, width.
const HEADER_LEN: usize = 9;

/// A cell of literal bytes.
const LITERAL: u8 = 0x00;
/// A cell of one byte.
const CONSTANT: u8 = 0x40;
/// A cell that repeats an earlier one.
const REPEAT: u8 = 0xC0;

/// Fills `dst` from the stream `src`. `cell` is the codec's byte of the chunk: 4 or 8.
///
/// # Errors
/// `Malformed` with the range inside the stream, `Unsupported` for other cells.
pub(crate) fn decode(src: &[u8], dst: &mut [u8], cell: u8) -> Result<()> {
    match cell {
        4 => decode_cells::<4>(src, dst, four),
        8 => decode_cells::<8>(src, dst, eight),
        _ => Err(Error::unsupported(format!("NDLZ with cells of side {cell} (expected 4 or 8)"))),
    }
}

/// Rows of a whole cell (bit 0 is the first) that come from the first and from the second reference; the others are
/// literal. Without rows a reference is not there at all.
#[derive(Clone, Copy)]
struct Rows {
    first: u8,
    second: u8,
}

/// Rows that a token means in cells of side 4.
fn four(token: u8) -> Option<Rows> {
    let pair = |i: u8, j: u8| (i < j && j < 4).then_some((1 << i) | (1 << j));
    match token {
        40..=63 => pair(0, (token - 32) >> 3).map(|first| Rows { first, second: !first & 0x0f }),
        128 => Some(Rows { first: 0b1100, second: 0 }),
        129..=191 => {
            let i = (token - 128) >> 5;
            pair(i, ((token - 128) >> 3) - 4 * i).map(|first| Rows { first, second: 0 })
        }
        224.. => {
            let first = [0b1110, 0b0111, 0b1011, 0b1101][usize::from((token >> 3) & 3)];
            Some(Rows { first, second: 0 })
        }
        _ => None,
    }
}

/// Rows that a token means in cells of side 8.
fn eight(token: u8) -> Option<Rows> {
    let many: u16 = match token >> 3 {
        21 => 0b111,
        17 => 0b11,
        _ => return None,
    };
    u8::try_from(many << (token & 7)).ok().map(|first| Rows { first, second: 0 })
}

/// Returns height and width of the block.
fn shape(src: &[u8], expected: usize) -> Result<(usize, usize)> {
    let header = src.first_chunk::<HEADER_LEN>().ok_or_else(|| Error::truncated(0..9, src.len() as u64))?;
    let [axes, h0, h1, h2, h3, w0, w1, w2, w3] = *header;
    let (height, width) = (i32::from_le_bytes([h0, h1, h2, h3]), i32::from_le_bytes([w0, w1, w2, w3]));
    let both = usize::try_from(height).ok().zip(usize::try_from(width).ok());
    let fits = |(height, width): &(usize, usize)| height.checked_mul(*width) == Some(expected);
    match both.filter(fits) {
        Some(both) if axes == 2 => Ok(both),
        _ => Err(Error::malformed(format!(
            "NDLZ stream of {axes} axes, {height} by {width} (expected a block of {expected} bytes)"
        ))
        .with_range(0..9)),
    }
}

/// Position of the reader in the stream.
struct Stream<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Stream<'a> {
    /// Reads the next `len` bytes.
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..len).ok_or_else(|| {
            let start = self.at as u64;
            Error::truncated(start..start + len as u64, rest.len() as u64)
        })?;
        self.at += len;
        Ok(taken)
    }

    /// Reads the next byte.
    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// Returns the `len` bytes that the next two bytes refer to, counted back from `token_at`.
    fn referred(&mut self, token_at: usize, len: usize) -> Result<&'a [u8]> {
        let at = self.at as u64;
        let back = self.take(2)?;
        let back = usize::from(u16::from_le_bytes([back[0], back[1]]));
        let start = token_at.checked_sub(back).filter(|start| *start >= HEADER_LEN);
        // The end is before the token, so no row refers to itself.
        start.filter(|_| len <= back).and_then(|start| self.bytes.get(start..start + len)).ok_or_else(|| {
            Error::malformed(format!("NDLZ refers to {len} bytes, {back} bytes before the token"))
                .with_range(at..at + 2)
        })
    }
}

fn decode_cells<const SIDE: usize>(
    src: &[u8],
    dst: &mut [u8],
    rows_of: fn(u8) -> Option<Rows>,
) -> Result<()> {
    let (height, width) = shape(src, dst.len())?;
    if dst.is_empty() {
        return Ok(());
    }
    let mut stream = Stream { bytes: src, at: HEADER_LEN };
    for top in (0..height).step_by(SIDE) {
        for left in (0..width).step_by(SIDE) {
            let (high, wide) = (SIDE.min(height - top), SIDE.min(width - left));
            let cell = read_cell::<SIDE>(&mut stream, high, wide, rows_of)?;
            for (row, bytes) in cell.iter().take(high).enumerate() {
                let start = (top + row) * width + left;
                dst[start..start + wide].copy_from_slice(&bytes[..wide]);
            }
        }
    }
    if stream.at < src.len() {
        return Err(Error::malformed("bytes after the last cell of NDLZ")
            .with_range(stream.at as u64..src.len() as u64));
    }
    Ok(())
}

/// Reads the rows of the next cell, of which `high` rows of `wide` bytes count.
fn read_cell<const SIDE: usize>(
    stream: &mut Stream<'_>,
    high: usize,
    wide: usize,
    rows_of: fn(u8) -> Option<Rows>,
) -> Result<[[u8; SIDE]; SIDE]> {
    let token_at = stream.at;
    let token = stream.byte()?;
    let mut cell = [[0; SIDE]; SIDE];
    let fill = |cell: &mut [[u8; SIDE]; SIDE], bytes: &[u8]| {
        for (row, bytes) in cell.iter_mut().zip(bytes.chunks_exact(wide)) {
            row[..wide].copy_from_slice(bytes);
        }
    };
    match token {
        LITERAL => fill(&mut cell, stream.take(high * wide)?),
        REPEAT => fill(&mut cell, stream.referred(token_at, high * wide)?),
        CONSTANT => cell = [[stream.byte()?; SIDE]; SIDE],
        _ => {
            let at = token_at as u64;
            let whole = high == SIDE && wide == SIDE;
            let rows = rows_of(token).filter(|_| whole).ok_or_else(|| {
                Error::malformed(format!("NDLZ token {token:#04x} for a cell of {high} by {wide}"))
                    .with_range(at..at + 1)
            })?;
            fill_rows(&mut cell, stream, token_at, rows)?;
        }
    }
    Ok(cell)
}

/// Fills the rows of a whole cell from references and literals, which the stream has in this order.
fn fill_rows<const SIDE: usize>(
    cell: &mut [[u8; SIDE]; SIDE],
    stream: &mut Stream<'_>,
    token_at: usize,
    rows: Rows,
) -> Result<()> {
    let mut sources = [&[][..]; 2];
    for (source, rows) in sources.iter_mut().zip([rows.first, rows.second]).filter(|(_, rows)| *rows != 0) {
        *source = stream.referred(token_at, rows.count_ones() as usize * SIDE)?;
    }
    let [mut first, mut second] = sources.map(|source| source.chunks_exact(SIDE));
    for (index, row) in cell.iter_mut().enumerate() {
        let from = match (rows.first >> index & 1, rows.second >> index & 1) {
            (1, _) => first.next().unwrap_or_default(),
            (_, 1) => second.next().unwrap_or_default(),
            _ => stream.take(SIDE)?,
        };
        row.copy_from_slice(from);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
