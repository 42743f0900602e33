//! Arrays that python-blosc2 packs as super-chunks: `pack_tensor`, `save_tensor`, `pack_array2`, `save_array`.
//!
//! The user metadata `__pack_tensor__` are a list of the kind (`numpy`, `torch`, `tensorflow`), the shape and numpy's description of the
//! elements, whose bytes are those of the super-chunk in C order.
//!
//! Source: `pack_tensor` and `_unpack_tensor` in `core.py` of python-blosc2 4.14.1.

use container_core::array::{Array, StoredArray, byte_len};
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Order};
use container_core::region::{Kept, Region};
use container_core::source::{Source, check_range};
use container_core::{Error, Limits, Result, Stop, Value};

use crate::b2nd;
use crate::frame::Frame;
use crate::msgpack;

/// Name of the user metadata.
pub(crate) const NAME: &str = "__pack_tensor__";

/// Type and shape of the elements of a super-chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    /// The library whose array it was: `numpy`, `torch`, `tensorflow`.
    pub(crate) kind: String,
    /// Element type, with its byte order.
    pub(crate) dtype: DType,
    /// Length of each axis; none for a scalar.
    pub(crate) shape: Vec<u64>,
}

impl Tensor {
    /// Reads the tensor in a frame; `None` where its user metadata name none, and for arrays.
    ///
    /// # Errors
    /// `Malformed` for invalid type and shape, and for ones that do not match the bytes of the chunks; `Unsupported` for Python
    /// objects; `Limit`.
    pub(crate) fn of(frame: &Frame) -> Result<Option<Self>> {
        if b2nd::is_array(frame.metalayers()) || !frame.vlmetalayer_names().any(|name| name == NAME) {
            return Ok(None);
        }
        let limits = &frame.options().limits;
        let stored = frame.vlmetalayer(NAME).map_err(|error| {
            let range = error.range().unwrap_or_else(|| frame.layout().trailer_range());
            Error::new(error.into_kind()).with_range(range).with_context(NAME)
        })?;
        Self::parse(&stored.unwrap_or_default(), frame.data_len(), limits).map(Some)
    }

    /// True where a name is that of user metadata which type and shape of a dataset replace.
    pub(crate) fn is_described_by(frame: &Frame, name: &str) -> bool {
        name == NAME && matches!(Self::of(frame), Ok(Some(_)))
    }

    /// Parses the tensor that user metadata describe, whose elements have `len` bytes together.
    ///
    /// # Errors
    /// As [`Tensor::of`].
    pub(crate) fn parse(stored: &[u8], len: u64, limits: &Limits) -> Result<Self> {
        let tensor = msgpack::to_value(stored, limits).and_then(|value| Self::described(&value, limits));
        let tensor = tensor.map_err(|error| Error::new(error.into_kind()).with_context(NAME))?;
        let need = byte_len(&tensor.dtype, &tensor.shape);
        if need != Some(len) {
            let need = need.map_or_else(|| "2^64 bytes or more".to_owned(), |need| format!("{need} bytes"));
            let Self { dtype, shape, .. } = &tensor;
            let problem =
                format!("the chunks contain {len} bytes (expected {need} for shape {shape:?} of {dtype})");
            return Err(Error::malformed(problem).with_context(NAME));
        }
        Ok(tensor)
    }

    fn described(value: &Value, limits: &Limits) -> Result<Self> {
        let Value::List(items) = value else {
            return Err(Error::malformed("not a list of kind, shape, type"));
        };
        let [Value::Text(kind), Value::List(dims), dtype] = items.as_slice() else {
            return Err(Error::malformed("not a list of kind, shape, type"));
        };
        if dims.len() as u64 > limits.ndims {
            return Err(Error::limit("number of dimensions", dims.len() as u64, limits.ndims));
        }
        let dim = |value: &Value| match value {
            Value::Int(dim) => u64::try_from(*dim).ok(),
            _ => None,
        };
        let shape = dims.iter().map(dim).collect::<Option<_>>();
        let shape = shape.ok_or_else(|| Error::malformed("the shape is not a list of lengths"))?;
        let dtype = DType::from_value(dtype)?;
        if dtype.itemsize() == 0 {
            return Err(Error::unsupported(format!("elements of {dtype} have no bytes")));
        }
        Ok(Self { kind: kind.clone(), dtype, shape })
    }

    /// Returns the user metadata of a tensor of another length along its first axis.
    ///
    /// # Errors
    /// As [`Tensor::of`]; `Usage` for a scalar.
    pub(crate) fn with_rows(stored: &[u8], rows: u64, limits: &Limits) -> Result<Vec<u8>> {
        // With the marks of tuples, which python-blosc2 needs for the fields of records.
        let mut value = msgpack::to_interchange(stored, limits)?;
        let first = match &mut value {
            Value::List(items) => items.iter_mut().find_map(|item| match item {
                Value::List(dims) => dims.iter_mut().find(|dim| matches!(dim, Value::Int(_))),
                _ => None,
            }),
            _ => None,
        };
        let first = first.ok_or_else(|| Error::usage("a single value has no axis that could grow"))?;
        *first = rows.into();
        msgpack::from_interchange(&value)
    }

