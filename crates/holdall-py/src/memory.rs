//! Memory that numpy arrays are made over, and the memory of numpy arrays: the only unsafe code of this crate.
//!
//! Values that are decoded or copied are given to Python as the `Vec` they are in; values that a mapped file lends are given as they are, read-only,
//! with the open file kept alive beside them.

use std::borrow::Cow;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::source::{read_parallel, try_zeroed_vec};
use holdall::{OpenFile, Result};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::numpy;

/// Bytes from which a copy is worth a second thread.
const WORTH_THREADS: usize = 8 << 20;

/// The base of an array: exports its bytes by the buffer protocol.
#[pyclass(frozen, module = "holdall._holdall")]
pub(crate) struct Memory {
    at: NonNull<u8>,
    len: usize,
    held: Held,
}

/// The owner of the bytes.
enum Held {
    /// A `Vec` of this capacity, taken apart.
    Own { capacity: usize },
    /// The container that lends them.
    Lent { _opened: Arc<OpenFile> },
}

// SAFETY: `at` is either the start of a Vec that this value alone owns, or of bytes that the container in `held`, which is Send and Sync, lends for
// reading. Nothing here writes to them; who writes through numpy arrays keeps to numpy's own rules about threads.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn own(bytes: Vec<u8>) -> Self {
        let mut bytes = ManuallyDrop::new(bytes);
        // A Vec's pointer is never null.
        let at = NonNull::new(bytes.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Self { at, len: bytes.len(), held: Held::Own { capacity: bytes.capacity() } }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Held::Own { capacity } = self.held {
            // SAFETY: pointer, length and capacity are those of the Vec that `own` took apart, and nobody else frees it. Arrays over it hold a
            // reference to this object, so none is left.
            drop(unsafe { Vec::from_raw_parts(self.at.as_ptr(), self.len, capacity) });
        }
    }
}

#[pymethods]
impl Memory {
    /// Fills a `Py_buffer`: the bytes, read-only where they are lent.
    ///
    /// # Safety
    /// `view` is a `Py_buffer` that Python wants filled.
    unsafe fn __getbuffer__(me: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let memory = me.get();
        let readonly = c_int::from(matches!(memory.held, Held::Lent { .. }));
        // A Vec or a slice has at most isize::MAX bytes.
        let len = memory.len.cast_signed();
        // SAFETY: Python gives a valid `view`; the bytes live as long as this object, of which the buffer holds a reference.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(view, me.as_ptr(), memory.at.as_ptr().cast(), len, readonly, flags)
        };
        if filled < 0 { Err(PyErr::fetch(me.py())) } else { Ok(()) }
    }
}

/// Values of a read, and the way in which an array is laid over them.
pub(crate) struct Values {
    memory: Memory,
    shape: Vec<u64>,
    strides: Vec<i64>,
    origin: u64,
}

/// The values of `region` in memory of their own, in `order`, or as they are stored where that is `None`.
///
/// # Errors
/// Those of [`Container::read`]; `Limit` for a copy over the limits; `Cancelled`.
pub(crate) fn fresh(
    opened: &OpenFile,
    dataset: usize,
    region: &Region,
    order: Option<Order>,
    options: &ReadOptions,
) -> Result<Values> {
    let array = opened.container.read(dataset, region, options)?;
    let is_in_order = |order| array.is_contiguous(order);
    let stored = if is_in_order(Order::C) { Order::C } else { Order::F };
    let need = array.len().saturating_mul(array.dtype().itemsize() as u64);
    let (bytes, _, is_lent) = array.parts();
    // Memory in which little of what was decoded is wanted is not worth keeping.
    let is_fit = bytes.len() as u64 <= need.saturating_mul(2).max(4096) && order.is_none_or(is_in_order);
    if !is_lent && is_fit {
        return Ok(Values::of(array, None));
    }
    let order = order.unwrap_or_else(|| match is_in_order(stored) {
        true => stored,
        // Neither: the order in which the file has them.
        false => opened.container.dataset(dataset).map_or(Order::C, |dataset| dataset.order),
    });
    let mut copy = try_zeroed_vec(need, &options.limits)?;
    copy_out(&array, order, &mut copy, options)?;
    let shape = array.shape().to_vec();
    let copy = Array::new(array.dtype().clone(), shape, order, Cow::Owned(copy))?;
    Ok(Values::of(copy, None))
}

