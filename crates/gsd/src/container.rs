//! The lens over an open file, and the entry for the table of formats.

use std::borrow::Cow;
use std::sync::OnceLock;

use container_core::array::{Array, byte_len};
use container_core::block::Block;
use container_core::container::{
    self, About, Container, Dataset, Depth, Listed, OpenOptions, ReadOptions, Segment,
};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::{Format, Input, Level, Probe, Support};
use container_core::region::{AxisSelection, Region};
use container_core::report::{BlockCounts, Finding, Loss, Report, Severity};
use container_core::{Error, Progress, Result, Value};

use crate::file::File;
use crate::frames::Frames;
use crate::gather::{Fallback, Rows, Stack};
use crate::header::INDEX_ENTRY_LEN;
use crate::index::IndexEntry;
use crate::log_records::{self, LogRecords};
use crate::survey::{Stacked, Survey};
use crate::{append, import, repair};

const ALL: Level = Level::Yes;

/// GSD in a table of formats.
pub const FORMAT: Format = Format {
    name: "gsd",
    title: "GSD",
    extensions: &["gsd"],
    order: Some(Order::C),
    support: &[
        Support { version: "2.1", read: ALL, write: ALL, verify: ALL, repair: ALL },
        Support { version: "2.0", read: ALL, write: Level::Partly, verify: ALL, repair: ALL },
        Support { version: "1.0, 0.3", read: ALL, write: Level::Partly, verify: ALL, repair: ALL },
        Support { version: "big-endian", read: ALL, write: Level::No, verify: ALL, repair: ALL },
    ],
    sniff: |probe: &Probe<'_>| {
        let magic = probe.head.first_chunk::<8>();
        magic.is_some_and(|magic| {
            [u64::from_le_bytes(*magic), u64::from_be_bytes(*magic)].contains(&crate::header::MAGIC)
        })
    },
    open: |input: Input, options: &OpenOptions| Ok(Box::new(Lens::new(input, options)?)),
    import: Some(import::import),
    repair: Some(repair::repair_to),
    append: Some(append::append),
    pack: None,
};

struct Lens {
    file: File,
    fallback: Fallback,
    survey: Survey,
    stacked: Vec<Dataset>,
    blocks: OnceLock<Vec<IndexEntry>>,
    log: OnceLock<Option<LogRecords>>,
}

impl Lens {
    fn new(input: Input, options: &OpenOptions) -> Result<Self> {
        let own = crate::OpenOptions {
            limits: options.limits,
            access: options.access,
            ..crate::OpenOptions::default()
        };
        let file = File::from_source(input.into_source()?, &own)?;
        let fallback = match options.fallback {
            container::Fallback::Apply => Fallback::Schema,
            container::Fallback::Stored => Fallback::Stored,
        };
        let survey = Survey::new(&file, fallback)?;
        let stacked = survey.stacked.iter().filter_map(|one| stacked(&file, one)).collect();
        Ok(Self { file, fallback, survey, stacked, blocks: OnceLock::new(), log: OnceLock::new() })
    }

    fn log(&self) -> Option<&LogRecords> {
        self.log.get_or_init(|| LogRecords::read(&self.file).ok().flatten()).as_ref()
    }

