//! Elements that are far apart, chunks that are not stored, and the entry of the format in a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use blosc2_frame::blosc_chunk::{Chunk, Decoder};
use blosc2_frame::{ErrorKind, FORMAT, Frame, FrameOptions, Writer, default_params};
use container_core::Limits;
use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::format::{Input, Probe};
use container_core::region::Region;
use container_core::source::Source;

use crate::container::sound;
use crate::manifest::{fixtures, testdata};

/// Windows have a few MiB; each byte shows its place.
#[test]
fn distant_elements_are_read_in_windows() {
    let byte = |at: usize| u8::try_from(at / 3 % 251).unwrap();
    let data: Vec<u8> = (0..9 << 20).map(byte).collect();
    for variable in [false, true] {
        let mut out = Vec::new();
        let mut options = FrameOptions::default();
        options.params = default_params(1);
        options.variable_chunks = variable;
        let mut writer = Writer::new(&mut out, options).unwrap();
        if variable {
            writer.append(b"of another length").unwrap();
            writer.append(&data).unwrap();
        } else {
            data.chunks(2 << 20).for_each(|chunk| writer.append(chunk).unwrap());
        }
        assert_eq!(writer.chunk_count(), if variable { 2 } else { 5 });
        writer.finish().unwrap();
        let container = (FORMAT.open)(Input::bytes(Box::new(out)), &OpenOptions::default()).unwrap();
        let index = usize::from(variable);
        let shape = container.dataset(index).unwrap().shape.clone();
        assert_eq!(shape, [data.len() as u64]);
        for (text, start, step, count) in [
            ("5::1000", 5_usize, 1000_isize, 9438_usize),
            ("::-999983", data.len() - 1, -999_983, 10),
            ("9000000:3:-4194304", 9_000_000, -4_194_304, 3),
            ("1:8:3", 1, 3, 3),
            ("::5000000", 0, 5_000_000, 2),
        ] {
            let region = Region::parse(text, &shape).unwrap();
            let array = container.read(index, &region, &ReadOptions::default()).unwrap();
            let found = array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
            let at =
                |number: usize| start.checked_add_signed(step * isize::try_from(number).unwrap()).unwrap();
            let expected: Vec<u8> = (0..count).map(|number| byte(at(number))).collect();
            assert!(found == expected, "{text}: {} of {count}", found.len());
        }
    }
}

/// The 32 bytes that C-Blosc2 makes up for a chunk that is not stored decode to its values.
#[test]
fn chunks_that_are_not_stored_have_a_header() {
    let mut count = 0;
    for fixture in sound() {
        let frame = match fixture.full_path().is_dir() {
            true => continue,
            false => Frame::open(fixture.full_path()).unwrap(),
        };
        for index in 0..frame.chunk_count().min(20) {
            let header = frame.chunk_header(index).unwrap();
            let bytes = frame.chunk(index).unwrap();
            let chunk = Chunk::parse(&bytes).unwrap();
            let path = &fixture.path;
            assert_eq!((chunk.header(), bytes.len()), (&header, header.cbytes as usize), "{path} {index}");
            assert_eq!(u64::from(header.nbytes), frame.chunk_len(index).unwrap(), "{path} {index}");
            let Some(special) = header.special() else { continue };
            count += 1;
            let own = frame.header();
            let typesize = u8::try_from(own.typesize).unwrap_or(1);
            if bytes.len() == 32 && !path.contains("stored") && !path.contains("variable") {
                assert_eq!((header.version, header.versionlz, header.flags), (5, 1, 5), "{path} {index}");
                assert_eq!((header.typesize, header.codec_meta), (typesize, 0), "{path} {index}");
                assert!((1..=header.nbytes.max(1)).contains(&header.blocksize), "{path} {index}: {header:?}");
                assert_eq!(header.blosc2_flags, special.code() << 4, "{path} {index}");
            }
            let mut decoded = vec![1; chunk.nbytes()];
            Decoder::new().decode(&chunk, &mut decoded).unwrap();
            let read = frame.read_chunk(index, &ReadOptions::default()).unwrap();
            assert!(decoded == read, "{path} {index}");
        }
    }
    assert!(count > 30, "{count}");
}

