//! The container adapter: details, metadata, losses, byte map and findings of files whose bytes are made here, by the description of the format.

use container_core::container::{
    Axes, CheckDepth, Container, Dataset, OpenOptions, ReadOptions, Segment, Tolerance, Visibility,
};
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::format::{Format, Input, TargetOptions, WriteRequest};
use container_core::region::Region;
use container_core::report::{Loss, Report, Severity};
use container_core::{Error, ErrorKind, Limits, Progress, Result, Value, npy};
use rawarray::{Encoding, FORMAT, File, RawArray, WriteOptions};

/// Length of the six words before the dimensions.
const FIXED: u64 = 48;

/// Flag bit 1: encoded.
const ENCODED: u64 = 2;

/// Flag bit 0: big-endian data.
const BIG: u64 = 1;

struct Made {
    flags: u64,
    eltype: u64,
    elbyte: u64,
    size: u64,
    dims: Vec<u64>,
    data: Vec<u8>,
}

impl Made {
    /// Plain unsigned bytes of one dimension.
    fn bytes(data: &[u8]) -> Self {
        let size = data.len() as u64;
        Self { flags: 0, eltype: 2, elbyte: 1, size, dims: vec![size], data: data.to_vec() }
    }

    fn words(&self) -> Vec<u64> {
        let Self { flags, eltype, elbyte, size, dims, .. } = self;
        let fixed = [u64::from_le_bytes(*b"rawarray"), *flags, *eltype, *elbyte, *size, dims.len() as u64];
        fixed.iter().chain(dims).copied().collect()
    }

    fn file(&self) -> Vec<u8> {
        self.words().iter().flat_map(|word| word.to_le_bytes()).chain(self.data.iter().copied()).collect()
    }

    fn big_endian_file(&self) -> Vec<u8> {
        self.words().iter().flat_map(|word| word.to_be_bytes()).chain(self.data.iter().copied()).collect()
    }

    fn open(&self) -> Box<dyn Container> {
        open(self.file())
    }
}

fn open(bytes: Vec<u8>) -> Box<dyn Container> {
    open_as(&FORMAT, bytes, &OpenOptions::default())
}

fn open_as(format: &Format, bytes: Vec<u8>, options: &OpenOptions) -> Box<dyn Container> {
    (format.open)(Input::bytes(Box::new(bytes)), options).unwrap()
}

fn lenient() -> OpenOptions {
    let mut options = OpenOptions::default();
    options.tolerance = Tolerance::Lenient;
    options
}

fn check(container: &dyn Container) -> Report {
    container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap()
}

fn whole(container: &dyn Container, index: usize) -> Vec<(usize, Region)> {
    vec![(index, Region::whole(&container.datasets()[index].shape))]
}

/// The first dataset as a RawArray file, and the losses.
fn convert(container: &dyn Container, options: &TargetOptions) -> Result<(Vec<u8>, Vec<Loss>)> {
    let selection = whole(container, 0);
    let (read, progress) = (ReadOptions::default(), Progress::none());
    let job = WriteRequest { container, selection: &selection, options, read, progress };
    let mut out = Vec::new();
    let losses = FORMAT.import.unwrap()(&job, &mut out)?;
    Ok((out, losses))
}

