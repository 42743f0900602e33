mod shape_and_options;

use std::io;

use container_core::Progress;
use container_core::container::ReadOptions;
use container_core::format::TargetOptions;
use container_core::{ErrorKind, Value};

use super::*;
use crate::items::writer::VarWriter;
use crate::write::{Offsets, WriteOptions, write};
use crate::{ChecksumCode, FORMAT, NumpyArray, VarOptions, VarReader};

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from((at * 7 + at / 251) % 256).unwrap()).collect()
}

fn options(chunk_size: usize) -> WriteOptions {
    WriteOptions { chunk_size: Some(chunk_size), ..WriteOptions::default() }
}

struct Place {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.blp");
    Place { _directory: directory, path }
}

/// All bytes, after a full check without findings.
fn read(path: &Path) -> Vec<u8> {
    let file = crate::File::open(path).unwrap();
    assert!(file.layout().faults().is_empty(), "{:?}", file.layout().faults());
    file.read_range(0..file.len().unwrap(), &ReadOptions::default()).unwrap()
}

fn header(path: &Path) -> Header {
    Header::parse(&std::fs::read(path).unwrap()).unwrap()
}

fn numbers(header: &Header) -> (i32, i32, i64, i64) {
    (header.chunk_size, header.last_chunk, header.nchunks, header.max_app_chunks)
}

/// Bytes at first, bytes added, and the sizes in the header that the reference writes when it does the same with chunks of 1000
/// bytes (`blpk -n 1 append -t 8`, bloscpack 0.16).
#[test]
fn headers_are_the_references_where_it_can_append() {
    let cases = [
        (2500, 100, (1000, 600, 3, 30)),
        (2500, 500, (1000, 1000, 3, 30)),
        (2500, 501, (1000, 1, 4, 29)),
        (2000, 1000, (1000, 1000, 3, 19)),
        (2000, 4321, (1000, 321, 7, 15)),
    ];
    for (first, added, expected) in cases {
        let Place { path, _directory } = place();
        let all = data(first + added);
        write(&path, &all[..first], &options(1000)).unwrap();
        append_bytes(&path, &all[first..], added as u64, &AppendOptions::default()).unwrap();
        assert_eq!(numbers(&header(&path)), expected, "{first} + {added}");
        assert!(read(&path) == all, "{first} + {added}");
    }
}

#[test]
fn append_accepts_files_that_the_reference_refuses() {
    // A full table, no table, one small chunk, no bytes at all.
    let full = WriteOptions { max_app_chunks: Some(1), ..options(1000) };
    let none = WriteOptions { offsets: Offsets::None, ..options(1000) };
    let cases = [
        (full, 2500, 3000, (1000, 500, 6, 60)),
        (none, 2500, 3000, (1000, 500, 6, 0)),
        (options(1 << 20), 100, 5000, (5100, 5100, 1, 10)),
        (options(1 << 20), 0, 5000, (5000, 5000, 1, 10)),
    ];
    for (options, first, added, expected) in cases {
        let Place { path, _directory } = place();
        let all = data(first + added);
        write(&path, &all[..first], &options).unwrap();
        append_bytes(&path, &all[first..], added as u64, &AppendOptions::default()).unwrap();
        assert_eq!(numbers(&header(&path)), expected, "{first} + {added}");
        assert!(read(&path) == all, "{first} + {added}");
    }
}

#[test]
fn many_small_appends_make_the_file_that_one_write_makes() {
    let Place { path, _directory } = place();
    let all = data(12_000);
    write(&path, &all[..1500], &options(1000)).unwrap();
    for at in (1500..12_000).step_by(700) {
        let piece = &all[at..12_000.min(at + 700)];
        append_bytes(&path, piece, piece.len() as u64, &AppendOptions::default()).unwrap();
    }
    assert!(read(&path) == all);
    let at_once = place();
    write(&at_once.path, &all, &WriteOptions { max_app_chunks: Some(10), ..options(1000) }).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&at_once.path).unwrap());
}