/// A journal that a crash left is reported, and its file is one of the frame's.
#[test]
fn the_format_has_its_names_and_its_journal() {
    assert_eq!((FORMAT.name, FORMAT.title), ("blosc2", "Blosc2"));
    assert_eq!(FORMAT.extensions, ["b2nd", "b2frame", "b2f"]);
    assert_eq!(FORMAT.journal_suffix, Some(".b2journal"));
    assert_eq!(FORMAT.order, Some(Order::C));
    // A string of 8 bytes of msgpack, after the array of 14 that a header is.
    assert!(FORMAT.magics.iter().all(|magic| magic.ends_with(b"b2frame\0")) && !FORMAT.magics.is_empty());
    let names: Vec<&str> = FORMAT.codecs.iter().map(|codec| codec.name).collect();
    assert_eq!(names, ["none", "blosclz", "lz4", "lz4hc", "zlib", "zstd"]);
    assert!(FORMAT.repair.is_some() && FORMAT.append.is_some() && FORMAT.pack.is_some());
    assert!(FORMAT.write_directory.is_some() && FORMAT.change_metadata.is_some());
    for word in ["filter", "checksum", "chunks", "blocks", "split", "dictionary", "sparse"] {
        assert!(FORMAT.options.iter().any(|option| option.name == word), "{word}");
    }
    let sniff = |head: &[u8], directory: Option<&str>| {
        let directory = directory.map(|name| testdata().join(name));
        (FORMAT.sniff)(&Probe { head, directory: directory.as_deref(), len: None })
    };
    assert!(sniff(b"\x9e\xa8b2frame\0\xd2", None) && !sniff(b"\x9e\xa8b2frome\0\xd2", None));
    assert!(sniff(b"", Some("ok/sparse.b2frame")));
    assert!(!sniff(b"", Some("bad")));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    std::fs::copy(testdata().join("ok/shape_1d.b2nd"), &path).unwrap();
    std::fs::write(folder.path().join("a.b2nd.b2journal"), b"not a journal").unwrap();
    let source = std::fs::read(&path).unwrap();
    let input = Input { source: Some(Box::new(source)), path: Some(path) };
    let container = (FORMAT.open)(input, &OpenOptions::default()).unwrap();
    assert_eq!(container.notices().len(), 1);
    let report = container.check(
        container_core::container::CheckDepth::Quick,
        &ReadOptions::default(),
        container_core::Progress::none(),
    );
    assert_eq!(report.unwrap().findings.iter().map(|it| it.code).collect::<Vec<_>>(), ["foreign_journal"]);
    let last = container.byte_map().pop().unwrap();
    assert!(last.part.is_some_and(|part| part.ends_with(".b2journal")) && last.range == (0..13));
}

/// Shapes whose chunks do not fit the memory that the options allow.
#[test]
fn targets_keep_to_the_limits_of_their_options() {
    use container_core::format::{TargetOptions, WriteRequest};

    let fixture = fixtures().into_iter().find(|it| it.path == "ok/shape_3d.b2nd").unwrap();
    let container: Box<dyn Container> = crate::container::open(&fixture);
    let whole = [(0, Region::whole(&container.dataset(0).unwrap().shape))];
    let mut options = TargetOptions::default();
    options.extra = vec![(
        "chunks".to_owned(),
        fixture.shape.unwrap().iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    )];
    options.limits = Limits::default().with_memory(50);
    let (read, progress) = (ReadOptions::default(), container_core::Progress::none());
    let request =
        WriteRequest { container: &*container, selection: &whole, options: &options, read, progress };
    let error = FORMAT.import.unwrap()(&request, &mut Vec::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

/// A source that counts its reads and lends nothing, as a file does.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl Source for Counted {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> blosc2_frame::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_into(at, dst)
    }
}

/// Header and bytes of a small chunk come in one read. Large ones take one for each.
#[test]
fn small_chunks_take_one_read() {
    for (len, reads) in [(400_u64, 1), (300_000, 2)] {
        let noise: Vec<u8> = (0..len)
            .map(|at| (at.wrapping_mul(at).wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
            .collect();
        let mut options = FrameOptions::default();
        options.params = default_params(1);
        options.params.level = 0;
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, options).unwrap();
        (0..4).for_each(|_| writer.append(&noise).unwrap());
        writer.finish().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let source = Counted(out, Arc::clone(&count));
        let frame = Frame::from_source(Box::new(source), 0, &blosc2_frame::OpenOptions::default()).unwrap();
        for index in [0, 3, 1] {
            count.store(0, Ordering::Relaxed);
            assert!(frame.chunk(index).unwrap().ends_with(&noise));
            assert_eq!(count.load(Ordering::Relaxed), reads, "{len} {index}");
        }
    }
}