fn npy_file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    [b"\x93NUMPY\x01\0\x76\0", format!("{dict:<117}\n").as_bytes(), data].concat()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Box<dyn Container> {
    open_as(&npy::FORMAT, npy_file(descr, shape, data), &OpenOptions::default())
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn trailer_of(bytes: Vec<u8>) -> Vec<u8> {
    let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
    file.trailer().unwrap().into_owned()
}

fn values(file: &File) -> Vec<u8> {
    let array = file.read_all(&ReadOptions::default()).unwrap();
    array.bytes(Order::F, &Limits::default()).unwrap().into_owned()
}

#[test]
fn details_list_the_header_fields() {
    let made = Made { flags: 0, eltype: 3, elbyte: 4, size: 24, dims: vec![3, 2], data: vec![0; 29] };
    let about = open(made.big_endian_file()).about();
    let dims = vec![Value::from(3_u64), Value::from(2_u64)];
    let want = [
        ("element", Value::from("float32")),
        ("dims", dims.into()),
        ("flags", Value::from(0_u64)),
        ("eltype", Value::from(3_u64)),
        ("elbyte", Value::from(4_u64)),
        ("size", Value::from(24_u64)),
        ("ndims", Value::from(2_u64)),
        ("header byte order", Value::from("big")),
        ("data byte order", Value::from("big")),
        ("encoding", Value::from("none")),
        ("trailer bytes", Value::from(5_u64)),
    ];
    assert_eq!(about.details, want.map(|(name, value)| (name.to_owned(), value)));
    assert_eq!((about.format, about.size, about.complete), ("rawarray", FIXED + 16 + 29, true));
    let little = open(made.file()).about().details;
    assert_eq!(little[7].1, Value::from("little"));
    assert_eq!(little[8].1, Value::from("little"));
}

#[test]
fn a_file_without_all_its_bytes_is_incomplete() {
    let made = Made::bytes(&[1, 2, 3, 4]);
    let file = made.file();
    assert!(made.open().about().complete);
    for cut in [file.len() - 1, 50] {
        assert!(!open(file[..cut].to_vec()).about().complete, "{cut}");
    }
}

#[test]
fn datasets_are_described_as_they_are_stored() {
    let mut made = Made { flags: 0, eltype: 1, elbyte: 2, size: 12, dims: vec![3, 2], data: vec![0; 12] };
    made.data.extend(*b"note");
    let datasets = made.open().datasets().to_vec();
    let [data, trailer] = &datasets[..] else { panic!("{datasets:?}") };
    let want = Dataset {
        path: "data".into(),
        dtype: DType::new(Kind::Int, 2, ByteOrder::Little),
        shape: vec![3, 2],
        order: Order::F,
        chunks: None,
        codec: "none".into(),
        stored: 12,
        logical: 12,
        attributes: vec![("eltype".into(), Value::from(1_u64)), ("element".into(), "int16".into())],
        visibility: Visibility::Always,
    };
    assert_eq!(*data, want);
    assert_eq!(
        (&*trailer.path, &*trailer.shape, trailer.stored, trailer.logical),
        ("trailer", &[4][..], 4, 4)
    );
    assert_eq!((trailer.dtype.to_string().as_str(), trailer.visibility), ("|u1", Visibility::Recursive));
    // Reversed, the axes are numpy's of the same bytes.
    let mut options = OpenOptions::default();
    options.axes = Axes::Reversed;
    let reversed = open_as(&FORMAT, made.file(), &options);
    let data = &reversed.datasets()[0];
    assert_eq!((&*data.shape, data.order), (&[2, 3][..], Order::C));
    // Of a block the stored bytes count, of a cut file those that exist.
    let lz4 = lz4_of_100_sevens().open();
    let data = &lz4.datasets()[0];
    assert_eq!((&*data.codec, data.stored, data.logical), ("lz4", 11, 100));
    let cut = open(Made::bytes(&[7; 100]).file()[..56 + 30].to_vec());
    let data = &cut.datasets()[0];
    assert_eq!((&*data.codec, data.stored, data.logical), ("none", 30, 100));
}

/// A literal, a match of 94 bytes at offset 1 (4 + 15 + 75), and five literals: a block of 11 bytes.
fn lz4_of_100_sevens() -> Made {
    let data = vec![0x1f, 7, 1, 0, 75, 0x50, 7, 7, 7, 7, 7];
    Made { flags: ENCODED, size: 11, dims: vec![100], data, ..Made::bytes(&[]) }
}

#[test]
fn a_trailer_over_a_mebibyte_is_described_not_shown() {
    for (len, is_shown) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let mut made = Made::bytes(&[1]);
        made.data.extend(vec![b'x'; len]);
        let meta = made.open().meta().unwrap();
        let text = match is_shown {
            true => "x".repeat(len),
            false => format!("{len} bytes, too many to show here"),
        };
        let dims = Value::from(vec![Value::from(1_u64)]);
        let want = [("element", "uint8".into()), ("dims", dims), ("trailer", text.into())];
        assert!(meta == map(&want), "{len}");
    }
    let none = Made::bytes(&[1]).open().meta().unwrap();
    assert_eq!(none.get("trailer"), None);
}