#[test]
fn chunks_are_made_as_the_last_one_was() {
    for (compressor, shuffle) in [
        (Compressor::ZSTD, Shuffle::Bits),
        (Compressor::LZ4, Shuffle::None),
        (Compressor::ZLIB, Shuffle::Bytes),
    ] {
        let Place { path, _directory } = place();
        let mut options = options(4000);
        options.chunks = options
            .chunks
            .with_codec(compressor, 5)
            .with_shuffle(shuffle)
            .with_typesize(4)
            .with_checksum(ChecksumCode(6));
        write(&path, &[7; 10_000], &options).unwrap();
        append_bytes(&path, io::repeat(8).take(20_000), 20_000, &AppendOptions::default()).unwrap();
        let file = crate::File::open(&path).unwrap();
        for chunk in file.chunks() {
            assert_eq!(made_by(chunk), (compressor, shuffle));
            assert_eq!(chunk.typesize, 4);
        }
        assert_eq!(read(&path), [vec![7; 10_000], vec![8; 20_000]].concat());
    }
    let Place { path, _directory } = place();
    write(&path, &[7; 2500], &options(1000)).unwrap();
    let other = AppendOptions { codec: Some((Compressor::ZLIB, 1)), ..AppendOptions::default() };
    append_bytes(&path, io::repeat(8).take(2000), 2000, &other).unwrap();
    let file = crate::File::open(&path).unwrap();
    let codecs: Vec<&str> = file.chunks().iter().map(crate::ChunkEntry::codec).collect();
    assert_eq!(codecs, ["blosclz", "blosclz", "zlib", "zlib", "zlib"]);
}

fn array(shape: &[u64], order: Order) -> (NumpyArray, Vec<u8>) {
    let count = container_core::region::element_count(shape.iter().copied()).unwrap();
    let bytes = (0..count).flat_map(|at| u32::try_from(at).unwrap().to_le_bytes()).collect();
    (NumpyArray { dtype: DType::parse("<i4").unwrap(), shape: shape.to_vec(), order }, bytes)
}

fn write_numpy(path: &Path, shape: &[u64], order: Order) {
    let (numpy, bytes) = array(shape, order);
    write(path, &bytes, &options(64).for_array(&numpy)).unwrap();
}

fn append_file(path: &Path, source: &Path) -> Result<Vec<Loss>> {
    let input = container_core::format::Input::bytes(Box::new(std::fs::read(source).unwrap()));
    let container = (FORMAT.open)(input, &OpenOptions::default()).unwrap();
    let selection: Vec<_> =
        container.datasets().iter().enumerate().map(|(at, set)| (at, Region::whole(&set.shape))).collect();
    let job = WriteRequest {
        container: &*container,
        selection: &selection,
        options: &TargetOptions::default(),
        read: ReadOptions::default(),
        progress: Progress::none(),
    };
    append(path, &OpenOptions::default(), &job, Durability::Cached)
}

