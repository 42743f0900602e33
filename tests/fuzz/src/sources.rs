//! The same bytes through different sources.

use std::fmt::{Debug, Write as _};
use std::ops::Range;

use container_core::container::{CheckDepth, Container, Defaults, OpenOptions, Tolerance, all_datasets};
use container_core::dtype::Order;
use container_core::format::{Format, Input};
use container_core::region::Region;
use container_core::source::{Source, SparseSource, check_range, drive};
use container_core::{Error, ErrorKind, Progress, Result};

use crate::feed::Feed;
use crate::options::{all_open_options, limits, read_options, small_options};
use crate::values::region;

/// A file that lends nothing, as one that is read by position.
struct Copying(Vec<u8>);

impl Source for Copying {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

/// Whatever is asked of a file, the answer does not depend on where its bytes are.
pub fn rawarray_differential(data: &[u8]) {
    for options in all_open_options() {
        differential(&rawarray::FORMAT, data, &options);
    }
}

/// The same for Bloscpack.
pub fn bloscpack_differential(data: &[u8]) {
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let mut options = small_options();
        options.tolerance = tolerance;
        let held = bloscpack::File::from_source(Box::new(data.to_vec()), &options)
            .map_or(0, |file| file.chunks().iter().map(|chunk| u64::from(chunk.nbytes())).sum());
        if held <= 1 << 16 {
            differential(&bloscpack::FORMAT, data, &options);
        }
    }
}

/// The same for Blosc2.
pub fn blosc2_differential(data: &[u8]) {
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let mut options = small_options();
        options.tolerance = tolerance;
        let Ok(lens) = (blosc2_frame::FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options) else {
            continue;
        };
        // A few bytes of index can be the chunks of many gigabytes.
        let held =
            all_datasets(&*lens).take(65).map(|(_, dataset)| dataset.logical).fold(0, u64::saturating_add);
        if lens.dataset_count() <= 64 && held <= 1 << 16 {
            differential(&blosc2_frame::FORMAT, data, &options);
        }
    }
}

/// The same for GSD.
pub fn gsd_differential(data: &[u8]) {
    for defaults in [Defaults::Apply, Defaults::StoredOnly] {
        let mut options = small_options();
        options.defaults = defaults;
        let Ok(lens) = (gsd::FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options) else { continue };
        // Few bytes can be the chunk of many frames.
        let held = all_datasets(&*lens).map(|(_, dataset)| dataset.logical).fold(0, u64::saturating_add);
        if held <= 1 << 16 {
            differential(&gsd::FORMAT, data, &options);
        }
    }
}

/// The same for ASDF.
pub fn asdf_differential(data: &[u8]) {
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let mut options = small_options();
        options.tolerance = tolerance;
        let Ok(lens) = (asdf::FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options) else { continue };
        let held =
            all_datasets(&*lens).take(65).map(|(_, dataset)| dataset.logical).fold(0, u64::saturating_add);
        if lens.dataset_count() <= 64 && held <= 1 << 16 {
            differential(&asdf::FORMAT, data, &options);
        }
    }
}

fn differential(format: &Format, data: &[u8], options: &OpenOptions) {
    let told = |source: Box<dyn Source>| everything(format, source, options, Feed::derived(data));
    let memory = told(Box::new(data.to_vec())).expect("memory has no holes");
    let copied = told(Box::new(Copying(data.to_vec()))).expect("nor has a file");
    assert_eq!(memory, copied, "memory and a file that is read by position");
    let mut sparse = SparseSource::new(data.len() as u64);
    let driven = drive(&mut sparse, |range| Ok(bytes(data, range)), |source| told(Box::new(source.clone())));
    let driven = driven.expect("every hole can be filled");
    assert_eq!(memory.said, driven.said, "memory and a source with holes");
    assert!(driven.details.iter().all(|detail| memory.details.contains(detail)), "{:?}", driven.details);
}

fn bytes(data: &[u8], range: Range<u64>) -> Vec<u8> {
    data[range.start as usize..range.end as usize].to_vec()
}

/// All that a file gives.
#[derive(Debug, Default, PartialEq, Eq)]
struct Transcript {
    /// As text.
    said: String,
    /// Details that may be left out where a hole is. As text: NaN is not itself.
    details: Vec<String>,
}

