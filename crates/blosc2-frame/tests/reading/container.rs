//! Frames through the interface of all formats, compared with the manifest of the corpus.

use blosc2_frame::{ErrorKind, FORMAT};
use container_codecs::checksum::Algorithm;
use container_core::container::{BLOCK_SHAPE, CheckDepth, Container, OpenOptions, ReadOptions, Tolerance};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::Input;
use container_core::region::{AxisSelection, Kept, Region};
use container_core::report::Severity;
use container_core::source::{Access, open_path};
use container_core::{Limits, Progress, Value};

use crate::manifest::{Fixture, fixtures};

pub(crate) fn open_with(
    fixture: &Fixture,
    options: &OpenOptions,
) -> blosc2_frame::Result<Box<dyn Container>> {
    let path = fixture.full_path();
    let source = if path.is_dir() { None } else { Some(open_path(&path, Access::Auto, &Limits::default())?) };
    (FORMAT.open)(Input { source, path: Some(path) }, options)
}

pub(crate) fn open(fixture: &Fixture) -> Box<dyn Container> {
    open_with(fixture, &OpenOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", fixture.path))
}

/// Returns the sound single frames that this build has the codecs for, and whose values a test may hold.
pub(crate) fn sound() -> Vec<Fixture> {
    let is_read = |it: &Fixture| it.is_small_frame() && it.offset.is_none() && !it.path.ends_with(".b2e");
    let has_codec = |it: &Fixture| cfg!(feature = "zfp") || !it.path.contains("/zfp_");
    fixtures().into_iter().filter(|it| it.verdict == "sound" && is_read(it) && has_codec(it)).collect()
}

fn named(name: &str) -> Box<dyn Container> {
    open(fixtures().iter().find(|it| it.path == name).unwrap())
}

fn read(container: &dyn Container, index: usize, region: &Region) -> blosc2_frame::Result<Vec<u8>> {
    let mut options = ReadOptions::default();
    options.threads = 2;
    let array = container.read(index, region, &options)?;
    assert_eq!(array.dtype(), &container.dataset(index).unwrap().dtype);
    let kept = region.axes().iter().filter(|axis| axis.kept == Kept::Yes).map(|axis| axis.count);
    assert_eq!(array.shape(), kept.collect::<Vec<_>>());
    Ok(array.bytes(Order::C, &Limits::default())?.into_owned())
}

fn whole(container: &dyn Container, index: usize) -> blosc2_frame::Result<Vec<u8>> {
    read(container, index, &Region::whole(&container.dataset(index).unwrap().shape))
}

fn sha256(bytes: &[u8]) -> String {
    Algorithm::Sha256.digest(bytes).to_string()
}

#[test]
fn datasets_have_the_type_shape_partitions_and_values_of_the_manifest() {
    let mut count = 0;
    for fixture in sound() {
        let (container, path) = (open(&fixture), &fixture.path);
        let Some(values) = &fixture.values else { continue };
        count += 1;
        assert_eq!((container.dataset_count(), container.listed_count()), (1, 1), "{path}");
        let dataset = container.dataset(0).unwrap();
        assert_eq!(Some(dataset.dtype.to_string()), fixture.dtype, "{path}");
        assert_eq!(Some(&dataset.shape), fixture.shape.as_ref(), "{path}");
        assert_eq!(dataset.order, Order::C, "{path}");
        if fixture.is_array() {
            assert_eq!(dataset.chunks, fixture.chunks, "{path}");
            let blocks = fixture.blocks.iter().flatten().map(|len| Value::from(*len)).collect::<Vec<_>>();
            assert_eq!(dataset.attributes[0], (BLOCK_SHAPE.to_owned(), blocks.into()), "{path}");
        }
        let len = dataset.shape.iter().product::<u64>() * dataset.dtype.itemsize() as u64;
        assert_eq!(dataset.logical, len, "{path}");
        assert_eq!(container.find(&dataset.path), Some(0), "{path}");
        assert!(container.find("other").is_none() && container.dataset(1).is_none(), "{path}");
        // Absent values are refused unless they are to be read as zeros.
        if container.absence(0, &Region::whole(&dataset.shape)).is_none() {
            let mut bytes = whole(&*container, 0).unwrap();
            dataset.dtype.swap_to(ByteOrder::Little, &mut bytes).unwrap();
            assert_eq!(&sha256(&bytes), values, "{path}");
        }
    }
    assert!(count > 200, "{count}");
}

/// The bytes of the elements of a region, one by one out of all of them.
fn picked(all: &[u8], shape: &[u64], item: usize, axes: &[AxisSelection]) -> Vec<u8> {
    let count: u64 = axes.iter().map(|axis| axis.count).product();
    let mut out = Vec::new();
    for number in 0..count {
        let (mut rest, mut at, mut stride) = (number, 0, 1);
        for (axis, len) in axes.iter().zip(shape).rev() {
            let step = i64::try_from(rest % axis.count).unwrap() * axis.step;
            at += axis.start.checked_add_signed(step).unwrap() * stride;
            rest /= axis.count;
            stride *= len;
        }
        let at = usize::try_from(at).unwrap() * item;
        out.extend(&all[at..at + item]);
    }
    out
}

#[test]
fn regions_are_those_elements_of_the_whole() {
    for fixture in sound().into_iter().filter(|it| it.shape.as_ref().is_some_and(|shape| !shape.is_empty())) {
        let (container, path) = (open(&fixture), &fixture.path);
        let dataset = container.dataset(0).unwrap();
        let Ok(all) = whole(&*container, 0) else { continue };
        let item = dataset.dtype.itemsize();
        for words in [":", "::2", "::-1", "1:", ":-1", "-1:0:-3", "::7", "1::-2", "2:2", "0", "-1"] {
            for every in [false, true] {
                let axes = if every { dataset.shape.len() } else { 1 };
                let Ok(region) = Region::parse(&vec![words; axes].join(", "), &dataset.shape) else {
                    continue;
                };
                let found = read(&*container, 0, &region).unwrap();
                let expected = picked(&all, &dataset.shape, item, region.axes());
                assert!(found == expected, "{path} {words} of {axes} axes");
                if let Some(element) = container.repeated(0, &region) {
                    assert!(
                        !expected.is_empty() && expected.chunks(item).all(|one| one == element),
                        "{path} {words}"
                    );
                }
            }
        }
        let mut longer = dataset.shape.clone();
        longer[0] += 1;
        assert!(read(&*container, 0, &Region::whole(&longer)).is_err(), "{path}");
        assert!(read(&*container, 1, &Region::whole(&dataset.shape)).is_err(), "{path}");
    }
}

/// No chunk is decoded for it.
#[test]
fn repeated_values_are_found_in_the_index_and_in_headers() {
    let element = |name: &str, region: &str| {
        let container = named(name);
        let region = Region::parse(region, &container.dataset(0).unwrap().shape).unwrap();
        container.repeated(0, &region)
    };
    for (name, expected) in [
        ("ok/zeros.b2nd", true),
        ("ok/nans_f8.b2nd", true),
        ("ok/full_i2.b2nd", true),
        ("ok/uninit.b2nd", true),
        ("ok/all_zeros.b2frame", true),
        ("ok/fill_full.b2frame", true),
        ("ok/fill_nans.b2frame", true),
        ("ok/tensor.b2frame", false),
        ("ok/three_chunks.b2frame", false),
        ("ok/shape_2d_edges.b2nd", false),
        ("ok/variable.b2frame", false),
    ] {
        assert_eq!(element(name, "...").is_some(), expected, "{name}");
        assert_eq!(element(name, "0:0"), None, "{name}");
    }
    assert_eq!(element("ok/nans_f8.b2nd", "...").unwrap(), f64::NAN.to_le_bytes());
    // Of chunks of zeros, NaN and of none.
    let kinds = named("ok/hand_special_kinds.b2frame");
    let dataset = kinds.dataset(0).unwrap().into_owned();
    let chunk = dataset.chunks.clone().unwrap()[0];
    let all = whole(&*kinds, 0).unwrap();
    let item = dataset.dtype.itemsize();
    let mut found = 0;
    for index in 0..dataset.shape[0] / chunk {
        let region =
            Region::parse(&format!("{}:{}", index * chunk, (index + 1) * chunk), &dataset.shape).unwrap();
        let own = read(&*kinds, 0, &region).unwrap();
        let start = usize::try_from(index * chunk).unwrap() * item;
        assert_eq!(own, all[start..start + own.len()]);
        if let Some(element) = kinds.repeated(0, &region) {
            found += 1;
            assert!(own.chunks(item).all(|one| one == element));
        }
        assert_eq!(kinds.repeated(1, &region), None);
    }
    assert!(found >= 3, "{found}");
    assert_eq!(kinds.repeated(0, &Region::whole(&dataset.shape)), None);
}

#[test]
fn chunks_of_different_lengths_are_a_dataset_each() {
    let mut count = 0;
    for fixture in sound() {
        let Some(values) = &fixture.chunk_values else { continue };
        let (container, path) = (open(&fixture), &fixture.path);
        count += 1;
        assert!(container.datasets().is_empty(), "{path}");
        assert_eq!(container.dataset_count(), values.len(), "{path}");
        for (index, expected) in values.iter().enumerate() {
            let dataset = container.dataset(index).unwrap().into_owned();
            assert_eq!(dataset.path, format!("chunks/{index}"), "{path}");
            assert_eq!(container.find(&dataset.path), Some(index), "{path}");
            let bytes = whole(&*container, index).unwrap();
            assert_eq!(&sha256(&bytes), expected, "{path}");
            assert_eq!(
                (dataset.logical, &dataset.shape[..]),
                (bytes.len() as u64, &[bytes.len() as u64][..])
            );
            let region = Region::parse("1::3", &dataset.shape).unwrap();
            let expected: Vec<u8> = bytes.iter().skip(1).step_by(3).copied().collect();
            assert_eq!(read(&*container, index, &region).unwrap(), expected, "{path}");
            assert_eq!(container.repeated(index, &region), None);
            let blocks = dataset.attributes.iter().find(|(name, _)| name == "blocks").map(|(_, value)| value);
            let expected = fixture.block_sizes.as_ref().map(|sizes| Value::from(sizes[index].len() as u64));
            assert_eq!(blocks, expected.as_ref(), "{path}");
        }
        let end = values.len();
        for wrong in ["chunks/", "chunks/00", "chunks/-1", "0", "data", &format!("chunks/{end}")] {
            assert_eq!(container.find(wrong), None, "{path} {wrong}");
        }
        assert!(
            container.dataset(end).is_none()
                && container.read(end, &Region::whole(&[1]), &ReadOptions::default()).is_err()
        );
    }
    assert!(count >= 10, "{count}");
}

/// Codes of every fixture are in the manifest, by a script that is independent of this crate.
#[test]
fn checks_find_what_the_manifest_lists() {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(1 << 20);
    for fixture in fixtures() {
        let path = &fixture.path;
        if path.contains("/zfp_") && cfg!(not(feature = "zfp")) {
            continue;
        }
        let container = match open_with(&fixture, &options) {
            Ok(container) => container,
            Err(error) => {
                assert_eq!(fixture.verdict, "unreadable", "{path}: {error}");
                continue;
            }
        };
        let report = |depth| container.check(depth, &ReadOptions::default(), Progress::none()).unwrap();
        let (quick, full) = (report(CheckDepth::Quick), report(CheckDepth::Full));
        assert_eq!(full.verdict().name(), fixture.verdict, "{path}: {:?}", full.findings);
        let mut codes: Vec<&str> = full.findings.iter().map(|finding| finding.code).collect();
        let mut expected: Vec<&str> = fixture.codes.iter().map(String::as_str).collect();
        codes.sort_unstable();
        expected.sort_unstable();
        assert_eq!(codes, expected, "{path}: {:?}", full.findings);
        let size = container.about().size;
        for finding in &full.findings {
            let range = finding.range.clone().unwrap();
            assert!(range.start <= range.end && range.start <= size, "{path}: {finding:?}");
            assert!(fixture.verdict != "sound" || finding.severity < Severity::Error, "{path}: {finding:?}");
        }
        // A quick check decodes nothing, and finds no more.
        assert!(quick.findings.iter().all(|finding| codes.contains(&finding.code)), "{path}");
        assert_eq!((quick.blocks.total, quick.blocks.checked), (full.blocks.total, 0), "{path}");
        assert!(quick.blocks.bad <= full.blocks.bad && full.blocks.bad <= full.blocks.total, "{path}");
        if fixture.is_small_frame() && fixture.verdict == "sound" && !path.ends_with(".b2e") {
            assert_eq!(full.blocks.bad, 0, "{path}");
            assert_eq!(full.blocks.checked, full.blocks.total, "{path}");
            assert!(full.blocks.total <= fixture.nchunks.unwrap(), "{path}");
        } else if fixture.codes.iter().any(|code| code == "undecodable_chunk") {
            assert!(full.blocks.bad > 0, "{path}: {:?}", full.blocks);
        }
    }
}

#[test]
fn absent_values_are_refused_where_a_region_has_some() {
    // One chunk of four was fetched.
    let container = named("ok/proxy.b2nd");
    let dataset = container.dataset(0).unwrap().into_owned();
    let whole = Region::whole(&dataset.shape);
    assert!(matches!(
        container.absence(0, &whole).unwrap().kind(),
        ErrorKind::Missing(_) | ErrorKind::Unsupported(_)
    ));
    assert!(container.read(0, &whole, &ReadOptions::default()).is_err());
    assert!(container.repeated(0, &whole).is_none());
    let attribute = |name: &str| {
        dataset.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| format!("{value:?}"))
    };
    assert!(attribute("fetched").unwrap().contains("1 of 4"), "{:?}", dataset.attributes);
    let chunks = dataset.chunks.clone().unwrap();
    let mut complete = 0;
    // Chunks from the first to the last of a grid of any shape.
    let counts: Vec<u64> =
        dataset.shape.iter().zip(&chunks).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    for number in 0..counts.iter().product() {
        let mut rest = number;
        let mut axes: Vec<AxisSelection> = Vec::new();
        for ((count, chunk), len) in counts.iter().zip(&chunks).zip(&dataset.shape).rev() {
            let start = rest % count * chunk;
            rest /= count;
            axes.insert(
                0,
                AxisSelection { start, step: 1, count: (*chunk).min(len - start), kept: Kept::Yes },
            );
        }
        let region = Region::new(axes, &dataset.shape).unwrap();
        let is_there = container.absence(0, &region).is_none();
        assert_eq!(container.read(0, &region, &ReadOptions::default()).is_ok(), is_there);
        complete += u64::from(is_there);
    }
    assert_eq!(complete, 1);
    assert!(
        container.losses().iter().any(|loss| !loss.what.starts_with("metalayers")),
        "{:?}",
        container.losses()
    );
}