    /// Returns the bytes of the elements of `region`, from the first to the last, in the data of the frame; `None` for an
    /// empty region.
    pub(crate) fn span(&self, region: &Region) -> Option<(u64, u64)> {
        let mut stride = self.dtype.itemsize() as u64;
        let (mut first, mut last) = (0_u64, stride);
        for (axis, len) in region.axes().iter().zip(&self.shape).rev() {
            let end = i128::from(axis.start)
                .checked_add(i128::from(axis.step).checked_mul(i128::from(axis.count.checked_sub(1)?))?)?;
            let end = u64::try_from(end).ok()?;
            first = first.checked_add(axis.start.min(end).checked_mul(stride)?)?;
            last = last.checked_add(axis.start.max(end).checked_mul(stride)?)?;
            stride = stride.checked_mul(*len)?;
        }
        Some((first, last))
    }

    /// Reads the elements of `region`.
    ///
    /// # Errors
    /// Those of the frame; `Usage` for a region of another shape.
    pub(crate) fn read(
        &self,
        frame: &Frame,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'static>> {
        let data = Data { frame, options };
        let limits = &options.limits;
        if region.is_whole(&self.shape) && region.axes().iter().all(|axis| axis.kept == Kept::Yes) {
            let mut bytes = frame.room(data.len(), options)?;
            frame.read_into(0..data.len(), &mut bytes, options)?;
            return Array::new(self.dtype.clone(), self.shape.clone(), Order::C, bytes.into());
        }
        let stored =
            StoredArray { dtype: self.dtype.clone(), shape: self.shape.clone(), order: Order::C, data_at: 0 };
        stored.read(&data, region, limits, 1)?.into_owned(limits)
    }
}

/// The decoded bytes of a frame as a source.
struct Data<'f> {
    frame: &'f Frame,
    options: &'f ReadOptions,
}

impl Source for Data<'_> {
    fn len(&self) -> u64 {
        self.frame.data_len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        check_range(&range, self.len())?;
        self.frame.read_into(range, dst, self.options)
    }

    /// Decodes in one go, which checks the request that the options have.
    fn read_until(&self, at: u64, dst: &mut [u8], _stop: Stop) -> Result<()> {
        self.read_into(at, dst)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use container_core::ErrorKind;

    use super::*;

    fn parse(kind: &str, dims: &[i128], dtype: Value, len: u64) -> Result<Tensor> {
        let dims: Vec<Value> = dims.iter().map(|dim| Value::Int(*dim)).collect();
        let value = Value::List(vec![kind.into(), dims.into(), dtype]);
        Tensor::parse(&msgpack::from_value(&value).unwrap(), len, &Limits::default())
    }

    #[test]
    fn type_and_shape_are_those_of_the_bytes() {
        let tensor = parse("torch", &[10, 6], "<i4".into(), 240).unwrap();
        assert_eq!((tensor.kind.as_str(), tensor.dtype.to_string().as_str()), ("torch", "<i4"));
        assert_eq!(parse("numpy", &[], "<f8".into(), 8).unwrap().shape, []);
        assert_eq!(parse("numpy", &[0, 3], "<f8".into(), 0).unwrap().shape, [0, 3]);
        for (dims, dtype, len) in [
            (&[11, 6][..], "<i4", 240),
            (&[10, 6], "<i8", 240),
            (&[-1, -60], "<i4", 240),
            (&[1 << 40, 1 << 40], "<i4", 240),
            (&[3], "nonsense", 24),
        ] {
            let error = parse("numpy", dims, dtype.into(), len).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{dims:?} {dtype}: {error}");
        }
        let error = parse("numpy", &[3], "|O".into(), 24).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
        assert!(parse("numpy", &[1; 65], "|u1".into(), 1).is_err());
        for other in [Value::Null, Value::List(vec![]), "numpy".into()] {
            let bytes = msgpack::from_value(&other).unwrap();
            assert!(Tensor::parse(&bytes, 0, &Limits::default()).is_err());
        }
    }

    /// The value as python-blosc2 4.14.1 writes it for `np.zeros(3, [('x', '<i4'), ('y', '<f8', (2,))])`.
    const RECORDS: &[u8] =
        b"\x94\xa9__tuple__\xa5numpy\x92\xa9__tuple__\x03\x92\x93\xa9__tuple__\xa1x\xa3<i4\
                             \x94\xa9__tuple__\xa1y\xa3<f8\x92\xa9__tuple__\x02";

    #[test]
    fn records_and_marks_of_tuples_stay_when_rows_are_added() {
        let tensor = Tensor::parse(RECORDS, 60, &Limits::default()).unwrap();
        assert_eq!((tensor.dtype.itemsize(), tensor.shape.as_slice()), (20, &[3][..]));
        let grown = Tensor::with_rows(RECORDS, 5, &Limits::default()).unwrap();
        let mut expected = RECORDS.to_vec();
        *expected.iter_mut().find(|byte| **byte == 3).unwrap() = 5;
        assert_eq!(grown, expected);
    }
}
