//! Drops the padding that compilers put between fields of records: the standard has no field offsets.

use container_core::dtype::{DType, Field};
use container_core::{Error, Result};

use super::datatype::{count, packed_size};

/// Maximum number of runs of bytes in a record.
const MAX_RUNS: usize = 1 << 20;

/// Takes the bytes of fields out of padded records, in pieces of any size.
pub(crate) struct RecordPacker {
    /// Start and length of the runs that are kept of each record.
    runs: Vec<(usize, usize)>,
    itemsize: usize,
    /// The beginning of an incomplete record.
    rest: Vec<u8>,
}

impl RecordPacker {
    /// `None` where a record of `dtype` has no padding, so that its bytes can be taken as they are.
    ///
    /// # Errors
    /// `Unsupported` for records of very many fields.
    pub(super) fn of(dtype: &DType) -> Result<Option<Self>> {
        let mut runs = Vec::new();
        collect(dtype, 0, &mut runs)?;
        let itemsize = dtype.itemsize();
        let is_plain = match runs.as_slice() {
            [] => itemsize == 0,
            [(0, len)] => *len == itemsize,
            _ => false,
        };
        debug_assert!(packed_size(dtype) == runs.iter().map(|(_, len)| *len as u64).sum::<u64>());
        Ok((!is_plain).then_some(Self { runs, itemsize, rest: Vec::new() }))
    }

    /// Appends the kept bytes of the records that are complete now.
    pub(super) fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut bytes = bytes;
        if self.itemsize == 0 {
            return;
        }
        if !self.rest.is_empty() {
            let missing = self.itemsize.saturating_sub(self.rest.len()).min(bytes.len());
            let (head, tail) = bytes.split_at(missing);
            self.rest.extend_from_slice(head);
            bytes = tail;
            if self.rest.len() < self.itemsize {
                return;
            }
            copy_runs(&self.runs, &self.rest, out);
            self.rest.clear();
        }
        let items = bytes.chunks_exact(self.itemsize);
        self.rest.extend_from_slice(items.remainder());
        items.for_each(|item| copy_runs(&self.runs, item, out));
    }

    /// True in the middle of a record.
    pub(super) const fn has_partial_record(&self) -> bool {
        !self.rest.is_empty()
    }
}

fn copy_runs(runs: &[(usize, usize)], item: &[u8], out: &mut Vec<u8>) {
    for (start, len) in runs {
        out.extend_from_slice(&item[*start..*start + *len]);
    }
}

fn collect(dtype: &DType, base: usize, runs: &mut Vec<(usize, usize)>) -> Result<()> {
    match dtype {
        DType::Scalar(scalar) => add(runs, base, scalar.size),
        DType::Record(record) => {
            for field in &record.fields {
                let start = base + field.offset;
                let size = field.dtype.itemsize();
                if packed_size(&field.dtype) == size as u64 && is_whole(&field.dtype) {
                    let count = usize::try_from(count(field)).unwrap_or(usize::MAX);
                    let len = size
                        .checked_mul(count)
                        .filter(|len| start.checked_add(*len).is_some_and(|end| end <= base + record.size));
                    let len = len.ok_or_else(|| outside(field))?;
                    add(runs, start, len)?;
                } else {
                    for at in 0..count(field) {
                        let at = usize::try_from(at).unwrap_or(usize::MAX);
                        let start = at.checked_mul(size).and_then(|at| start.checked_add(at));
                        let start = start.filter(|start| start.saturating_add(size) <= base + record.size);
                        collect(&field.dtype, start.ok_or_else(|| outside(field))?, runs)?;
                    }
                }
            }
            Ok(())
        }
    }
}

fn add(runs: &mut Vec<(usize, usize)>, start: usize, len: usize) -> Result<()> {
    match runs.last_mut() {
        Some((last, had)) if *last + *had == start => *had += len,
        _ if len == 0 => {}
        _ => runs.push((start, len)),
    }
    if runs.len() > MAX_RUNS {
        return Err(Error::unsupported(format!("records of more than {MAX_RUNS} parts")));
    }
    Ok(())
}

/// Whether the fields are in order without gaps, so that an item is stored as it is.
fn is_whole(dtype: &DType) -> bool {
    match dtype {
        DType::Scalar(_) => true,
        DType::Record(record) => {
            let mut at = 0_u64;
            record.fields.iter().all(|field| {
                let fits = field.offset as u64 == at && is_whole(&field.dtype);
                at = at.saturating_add(packed_size(&field.dtype).saturating_mul(count(field)));
                fits
            }) && at == record.size as u64
        }
    }
}

fn outside(field: &Field) -> Error {
    Error::usage(format!("field {:?} reaches past its record", field.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::dtype::{ByteOrder, Kind, Record};

    fn padded() -> DType {
        let field = |name: &str, kind, size, offset, shape| Field {
            name: name.into(),
            title: None,
            dtype: DType::new(kind, size, ByteOrder::Little),
            shape,
            offset,
        };
        let fields = vec![
            field("a", Kind::Uint, 1, 0, vec![]),
            field("b", Kind::Uint, 2, 2, vec![2]),
            field("c", Kind::Uint, 1, 6, vec![]),
        ];
        DType::Record(Record { fields, size: 8 })
    }

    #[test]
    fn padding_goes_whatever_the_pieces_are() {
        let items: Vec<u8> = (0..24).collect();
        let kept = [0, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13, 14, 16, 18, 19, 20, 21, 22];
        for piece in 1..=24 {
            let mut packer = RecordPacker::of(&padded()).unwrap().unwrap();
            let mut out = Vec::new();
            items.chunks(piece).for_each(|piece| packer.take(piece, &mut out));
            assert_eq!(out, kept, "pieces of {piece}");
            assert!(!packer.has_partial_record());
            packer.take(&[1], &mut out);
            assert!(packer.has_partial_record());
        }
    }

    #[test]
    fn records_without_padding_are_taken_as_they_are() {
        let DType::Record(mut record) = padded() else { unreachable!() };
        for (field, offset) in record.fields.iter_mut().zip([0, 1, 5]) {
            field.offset = offset;
        }
        record.size = 6;
        let inner = DType::Record(record.clone());
        assert!(RecordPacker::of(&inner).unwrap().is_none());
        let outer =
            |offset| Field { name: "r".into(), title: None, dtype: inner.clone(), shape: vec![2], offset };
        let nested = DType::Record(Record { fields: vec![outer(0)], size: 12 });
        assert!(RecordPacker::of(&nested).unwrap().is_none());
        let nested = DType::Record(Record { fields: vec![outer(1)], size: 13 });
        assert!(RecordPacker::of(&nested).unwrap().is_some());
        let nested = DType::Record(Record { fields: vec![outer(2)], size: 13 });
        assert!(RecordPacker::of(&nested).is_err());
    }
}