/// The values of `region` where the file lends them without a copy, and `None` where it cannot.
///
/// # Errors
/// As [`fresh`].
pub(crate) fn lent(
    opened: &Arc<OpenFile>,
    dataset: usize,
    region: &Region,
    options: &ReadOptions,
) -> Result<Option<Values>> {
    let array = opened.container.read(dataset, region, options)?;
    Ok(array.parts().2.then(|| Values::of(array, Some(Arc::clone(opened)))))
}

/// Copies the elements of `array` in `order` to `dst`: on several threads, where they lie so already, and in pieces.
fn copy_out(array: &Array<'_>, order: Order, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
    if !array.is_contiguous(order) {
        return array.copy_to(order, dst, options.limits.stop);
    }
    let bytes = array.bytes(order, &options.limits)?;
    let threads = if dst.len() < WORTH_THREADS { 1 } else { options.threads };
    read_parallel(&&*bytes, 0, dst, threads, options.limits.stop)
}

/// The memory of a numpy array that Python hands over to be filled: contiguous and writable.
pub(crate) struct Writable(PyUntypedBuffer);

impl Writable {
    /// # Errors
    /// `ValueError` for memory that cannot be written to or has gaps; `BufferError`.
    pub(crate) fn new(out: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(out)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("out= is read-only"));
        }
        Ok(Self(buffer))
    }

    /// Reads `region` of a dataset into it, in `order`.
    ///
    /// # Errors
    /// Those of [`Container::read_into`](container_core::container::Container::read_into).
    pub(crate) fn fill(
        &mut self,
        opened: &OpenFile,
        (dataset, region, order): (usize, &Region, Order),
        options: &ReadOptions,
    ) -> Result<()> {
        // SAFETY: a contiguous, writable buffer of `len_bytes` bytes, which the exporter keeps in place until it is released: when `self` is
        // dropped, on whatever thread. The array was handed to this call to be filled; that nothing else uses it meanwhile is the caller's, as
        // with numpy's own out=.
        let dst = unsafe { slice::from_raw_parts_mut(self.0.buf_ptr().cast::<u8>(), self.0.len_bytes()) };
        opened.container.read_into(dataset, region, order, dst, options)
    }
}

impl Values {
    /// An array's values in memory of their own.
    pub(crate) fn owned(array: Array<'static>) -> Self {
        Self::of(array, None)
    }

    fn of(array: Array<'_>, opened: Option<Arc<OpenFile>>) -> Self {
        let (shape, strides, origin) = (array.shape().to_vec(), array.strides().to_vec(), array.parts().1);
        let memory = match (array.into_bytes(), opened) {
            (Cow::Owned(bytes), _) => Memory::own(bytes),
            // Lent by the container in `opened`: the bytes are there for as long as it is.
            (Cow::Borrowed(bytes), Some(opened)) => {
                let at = NonNull::from(bytes).cast();
                Memory { at, len: bytes.len(), held: Held::Lent { _opened: opened } }
            }
            (Cow::Borrowed(bytes), None) => Memory::own(bytes.to_vec()),
        };
        Self { memory, shape, strides, origin }
    }

    /// A numpy array over the values, of `dtype`, which has the size of the elements.
    ///
    /// # Errors
    /// Those of `numpy.ndarray`.
    pub(crate) fn into_numpy<'py>(
        self,
        py: Python<'py>,
        dtype: &Bound<'py, PyAny>,
        is_empty: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if is_empty {
            return numpy::empty(py, &self.shape, dtype);
        }
        let (shape, strides) = (PyTuple::new(py, &self.shape)?, PyTuple::new(py, &self.strides)?);
        let memory = Bound::new(py, self.memory)?;
        numpy::ndarray(py)?.call1((shape, dtype, memory, self.origin, strides))
    }
}

/// The bytes of a Python object that exports them without gaps, kept until this is dropped.
pub(crate) struct Exported(Option<PyUntypedBuffer>);

impl Exported {
    /// # Errors
    /// `BufferError`, `ValueError` for bytes with gaps.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("an array with gaps"));
        }
        Ok(Self(Some(buffer)))
    }

    /// No bytes.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        let Some(buffer) = &self.0 else { return &[] };
        // SAFETY: contiguous bytes that the exporter keeps in place until the buffer is released, which is when `self` is dropped. They are read
        // while the call that was given the array runs; that nobody changes them meanwhile is the caller's, as with `numpy.save`.
        unsafe { slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) }
    }
}