#[test]
fn a_trailer_over_16_mebibytes_is_a_dataset_and_not_metadata() {
    let lost = |len: usize| {
        let mut made = Made::bytes(&[1]);
        made.data.extend(vec![b' '; len]);
        let container = made.open();
        let selection = whole(&*container, 0);
        let lost = container.unexported_metadata(&selection);
        if len > 1 << 24 {
            assert_eq!(container.export_metadata(&selection).unwrap(), Value::Map(Vec::new()));
        }
        lost.into_iter().map(|loss| (loss.dataset, loss.what)).collect::<Vec<_>>()
    };
    assert_eq!(lost(0), []);
    assert_eq!(lost(1 << 24), []);
    assert_eq!(lost((1 << 24) + 1), [(None, "trailer of 16777217 bytes, too long for metadata".to_owned())]);
}

#[test]
fn a_trailer_of_json_is_exported_unless_it_is_selected_itself() {
    let mut made = Made::bytes(&[1, 2]);
    made.data.extend(*br#"{"a": 1}"#);
    let container = made.open();
    assert_eq!(container.export_metadata(&whole(&*container, 0)).unwrap(), map(&[("a", Value::Int(1))]));
    assert_eq!(container.export_metadata(&whole(&*container, 1)).unwrap(), map(&[]));
    assert_eq!(container.logical_meta().unwrap().get("trailer"), Some(&map(&[("a", Value::Int(1))])));
}

#[test]
fn opaque_elements_export_the_code_and_the_order_that_their_type_lacks() {
    let own = |flags: u64, eltype: u64, elbyte: u64| {
        let made = Made { flags, eltype, elbyte, size: 6, dims: vec![6 / elbyte], data: vec![0; 6] };
        let container = made.open();
        let selection = whole(&*container, 0);
        container.export_metadata(&selection).unwrap().get("rawarray").cloned()
    };
    assert_eq!(own(0, 0, 3), None);
    assert_eq!(own(0, 3, 3), Some(map(&[("eltype", Value::from(3_u64))])));
    assert_eq!(own(BIG, 0, 3), Some(map(&[("byte_order", "big".into())])));
    assert_eq!(own(0, 1, 2), None);
}

#[test]
fn losses_are_the_trailer_and_the_order_of_opaque_elements() {
    let losses = |flags: u64, eltype: u64, trailer: &[u8]| {
        let data = [&[0; 6], trailer].concat();
        let made = Made { flags, eltype, elbyte: 2, size: 6, dims: vec![3], data };
        made.open().losses().into_iter().map(|loss| (loss.dataset, loss.what)).collect::<Vec<_>>()
    };
    assert_eq!(losses(0, 0, b""), []);
    assert_eq!(losses(BIG, 1, b""), []);
    assert_eq!(losses(0, 1, b"abc"), [(None, "trailer of 3 bytes".to_owned())]);
    let order = "the byte order of the user-defined elements (big-endian)".to_owned();
    assert_eq!(losses(BIG, 0, b""), [(Some("data".to_owned()), order)]);
}

#[test]
fn the_byte_map_covers_every_byte_of_a_file() {
    let words = ["magic", "flags", "eltype", "elbyte", "size", "ndims"];
    let rows = |file: Vec<u8>| {
        let len = file.len() as u64;
        let map = open(file).byte_map();
        let fixed: Vec<Segment> = words
            .iter()
            .zip(0_u64..)
            .map(|(role, at)| Segment {
                range: at * 8..at * 8 + 8,
                role: (*role).into(),
                ..Segment::default()
            })
            .collect();
        assert_eq!(map[..6], fixed);
        assert!(map.windows(2).all(|pair| pair[0].range.end == pair[1].range.start), "{map:?}");
        assert_eq!(map.last().unwrap().range.end, len);
        let owner = |role: &str| match role {
            "dims" | "data" => Some("data"),
            "trailer" => Some("trailer"),
            _ => None,
        };
        assert!(map.iter().all(|it| it.dataset.as_deref() == owner(&it.role)), "{map:?}");
        let row = |it: &Segment| (it.role.clone(), it.range.clone(), it.codec.clone(), it.stored, it.decoded);
        map[6..].iter().map(row).collect::<Vec<_>>()
    };
    let named = |role: &str, range: std::ops::Range<u64>| (role.to_owned(), range, None, None, None);
    let mut made = Made { flags: 0, eltype: 2, elbyte: 2, size: 12, dims: vec![3, 2], data: vec![0; 16] };
    let data = ("data".to_owned(), 64..76, Some("none".to_owned()), Some(12), Some(12));
    assert_eq!(rows(made.file()), [named("dims", 48..64), data, named("trailer", 76..80)]);
    let lz4 = lz4_of_100_sevens();
    let data = ("data".to_owned(), 56..67, Some("lz4".to_owned()), Some(11), Some(100));
    assert_eq!(rows(lz4.file()), [named("dims", 48..56), data]);
    let cut = made.file()[..70].to_vec();
    assert_eq!(rows(cut), [named("dims", 48..64), named("data", 64..70)]);
    let cut = made.file()[..60].to_vec();
    assert_eq!(rows(cut), [named("unknown", 48..60)]);
    made.eltype = 6;
    assert_eq!(rows(made.file()), [named("dims", 48..64), named("unknown", 64..80)]);
}

#[test]
fn bools_other_than_0_and_1_are_counted_from_the_first_to_the_last() {
    let findings = |made: &Made| {
        let findings = check(&*made.open()).findings;
        findings.into_iter().map(|it| (it.code.to_owned(), it.range, it.message)).collect::<Vec<_>>()
    };
    let code = || "bool_not_0_or_1".to_owned();
    let message = || "2 bool values are neither 0 nor 1".to_owned();
    let bools = Made { eltype: 5, ..Made::bytes(&[1, 0, 2, 1, 255, 0]) };
    assert_eq!(findings(&bools), [(code(), Some(58..61), message())]);
    let sound = Made { eltype: 5, ..Made::bytes(&[1, 0, 0, 1]) };
    assert_eq!(findings(&sound), []);
    // Numbers may be any.
    assert_eq!(findings(&Made::bytes(&[1, 0, 2, 1, 255, 0])), []);
    // Of encoded values the place in the file is that of all of them: 0xff 0x01 is 255.
    let encoded =
        Made { flags: ENCODED, eltype: 5, data: vec![1, 0, 2, 1, 0xff, 1, 0], ..Made::bytes(&[0; 6]) };
    assert_eq!(findings(&encoded), [(code(), Some(56..63), message())]);
}

#[test]
fn a_check_counts_the_one_block_of_data() {
    let counts = |made: &Made, depth: CheckDepth| {
        let report = made.open().check(depth, &ReadOptions::default(), Progress::none()).unwrap();
        (report.blocks.total, report.blocks.checked, report.blocks.bad)
    };
    let sound = Made::bytes(&[1, 2]);
    assert_eq!(counts(&sound, CheckDepth::Full), (1, 1, 0));
    assert_eq!(counts(&sound, CheckDepth::Quick), (1, 0, 0));
    let mut cut = Made::bytes(&[1, 2]);
    cut.data.pop();
    assert_eq!(counts(&cut, CheckDepth::Full), (1, 0, 1));
}

#[test]
fn each_fault_has_its_code_its_range_and_its_kind_of_error() {
    let made = |flags, eltype, elbyte, size, dims: &[u64], data: &[u8]| Made {
        flags,
        eltype,
        elbyte,
        size,
        dims: dims.to_vec(),
        data: data.to_vec(),
    };
    let huge = u64::MAX / 2;
    let cases = [
        (made(8, 2, 1, 2, &[2], &[1, 2]), "unknown_flag", 8..16, "unsupported"),
        (made(0, 6, 1, 2, &[2], &[1, 2]), "unknown_eltype", 16..24, "unsupported"),
        (made(0, 4, 3, 6, &[2], &[0; 6]), "impossible_elbyte", 24..32, "malformed"),
        (made(0, 2, 1, 1, &[2], &[1, 2]), "size_mismatch", 32..40, "malformed"),
        (made(0, 2, 4, 8, &[2], &[1, 2]), "data_truncated", 56..64, "truncated"),
        (made(0, 2, 1, 2, &[huge, 9], &[1, 2]), "dims_overflow", 48..64, "malformed"),
        (made(0, 2, 4, 0, &[], &[]), "empty_without_dims", 40..48, "malformed"),
        (made(ENCODED, 3, 4, 8, &[2], &[0; 8]), "flag_on_raw_data", 8..16, "malformed"),
        (made(ENCODED, 3, 4, 5, &[2], &[0xf0; 8]), "undecodable_data", 56..64, "malformed"),
        (
            made(ENCODED, 2, 1, 8, &[8], &[0x10, 7, 1, 0, 0x30, 1, 2, 3]),
            "undecodable_data",
            56..64,
            "malformed",
        ),
    ];
    for (made, code, range, kind) in cases {
        let file = File::from_source(Box::new(made.file()), &OpenOptions::default()).unwrap();
        let first = file.faults()[0];
        assert_eq!((first.code(), first.range(), first.severity()), (code, range.clone(), Severity::Error));
        let error = file.read_all(&ReadOptions::default()).unwrap_err();
        let found = match error.kind() {
            ErrorKind::Unsupported(_) => "unsupported",
            ErrorKind::Malformed(_) => "malformed",
            ErrorKind::Truncated { .. } => "truncated",
            _ => "another",
        };
        assert_eq!((found, error.range()), (kind, Some(range)), "{code}");
        assert!(error.hint().is_some_and(|hint| hint.starts_with("holdall repair")), "{code}");
    }
}

#[test]
fn the_limit_on_dimensions_is_reported_as_a_limit() {
    let mut options = OpenOptions::default();
    options.limits.ndims = 2;
    let made = Made { dims: vec![1, 1, 1], ..Made::bytes(&[7]) };
    let file = File::from_source(Box::new(made.file()), &options).unwrap();
    let error = file.read_all(&ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 3, allowed: 2, .. }), "{error}");
    assert_eq!((file.faults()[0].code(), error.range()), ("ndims_limit", Some(40..48)));
}