    fn read_stack(&self, one: &Stacked, region: &Region, threads: usize) -> Result<Array<'_>> {
        let name = self.file.names().get(one.id).unwrap_or_default();
        let Some((frames, rest)) = region.axes().split_first() else { return Err(Error::usage("no axes")) };
        let chosen = Frames { start: frames.start, step: frames.step, count: frames.count };
        let stack = Stack::new(&self.file, &name, &chosen, self.fallback)?;
        let array = if (one.m == 1 && one.item == [one.n]) || (one.m > 1 && one.item == [one.n, one.m.into()])
        {
            let array = stack.read(&rest.first().map_or(Rows::All, Rows::from), threads)?;
            let mut axes = vec![AxisSelection { start: 0, step: 1, ..*frames }];
            axes.extend(rest.first().map(|rows| AxisSelection { start: 0, step: 1, ..*rows }));
            axes.extend(rest.iter().skip(1));
            let region = Region::new(axes, array.shape())?;
            array.select(&region)?
        } else {
            let array = stack.read(&Rows::All, threads)?;
            let mut shape = vec![frames.count];
            shape.extend(&one.item);
            let bytes = array.bytes(Order::C, &self.file.options().limits)?.into_owned();
            let mut axes = vec![AxisSelection { start: 0, step: 1, ..*frames }];
            axes.extend(rest);
            let region = Region::new(axes, &shape)?;
            Array::new(stack.dtype(), shape, Order::C, Cow::Owned(bytes))?.select(&region)?
        };
        Ok(array)
    }
}

impl Container for Lens {
    fn about(&self) -> About {
        let header = self.file.header();
        let details = [
            ("application", Value::from(header.application_name())),
            ("schema", Value::from(format!("{} {}", header.schema_name(), header.schema_version))),
            ("frames", Value::from(self.file.nframes())),
        ];
        About {
            format: FORMAT.name,
            version: Some(header.gsd_version.to_string()),
            size: self.file.layout().file_len(),
            complete: true,
            details: details.map(|(name, value)| (name.to_owned(), value)).into(),
        }
    }

    fn meta(&self) -> Result<Value> {
        let header = self.file.header();
        Ok(Value::Map(vec![
            ("application".into(), header.application_name().into()),
            ("schema".into(), header.schema_name().into()),
            ("schema_version".into(), header.schema_version.to_string().into()),
        ]))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.stacked
    }

    fn dataset_count(&self) -> usize {
        self.survey.total()
    }

    fn listed_count(&self) -> usize {
        self.survey.listed()
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        if let Some(dataset) = self.stacked.get(index) {
            return Some(Cow::Borrowed(dataset));
        }
        if index == self.survey.total() {
            return self.log().map(|log| Cow::Borrowed(log.dataset()));
        }
        let entry = self.survey.entry(&self.file, index)?;
        let name = self.file.names().get(entry.id)?;
        let listed = if index < self.survey.listed() { Listed::Always } else { Listed::Recursive };
        let dtype = entry.chunk_type()?.dtype(self.file.header().byte_order);
        let size = entry.size()?;
        Some(Cow::Owned(described(
            format!("frames/{}/{name}", entry.frame),
            dtype,
            entry.shape(),
            size,
            listed,
        )))
    }

    fn find(&self, path: &str) -> Option<usize> {
        if let Some(index) = self.stacked.iter().position(|dataset| dataset.path == path) {
            return Some(index);
        }
        if path == log_records::PATH {
            return self.log().map(|_| self.survey.total());
        }
        let (frame, name) = path.strip_prefix("frames/")?.split_once('/')?;
        self.survey.find(&self.file, frame.parse().ok()?, name)
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        if let Some(one) = self.survey.stacked.get(index) {
            return self.read_stack(one, region, options.threads);
        }
        if index == self.survey.total() {
            let log = self.log().ok_or_else(|| Error::usage("no such dataset"))?;
            return log.array()?.select(region);
        }
        let entry = self.survey.entry(&self.file, index).ok_or_else(|| Error::usage("no such dataset"))?;
        let stored = self.file.stored_array(&entry)?;
        stored.read(self.file.source(), region, &options.limits, options.threads)
    }

    fn native(&self) -> Option<&dyn std::any::Any> {
        Some(&self.file)
    }

    fn has_frame_axis(&self, dataset: &Dataset) -> bool {
        !dataset.path.starts_with("frames/") && dataset.path != log_records::PATH
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        let blocks = self.blocks.get_or_init(|| self.file.index().iter().collect());
        blocks.iter().map(|block| block as &dyn Block).collect()
    }

    fn layout(&self) -> Vec<Segment> {
        segments(&self.file)
    }