#[test]
fn losses_list_what_other_formats_lack() {
    let losses =
        |name: &str| -> Vec<String> { named(name).losses().into_iter().map(|loss| loss.what).collect() };
    assert_eq!(losses("ok/shape_2d_edges.b2nd"), [""; 0]);
    assert_eq!(losses("ok/tensor.b2frame"), [""; 0]);
    assert_eq!(losses("odd/trailing_bytes.b2frame").len(), 1);
    for fixture in sound() {
        let names = |layers: &Option<Vec<crate::manifest::Named>>| -> Vec<String> {
            layers.iter().flatten().map(|layer| layer.name.clone()).collect()
        };
        let mut fixed = names(&fixture.meta);
        fixed.retain(|name| name != "b2nd" && name != "caterva");
        let mut user = names(&fixture.vlmeta);
        user.retain(|name| !(name == "__pack_tensor__" && fixture.path.contains("/tensor")));
        let container = open(&fixture);
        let found: Vec<String> = container.losses().into_iter().map(|loss| loss.what).collect();
        let has = |start: &str| found.iter().find_map(|what| what.strip_prefix(start).map(str::to_owned));
        assert_eq!(has("metalayers: ").unwrap_or_default(), fixed.join(", "), "{}", fixture.path);
        assert_eq!(has("user metadata: ").unwrap_or_default(), user.join(", "), "{}", fixture.path);
        let behind = fixture.trailing.map(|len| format!("{len} bytes after the frame"));
        assert_eq!(
            found.iter().find(|what| what.ends_with("after the frame")),
            behind.as_ref(),
            "{}",
            fixture.path
        );
        // Metadata are carried into formats that have them; the rest is not.
        let left = container.unexported_metadata(&[]).into_iter().map(|loss| loss.what);
        for what in left {
            assert!(
                !what.starts_with("metalayers: ") && !what.starts_with("user metadata: "),
                "{}",
                fixture.path
            );
        }
        let flat = !fixture.is_array() && fixture.values.is_some() && !fixture.path.contains("/tensor");
        assert_eq!(container.records_dtype(0), flat.then_some(false), "{}", fixture.path);
    }
}