#[test]
fn data_that_decode_in_no_way_are_explained() {
    let problem = |made: &Made| -> Error {
        let file = File::from_source(Box::new(made.file()), &OpenOptions::default()).unwrap();
        file.read_all(&ReadOptions::default()).unwrap_err()
    };
    let encoded = |eltype, elbyte, size, dims: &[u64], data: &[u8]| Made {
        flags: ENCODED,
        eltype,
        elbyte,
        size,
        dims: dims.to_vec(),
        data: data.to_vec(),
    };
    // A block that claims more bytes than the file has.
    let error = problem(&encoded(3, 4, 100, &[2], &[0xf0; 10]));
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 100, have: 10 }), "{error}");
    assert_eq!(error.range(), Some(56..156));
    // Varints of which each missing one takes a byte at least: four of ten bytes are there.
    let error = problem(&encoded(2, 1, 10, &[10], &[1, 2, 3, 4]));
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 10, have: 4 }), "{error}");
    for (made, reason) in [
        (encoded(2, 1, 5, &[2], &[1, 2, 3, 4, 5]), "LEB128 values end 3 bytes before the file"),
        (encoded(2, 1, 1, &[3], &[1, 2]), "LEB128 values are cut short"),
        (encoded(2, 1, 3, &[3], &[0xff, 0xff, 0x7f]), "a LEB128 value does not fit its type"),
        (encoded(3, 4, 5, &[2], &[0xf0; 8]), "the elements are not integers"),
    ] {
        let error = problem(&made).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn an_encoding_that_the_data_are_not_in_is_reported_for_all_of_them() {
    let made = Made { flags: ENCODED, ..Made::bytes(&[1, 2, 3, 4, 5, 6]) };
    let mut options = OpenOptions::default();
    options.assume_codec = Some("lz4".into());
    let file = File::from_source(Box::new(made.file()), &options).unwrap();
    let error = file.read_all(&ReadOptions::default()).unwrap_err();
    assert_eq!(error.range(), Some(56..62));
    assert!(error.to_string().contains("the data are not lz4"), "{error}");
}

#[test]
fn a_lenient_reader_decodes_what_is_encoded() {
    let lz4 = lz4_of_100_sevens();
    let file = File::from_source(Box::new(lz4.file()), &lenient()).unwrap();
    assert_eq!((file.encoding(), values(&file)), (Encoding::Lz4, vec![7; 100]));
    // Floats that only carry the flag are plain, for a lenient reader alone.
    let flagged = Made { flags: ENCODED, eltype: 3, elbyte: 4, size: 8, dims: vec![2], data: vec![5; 8] };
    let file = File::from_source(Box::new(flagged.file()), &lenient()).unwrap();
    assert_eq!((file.encoding(), values(&file)), (Encoding::Plain, vec![5; 8]));
    let strict = File::from_source(Box::new(flagged.file()), &OpenOptions::default()).unwrap();
    assert_eq!(strict.encoding(), Encoding::Lz4);
}

#[test]
fn a_lenient_reader_does_not_make_up_missing_data() {
    // The dimensions need four bytes, the size field gives three, two are there.
    let made = Made { size: 3, dims: vec![4], data: vec![1, 2], ..Made::bytes(&[]) };
    let file = File::from_source(Box::new(made.file()), &lenient()).unwrap();
    let error = file.read_all(&ReadOptions::default()).unwrap_err();
    assert!(error.is_damage(), "{error}");
}

#[test]
fn the_debug_text_of_a_file_names_its_encoding() {
    let file = File::from_source(Box::new(lz4_of_100_sevens().file()), &OpenOptions::default()).unwrap();
    assert!(format!("{file:?}").ends_with("encoding: Lz4 }"), "{file:?}");
}

#[test]
fn an_array_is_empty_where_a_dimension_is_0() {
    let is_empty = |dims: &[u64], data: &[u8]| {
        let made = Made { dims: dims.to_vec(), ..Made::bytes(data) };
        File::from_source(Box::new(made.file()), &OpenOptions::default()).unwrap().is_empty().unwrap()
    };
    assert!(is_empty(&[3, 0], &[]));
    assert!(!is_empty(&[3], &[1, 2, 3]));
    assert!(!is_empty(&[], &[1]));
}

#[test]
fn each_file_in_an_encoded_array_of_files_opens() {
    let files: Vec<Vec<u8>> = (1..=3).map(|value| Made::bytes(&[value; 40]).file()).collect();
    let width = files[0].len() as u64;
    let plain =
        Made { eltype: 0, elbyte: width, size: 3 * width, dims: vec![3], ..Made::bytes(&files.concat()) };
    let source = open(plain.file());
    let mut options = TargetOptions::default();
    options.codec = Some(("lz4".into(), None));
    let (encoded, _) = convert(&*source, &options).unwrap();
    for bytes in [plain.file(), encoded] {
        let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
        for (index, value) in (0..3).zip(1..) {
            assert_eq!(values(&file.element_file(index).unwrap()), [value; 40]);
        }
        assert!(matches!(file.element_file(3).unwrap_err().kind(), ErrorKind::Usage(_)));
    }
    let numbers = File::from_source(Box::new(Made::bytes(&[1]).file()), &OpenOptions::default()).unwrap();
    assert!(matches!(numbers.element_file(0).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn a_trailer_is_copied_with_its_array_unless_it_is_dropped() {
    let mut made = Made::bytes(&[1, 2, 3]);
    made.data.extend(*b"\0\xffnot JSON");
    let source = made.open();
    let (copied, losses) = convert(&*source, &TargetOptions::default()).unwrap();
    assert_eq!((copied, losses.len()), (made.file(), 0));
    let mut options = TargetOptions::default();
    options.extra = vec![("trailer".into(), "drop".into())];
    let (dropped, _) = convert(&*source, &options).unwrap();
    assert_eq!(dropped, Made::bytes(&[1, 2, 3]).file());
    // The trailer as an array of its own is not kept a second time.
    let selection = whole(&*source, 1);
    let options = TargetOptions::default();
    let (read, progress) = (ReadOptions::default(), Progress::none());
    let job = WriteRequest { container: &*source, selection: &selection, options: &options, read, progress };
    let mut out = Vec::new();
    FORMAT.import.unwrap()(&job, &mut out).unwrap();
    assert_eq!(out, Made::bytes(b"\0\xffnot JSON").file());
    let mut options = TargetOptions::default();
    options.codec = Some(("leb128".into(), None));
    let error = convert(&*source, &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.hint().is_some(), "{error}");
}

#[test]
fn metadata_become_the_trailer_or_are_reported_as_lost() {
    let source = npy("|u1", "(3,)", &[1, 2, 3]);
    let target = |codec: Option<&str>, trailer: Option<&str>| {
        let mut options = TargetOptions::default();
        options.metadata = Some(map(&[("a", Value::Int(1))]));
        options.codec = codec.map(|name| (name.to_owned(), None));
        options.extra = trailer.map(|value| ("trailer".to_owned(), value.to_owned())).into_iter().collect();
        let (bytes, losses) = convert(&*source, &options).unwrap();
        (trailer_of(bytes), losses.into_iter().map(|loss| loss.what).collect::<Vec<_>>())
    };
    let lost = vec!["metadata: a".to_owned()];
    assert_eq!(target(None, None), (br#"{"a":1}"#.to_vec(), vec![]));
    assert_eq!(target(Some("lz4"), Some("keep")), (br#"{"a":1}"#.to_vec(), vec![]));
    assert_eq!(target(None, Some("drop")), (vec![], lost.clone()));
    assert_eq!(target(Some("leb128"), None), (vec![], lost));
    // A RawArray source has a trailer of its own.
    let mut options = TargetOptions::default();
    options.metadata = Some(map(&[("a", Value::Int(1))]));
    let error = convert(&*Made::bytes(&[1]).open(), &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn types_that_rawarray_lacks_are_reported_as_lost() {
    let losses = |descr: &str, size: usize, words: &[(&str, &str)]| {
        let mut options = TargetOptions::default();
        options.extra = words.iter().map(|(word, value)| ((*word).into(), (*value).into())).collect();
        let (bytes, losses) = convert(&*npy(descr, "(2,)", &vec![1; 2 * size]), &options).unwrap();
        let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
        let losses: Vec<_> = losses.into_iter().map(|loss| loss.what).collect();
        (file.header().eltype.0, losses)
    };
    assert_eq!(losses("<f4", 4, &[]), (3, vec![]));
    assert_eq!(losses("<c16", 16, &[]), (4, vec![]));
    assert_eq!(losses("|V5", 5, &[]), (0, vec![]));
    assert_eq!(losses("|b1", 1, &[]), (5, vec![]));
    let kept = "the type bool: kept as unsigned bytes".to_owned();
    assert_eq!(losses("|b1", 1, &[("bool", "uint8")]), (2, vec![kept]));
    assert_eq!(losses("|u1", 1, &[("bool", "uint8")]), (2, vec![]));
    let (code, lost) = losses("|S3", 3, &[]);
    assert_eq!((code, lost.len()), (0, 1));
    assert!(lost[0].starts_with("the type |S3: kept as"), "{lost:?}");
}

#[test]
fn options_of_a_target_take_only_their_own_values() {
    let target = |word: &str, value: &str| {
        let mut options = TargetOptions::default();
        options.extra = vec![(word.into(), value.into())];
        convert(&*npy("<i2", "(2,)", &[1, 0, 2, 0]), &options)
    };
    let (little, _) = target("byte-order", "little").unwrap();
    let (big, _) = target("byte-order", "big").unwrap();
    let words = Made { flags: 0, eltype: 1, elbyte: 2, size: 4, dims: vec![2], data: vec![1, 0, 2, 0] };
    assert_eq!(little, words.file());
    assert_eq!(big, Made { flags: BIG, data: vec![0, 1, 0, 2], ..words }.file());
    for (word, value) in [("byte-order", "middle"), ("bool", "int8"), ("trailer", "some"), ("chunks", "3")] {
        let error = target(word, value).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{word}={value}: {error}");
    }
    assert!(target("chunks", "none").is_ok());
}

#[test]
fn the_trailer_of_a_large_file_is_changed_and_a_large_trailer_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ra");
    let set = |value: &str| {
        let after = map(&[("trailer", value.into())]);
        let durability = container_core::write::Durability::Cached;
        rawarray::set_trailer(&path, &OpenOptions::default(), durability, |_| Ok(after))
    };
    // Data of 9 MiB before the trailer, of which 16 MiB would be metadata.
    RawArray::from(vec![1_u8; 9 << 20]).write_with(&path, &WriteOptions::default()).unwrap();
    set("first").unwrap();
    set("second").unwrap();
    assert_eq!(File::open(&path).unwrap().trailer().unwrap().as_ref(), b"second");
    let mut array = RawArray::from(vec![1_u8]);
    array.set_trailer(vec![b' '; (1 << 24) + 1]);
    array.write(&path).unwrap();
    assert!(matches!(set("third").unwrap_err().kind(), ErrorKind::Usage(_)));
}

/// As [`repair`](FORMAT), of bytes that are not in memory as one piece, so that they are copied.
fn repaired(file: &[u8], memory: u64) -> (Vec<u8>, container_core::report::RepairReport) {
    let mut sparse = container_core::source::SparseSource::new(file.len() as u64);
    for (number, piece) in file.chunks(1 << 19).enumerate() {
        sparse.insert((number as u64) << 19, piece).unwrap();
    }
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(memory);
    let mut out = Vec::new();
    let input = Input::bytes(Box::new(sparse));
    let report = FORMAT.repair.unwrap()(input, &options, Some(&mut out), Progress::none()).unwrap();
    (out, report)
}

#[test]
fn repair_of_a_sound_file_copies_it_unchanged() {
    let trailed = |mut made: Made| {
        made.data.extend(*b"note");
        made
    };
    let bits = Made {
        flags: 6,
        eltype: 5,
        elbyte: 8,
        size: 8,
        dims: vec![3, 4],
        data: vec![0xff, 0x0f, 0, 0, 0, 0, 0, 0],
    };
    let matrix =
        || Made { flags: 0, eltype: 1, elbyte: 2, size: 12, dims: vec![3, 2], data: (0..12).collect() };
    let opaque = Made { flags: BIG, eltype: 0, ..matrix() };
    for made in [matrix(), trailed(matrix()), Made::bytes(&[]), bits, opaque] {
        let (out, report) = repaired(&made.file(), 1 << 30);
        assert_eq!((report.lost.len(), report.guessed.len()), (0, 0), "{report:?}");
        assert_eq!(out, made.file());
    }
}

#[test]
fn repair_of_big_endian_numbers_makes_them_little_endian() {
    let big = Made { flags: BIG, eltype: 1, elbyte: 2, size: 6, dims: vec![3], data: vec![0, 1, 0, 2, 0] };
    let (out, report) = repaired(&big.file(), 1 << 30);
    assert_eq!((report.lost.len(), report.guessed.len()), (1, 0), "{report:?}");
    assert_eq!(out, Made { flags: 0, size: 4, dims: vec![2], data: vec![1, 0, 2, 0], ..big }.file());
}

#[test]
fn whole_words_of_a_truncated_bit_array_are_kept() {
    // Two of three words are there, and a part of the third.
    let data = [&[0xff; 8][..], &[1, 0, 0, 0, 0, 0, 0, 0x80], &[1, 2, 3]].concat();
    let cut = Made { flags: 6, eltype: 5, elbyte: 8, size: 24, dims: vec![150], data: data.clone() };
    let (out, report) = repaired(&cut.file(), 1 << 30);
    assert_eq!(report.lost.len(), 1, "{report:?}");
    let file = File::from_source(Box::new(out), &OpenOptions::default()).unwrap();
    let bools = file.to_bools(&ReadOptions::default()).unwrap();
    let want = (0..128).map(|at| at <= 64 || at == 127).collect::<Vec<_>>();
    assert_eq!((file.dims(), bools), (&[128][..], want));
}

#[test]
fn repair_copies_a_large_file_in_pieces() {
    let mut made = Made::bytes(&vec![5; 4 << 20]);
    made.data.truncate((4 << 20) - 9);
    let (out, report) = repaired(&made.file(), 3 << 19);
    assert_eq!((out.len(), report.lost.len()), (56 + (4 << 20) - 9, 1));
}

#[test]
fn repair_takes_no_more_memory_than_allowed() {
    let mut made = Made::bytes(&[5; 2000]);
    made.data.pop();
    // In two pieces, so that the source cannot lend them together.
    let file = made.file();
    let mut sparse = container_core::source::SparseSource::new(file.len() as u64);
    sparse.insert(0, &file[..1000]).unwrap();
    sparse.insert(1000, &file[1000..]).unwrap();
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(1900);
    let input = Input::bytes(Box::new(sparse));
    let refused = FORMAT.repair.unwrap()(input, &options, Some(&mut Vec::new()), Progress::none());
    let error = refused.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 1999, allowed: 1900, .. }), "{error}");
}

#[test]
fn bits_of_many_words_are_written_least_significant_first() {
    // Bit k of word w is set where k = w modulo 64.
    let count = 10_000;
    let bools: Vec<bool> = (0..count).map(|at| at % 64 == at / 64 % 64).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ra");
    let mut options = WriteOptions::default();
    options.encoding = Encoding::Bits;
    rawarray::write_bools(&path, &[10_000], &bools, &options).unwrap();
    // The last of the 157 words has 16 elements, and its own bit would be the 29th.
    let words = (0..156).map(|word| 1_u64 << (word % 64)).chain([0]);
    let data: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    let made = Made { flags: 6, eltype: 5, elbyte: 8, size: data.len() as u64, dims: vec![10_000], data };
    assert_eq!(std::fs::read(&path).unwrap(), made.file());
}