    fn losses(&self) -> Vec<Loss> {
        let header = self.file.header();
        vec![Loss {
            dataset: None,
            what: format!("application {:?}, schema {:?}", header.application_name(), header.schema_name()),
        }]
    }

    fn check(&self, _depth: Depth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        let (mut findings, mut bad) = (Vec::new(), 0);
        let total = self.file.index().len() as u64;
        for (entry, at) in self.file.index().iter().zip(0_u64..) {
            progress.tick(at, total)?;
            let range = entry.byte_range().filter(|range| range.end <= self.file.layout().file_len());
            let code = if entry.chunk_type().is_none() {
                "entry_type"
            } else if range.is_none() {
                "entry_range"
            } else if entry.frame >= self.file.header().index_allocated_entries {
                "entry_frame"
            } else if usize::from(entry.id) >= self.file.names().len() {
                "entry_id"
            } else if entry.flags != 0 {
                "entry_flags"
            } else {
                continue;
            };
            bad += 1;
            let start = self.file.layout().used_index().start + at * INDEX_ENTRY_LEN;
            let message = self.file.layout().entry_problem(&entry).unwrap_or("it makes no sense");
            let finding = Finding::new(Severity::Error, code, format!("index entry {at}: {message}"));
            findings.push(finding.at(start..start + INDEX_ENTRY_LEN));
            options.limits.allocate(findings.len() as u64 * 256)?;
        }
        Ok(Report::new(findings, BlockCounts { total, checked: total, bad }))
    }
}

/// Every byte: header, names, index, chunks, and what lies between them.
fn segments(file: &File) -> Vec<Segment> {
    let header = file.header();
    let mut known = vec![(0..crate::header::LEN, "header", None)];
    known.extend(header.namelist_range().map(|range| (range, "namelist", None)));
    known.extend(header.index_range().map(|range| (range, "index", None)));
    for entry in file.index().iter() {
        let name = file.names().get(entry.id).map(|name| format!("frames/{}/{name}", entry.frame));
        known.extend(entry.byte_range().map(|range| (range, "chunk", name)));
    }
    known.sort_by_key(|(range, ..)| (range.start, range.end));
    let (mut at, end) = (0, file.layout().file_len());
    let mut segments = Vec::with_capacity(known.len());
    let mut push = |range: std::ops::Range<u64>, role: &str, dataset: Option<String>| {
        if range.start < range.end {
            let stored = dataset.is_some().then_some(range.end - range.start);
            let role = role.to_owned();
            segments.push(Segment { range, role, dataset, stored, decoded: stored, ..Segment::default() });
        }
    };
    for (range, role, dataset) in known {
        let range = range.start.min(end)..range.end.min(end);
        if range.start > at {
            push(at..range.start, "unused", None);
        }
        push(range.start.max(at)..range.end.max(at), role, dataset);
        at = at.max(range.end);
    }
    push(at..end, "unused", None);
    segments
}

fn stacked(file: &File, one: &Stacked) -> Option<Dataset> {
    let mut shape = vec![file.nframes()];
    shape.extend(&one.item);
    let order = file.header().byte_order;
    let name = file.names().get(one.id)?.into_owned();
    Some(described(name, one.chunk_type.dtype(order), shape, one.stored, Listed::Always))
}

fn described(
    path: String,
    dtype: container_core::dtype::DType,
    shape: Vec<u64>,
    stored: u64,
    listed: Listed,
) -> Dataset {
    let logical = byte_len(&dtype, &shape).unwrap_or(0);
    let attributes = if dtype == crate::Type::Character.dtype(ByteOrder::NATIVE) {
        vec![("type".to_owned(), Value::from("character"))]
    } else {
        vec![]
    };
    Dataset {
        path,
        dtype,
        shape,
        order: Order::C,
        chunks: None,
        codec: "none".into(),
        stored,
        logical,
        attributes,
        listed,
    }
}
