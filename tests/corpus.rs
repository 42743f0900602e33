//! Every fixture reads the same through every source, and as the independent script says.

use std::path::Path;

use container_core::container::{
    CheckDepth, Container, Dataset, OpenOptions, ReadOptions, all_datasets, visible_datasets,
};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::{Format, Input};
use container_core::region::Region;
use container_core::report::Report;
use container_core::source::{Access, FileSource, Source, SparseSource, drive, open_path};
use container_core::{ErrorKind, Limits, Progress, Result};

use crate::manifest::{Fixture, Visibility, all_fixtures, fixtures, sha256};

/// Result of reading a file.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub dtype: Option<String>,
    pub shape: Option<Vec<u64>>,
    pub order: Option<String>,
    /// SHA-256 of the elements in stored order, numbers little-endian; the error's text where they cannot be read.
    pub values: std::result::Result<String, String>,
    /// The other datasets of a plain listing.
    pub others: Vec<Shown>,
    pub trailer: u64,
    pub report: Report,
    pub layout: Vec<container_core::container::Segment>,
    pub size: u64,
}

/// Result of reading one dataset.
#[derive(Debug, PartialEq)]
pub struct Shown {
    pub path: String,
    pub dtype: String,
    pub shape: Vec<u64>,
    pub order: Order,
    /// As of [`Seen`], in the order that was asked for.
    pub values: std::result::Result<String, String>,
}

/// One dataset with its values. `Err` where bytes are yet to be fetched.
fn show(container: &dyn Container, index: usize, dataset: &Dataset, order: Order) -> Result<Shown> {
    let values = match elements_in(container, index, order) {
        Ok(bytes) => Ok(sha256(&bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::Missing(_)) => return Err(error),
        Err(error) => Err(error.to_string()),
    };
    Ok(Shown {
        path: dataset.path.clone(),
        dtype: dataset.dtype.to_string(),
        shape: dataset.shape.clone(),
        order: dataset.order,
        values,
    })
}

/// Returns the datasets of a plain listing, by path, with the values in C order.
pub fn shown(container: &dyn Container) -> Result<Vec<Shown>> {
    let mut all = visible_datasets(container)
        .map(|(index, dataset)| show(container, index, &dataset, Order::C))
        .collect::<Result<Vec<_>>>()?;
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

/// The entry of a format in the table.
pub fn format(name: &str) -> &'static Format {
    holdall::formats::by_name(name).expect("a format with fixtures is in the table")
}

/// Enough for every fixture that is damaged, and nothing for what damage may ask for.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(1 << 20);
    options
}

/// Opens through the lens.
pub fn open(name: &str, source: Box<dyn Source>) -> Result<Box<dyn Container>> {
    (format(name).open)(Input::bytes(source), &OpenOptions::default())
}

/// Opens a fixture, file or folder.
pub fn open_fixture(fixture: &Fixture) -> Result<Box<dyn Container>> {
    if fixture.files.is_none() {
        return open(&fixture.format, Box::new(fixture.bytes()));
    }
    let Some(main) = &fixture.main else {
        let input = Input { source: None, path: Some(fixture.full_path.clone()) };
        return (format(&fixture.format).open)(input, &OpenOptions::default());
    };
    let path = fixture.full_path.join(main);
    let source = open_path(&path, Access::Auto, &Limits::default())?;
    let input = Input { source: Some(source), path: Some(path) };
    (format(&fixture.format).open)(input, &OpenOptions::default())
}

/// Everything that a reader makes of a file. `Err` where it cannot be opened.
pub fn see(container: &dyn Container) -> Result<Seen> {
    let first =
        container.dataset(0).map(|dataset| show(container, 0, &dataset, dataset.order)).transpose()?;
    let others = visible_datasets(container)
        .skip(1)
        .map(|(index, dataset)| show(container, index, &dataset, dataset.order));
    // The layout itself cannot say that bytes are yet to be fetched.
    if let Err(error) = container.for_each_segment(&mut |_| Ok(()))
        && matches!(error.kind(), ErrorKind::Missing(_))
    {
        return Err(error);
    }
    let trailer = container.find("trailer").and_then(|index| container.dataset(index));
    Ok(Seen {
        dtype: first.as_ref().map(|first| first.dtype.clone()),
        shape: first.as_ref().map(|first| first.shape.clone()),
        order: first.as_ref().map(|first| first.order.letter().to_string()),
        others: others.collect::<Result<_>>()?,
        values: first.map_or_else(|| Err("no dataset".into()), |first| first.values),
        trailer: trailer.map_or(0, |dataset| dataset.logical),
        report: container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none())?,
        layout: container.byte_map(),
        size: container.about().size,
    })
}

