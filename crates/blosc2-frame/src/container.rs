//! The container adapter of an open frame, and its entry for the table of formats.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use blosc_chunk::Compressor;
use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{
    self, About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment, Tolerance,
};
use container_core::dtype::Order;
use container_core::format::{Format, Input, Level, Probe, Support};
use container_core::region::Region;
use container_core::report::{Loss, Report};
use container_core::source::Source;
use container_core::write::journal::Notice;
use container_core::{Error, Progress, Result, Value};

use crate::absent_values::{self, Absence};
use crate::b2nd;
use crate::check;
use crate::chunk_block::ChunkEntry;
use crate::chunk_stats::ChunkSummary;
use crate::dataset_view::DatasetView;
use crate::fault::{Fault, FaultKind};
use crate::frame::{ChunkScan, Frame};
use crate::header::MAGIC;
use crate::metadata::interchange;
use crate::options::OpenOptions;
use crate::sparse_directory::INDEX_NAME;
use crate::tensor::Tensor;
use crate::{append, byte_map, import, info, items, journal, metadata, repair, stores, user_metadata};

const ALL: Level = Level::Yes;
const NO: Level = Level::No;

/// Blosc2 frames in a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["b2nd", "b2frame", "b2f"],
    order: Some(Order::C),
    support: &[
        Support {
            version: "frames of version 2, b2nd arrays",
            read: ALL,
            write: ALL,
            verify: ALL,
            repair: ALL,
        },
        Support {
            version: "version 3: chunks or blocks of different lengths",
            read: ALL,
            write: ALL,
            verify: ALL,
            repair: ALL,
        },
        Support { version: "version 1, caterva arrays", read: ALL, write: NO, verify: ALL, repair: ALL },
        Support {
            version: "sparse frames (directories)",
            read: ALL,
            write: Level::Partly,
            verify: ALL,
            repair: Level::Partly,
        },
        Support {
            version: "stores of python-blosc2: .b2z, .b2d, .b2e",
            read: ALL,
            write: NO,
            verify: ALL,
            repair: NO,
        },
    ],
    magics: &[&MAGIC],
    codecs: Compressor::CODECS,
    options: import::options::OPTIONS,
    journal_suffix: Some(journal::KIND.suffix),
    import: Some(import::import),
    write_directory: Some(import::sparse::TARGET),
    change_metadata: Some(user_metadata::change_metadata),
    repair: Some(repair::repair_to),
    append: Some(append::append),
    pack: Some(items::pack),
    ..Format::new(
        "blosc2",
        "Blosc2",
        |probe: &Probe<'_>| {
            probe.head.starts_with(&MAGIC) || probe.directory.is_some_and(is_sparse) || stores::sniff(probe)
        },
        open,
    )
};

pub(crate) fn is_sparse(directory: &std::path::Path) -> bool {
    directory.join(INDEX_NAME).is_file()
}

fn open(input: Input, options: &container::OpenOptions) -> Result<Box<dyn Container>> {
    let Input { source, path } = input;
    match (source, path) {
        (Some(source), path) if starts_with_magic(&*source)? => {
            let (source, notice) = match path {
                Some(path) => journal::noticed(&path, source, &options.limits)?,
                None => (source, None),
            };
            let source: Arc<dyn Source> = Arc::from(source);
            let again = Arc::clone(&source);
            let open = move |own: &OpenOptions| Frame::from_source(Box::new(Arc::clone(&again)), 0, own);
            let mut opened = Blosc2Container::new(&open, options)?;
            opened.journal = notice;
            if stores::is_embed(opened.view.frame()) {
                return stores::open_embed(source, options, open_container);
            }
            Ok(Box::new(opened))
        }
        (None, Some(path)) if is_sparse(&path) => Ok(Box::new(Blosc2Container::new(
            &move |own: &OpenOptions| Frame::open_with(&path, own),
            options,
        )?)),
        (source, path) => stores::open(Input { source, path }, options, open_container),
    }
}

fn starts_with_magic(source: &dyn Source) -> Result<bool> {
    Ok(source.read(0..source.len().min(MAGIC.len() as u64))?.starts_with(&MAGIC))
}

