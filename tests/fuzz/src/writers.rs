//! Files of any format on their way into others, and out as text.

use std::io::{self, Write};

use container_core::container::{Axes, Container, OpenOptions, all_datasets};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::{Format, TargetOptions, WriteRequest};
use container_core::npy::Header;
use container_core::region::Region;
use container_core::{ErrorKind, Progress, Result};
use holdall::diff::{DiffOptions, diff};
use holdall::export::{AsStored, ExportFormat, export as write_as};
use holdall::formats::by_name;
use holdall::open::{Accept, open_source};
use rawarray::File;

use crate::feed::Feed;
use crate::options::{limits, open_options, read_options};
use crate::rawarray_file::numbers;
use crate::values::region;

fn open(data: &[u8], options: &OpenOptions) -> Result<Box<dyn Container>> {
    let opened = open_source(Box::new(data.to_vec()), None, Accept::ContainersAndArrays, options)?;
    Ok(opened.container)
}

/// Shape, and the elements row by row, little-endian.
fn values(container: &dyn Container, index: usize, part: &Region) -> Result<(Vec<u64>, Vec<u8>)> {
    let array = container.read(index, part, &read_options())?;
    let mut bytes = array.bytes(Order::C, &limits())?.into_owned();
    array.dtype().swap_to(ByteOrder::Little, &mut bytes)?;
    Ok((part.shape(), bytes))
}

/// True where a part is small enough to be passed through many times. Elements of no bytes are let through in any number: they
/// cost nothing, so nothing may be spent on them. Numbers between are spelled out one by one, which takes its time.
fn is_small(container: &dyn Container, index: usize, part: &Region) -> bool {
    let size = container.require(index).expect("a dataset").dtype.itemsize() as u64;
    let count = part.len().unwrap_or(u64::MAX);
    match size {
        0 => !(1 << 10..1 << 24).contains(&count),
        _ => count <= 1 << 12 && size <= 1 << 18 && count * size <= 1 << 18,
    }
}

/// Whatever can be read can be written in every format and encoding that has its type, and is the same there.
pub fn convert(data: &[u8]) {
    let Ok(container) = open(data, &open_options()) else { return };
    let mut feed = Feed::derived(data);
    let Some(dataset) = container.dataset(0) else { return };
    for part in [Region::whole(&dataset.shape), region(&dataset.shape, &mut feed)] {
        if !is_small(&*container, 0, &part) {
            continue;
        }
        let Ok(source) = values(&*container, 0, &part) else { continue };
        let whole = part == Region::whole(&dataset.shape);
        for (format, codec) in [
            ("npy", None),
            ("rawarray", None),
            ("rawarray", Some("lz4")),
            ("rawarray", Some("leb128")),
            ("rawarray", Some("bits")),
            ("gsd", None),
        ] {
            for axes in [Axes::AsStored, Axes::Reversed] {
                let format = by_name(format).expect("it is in the table");
                if format.name == "gsd" && container.about().format == "gsd" {
                    // Frames stay frames there.
                    continue;
                }
                let mut options = TargetOptions::default();
                options.codec = codec.map(|codec| (codec.to_owned(), None));
                // The writer of .npy files keeps the order of storage as it is; GSD has one.
                options.axes = if format.name == "rawarray" { axes } else { Axes::AsStored };
                let out = converted(&*container, &part, &source, format, &options);
                if let Some(out) =
                    out.filter(|_| whole && is_rawarray(&*container) && format.name == "rawarray")
                {
                    rewritten(data, &out, &options);
                }
            }
        }
    }
}

fn is_rawarray(container: &dyn Container) -> bool {
    container.about().format == "rawarray"
}

