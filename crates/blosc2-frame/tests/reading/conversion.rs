//! Frames of the corpus written anew: as they are, in other chunks, by other codecs, in part, and with other metadata.

use blosc2_frame::b2nd::{NdOptions, write_array_to};
use blosc2_frame::{ErrorKind, FORMAT, Frame};
use container_codecs::checksum::Algorithm;
use container_core::container::{Axes, CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::{Input, MetaChange, MetadataChanges, Replace, TargetOptions, WriteRequest};
use container_core::region::Region;
use container_core::report::{Loss, Verdict};
use container_core::write::Durability;
use container_core::{Limits, Progress, Value};

use crate::container::{open, sound};
use crate::manifest::{Fixture, fixtures};

fn named(name: &str) -> Fixture {
    fixtures().into_iter().find(|it| it.path == name).unwrap()
}

fn words(codec: Option<&str>, extra: &[(&str, &str)]) -> TargetOptions {
    let mut options = TargetOptions::default();
    options.codec = codec.map(|name| (name.to_owned(), None));
    options.extra = extra.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    options
}

/// Writes all of a container, or a region of its first dataset.
fn convert(
    container: &dyn Container,
    region: Option<&str>,
    options: &TargetOptions,
    limits: Limits,
) -> blosc2_frame::Result<(Vec<u8>, Vec<Loss>)> {
    let selection: Vec<(usize, Region)> = match region {
        Some(text) => vec![(0, Region::parse(text, &container.dataset(0).unwrap().shape)?)],
        None => (0..container.dataset_count())
            .map(|index| (index, Region::whole(&container.dataset(index).unwrap().shape)))
            .collect(),
    };
    let mut read = ReadOptions::default().with_limits(limits);
    read.threads = 2;
    let request =
        WriteRequest { container, selection: &selection, options, read, progress: Progress::none() };
    let mut out = Vec::new();
    let losses = FORMAT.import.unwrap()(&request, &mut out)?;
    Ok((out, losses))
}

fn reopened(bytes: Vec<u8>) -> Box<dyn Container> {
    let container = (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap();
    let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    // What an array has after its edges goes along with its chunks.
    let is_clean = report.findings.iter().all(|finding| finding.code == "padding");
    assert!(report.verdict() == Verdict::Sound && is_clean, "{:?}", report.findings);
    container
}

/// Type, shape and digest of the values of the first dataset, as in the manifest.
fn values(container: &dyn Container) -> (String, Vec<u64>, String) {
    let dataset = container.dataset(0).unwrap();
    let array = container.read(0, &Region::whole(&dataset.shape), &ReadOptions::default()).unwrap();
    let mut bytes = array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
    dataset.dtype.swap_to(ByteOrder::Little, &mut bytes).unwrap();
    (dataset.dtype.to_string(), dataset.shape.clone(), Algorithm::Sha256.digest(&bytes).to_string())
}

fn of_manifest(fixture: &Fixture) -> (String, Vec<u64>, String) {
    (fixture.dtype.clone().unwrap(), fixture.shape.clone().unwrap(), fixture.values.clone().unwrap())
}

/// Those of one dataset whose values are all in the frame.
fn complete() -> impl Iterator<Item = (Fixture, Box<dyn Container>)> {
    let all = sound().into_iter().filter(|it| it.values.is_some()).map(|it| {
        let container = open(&it);
        (it, container)
    });
    all.filter(|(_, container)| {
        container.absence(0, &Region::whole(&container.dataset(0).unwrap().shape)).is_none()
    })
}

/// User metadata that C-Blosc2 takes: 16 pieces (`BLOSC2_MAX_VLMETALAYERS` of python-blosc2), of names of up to 31 bytes.
fn kept<'n>(names: &[&'n str]) -> Vec<&'n str> {
    names.iter().copied().filter(|name| name.len() <= 31).take(16).collect()
}

