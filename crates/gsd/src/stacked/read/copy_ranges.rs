//! Byte ranges that are copied from each chunk.

use container_core::{Error, Result};

use super::Rows;

/// Byte ranges that are copied from each chunk, all of one length.
pub(super) struct CopyRanges<'a> {
    pub(super) rows: u64,
    row_len: u64,
    /// Runs of a chunk.
    pub(super) count: u64,
    pub(super) run_len: u64,
    kind: Rows<'a>,
}

impl<'a> CopyRanges<'a> {
    pub(super) fn new(rows: &Rows<'a>, n: u64, row_len: u64) -> Result<Self> {
        let outside = |what: String| Error::usage(format!("{what} of chunks of {n} rows"));
        let whole = |start: u64, rows: u64| Self {
            rows,
            row_len,
            count: 1,
            run_len: rows.saturating_mul(row_len),
            kind: Rows::Strided { start, step: 1, count: rows },
        };
        match *rows {
            Rows::All => Ok(whole(0, n)),
            Rows::Strided { start, step, count } => {
                let last = i128::from(count).saturating_sub(1).max(0);
                let last = i128::from(start).saturating_add(i128::from(step).saturating_mul(last));
                let inside = start < n && (0..i128::from(n)).contains(&last) && (step != 0 || count == 1);
                if count > 0 && !inside {
                    return Err(outside(format!("{count} rows from {start} on, by {step},")));
                }
                let dense = step == 1 || count <= 1;
                Ok(if dense { whole(start, count) } else { Self::single(count, row_len, *rows) })
            }
            Rows::List(list) => match list.iter().find(|row| **row >= n) {
                Some(row) => Err(outside(format!("row {row}"))),
                None => Ok(Self::single(list.len() as u64, row_len, *rows)),
            },
        }
    }

    /// One run for each row.
    const fn single(rows: u64, row_len: u64, kind: Rows<'a>) -> Self {
        Self { rows, row_len, count: rows, run_len: row_len, kind }
    }

    /// Number of bytes of the rows of one chunk.
    pub(super) fn len(&self) -> Option<u64> {
        self.count.checked_mul(self.run_len)
    }

    /// Offset in the chunk of a run.
    pub(super) fn start_of(&self, run: u64) -> u64 {
        let row = match self.kind {
            Rows::All => 0,
            Rows::Strided { start, step, .. } => {
                start.saturating_add_signed(step.saturating_mul(i64::try_from(run).unwrap_or(i64::MAX)))
            }
            Rows::List(list) => usize::try_from(run).ok().and_then(|run| list.get(run)).copied().unwrap_or(0),
        };
        row.saturating_mul(self.row_len)
    }
}

/// Fills `dst` with a part of `pattern` repeated, from `offset` of the repetition on.
pub(super) fn fill_pattern(pattern: &[u8], offset: u64, dst: &mut [u8]) {
    let Some(phase) = offset.checked_rem(pattern.len() as u64) else { return dst.fill(0) };
    let mut phase = usize::try_from(phase).unwrap_or(0);
    let mut dst = dst;
    while let Some(from) = pattern.get(phase..).filter(|_| !dst.is_empty()) {
        let len = from.len().min(dst.len());
        let (piece, rest) = dst.split_at_mut(len);
        piece.copy_from_slice(from.get(..len).unwrap_or_default());
        (dst, phase) = (rest, 0);
    }
}
