//! A container of values in memory, for tests.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;

use super::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment, Visibility,
};
use crate::array::Array;
use crate::block::Block;
use crate::dtype::{DType, Order};
use crate::region::Region;
use crate::report::{BlockCounts, Loss, Report};
use crate::{Error, Progress, Result, Value};

/// Datasets with their elements. Regions that are read are recorded.
pub(crate) struct Toy {
    pub(crate) datasets: Vec<Dataset>,
    pub(crate) elements: Vec<Vec<u8>>,
    /// Of each dataset, a byte for each element; empty without a mask.
    pub(crate) hidden: Vec<Vec<u8>>,
    pub(crate) blocks: Vec<ToyBlock>,
    pub(crate) map: Vec<Segment>,
    pub(crate) meta: fn() -> Result<Value>,
    pub(crate) losses: Vec<Loss>,
    /// The dataset whose elements are not in the file.
    pub(crate) absent: Option<usize>,
    pub(crate) reads: Mutex<Vec<Region>>,
}

pub(crate) struct ToyBlock {
    pub(crate) range: Range<u64>,
    pub(crate) codec: Option<&'static str>,
}

impl Block for ToyBlock {
    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn decoded_len(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn codec(&self) -> Option<&str> {
        self.codec
    }
}

impl Toy {
    pub(crate) fn new() -> Self {
        Self {
            datasets: Vec::new(),
            elements: Vec::new(),
            hidden: Vec::new(),
            blocks: Vec::new(),
            map: Vec::new(),
            meta: || Ok(Value::Map(Vec::new())),
            losses: Vec::new(),
            absent: None,
            reads: Mutex::default(),
        }
    }

    /// The same with one more dataset, whose bytes count from 0.
    pub(crate) fn with(mut self, path: &str, dtype: &str, shape: &[u64], order: Order) -> Self {
        let dtype = DType::parse(dtype).unwrap();
        let len = crate::array::byte_len(&dtype, shape).unwrap_or(0);
        self.datasets.push(Dataset {
            path: path.to_owned(),
            dtype,
            shape: shape.to_vec(),
            order,
            chunks: None,
            codec: "none".to_owned(),
            stored: len,
            logical: len,
            attributes: Vec::new(),
            visibility: Visibility::Always,
        });
        self.elements.push((0..=250).cycle().take(usize::try_from(len).unwrap()).collect());
        self.hidden.push(Vec::new());
        self
    }

    pub(crate) fn last(&mut self) -> &mut Dataset {
        self.datasets.last_mut().unwrap()
    }

    pub(crate) fn taken_reads(&self) -> Vec<Region> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

impl Container for Toy {
    fn about(&self) -> About {
        About { format: "toy", version: None, size: 0, complete: true, details: Vec::new() }
    }

    fn meta(&self) -> Result<Value> {
        (self.meta)()
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, _options: &ReadOptions) -> Result<Array<'_>> {
        self.reads.lock().unwrap().push(region.clone());
        let dataset = super::require(self, index)?;
        let bytes = Cow::Borrowed(&self.elements[index][..]);
        Array::new(dataset.dtype.clone(), dataset.shape.clone(), dataset.order, bytes)?.select(region)
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        let (dataset, hidden) = (super::require(self, index)?, self.hidden[index].clone());
        if hidden.is_empty() {
            return Ok(None);
        }
        let mask = Array::new(DType::parse("|b1")?, dataset.shape.clone(), dataset.order, hidden.into())?;
        mask.select(region)?.into_owned(&options.limits).map(Some)
    }

    fn absence(&self, index: usize, _region: &Region) -> Option<Error> {
        (self.absent == Some(index)).then(|| Error::absent("made by the program"))
    }
}

impl FileStructure for Toy {
    fn blocks(&self) -> Vec<&dyn Block> {
        self.blocks.iter().map(|block| block as &dyn Block).collect()
    }

    fn byte_map(&self) -> Vec<Segment> {
        self.map.clone()
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        Ok(Report::new(Vec::new(), BlockCounts::default()))
    }
}

impl Interchange for Toy {
    fn losses(&self) -> Vec<Loss> {
        self.losses.clone()
    }

    fn export_metadata(&self, _selection: &[(usize, Region)]) -> Result<Value> {
        (self.meta)()
    }
}