/// Chunks go over as they are, and nothing is left between them or after them.
#[test]
fn frames_are_rewritten_as_they_are() {
    for fixture in sound() {
        let (container, path) = (open(&fixture), &fixture.path);
        let first = container.dataset(0);
        let is_absent =
            first.is_some_and(|first| container.absence(0, &Region::whole(&first.shape)).is_some());
        // Chunks of other typesizes and blocks than their frame stay as odd as they are.
        if is_absent
            || fixture.codes.iter().any(|code| code.starts_with("mixed") || code == "typesize_differs")
        {
            continue;
        }
        let (bytes, losses) = convert(&*container, None, &TargetOptions::default(), Limits::default())
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        let names: Vec<&str> = fixture.vlmeta.iter().flatten().map(|it| it.name.as_str()).collect();
        let kept = kept(&names);
        let left_out = names.len() - kept.len();
        let expected =
            usize::from(fixture.trailing.is_some()) + usize::from(path.contains("fingerprint")) + left_out;
        assert_eq!(losses.len(), expected, "{path}: {losses:?}");
        let (old, new) =
            (Frame::open(fixture.full_path()).unwrap(), Frame::from_bytes(bytes.clone()).unwrap());
        let (was, is) = (old.header(), new.header());
        assert_eq!((is.nbytes, is.typesize), (was.nbytes, was.typesize), "{path}");
        assert!(is.chunksize == was.chunksize || was.nbytes == 0, "{path}: {:?}", is.chunksize);
        assert_eq!((is.compressor, is.filters, is.level), (was.compressor, was.filters, was.level), "{path}");
        assert_eq!((is.split, is.use_dictionary), (was.split, was.use_dictionary), "{path}");
        assert_eq!(new.metalayers(), old.metalayers(), "{path}");
        assert!(new.vlmetalayer_names().eq(kept), "{path}");
        for name in new.vlmetalayer_names() {
            assert_eq!(new.vlmetalayer(name).unwrap(), old.vlmetalayer(name).unwrap(), "{path}");
        }
        assert_eq!(new.chunk_count(), old.chunk_count(), "{path}");
        let stored_zeros = fixture.codes.iter().any(|code| code == "stored_special");
        for index in (0..old.chunk_count()).filter(|_| !stored_zeros && !path.contains("variable")) {
            assert!(new.chunk(index).unwrap() == old.chunk(index).unwrap(), "{path} {index}");
        }
        let again = reopened(bytes);
        if fixture.values.is_some() {
            assert_eq!(values(&*again), of_manifest(&fixture), "{path}");
        }
    }
}