impl Transcript {
    /// Adds a result. Only a hole is passed on, for the driver to fill.
    fn add(&mut self, what: &str, result: Result<impl Debug>) -> Result<()> {
        let written = match result {
            Ok(value) => writeln!(self.said, "{what}: {value:?}"),
            Err(error) if matches!(error.kind(), ErrorKind::Missing(_)) => return Err(error),
            Err(error) => writeln!(self.said, "{what} fails: {error:?}"),
        };
        written.map_err(|_| Error::usage("a string refused text"))
    }
}

fn everything(
    format: &Format,
    source: Box<dyn Source>,
    options: &OpenOptions,
    mut feed: Feed<'_>,
) -> Result<Transcript> {
    let mut transcript = Transcript::default();
    match (format.open)(Input::bytes(source), options) {
        Ok(container) => contents(&*container, &mut transcript, &mut feed)?,
        Err(error) => transcript.add("open", Err::<(), _>(error))?,
    }
    Ok(transcript)
}

fn contents(container: &dyn Container, transcript: &mut Transcript, feed: &mut Feed<'_>) -> Result<()> {
    let mut about = container.about();
    transcript.details = about.details.drain(..).map(|detail| format!("{detail:?}")).collect();
    transcript.add("about", Ok(about))?;
    transcript.add("meta", container.meta())?;
    let mut layout = Vec::new();
    let walked = container.for_each_segment(&mut |segment| {
        layout.push(segment);
        Ok(())
    });
    transcript.add("layout", walked.map(|()| layout))?;
    transcript.add("losses", Ok(container.losses()))?;
    for depth in [CheckDepth::Quick, CheckDepth::Full] {
        transcript.add("check", container.check(depth, &read_options(), Progress::none()))?;
    }
    for (index, dataset) in all_datasets(container) {
        transcript.add("dataset", Ok(&*dataset))?;
        for part in
            [Region::whole(&dataset.shape), region(&dataset.shape, feed), region(&dataset.shape, feed)]
        {
            let array = container.read(index, &part, &read_options());
            let bytes = array.and_then(|array| Ok(array.bytes(Order::F, &limits())?.into_owned()));
            transcript.add("values", bytes)?;
        }
    }
    Ok(())
}

/// A source with holes, against a list of what is loaded.
pub fn sparse_source(data: &[u8]) {
    let mut feed = Feed::new(data);
    let file: Vec<u8> = (0..feed.below(100)).map(|at| at as u8).collect();
    let mut source = SparseSource::new(file.len() as u64);
    let mut loaded = vec![false; file.len()];
    for _ in 0..feed.below(24) {
        let (from, to) = (feed.below(file.len() + 3), feed.below(file.len() + 3));
        let range = from as u64..to as u64;
        match (from <= to, to <= file.len()) {
            (true, true) if feed.flag() => {
                source.insert(range.start, &file[from..to]).expect("within the file");
                loaded[from..to].fill(true);
            }
            (true, true) => look(&source, &file, &loaded, from..to),
            (true, false) => {
                assert!(source.insert(range.start, &vec![0; to - from]).is_err());
                assert!(source.read(range).is_err());
            }
            (false, _) => assert!(source.read(range).is_err()),
        }
        assert_eq!(source.loaded(), loaded.iter().filter(|is| **is).count() as u64);
    }
}

fn look(source: &SparseSource, file: &[u8], loaded: &[bool], range: Range<usize>) {
    let wide = range.start as u64..range.end as u64;
    let hole = range.clone().find(|at| !loaded[*at]).map(|start| {
        let end = (start..range.end).find(|at| loaded[*at]).unwrap_or(range.end);
        start as u64..end as u64
    });
    assert_eq!(source.hole(wide.clone()), hole);
    assert!(check_range(&wide, source.len()).is_ok());
    if let Some(lent) = source.lend(wide.clone()) {
        assert_eq!((lent, &hole), (&file[range.clone()], &None));
    }
    match source.read(wide) {
        Ok(read) => assert_eq!((&*read, hole), (&file[range], None)),
        Err(error) => match error.kind() {
            ErrorKind::Missing(missing) => assert_eq!(Some(missing.clone()), hole),
            kind => panic!("{kind}"),
        },
    }
}