/// Opens the container of a frame in a file, a directory or a store.
#[expect(clippy::needless_pass_by_value, reason = "the type of function that stores take")]
pub(crate) fn open_container(
    open: stores::Opener,
    options: &container::OpenOptions,
) -> Result<Box<dyn Container>> {
    Ok(Box::new(Blosc2Container::new(&*open, options)?))
}

/// A frame as a container.
struct Blosc2Container {
    view: DatasetView,
    /// Whether unreadable metadata are replaced by the reason.
    tolerance: Tolerance,
    summary: OnceLock<ChunkSummary>,
    /// Result of reading the headers of all chunks; empty if there are too many.
    scan: OnceLock<ChunkScan>,
    /// The one dataset, if there is one.
    datasets: OnceLock<Vec<Dataset>>,
    blocks: OnceLock<Vec<ChunkEntry>>,
    /// Journal of the file.
    journal: Option<Notice>,
}

impl Blosc2Container {
    fn new(open: &dyn Fn(&OpenOptions) -> Result<Frame>, options: &container::OpenOptions) -> Result<Self> {
        // Damage is reported by the check, and by reads that meet it.
        let mut own = OpenOptions::from(options);
        own.tolerance = Tolerance::Lenient;
        let view = DatasetView::new(|| open(&own), options.tolerance)?;
        Ok(Self {
            view,
            tolerance: options.tolerance,
            summary: OnceLock::new(),
            scan: OnceLock::new(),
            datasets: OnceLock::new(),
            blocks: OnceLock::new(),
            journal: None,
        })
    }

    /// Returns the fault that hides metadata.
    fn hidden(&self) -> Option<&Fault> {
        let frame = self.view.frame();
        frame.layout().faults().iter().find(|fault| match fault.kind() {
            FaultKind::MetalayersUnreadable => true,
            FaultKind::TrailerUnreadable | FaultKind::FrameTruncated => frame.header().has_vlmetalayers,
            _ => false,
        })
    }

    /// Fails where metadata are hidden, unless that is tolerated.
    ///
    /// # Errors
    /// What hides them.
    fn check_not_hidden(&self) -> Result<()> {
        match self.hidden().filter(|_| self.tolerance == Tolerance::Strict) {
            Some(fault) => Err(fault.error().with_hint(metadata::AS_FAR_AS_READABLE)),
            None => Ok(()),
        }
    }

    fn summary(&self) -> &ChunkSummary {
        self.summary.get_or_init(|| ChunkSummary::new(self.view.frame()))
    }

    /// Returns what lies between the chunks; nothing where limits, disk or a stop keep it from being read, until the next call.
    fn scan(&self) -> &ChunkScan {
        static NOTHING: OnceLock<ChunkScan> = OnceLock::new();
        if let Some(scan) = self.scan.get() {
            return scan;
        }
        match self.view.frame().scan_chunks() {
            Err(error) if error.is_interruption() => NOTHING.get_or_init(ChunkScan::default),
            scan => self.scan.get_or_init(|| scan.unwrap_or_default()),
        }
    }
}

impl Container for Blosc2Container {
    fn about(&self) -> About {
        let frame = self.view.frame();
        About {
            format: FORMAT.name,
            version: Some(frame.header().version.to_string()),
            size: frame.layout().file_len().saturating_add(byte_map::parts_len(frame)),
            complete: frame.layout().end() <= frame.layout().file_len(),
            details: {
                let mut details = info::details(&self.view, self.summary(), self.view.algorithm());
                details.extend(self.journal.as_ref().map(Notice::detail));
                details
            },
        }
    }

    fn meta(&self) -> Result<Value> {
        self.check_not_hidden()?;
        metadata::tree(self.view.frame(), self.tolerance)
    }

    fn logical_meta(&self) -> Result<Value> {
        self.check_not_hidden()?;
        metadata::logical_tree(self.view.frame(), self.tolerance)
    }

    fn datasets(&self) -> &[Dataset] {
        self.datasets.get_or_init(|| self.view.whole(self.summary()).into_iter().collect())
    }

    fn dataset_count(&self) -> usize {
        self.view.count()
    }

    fn listed_count(&self) -> usize {
        self.view.count()
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        if self.view.is_of_chunks() {
            return self.view.chunk(index).map(Cow::Owned);
        }
        self.datasets().get(index).map(Cow::Borrowed)
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.view.find(path)
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        self.view.read(index, region, options)
    }

    fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        let frame = self.view.frame();
        let is_plain = frame.absence().is_none() && self.view.algorithm().is_none();
        is_plain.then(|| self.view.repeated(index, region)).flatten()
    }

    fn absence(&self, index: usize, region: &Region) -> Option<Error> {
        self.view.absence(index, region, &self.view.frame().options().limits)
    }
}

impl FileStructure for Blosc2Container {
    fn blocks(&self) -> Vec<&dyn Block> {
        let scan = self.scan();
        if self.scan.get().is_none() {
            return Vec::new();
        }
        let blocks = self.blocks.get_or_init(|| {
            let frame = self.view.frame();
            let chunks = scan.chunks.iter();
            chunks.filter_map(|chunk| frame.chunk_entry(chunk.index).ok()).collect()
        });
        blocks.iter().map(|block| block as &dyn Block).collect()
    }

    fn has_small_blocks(&self, most: u64) -> bool {
        self.view.frame().has_small_chunks(most)
    }

    fn byte_map(&self) -> Vec<Segment> {
        let algorithm = self.view.algorithm();
        let mut map = byte_map::segments(&self.view, self.scan(), algorithm);
        map.extend(self.journal.as_ref().map(Notice::segment));
        map
    }

    fn for_each_segment(&self, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
        byte_map::for_each_segment(&self.view, self.scan(), self.view.algorithm(), look)?;
        self.journal.as_ref().map(Notice::segment).map_or(Ok(()), look)
    }

    fn notices(&self) -> Vec<String> {
        self.journal.iter().map(|notice| notice.message.clone()).collect()
    }

    fn checksums(&self) -> BTreeSet<String> {
        self.view.algorithm().map(|algorithm| algorithm.name().to_owned()).into_iter().collect()
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        Ok(check::check(&self.view, depth, options, progress)?
            .with(self.journal.as_ref().map(Notice::finding)))
    }
}

impl Interchange for Blosc2Container {
    fn records_dtype(&self, _index: usize) -> Option<bool> {
        self.view.is_flat().then_some(false)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self.view.frame())
    }

    fn losses(&self) -> Vec<Loss> {
        let frame = self.view.frame();
        let mut losses = Vec::new();
        let mut lose = |what: String| losses.push(Loss { dataset: None, what });
        let of_array = |name: &str| name == b2nd::NAME || name == b2nd::OLD_NAME;
        let fixed: Vec<&str> =
            frame.metalayers().iter().map(|(name, _)| name).filter(|name| !of_array(name)).collect();
        if !fixed.is_empty() {
            lose(format!("metalayers: {}", fixed.join(", ")));
        }
        let is_lost = |name: &&str| *name != metadata::CHECKSUMS && !Tensor::is_described_by(frame, name);
        let user: Vec<&str> = frame.vlmetalayer_names().filter(is_lost).collect();
        if !user.is_empty() {
            lose(format!("user metadata: {}", user.join(", ")));
        }
        if let Some(fault) = self.hidden() {
            lose(format!("metadata that cannot be read: {}", fault.error()));
        }
        if let Some(what) = frame.absence().and_then(Absence::loss) {
            lose(what);
        }
        let layout = frame.layout();
        let behind = layout.file_len().saturating_sub(layout.end());
        if behind > 0 {
            lose(format!("{behind} bytes after the frame"));
        }
        losses
    }

    fn export_metadata(&self, _selection: &[(usize, Region)]) -> Result<Value> {
        self.check_not_hidden()?;
        interchange::of_frame(self.view.frame(), self.tolerance)
    }

    fn unexported_metadata(&self, _selection: &[(usize, Region)]) -> Vec<Loss> {
        let mut losses = self.losses();
        let is_carried = |what: &str| what.starts_with("metalayers: ") || what.starts_with("user metadata: ");
        losses.retain(|loss| !is_carried(&loss.what));
        let frame = self.view.frame();
        if frame.absence().is_some() {
            let fixed = frame.metalayers().iter().map(|(name, _)| name);
            let stand_in: Vec<&str> = fixed
                .chain(frame.vlmetalayer_names())
                .filter(|name| absent_values::is_of_stand_in(name))
                .collect();
            let what = format!("source of the array: {}", stand_in.join(", "));
            losses.push(Loss { dataset: None, what });
        }
        losses
    }
}