#[test]
fn other_codecs_and_filters_have_the_same_values() {
    for (fixture, container) in complete() {
        let path = &fixture.path;
        let is_lossy = ["trunc_prec", "int_trunc", "ndmean"].iter().any(|filter| path.contains(filter));
        // There are no dictionaries of zlib.
        let options = words(Some("zlib"), &[("dictionary", "no")]);
        let (bytes, losses) = convert(&*container, None, &options, Limits::default())
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        let header = Frame::from_bytes(bytes.clone()).unwrap().header().clone();
        assert_eq!(header.compressor.name(), "zlib", "{path}");
        // What a filter has rounded is not rounded again.
        assert!(!header.filters.is_lossy(), "{path}");
        assert!(!is_lossy || losses.is_empty(), "{path}: {losses:?}");
        assert!(!header.use_dictionary, "{path}");
        assert_eq!(values(&*reopened(bytes)), of_manifest(&fixture), "{path}");
    }
    let container = open(&named("ok/type_f8.b2nd"));
    let rounded = words(None, &[("filter", "trunc_prec:10"), ("filter", "shuffle")]);
    let (bytes, losses) = convert(&*container, None, &rounded, Limits::default()).unwrap();
    assert_eq!(Frame::from_bytes(bytes).unwrap().header().filters.names(), ["trunc_prec:10", "shuffle"]);
    assert!(losses.len() == 1 && losses[0].what.contains("trunc_prec:10"), "{losses:?}");
    let error = convert(&*open(&named("ok/type_i4.b2nd")), None, &rounded, Limits::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn other_chunks_have_the_same_values() {
    for (fixture, container) in complete() {
        let (path, shape) = (&fixture.path, fixture.shape.clone().unwrap());
        // NDLZ and ZFP are only read.
        let is_read_only = path.contains("/ndlz") || path.contains("/zfp");
        if shape.is_empty() || is_read_only {
            continue;
        }
        let asked: Vec<String> = shape.iter().map(|len| (len / 2 + 1).to_string()).collect();
        let asked = asked.join(",");
        let options = words(None, &[("chunks", &asked)]);
        // As much memory as is, and so little that elements come box by box.
        for memory in [1 << 30, 4 << 20] {
            let limits = Limits::default().with_memory(memory);
            let (bytes, _) = convert(&*container, None, &options, limits)
                .unwrap_or_else(|error| panic!("{path}: {error}"));
            let again = reopened(bytes);
            assert_eq!(values(&*again), of_manifest(&fixture), "{path}");
            let expected: Vec<u64> = shape.iter().map(|len| len / 2 + 1).collect();
            assert_eq!(again.dataset(0).unwrap().chunks, Some(expected), "{path}");
            // Metadata of the user go along.
            let names = |it: &dyn Container| it.logical_meta().unwrap();
            let own: Vec<&str> = fixture.vlmeta.iter().flatten().map(|it| it.name.as_str()).collect();
            assert_eq!(names(&*again) == names(&*container), kept(&own).len() == own.len(), "{path}");
        }
    }
    let variable = open(&named("ok/variable.b2frame"));
    let error = convert(&*variable, None, &words(None, &[("chunks", "10")]), Limits::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let frame = open(&named("ok/three_chunks.b2frame"));
    let (bytes, _) =
        convert(&*frame, None, &words(None, &[("chunks", "50"), ("blocks", "10")]), Limits::default())
            .unwrap();
    let frame = Frame::from_bytes(bytes).unwrap();
    let typesize = frame.header().typesize;
    assert_eq!(frame.header().chunksize, blosc2_frame::ChunkSize::Fixed(50 * typesize));
    assert_eq!(frame.chunk_header(0).unwrap().blocksize, 10 * typesize);
}

/// Many small chunks of which one row takes more than a quarter of the memory.
#[test]
fn arrays_that_do_not_fit_are_written_box_by_box() {
    let rows: Vec<u8> = (0..200_000_u32).flat_map(|at| (at / 3).to_le_bytes()).collect();
    let dtype = container_core::dtype::DType::parse("<u4").unwrap();
    let array =
        container_core::array::Array::new(dtype, vec![400, 500], Order::C, rows.clone().into()).unwrap();
    let mut bytes = Vec::new();
    let mut options = NdOptions::default();
    options.chunkshape = Some(vec![20, 500]);
    write_array_to(&mut bytes, &array, &options).unwrap();
    let container = reopened(bytes);
    for axes in [Axes::AsStored, Axes::Reversed] {
        let asked = if axes == Axes::AsStored { "400,20" } else { "500,20" };
        let mut options = words(Some("lz4"), &[("chunks", asked)]);
        options.axes = axes;
        for memory in [1 << 30, 1 << 19] {
            let limits = Limits::default().with_memory(memory);
            let (bytes, _) = convert(&*container, None, &options, limits).unwrap();
            let again = reopened(bytes);
            let dataset = again.dataset(0).unwrap();
            let found = again.read(0, &Region::whole(&dataset.shape), &ReadOptions::default()).unwrap();
            let found = found.bytes(Order::C, &Limits::default()).unwrap();
            if axes == Axes::AsStored {
                assert_eq!(dataset.shape, [400, 500]);
                assert!(found == rows);
            } else {
                assert_eq!(dataset.shape, [500, 400]);
                let turned = (0..500).flat_map(|x| (0..400).map(move |y| 4 * (500 * y + x)));
                assert!(turned.zip(found.chunks(4)).all(|(at, element)| rows[at..at + 4] == *element));
            }
        }
    }
}

#[test]
fn parts_and_reversed_axes_are_written() {
    let container = open(&named("ok/shape_3d.b2nd"));
    let shape = container.dataset(0).unwrap().shape.clone();
    let read = |container: &dyn Container, region: &str| {
        let region = Region::parse(region, &container.dataset(0).unwrap().shape).unwrap();
        let array = container.read(0, &region, &ReadOptions::default()).unwrap();
        array.bytes(Order::C, &Limits::default()).unwrap().into_owned()
    };
    for region in ["1:", "..., ::-1", "::2, 1", "0, 0, 0"] {
        let (bytes, _) =
            convert(&*container, Some(region), &TargetOptions::default(), Limits::default()).unwrap();
        let again = reopened(bytes);
        assert_eq!(read(&*again, "..."), read(&*container, region), "{region}");
        assert_eq!(
            again.dataset(0).unwrap().shape,
            Region::parse(region, &shape).unwrap().shape(),
            "{region}"
        );
    }
    let mut options = TargetOptions::default();
    options.axes = Axes::Reversed;
    let (bytes, _) = convert(&*container, None, &options, Limits::default()).unwrap();
    let again = reopened(bytes);
    assert_eq!(again.dataset(0).unwrap().shape, shape.iter().rev().copied().collect::<Vec<_>>());
    for (x, y, z) in [(0, 0, 0), (1, 2, 0), (0, 1, 2), (2, 0, 1)] {
        assert_eq!(read(&*again, &format!("{z}, {y}, {x}")), read(&*container, &format!("{x}, {y}, {z}")));
    }
}

#[test]
fn requests_that_cannot_be_are_refused() {
    let container = open(&named("ok/shape_2d_edges.b2nd"));
    for options in [
        words(None, &[("frames", "1")]),
        words(Some("bzip2"), &[]),
        words(None, &[("chunks", "1,2,3")]),
        words(None, &[("checksum", "crc7")]),
        words(None, &[("sparse", "yes"), ("split", "never")]),
    ] {
        let error = convert(&*container, None, &options, Limits::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{options:?}: {error}");
    }
    // Shapes and chunks that contradict each other would be so in a copy.
    let damaged = open(&named("bad/array_shape_larger.b2nd"));
    assert!(convert(&*damaged, None, &TargetOptions::default(), Limits::default()).is_err());
}

#[test]
fn digests_are_those_that_are_asked_for() {
    let container = open(&named("ok/shape_2d_edges.b2nd"));
    let of = |container: &dyn Container, options: &TargetOptions| {
        let (bytes, _) = convert(container, None, options, Limits::default()).unwrap();
        reopened(bytes)
    };
    let guarded = of(&*container, &words(None, &[("checksum", "sha1")]));
    assert_eq!(guarded.checksums().into_iter().collect::<Vec<_>>(), ["sha1"]);
    let map = guarded.byte_map();
    let chunks = map.iter().filter(|segment| segment.role == "chunk" || segment.role == "block");
    assert!(chunks.clone().count() > 0 && chunks.clone().all(|it| it.checksum.as_deref() == Some("sha1")));
    // They are digests, not metadata.
    assert_eq!(guarded.logical_meta().unwrap(), container.logical_meta().unwrap());
    assert!(guarded.losses().is_empty(), "{:?}", guarded.losses());
    let details = guarded.about().details;
    assert!(details.contains(&("chunk checksums".to_owned(), "sha1".into())), "{details:?}");
    // A repeated value would be one that no digest was compared for.
    assert!(guarded.repeated(0, &Region::parse("0, 0", &[5, 7]).unwrap()).is_none());
    for (options, expected) in [
        (TargetOptions::default(), Some("sha1")),
        (words(Some("lz4"), &[]), Some("sha1")),
        (words(None, &[("checksum", "none")]), None),
        (words(None, &[("checksum", "crc32"), ("chunks", "2,2")]), Some("crc32")),
    ] {
        let again = of(&*guarded, &options);
        let names: Vec<String> = again.checksums().into_iter().collect();
        assert_eq!(names.first().map(String::as_str), expected, "{options:?}");
        assert_eq!(values(&*again), values(&*container));
    }
}

fn text(value: &str) -> blosc2_frame::Result<Value> {
    Ok(value.parse::<i64>().map_or_else(|_| value.into(), Value::from))
}

#[test]
fn user_metadata_are_changed_below_vlmeta() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    std::fs::copy(named("ok/vlmeta.b2nd").full_path(), &path).unwrap();
    let before = Frame::open(&path).unwrap();
    let names: Vec<String> = before.vlmetalayer_names().map(str::to_owned).collect();
    let stored: Vec<_> = names.iter().map(|name| before.vlmetalayer(name).unwrap().unwrap()).collect();
    let open = OpenOptions::default();
    let change = |list: &[MetaChange]| {
        let changes = MetadataChanges {
            list,
            replace: Replace::Anything,
            open: &open,
            durability: Durability::Cached,
            parse: text,
        };
        FORMAT.change_metadata.unwrap()(&path, &changes)
    };
    let set = |pointer: &str, value: &str| MetaChange::Set { pointer: pointer.into(), value: value.into() };
    let unset = |pointer: &str| MetaChange::Unset { pointer: pointer.into() };
    assert_eq!(change(&[set("/vlmeta/new", "7"), set("/vlmeta/words", "a b")]).unwrap(), [""; 0]);
    let frame = Frame::open(&path).unwrap();
    // As msgpack.
    assert_eq!(frame.vlmetalayer("new").unwrap().unwrap(), [7]);
    assert_eq!(frame.vlmetalayer("words").unwrap().unwrap(), b"\xa3a b");
    for (name, stored) in names.iter().zip(&stored) {
        assert_eq!(frame.vlmetalayer(name).unwrap().as_ref(), Some(stored), "{name}");
    }
    change(&[set("/vlmeta/new", "8"), unset("/vlmeta/words"), unset(&format!("/vlmeta/{}", names[0]))])
        .unwrap();
    let frame = Frame::open(&path).unwrap();
    assert_eq!(frame.vlmetalayer("new").unwrap().unwrap(), [8]);
    assert_eq!(frame.vlmetalayer("words").unwrap(), None);
    assert_eq!(frame.vlmetalayer(&names[0]).unwrap(), None);
    let is_usage = |list: &[MetaChange]| {
        let error = change(list).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    };
    is_usage(&[set("/b2nd", "1")]);
    is_usage(&[set("/other", "1")]);
    is_usage(&[set("/vlmeta", "1")]);
    is_usage(&[set("/vlmeta/holdall.items", "1")]);
    let after = Frame::open(&path).unwrap();
    assert!(after.vlmetalayer_names().eq(frame.vlmetalayer_names()));
    // Without any there is no map, and it comes with the first.
    let all: Vec<MetaChange> =
        after.vlmetalayer_names().map(|name| unset(&format!("/vlmeta/{name}"))).collect();
    change(&all).unwrap();
    assert_eq!(Frame::open(&path).unwrap().vlmetalayer_names().count(), 0);
    change(&[set("/vlmeta/first", "1")]).unwrap();
    assert_eq!(Frame::open(&path).unwrap().vlmetalayer("first").unwrap().unwrap(), [1]);
}