/// Arrays that stand for others say where their values are, and are read as placeholders on request alone.
#[test]
fn arrays_without_values_name_their_origin() {
    for (name, origin) in [
        ("ok/expression.b2nd", "a stored expression when python-blosc2 opens it"),
        ("ok/expression_old.b2nd", "a stored expression when python-blosc2 opens it"),
        ("ok/expression_function.b2nd", "a stored function when python-blosc2 opens it"),
        ("ok/expression_on_server.b2nd", "on a server"),
    ] {
        let fixture = fixtures().into_iter().find(|it| it.path == name).unwrap();
        let container = open(&fixture);
        let dataset = container.dataset(0).unwrap().into_owned();
        let region = Region::whole(&dataset.shape);
        let error = container.read(0, &region, &ReadOptions::default()).err().unwrap();
        assert!(
            matches!(error.kind(), ErrorKind::Unsupported(_)) && error.hint().is_some(),
            "{name}: {error}"
        );
        let values = dataset.attributes.iter().find(|(name, _)| name == "values").map(|(_, value)| value);
        let told = container.about().details.into_iter().find(|(name, _)| name == "values").unwrap().1;
        assert_eq!(values, Some(&told), "{name}");
        let loss =
            container.losses().into_iter().map(|loss| loss.what).find(|what| what.starts_with("values"));
        for text in [error.to_string(), format!("{told:?}"), loss.unwrap()] {
            assert!(text.contains(origin), "{name}: {text}");
        }
        assert!(dataset.attributes.iter().any(|(name, _)| name == "computed"), "{name}");
        let left: Vec<String> =
            container.unexported_metadata(&[]).into_iter().map(|loss| loss.what).collect();
        assert!(left.iter().any(|what| what.starts_with("source of the array: ")), "{name}: {left:?}");
        let mut options = OpenOptions::default();
        options.tolerance = Tolerance::Lenient;
        let lenient = open_with(&fixture, &options).unwrap();
        assert!(lenient.absence(0, &region).is_none(), "{name}");
        assert!(lenient.read(0, &region, &ReadOptions::default()).is_ok(), "{name}");
    }
}