/// The elements in stored order, numbers little-endian.
pub fn elements(container: &dyn Container, index: usize) -> Result<Vec<u8>> {
    elements_in(container, index, container.require(index)?.order)
}

fn elements_in(container: &dyn Container, index: usize, order: Order) -> Result<Vec<u8>> {
    let dataset = container.require(index)?;
    let array = container.read(index, &Region::whole(&dataset.shape), &ReadOptions::default())?;
    let mut bytes = array.bytes(order, &Limits::default())?.into_owned();
    dataset.dtype.swap_to(ByteOrder::Little, &mut bytes)?;
    Ok(bytes)
}

/// A file through every kind of source.
fn through_every_source(fixture: &Fixture) -> Vec<(&'static str, Result<Seen>)> {
    let name = fixture.format.as_str();
    let path: &Path = &fixture.full_path;
    let bytes = fixture.bytes();
    let limits = Limits::default();
    let by_path = |access| {
        let source = open_path(path, access, &limits)?;
        see(&*open(name, source)?)
    };
    let sparse = || {
        let mut source = SparseSource::new(bytes.len() as u64);
        let fetch = |range: std::ops::Range<u64>| Ok(bytes.read(range)?.into_owned());
        drive(&mut source, fetch, |source| see(&*open(name, Box::new(source.clone()))?))
    };
    vec![
        ("map", by_path(Access::Auto)),
        ("positioned", by_path(Access::Positioned)),
        ("memory", by_path(Access::Memory)),
        ("vector", open(name, Box::new(bytes.clone())).and_then(|file| see(&*file))),
        ("file", FileSource::open(path).and_then(|file| see(&*open(name, Box::new(file))?))),
        ("sparse", sparse()),
    ]
}