fn converted(
    container: &dyn Container,
    part: &Region,
    source: &(Vec<u64>, Vec<u8>),
    format: &Format,
    options: &TargetOptions,
) -> Option<Vec<u8>> {
    let selection = [(0, part.clone())];
    let job = WriteRequest {
        container,
        selection: &selection,
        options,
        read: read_options(),
        progress: Progress::none(),
    };
    let import = format.import.expect("both are written");
    let mut out = Vec::new();
    if let Err(error) = import(&job, &mut out) {
        let known = matches!(error.kind(), ErrorKind::Usage(_) | ErrorKind::Unsupported(_));
        assert!(known, "{:?} of what can be read: {error}", options.codec);
        return None;
    }
    let mut how = open_options();
    how.axes = options.axes;
    let dtype = &container.require(0).expect("a dataset").dtype;
    let target = open(&out, &how).expect("what was written");
    let read = values(&*target, 0, &Region::whole(&target.require(0).expect("a dataset").shape));
    let (shape, mut bytes) = match read {
        Ok(read) => read,
        Err(error) => {
            // LEB128 data that are an LZ4 block as well, of the very length that the header gives.
            let leb128 = options.codec.as_ref().is_some_and(|(name, _)| name == "leb128");
            assert!(
                leb128 && error.to_string().contains("choose the encoding"),
                "{:?}: {error}",
                options.codec
            );
            return None;
        }
    };
    // What becomes a frame has an axis for frames.
    let shape = if format.name == "gsd" { &shape[1..] } else { &shape };
    assert_eq!(shape, source.0);
    if dtype.has_bfloat() && format.name == "npy" {
        assert_eq!(bytes.len(), source.1.len() * 2);
        return None;
    }
    let mut expected = source.1.clone();
    if options.codec.as_ref().is_some_and(|(name, _)| name == "bits") {
        expected.iter_mut().chain(&mut bytes).for_each(|byte| *byte = u8::from(*byte != 0));
    }
    assert!(bytes == expected, "{dtype} {shape:?} as {} {:?}", format.name, options.codec);
    Some(out)
}

/// A RawArray file that is rewritten keeps its type, and its numbers even where others are shown opaque bytes.
fn rewritten(data: &[u8], out: &[u8], options: &TargetOptions) {
    if options.codec.as_ref().is_some_and(|(name, _)| name == "bits") {
        return;
    }
    let open =
        |data: &[u8]| File::from_source(Box::new(data.to_vec()), &open_options()).expect("opened before");
    let (source, target) = (open(data), open(out));
    assert_eq!(source.header().eltype, target.header().eltype);
    let axes: Vec<u64> = match options.axes {
        Axes::AsStored => source.dims().to_vec(),
        Axes::Reversed => source.dims().iter().rev().copied().collect(),
    };
    assert_eq!(axes, target.dims());
    if options.axes == Axes::AsStored {
        assert!(numbers(&source).ok() == numbers(&target).ok(), "the numbers changed");
    }
}

/// An output that counts on being given a bounded amount.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(self.0.len() < 256 << 20, "a small array makes a large output");
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whatever can be read can be shown, in every form, and does not differ from itself.
pub fn export(data: &[u8]) {
    let Ok(container) = open(data, &open_options()) else { return };
    let mut feed = Feed::derived(data);
    for (index, dataset) in all_datasets(&*container) {
        for part in [Region::whole(&dataset.shape), region(&dataset.shape, &mut feed)] {
            if !is_small(&*container, index, &part) {
                continue;
            }
            let Ok((_, values)) = values(&*container, index, &part) else { continue };
            for form in ExportFormat::ALL {
                exported(&*container, index, &part, form, &values);
            }
            let selection = [(index, part)];
            let same = diff(&*container, &selection, &*container, &selection, &DiffOptions::default());
            assert_eq!(same.expect("both can be read"), []);
        }
    }
}

fn exported(container: &dyn Container, index: usize, part: &Region, form: ExportFormat, values: &[u8]) {
    let mut out = Bounded(Vec::new());
    let read = read_options();
    let result = write_as(container, index, part, form, AsStored::Yes, &read, Progress::none(), &mut out);
    if let Err(error) = result {
        let known = matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::Limit { .. });
        assert!(known, "{} of what can be read: {error}", form.name());
        return;
    }
    let out = out.0;
    match form {
        ExportFormat::Raw => assert!(out == values),
        ExportFormat::Npy => {
            let header = Header::parse(&out, out.len() as u64, &limits()).expect("what was written");
            assert_eq!(header.data_at + header.data_len, out.len() as u64);
            assert_eq!(header.data_len, values.len() as u64);
        }
        ExportFormat::Json => {
            let read: serde_json::Result<serde_json::Value> = serde_json::from_slice(&out);
            // Arrays of 64 axes of records of records nest deeper than this reader goes.
            let fine = read.as_ref().map_or_else(|error| error.to_string().contains("recursion"), |_| true);
            assert!(fine, "{read:?}: {}", String::from_utf8_lossy(&out));
        }
        ExportFormat::Text | ExportFormat::Csv => assert!(std::str::from_utf8(&out).is_ok()),
    }
}
