//! Arrays of numpy seen through the lens: what `save` and `append` write and `plot` draws.

use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment, Visibility,
    require,
};
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::report::{Loss, Report};
use holdall::{Progress, Result, Value};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::raise;
use crate::file::Part;
use crate::memory::Exported;
use crate::values::from_python;

/// An array as the package describes it: path, type, shape, whether it is in Fortran order, its bytes, those of its mask.
type Described<'py> = (String, String, Vec<u64>, bool, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// The arrays. Their bytes stay where they are.
pub(crate) struct Held {
    datasets: Vec<Dataset>,
    values: Vec<Exported>,
    /// Bytes that are not zero where an element is missing; C order.
    masks: Vec<Option<Exported>>,
    carried: Value,
}

impl Held {
    /// Arrays as the package describes them: `(path, dtype, shape, is_fortran, bytes or None, mask or None)`, and metadata.
    ///
    /// # Errors
    /// Those of types that are none, and of metadata that cannot be stored.
    pub(crate) fn new(arrays: &Bound<'_, PyAny>, meta: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let carried = meta.map_or(Ok(Value::Map(Vec::new())), from_python)?;
        let mut held = Self { datasets: Vec::new(), values: Vec::new(), masks: Vec::new(), carried };
        for array in arrays.try_iter()? {
            let array = array?;
            let (path, dtype, shape, is_fortran, bytes, mask): Described<'_> =
                array.cast::<PyTuple>()?.extract()?;
            let exported = |object: Bound<'_, PyAny>| Exported::new(&object);
            let values = bytes.map_or_else(|| Ok(Exported::none()), exported)?;
            let logical = values.bytes().len() as u64;
            held.datasets.push(Dataset {
                path,
                dtype: DType::parse(&dtype).map_err(raise)?,
                shape,
                order: if is_fortran { Order::F } else { Order::C },
                chunks: None,
                codec: "none".into(),
                stored: logical,
                logical,
                attributes: Vec::new(),
                visibility: Visibility::Always,
            });
            held.values.push(values);
            held.masks.push(mask.map(exported).transpose()?);
        }
        Ok(held)
    }

    /// All of it.
    pub(crate) fn all(&self) -> Vec<Part> {
        self.datasets.iter().enumerate().map(|(at, dataset)| (at, Region::whole(&dataset.shape))).collect()
    }
}

impl Container for Held {
    fn about(&self) -> About {
        About { format: "memory", version: None, size: 0, complete: true, details: Vec::new() }
    }

    fn meta(&self) -> Result<Value> {
        Ok(self.carried.clone())
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        options.limits.stop.check()?;
        let dataset = require(self, index)?;
        let bytes = self.values.get(index).map(Exported::bytes).unwrap_or_default();
        Array::new(dataset.dtype.clone(), dataset.shape.clone(), dataset.order, bytes.into())?.select(region)
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        let Some(mask) = self.masks.get(index).and_then(Option::as_ref) else { return Ok(None) };
        let shape = require(self, index)?.shape.clone();
        let array = Array::new(DType::parse("|b1")?, shape, Order::C, mask.bytes().into())?;
        array.select(region)?.into_owned(&options.limits).map(Some)
    }
}

impl FileStructure for Held {
    fn may_hide_datasets(&self) -> bool {
        false
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        Vec::new()
    }

    fn byte_map(&self) -> Vec<Segment> {
        Vec::new()
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        Ok(Report::default())
    }
}

impl Interchange for Held {
    fn losses(&self) -> Vec<Loss> {
        let Value::Map(entries) = &self.carried else { return Vec::new() };
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        if keys.is_empty() {
            return Vec::new();
        }
        vec![Loss { dataset: None, what: format!("metadata: {}", keys.join(", ")) }]
    }

    /// Nothing: all metadata are carried.
    fn unexported_metadata(&self, _selection: &[Part]) -> Vec<Loss> {
        Vec::new()
    }

    fn export_metadata(&self, _selection: &[Part]) -> Result<Value> {
        Ok(self.carried.clone())
    }
}