#[test]
fn arrays_grow_along_their_first_axis() {
    let (a, b) = (place(), place());
    write_numpy(&a.path, &[5, 3], Order::C);
    write_numpy(&b.path, &[40, 3], Order::C);
    // The longer shape still fits the section: 15 + 120 numbers in chunks of 16.
    let before = std::fs::read(&a.path).unwrap().len();
    assert!(append_file(&a.path, &b.path).unwrap().is_empty());
    let file = crate::File::open(&a.path).unwrap();
    assert_eq!(file.numpy().unwrap().shape, [45, 3]);
    assert!(before < std::fs::read(&a.path).unwrap().len());
    assert_eq!(read(&a.path), [array(&[5, 3], Order::C).1, array(&[40, 3], Order::C).1].concat());

    // Bytes are whole rows.
    let error = append_bytes(&a.path, &[0; 13][..], 13, &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    append_bytes(&a.path, &[0; 24][..], 24, &AppendOptions::default()).unwrap();
    assert_eq!(crate::File::open(&a.path).unwrap().numpy().unwrap().shape, [47, 3]);
}

#[test]
fn append_of_a_mismatched_array_is_refused_without_changes() {
    let (a, b) = (place(), place());
    let refused = |shape: (&[u64], Order), other: &[u64]| {
        write(&a.path, b"", &WriteOptions { overwrite: Overwrite::Replace, ..options(9) }).unwrap();
        let replace = |path: &Path, shape: &[u64], order| {
            let (numpy, bytes) = array(shape, order);
            let options = WriteOptions { overwrite: Overwrite::Replace, ..options(64) };
            write(path, &bytes, &options.for_array(&numpy)).unwrap();
        };
        replace(&a.path, shape.0, shape.1);
        replace(&b.path, other, Order::C);
        let before = std::fs::read(&a.path).unwrap();
        let error = append_file(&a.path, &b.path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert_eq!(std::fs::read(&a.path).unwrap(), before);
    };
    refused((&[5, 3], Order::C), &[5, 4]);
    refused((&[5, 3], Order::C), &[15]);
    refused((&[5, 3], Order::F), &[5, 3]);
    refused((&[], Order::C), &[1]);

    let Place { path, _directory } = place();
    write(&path, &data(2500), &options(1000)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = append_bytes(&path, &[0; 10][..], 11, &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let error =
        append_bytes(&path, data(5000).chain(Failing), 10_000, &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);

    // The digest of the last chunk is compared before the chunk is filled up.
    let mut damaged = before.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    let error = append_bytes(&path, &[0; 10][..], 10, &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), damaged);
    // Aborted: the table is filled with -1.
    let mut aborted = before;
    aborted[32..32 + 33 * 8].fill(0xff);
    std::fs::write(&path, &aborted).unwrap();
    let error = append_bytes(&path, &[0; 10][..], 10, &AppendOptions::default()).unwrap_err();
    assert!(error.is_damage() && error.hint().is_some_and(|hint| hint.contains("repair")), "{error:?}");
}

#[test]
fn items_are_appended_with_their_names() {
    let Place { path, _directory } = place();
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let options = VarOptions { names: names(&["a", "b"]), reserve: 7, ..VarOptions::text() };
    let mut writer = VarWriter::create(&path, None, &options).unwrap();
    writer.push("one").unwrap();
    writer.push("").unwrap();
    writer.finish().unwrap();
    append_items(&path, &["three", &"x".repeat(5000)], &AppendOptions::default()).unwrap();
    let reader = VarReader::open(&path).unwrap();
    let items: Vec<_> = reader.iter().map(Result::unwrap).collect();
    assert_eq!(items, [b"one".to_vec(), vec![], b"three".to_vec(), vec![b'x'; 5000]]);
    assert_eq!(reader.names().unwrap(), ["a", "b", "2", "3"]);
    assert_eq!(reader.file().metadata().unwrap().get("shape"), Some(&vec![Value::from(4_u64)].into()));
    // What was reserved is still there.
    let starts: Vec<u64> = reader.file().chunks().iter().map(|chunk| chunk.range().start).collect();
    assert_eq!(starts[1] - starts[0], 16 + 3 + 4 + 7);
    assert_eq!(starts[2] - starts[1], 16 + 4 + 7);

    let before = std::fs::read(&path).unwrap();
    let error = append_items(&path, &[b"\xff"], &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // From the container, dataset by dataset.
    let copy = place();
    std::fs::copy(&path, &copy.path).unwrap();
    append_file(&path, &copy.path).unwrap();
    let reader = VarReader::open(&path).unwrap();
    assert_eq!(reader.len(), 8);
    assert_eq!(reader.item(7).unwrap(), [b'x'; 5000]);
    assert_eq!(reader.names().unwrap()[4..], ["a", "b", "2", "3"]);
}

/// An array with more metadata than its own.
fn write_array_with(path: &Path, more: &str) {
    let (numpy, bytes) = array(&[4, 3], Order::C);
    let own = crate::to_json(&numpy.to_metadata()).unwrap();
    let json = own.replacen('{', &format!("{{{more},"), 1);
    let options = options(1000).for_array(&numpy);
    let options = WriteOptions { json: Some(json.into_bytes()), ..options };
    let mut writer = crate::Writer::create(path, Some(bytes.len() as u64), &options).unwrap();
    writer.push(&bytes).unwrap();
    writer.finish().unwrap();
}

fn text(path: &Path) -> String {
    let file = crate::File::open(path).unwrap();
    String::from_utf8(file.layout().metadata().unwrap().json.clone().unwrap()).unwrap()
}

/// `json.dumps` of Python spells numbers so.
#[test]
fn nan_in_metadata_stays_when_the_shape_changes() {
    let Place { path, _directory } = place();
    write_array_with(&path, r#""fill":NaN,"range":[-Infinity,Infinity],"id":18446744073709551617"#);
    let before = text(&path);
    append_bytes(&path, &[0; 48][..], 48, &AppendOptions::default()).unwrap();
    let file = crate::File::open(&path).unwrap();
    let shape = file.numpy().unwrap().shape.clone();
    assert_eq!(text(&path), before.replace("[4,3]", &format!("[{},3]", shape[0])));
    assert!(shape[0] > 4 && before.contains("NaN"), "{before}");
}

#[test]
fn metadata_that_a_changed_shape_would_damage_keep_the_file_as_it_is() {
    for more in [r#""a":"\ud800""#, r#""a":340282366920938463463374607431768211456"#] {
        let Place { path, _directory } = place();
        write_array_with(&path, more);
        let before = std::fs::read(&path).unwrap();
        let error = append_bytes(&path, &[0; 48][..], 48, &AppendOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // Without a shape the metadata stay as they are.
        let Place { path, _directory } = place();
        let json = format!("{{{more}}}");
        let plain = WriteOptions { json: Some(json.clone().into_bytes()), ..options(100) };
        write(&path, &data(250), &plain).unwrap();
        append_bytes(&path, &data(50)[..], 50, &AppendOptions::default()).unwrap();
        assert_eq!(text(&path), json);
    }
}

/// A header may keep gigabytes for metadata to grow into, which an append would write anew.
#[test]
fn room_for_metadata_counts_against_the_limit() {
    let room = MetadataOptions { max_meta_size: Some(4 << 20), ..MetadataOptions::default() };
    let (numpy, bytes) = array(&[4, 3], Order::C);
    let array = WriteOptions { metadata_options: room, ..options(1000).for_array(&numpy) };
    let plain = WriteOptions { metadata_options: room, json: Some(b"{}".to_vec()), ..options(1000) };
    for made in [array, plain] {
        let Place { path, _directory } = place();
        write(&path, &bytes, &made).unwrap();
        let limits = Limits::default().with_memory(1 << 20);
        let few = AppendOptions { limits, ..AppendOptions::default() };
        let error = append_bytes(&path, &[0; 48][..], 48, &few).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
        append_bytes(&path, &[0; 48][..], 48, &AppendOptions::default()).unwrap();
        assert_eq!(read(&path).len(), bytes.len() + 48);
    }
}

/// Data that two programs append at once are all there, or one of them gets an error that the other was first.
#[test]
fn concurrent_appends_lose_no_data() {
    let Place { path, _directory } = place();
    write(&path, &data(1000), &options(1000)).unwrap();
    let items = path.with_extension("items");
    VarWriter::create(&items, Some(0), &VarOptions::default()).unwrap().finish().unwrap();
    let (mut added, mut more) = (0, 0);
    for _ in 0..4 {
        let done = std::thread::scope(|scope| {
            let one = || {
                let bytes = append_bytes(&path, &data(300)[..], 300, &AppendOptions::default());
                (bytes, append_items(&items, &["one"], &AppendOptions::default()))
            };
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (bytes, item) in done {
            added += usize::from(was_done(bytes));
            more += u64::from(was_done(item));
        }
    }
    assert!(added >= 4 && more >= 4, "{added} {more}");
    assert_eq!(read(&path).len(), 1000 + 300 * added);
    assert_eq!(VarReader::open(&items).unwrap().len(), more);
}

fn was_done(result: Result<()>) -> bool {
    result.inspect_err(|error| assert!(error.to_string().contains("another program"), "{error}")).is_ok()
}

#[test]
fn a_file_that_others_put_in_its_place_stays() {
    let Place { path, _directory } = place();
    write(&path, &data(1000), &options(1000)).unwrap();
    struct Replacing<'a>(&'a Path);
    impl Read for Replacing<'_> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            std::fs::remove_file(self.0)?;
            write(self.0, b"another", &options(1000)).unwrap();
            Ok(0)
        }
    }
    let reader = data(100);
    let reader = Replacing(&path).chain(&reader[..]);
    let error = append_bytes(&path, reader, 100, &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    assert_eq!(read(&path), b"another");
}