#[test]
fn every_fixture_reads_the_same_through_every_source() {
    for fixture in fixtures() {
        let mut views = through_every_source(&fixture).into_iter();
        let (_, first) = views.next().expect("a first source");
        let first = first.map_err(|error| error.to_string());
        for (source, view) in views {
            assert_eq!(view.map_err(|error| error.to_string()), first, "{} through {source}", fixture.path);
        }
    }
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "what a machine cannot address is told differently")]
fn fixtures_match_the_independent_script() {
    let mut problems = Vec::new();
    for fixture in all_fixtures() {
        if let Err(problem) = std::panic::catch_unwind(|| compare(&fixture)) {
            let text = problem.downcast_ref::<String>().cloned().unwrap_or_default();
            problems.push(format!("{}: {text}", fixture.path));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn compare(fixture: &Fixture) {
    let seen = open_fixture(fixture).and_then(|file| see(&*file));
    let Ok(seen) = seen else {
        assert_eq!(fixture.verdict, "unreadable", "{}", seen.unwrap_err());
        return;
    };
    assert_eq!(seen.report.verdict().name(), fixture.verdict, "{:?}", seen.report.findings);
    let mut codes: Vec<&str> = seen.report.findings.iter().map(|finding| finding.code).collect();
    // Findings come by severity and place, the manifest's by severity and name.
    let mut expected: Vec<&str> = fixture.codes.iter().map(String::as_str).collect();
    codes.sort_unstable();
    expected.sort_unstable();
    assert_eq!(codes, expected, "{:?}", seen.report.findings);
    assert!(seen.report.findings.is_sorted_by_key(|finding| std::cmp::Reverse(finding.severity)));
    if fixture.dtype.is_some() && fixture.repaired_shape.is_none() {
        assert_eq!(seen.dtype, fixture.dtype);
        assert_eq!(seen.shape, fixture.shape);
        assert!(fixture.order.is_none() || seen.order == fixture.order, "{:?}", seen.order);
    }
    if let Some(values) = &fixture.values {
        assert_eq!(seen.values.as_ref(), Ok(values));
    }
    if let Some(expected) = &fixture.listed() {
        let file = open_fixture(fixture).expect("it opened before");
        assert_eq!(&as_listed(shown(&*file).expect("a listing")), expected);
    }
    if let Some(expected) = &fixture.chunk_values {
        let file = open_fixture(fixture).expect("it opened before");
        let chunks = shown(&*file).expect("a listing").into_iter().map(|it| (it.path, it.values));
        let named = |(index, sha256): (usize, &String)| (format!("chunks/{index}"), Ok(sha256.clone()));
        let mut expected: Vec<_> = expected.iter().enumerate().map(named).collect();
        expected.sort();
        assert_eq!(chunks.collect::<Vec<_>>(), expected);
    }
    // Values that the damage leaves out are in the manifest.
    let is_flat = ["bloscpack", "rawarray"].contains(&fixture.format.as_str());
    if fixture.verdict == "damaged" && is_flat && fixture.values.is_none() {
        assert!(seen.values.is_err(), "damaged values were read");
    }
    assert_eq!(seen.trailer, fixture.trailer.unwrap_or(0));
    expect_tiles(&seen);
    for finding in &seen.report.findings {
        let range = finding.range.as_ref().expect("every finding has its place");
        // An entry of an index may claim bytes anywhere.
        let somewhere = range.start <= seen.size || finding.code == "entry_range";
        assert!(range.start <= range.end && somewhere, "{finding:?}");
    }
}

/// The ranges of the layout cover the file, or each file of a folder, without a gap and once.
fn expect_tiles(seen: &Seen) {
    let (mut covered, mut at, mut part) = (0, 0, None);
    // The size of a file with others beside it is its own.
    let is_folder = seen.layout.first().is_some_and(|segment| segment.part.is_some());
    let own = seen.layout.iter().filter(|segment| is_folder || segment.part.is_none());
    let others = seen.layout.iter().filter(|segment| !is_folder && segment.part.is_some());
    for others in others.collect::<Vec<_>>().chunk_by(|one, next| one.part == next.part) {
        assert_eq!(others[0].range.start, 0, "{:?}", seen.layout);
        assert!(others.windows(2).all(|pair| pair[0].range.end == pair[1].range.start), "{:?}", seen.layout);
    }
    for segment in own {
        if segment.part != part {
            covered += std::mem::take(&mut at);
            part.clone_from(&segment.part);
        }
        assert_eq!(segment.range.start, at, "a gap or an overlap in {:?}", seen.layout);
        assert!(segment.range.end > at, "an empty range in {:?}", seen.layout);
        at = segment.range.end;
    }
    assert_eq!(covered + at, seen.size, "the layout does not cover the file");
}

/// A listing as manifests have it; values that cannot be read are the error's text.
pub fn as_listed(shown: Vec<Shown>) -> Vec<Visibility> {
    let one = |it: Shown| {
        let values = it.values.unwrap_or_else(|error| error);
        Visibility { path: it.path, dtype: it.dtype, shape: it.shape, values }
    };
    shown.into_iter().map(one).collect()
}

#[test]
fn items_match_the_independent_script() {
    let mut count = 0;
    for fixture in fixtures() {
        let Some(expected) = &fixture.items else { continue };
        count += expected.len();
        let file = open(&fixture.format, Box::new(fixture.bytes())).expect("a file of items opens");
        assert_eq!(&items(&*file), expected, "{}", fixture.path);
    }
    assert!(count > 100, "only {count} items");
}

/// SHA-256 of each item, in order.
pub fn items(file: &dyn Container) -> Vec<String> {
    let paths = all_datasets(file).map(|(index, dataset)| {
        assert_eq!(dataset.path, format!("items/{index}"));
        sha256(&elements(file, index).expect("an item"))
    });
    paths.collect()
}

/// The order in which elements are hashed is the stored one.
#[test]
fn fixtures_are_column_major() {
    let fixture = fixtures().into_iter().find(|fixture| fixture.path == "ok/test.ra").expect("test.ra");
    let file = open(&fixture.format, Box::new(fixture.bytes())).expect("test.ra opens");
    assert_eq!(file.require(0).expect("data").order, Order::F);
    assert_eq!(
        container_codecs::checksum::Algorithm::Md5.digest(&fixture.bytes()).to_string(),
        "1dd9f98a0d57ec3c4d8ad50343bd20cd"
    );
}
