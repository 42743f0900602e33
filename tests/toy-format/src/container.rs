//! `Container` for an open file.

use container_core::array::{Array, StoredArray};
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions, Segment,
    Visibility,
};
use container_core::format::{ITEM, Input};
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::source::Source;
use container_core::{Error, Limits, Order, Progress, Region, Result, Value};

use crate::record::{MAGIC, Record};

/// Opens a file.
///
/// # Errors
/// `WrongFormat`; those of the source. A damaged record ends the list, and is a fault of the file.
pub(crate) fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Container>> {
    Ok(Box::new(Toy::new(input.into_source()?, options)?))
}

/// An open file.
pub(crate) struct Toy {
    pub(crate) source: Box<dyn Source>,
    pub(crate) records: Vec<Record>,
    datasets: Vec<Dataset>,
    /// The error that ended the list of records, and its offset.
    pub(crate) fault: Option<(u64, Error)>,
    limits: Limits,
}

impl Toy {
    pub(crate) fn new(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        if *source.read(0..source.len().min(MAGIC.len() as u64))? != *MAGIC {
            return Err(Error::wrong_format("a Toy file"));
        }
        let (mut records, mut fault) = (Vec::<Record>::new(), None);
        let mut at = MAGIC.len() as u64;
        while at < source.len() && fault.is_none() {
            match Record::parse(&source, at) {
                Ok(record) => {
                    at = record.range().end;
                    records.push(record);
                }
                Err(error) => fault = Some((at, error)),
            }
        }
        let datasets = records.iter().map(dataset).collect();
        Ok(Self { source, records, datasets, fault, limits: options.limits })
    }
}

fn dataset(record: &Record) -> Dataset {
    let len = record.decoded_len();
    Dataset {
        path: record.name.clone(),
        dtype: record.dtype.clone(),
        shape: record.shape.clone(),
        order: Order::C,
        chunks: None,
        codec: "none".into(),
        stored: len,
        logical: len,
        attributes: record.kind.iter().map(|kind| (ITEM.to_owned(), Value::from(kind.word()))).collect(),
        visibility: Visibility::Always,
    }
}

impl Container for Toy {
    fn about(&self) -> About {
        About {
            format: crate::FORMAT.name,
            version: Some("1".into()),
            size: self.source.len(),
            complete: self.fault.is_none(),
            details: Vec::new(),
        }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(Vec::new()))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let record = self.records.get(index).ok_or_else(|| Error::usage("no such dataset"))?;
        let stored = StoredArray {
            dtype: record.dtype.clone(),
            shape: record.shape.clone(),
            order: Order::C,
            data_at: record.elements.start,
        };
        stored.read(&self.source, region, &self.limits.with_stop(options.limits.stop), options.threads)
    }
}

impl FileStructure for Toy {
    fn blocks(&self) -> Vec<&dyn Block> {
        self.records.iter().map(|record| record as &dyn Block).collect()
    }

    fn byte_map(&self) -> Vec<Segment> {
        let mut parts = vec![Segment::plain(0..MAGIC.len() as u64, "magic")];
        for record in &self.records {
            parts.push(Segment::plain(record.at..record.elements.start, "record"));
            parts.push(Segment {
                codec: Some("none".into()),
                stored: Some(record.decoded_len()),
                decoded: Some(record.decoded_len()),
                checksum: Some("sum".into()),
                dataset: Some(record.name.clone()),
                ..Segment::plain(record.elements.clone(), "data")
            });
            parts.push(Segment::plain(record.elements.end..record.range().end, "sum"));
        }
        Segment::tile(parts, self.source.len(), "record")
    }

    fn check(&self, depth: CheckDepth, _: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        let mut findings = Vec::new();
        let mut blocks = BlockCounts { total: self.records.len() as u64, ..BlockCounts::default() };
        if let Some((at, error)) = &self.fault {
            let finding = Finding::new(Severity::Error, "record", error.to_string());
            findings.push(finding.at(*at..self.source.len()));
        }
        for record in self.records.iter().filter(|_| depth == CheckDepth::Full) {
            blocks.checked += 1;
            if !record.is_whole(&self.source)? {
                blocks.bad += 1;
                let finding = Finding::new(Severity::Error, "sum", "the elements do not fit their sum");
                findings.push(finding.at(record.elements.clone()).dataset(&record.name));
            }
            progress.tick(blocks.checked, blocks.total)?;
        }
        Ok(Report::new(findings, blocks))
    }
}

impl Interchange for Toy {}
