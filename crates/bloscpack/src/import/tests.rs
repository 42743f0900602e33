use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::format::{Input, TargetOptions};
use container_core::{ErrorKind, Progress};

use super::*;
use crate::{ChecksumCode, FORMAT, File, NumpyArray, write};

/// A container made of a file of ours.
fn container(numpy: &NumpyArray, bytes: &[u8]) -> Box<dyn Container> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.blp");
    write(&path, bytes, &WriteOptions { chunk_size: Some(100), ..WriteOptions::default() }.for_array(numpy))
        .unwrap();
    let input = Input::bytes(Box::new(std::fs::read(&path).unwrap()));
    (FORMAT.open)(input, &OpenOptions::default()).unwrap()
}

fn matrix(order: Order) -> (NumpyArray, Vec<u8>) {
    let bytes = (0..600_u16).flat_map(u16::to_be_bytes).collect();
    (NumpyArray { dtype: DType::parse(">u2").unwrap(), shape: vec![20, 30], order }, bytes)
}

fn words(codec: Option<(&str, Option<i32>)>, words: &[(&str, &str)]) -> TargetOptions {
    let mut options = TargetOptions::default();
    options.codec = codec.map(|(name, level)| (name.to_owned(), level));
    options.extra = words.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
    options
}

fn convert(container: &dyn Container, selection: &str, options: &TargetOptions) -> Result<File> {
    let region = Region::parse(selection, &container.datasets()[0].shape)?;
    let job = WriteRequest {
        container,
        selection: &[(0, region)],
        options,
        read: ReadOptions::default(),
        progress: Progress::none(),
    };
    let mut out = Vec::new();
    import(&job, &mut out)?;
    let file = File::from_source(Box::new(out), &OpenOptions::default())?;
    assert!(file.layout().faults().is_empty(), "{:?}", file.layout().faults());
    Ok(file)
}

fn values(file: &File) -> Vec<u8> {
    file.read_range(0..file.len().unwrap(), &ReadOptions::default()).unwrap()
}

#[test]
fn type_shape_byte_order_and_order_are_kept() {
    for order in [Order::C, Order::F] {
        let (numpy, bytes) = matrix(order);
        let file = convert(&*container(&numpy, &bytes), "", &TargetOptions::default()).unwrap();
        assert_eq!((file.numpy().unwrap(), values(&file)), (&numpy, bytes));
        assert_eq!((file.header().typesize, file.header().checksum), (2, ChecksumCode::ADLER32));
    }
    // One row of a column-major array is both, and counts as row-major.
    let (numpy, bytes) = matrix(Order::F);
    let file = convert(&*container(&numpy, &bytes), "3", &TargetOptions::default()).unwrap();
    let row = NumpyArray { shape: vec![30], order: Order::C, ..numpy };
    assert_eq!(file.numpy().unwrap(), &row);
    let expected: Vec<u8> = (0..30_u16).flat_map(|column| (column * 20 + 3).to_be_bytes()).collect();
    assert_eq!(values(&file), expected);
}

#[test]
fn reversed_axes_move_no_byte() {
    let (numpy, bytes) = matrix(Order::C);
    let mut options = words(None, &[]);
    options.axes = Axes::Reversed;
    let file = convert(&*container(&numpy, &bytes), "", &options).unwrap();
    let reversed = NumpyArray { shape: vec![30, 20], order: Order::F, ..numpy };
    assert_eq!((file.numpy().unwrap(), values(&file)), (&reversed, bytes));
}

#[test]
fn every_import_option_takes_effect() {
    let (numpy, _) = matrix(Order::C);
    let bytes = [[1_u8; 500].as_slice(), &[2; 700]].concat();
    let source = container(&numpy, &bytes);
    for (codec, name) in
        [("blosclz", "blosclz"), ("lz4", "lz4"), ("zlib", "zlib"), ("zstd", "zstd"), ("none", "none")]
    {
        for filter in ["none", "shuffle", "bitshuffle"] {
            let level = (codec != "none").then_some(3);
            let file = convert(&*source, "", &words(Some((codec, level)), &[("filter", filter)])).unwrap();
            let chunk = file.chunks()[0];
            assert_eq!((chunk.codec(), chunk.filter()), (name, filter), "{codec} {filter}");
            assert_eq!(values(&file), bytes);
        }
    }
    for code in 0..=8 {
        let checksum = ChecksumCode(code);
        let file = convert(&*source, "", &words(None, &[("checksum", checksum.name())])).unwrap();
        assert_eq!((file.header().checksum, values(&file)), (checksum, bytes.clone()));
    }
    // Seven rows of 60 bytes.
    let file = convert(&*source, "", &words(None, &[("chunks", "7"), ("offsets", "none")])).unwrap();
    assert_eq!((file.header().chunk_size, file.header().last_chunk), (420, 360));
    assert!(!file.header().has_offsets());
    assert_eq!(values(&file), bytes);
}

#[test]
fn unsupported_options_are_refused_with_the_supported_ones() {
    let (numpy, bytes) = matrix(Order::C);
    let source = container(&numpy, &bytes);
    let cases = [
        (words(Some(("bzp2", None)), &[]), "zstd"),
        (words(Some(("zstd", Some(10))), &[]), "0 to 9"),
        (words(Some(("none", Some(3))), &[]), "no levels"),
        (words(None, &[("filter", "delta")]), "bitshuffle"),
        (words(None, &[("checksum", "md4")]), "sha512"),
        (words(None, &[("chunks", "0")]), "chunks"),
        (words(None, &[("chunks", "2,3")]), "one number"),
        (words(None, &[("chunks", "99999999999")]), "at most"),
        (words(None, &[("blocks", "2")]), "chunks"),
        (words(None, &[("offsets", "yes")]), "table"),
    ];
    for (options, part) in cases {
        let error = convert(&*source, "", &options).map(|_| ()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn dtypes_missing_in_numpy_become_opaque_and_are_reported() {
    let dataset = |dtype| Dataset {
        path: "data".into(),
        dtype,
        shape: vec![4],
        order: Order::C,
        chunks: None,
        codec: "none".into(),
        stored: 8,
        logical: 8,
        attributes: Vec::new(),
        visibility: container_core::container::Visibility::Always,
    };
    let (numpy, losses) =
        target(&dataset(DType::parse("bfloat16").unwrap()), &Region::whole(&[4]), Axes::AsStored);
    assert_eq!((numpy.dtype.to_string().as_str(), losses.len()), ("|V2", 1));
    let (numpy, losses) =
        target(&dataset(DType::parse("<f2").unwrap()), &Region::whole(&[4]), Axes::AsStored);
    assert_eq!((numpy.dtype.to_string().as_str(), losses.len()), ("<f2", 0));
}

#[test]
fn metadata_of_other_bloscpack_files_are_kept_and_plain_bytes_stay_plain() {
    let open = |file: Vec<u8>| (FORMAT.open)(Input::bytes(Box::new(file)), &OpenOptions::default()).unwrap();
    let make = |metadata: Option<&str>| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.blp");
        let tree =
            metadata.map(|json| crate::from_json(json.as_bytes(), &crate::Limits::default()).unwrap().0);
        let mut options = WriteOptions { metadata: tree, ..WriteOptions::default() };
        options.chunks.typesize = 4;
        write(&path, &[7; 24], &options).unwrap();
        open(std::fs::read(&path).unwrap())
    };
    let json = |file: &File| file.metadata().map(|tree| crate::to_json(tree).unwrap());
    let file = convert(&*make(None), "", &TargetOptions::default()).unwrap();
    assert_eq!((json(&file), file.header().typesize, values(&file)), (None, 4, vec![7; 24]));
    let text = r#"{"who":"me","n":[1,2]}"#;
    let file = convert(&*make(Some(text)), "1:3", &TargetOptions::default()).unwrap();
    assert_eq!((json(&file).as_deref(), values(&file)), (Some(text), vec![7; 8]));
    let array = r#"{"dtype":"'<i4'","shape":[6],"order":"C","container":"numpy","who":"me"}"#;
    let file = convert(&*make(Some(array)), "::2", &TargetOptions::default()).unwrap();
    assert_eq!(json(&file).unwrap(), array.replace('6', "3"));
}

#[test]
fn all_items_of_a_variable_length_file_become_one_again() {
    let options =
        crate::VarOptions { names: Some(vec!["a".into(), "b".into()]), ..crate::VarOptions::text() };
    let mut writer = crate::VarWriter::new(std::io::Cursor::new(Vec::new()), None, &options).unwrap();
    writer.push("x".repeat(1000)).unwrap();
    writer.push("").unwrap();
    let bytes = writer.complete().unwrap().0.into_inner();
    let source = (FORMAT.open)(Input::bytes(Box::new(bytes.clone())), &OpenOptions::default()).unwrap();
    let selection: Vec<_> =
        source.datasets().iter().enumerate().map(|(at, item)| (at, Region::whole(&item.shape))).collect();
    let run = |selection: &[(usize, Region)], options: &TargetOptions| {
        let read = ReadOptions::default();
        let job = WriteRequest { container: &*source, selection, options, read, progress: Progress::none() };
        let mut out = Vec::new();
        import(&job, &mut out).map(|losses| (out, losses))
    };
    let (same, losses) = run(&selection, &TargetOptions::default()).unwrap();
    assert!(same == bytes && losses.is_empty());
    let (zstd, _) = run(&selection, &words(Some(("zstd", Some(3))), &[])).unwrap();
    let reader = crate::VarReader::from_source(Box::new(zstd), &OpenOptions::default()).unwrap();
    assert_eq!(reader.file().chunks()[0].codec(), "zstd");
    assert_eq!(
        (reader.text(0).unwrap(), reader.names().unwrap()),
        ("x".repeat(1000), &["a".to_owned(), "b".into()][..])
    );
    // One of them is an array of bytes.
    let (one, _) = run(&selection[..1], &TargetOptions::default()).unwrap();
    let file = File::from_source(Box::new(one), &OpenOptions::default()).unwrap();
    assert_eq!(values(&file), [b'x'; 1000]);
    assert_eq!(file.numpy().unwrap().dtype.to_string(), "|u1");
    assert!(run(&selection, &words(None, &[("chunks", "3")])).is_err());
}

/// A container of items, made of a file of these bytes.
fn items(declared: &str, items: &[&[u8]]) -> Box<dyn Container> {
    let base = crate::from_json(declared.as_bytes(), &crate::Limits::default()).unwrap().0;
    let options = crate::VarOptions { base: Some(base), ..crate::VarOptions::default() };
    let mut writer = crate::VarWriter::new(std::io::Cursor::new(Vec::new()), None, &options).unwrap();
    items.iter().try_for_each(|item| writer.push(item)).unwrap();
    let bytes = writer.complete().unwrap().0.into_inner();
    (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap()
}

fn import_all(source: &dyn Container, options: &TargetOptions) -> Result<Vec<u8>> {
    let selection: Vec<_> =
        source.datasets().iter().enumerate().map(|(at, item)| (at, Region::whole(&item.shape))).collect();
    let read = ReadOptions::default();
    let job =
        WriteRequest { container: source, selection: &selection, options, read, progress: Progress::none() };
    let mut out = Vec::new();
    import(&job, &mut out).map(|_| out)
}

/// Text is UTF-8, and rows are whole elements, though a file may declare them for other bytes.
#[test]
fn items_that_are_not_of_their_declared_type_are_refused() {
    for (declared, bytes) in [(r#"{"dtype":"varchar"}"#, &b"\xff"[..]), (r#"{"dtype":"vlen:<i4"}"#, b"abcde")]
    {
        let error = import_all(&*items(declared, &[b"abcd", bytes]), &TargetOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{declared}: {error}");
        assert!(error.to_string().contains("item 1"), "{error}");
    }
    // Bytes may be any.
    assert!(import_all(&*items(r#"{"dtype":"blob"}"#, &[b"\xff"]), &TargetOptions::default()).is_ok());
}

#[test]
fn imported_rows_keep_typesize_filter_and_metadata() {
    let declared = r#"{"dtype":"vlen:<i4","shape":[2],"who":"me"}"#;
    let data = 7_u32.to_le_bytes().repeat(500);
    let out = import_all(&*items(declared, &[&data, b""]), &TargetOptions::default()).unwrap();
    let file = File::from_source(Box::new(out), &OpenOptions::default()).unwrap();
    assert_eq!((file.header().typesize, file.chunks()[0].filter()), (4, "shuffle"));
    assert_eq!(crate::to_json(file.metadata().unwrap()).unwrap(), declared);
    // A file without metadata stays one.
    let none = items("null", &[b"a"]);
    let out = import_all(&*none, &TargetOptions::default()).unwrap();
    assert!(File::from_source(Box::new(out), &OpenOptions::default()).unwrap().metadata().is_none());
    // One of several items, and none of a file of none.
    let none = items(r#"{"dtype":"blob"}"#, &[]);
    let out = import_all(&*none, &TargetOptions::default()).unwrap();
    assert_eq!(out[4], 4);
    for word in [("offsets", "none"), ("chunks", "3")] {
        let error = import_all(&*items(declared, &[b""]), &words(None, &[word])).unwrap_err();
        assert!(error.to_string().contains(word.0), "{error}");
    }
}

/// Indices along the slowest axis: the first of row-major arrays, the last of column-major ones.
#[test]
fn chunk_sizes_count_along_the_slowest_axis() {
    let array = |dtype: &str, shape: &[u64], order| NumpyArray {
        dtype: DType::parse(dtype).unwrap(),
        shape: shape.to_vec(),
        order,
    };
    let size = |word: &str, numpy: &NumpyArray| chunk_size(Some(word), numpy);
    assert_eq!(chunk_size(None, &array("<u2", &[4], Order::C)).unwrap(), None);
    assert_eq!(size("3", &array("<u2", &[5, 7], Order::C)).unwrap(), Some(42));
    assert_eq!(size("3", &array("<u2", &[5, 7], Order::F)).unwrap(), Some(30));
    assert_eq!(size("3", &array("<u2", &[], Order::C)).unwrap(), Some(6));
    assert_eq!(size("1", &array("<u2", &[5, 0], Order::C)).unwrap(), Some(1));
    assert_eq!(size("3", &array("|S0", &[5], Order::C)).unwrap(), Some(3));
    let most = MAX_CHUNK_SIZE.to_string();
    assert_eq!(size(&most, &array("|u1", &[5], Order::C)).unwrap(), Some(MAX_CHUNK_SIZE));
    for (word, part) in [("2147483632", "2147483632"), ("0", "\"0\""), ("-1", "\"-1\""), ("x", "\"x\"")] {
        let error = size(word, &array("|u1", &[5], Order::C)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains(part), "{error}");
    }
    assert!(size("9", &array("<u8", &[5, u64::MAX], Order::C)).is_err());
}

/// As numpy does: an array with one axis longer than 1 is both, and counts as row-major.
#[test]
fn arrays_of_one_long_axis_are_row_major() {
    let dataset = |shape: &[u64], order| Dataset {
        path: "data".into(),
        dtype: DType::parse("<f4").unwrap(),
        shape: shape.to_vec(),
        order,
        chunks: None,
        codec: "none".into(),
        stored: 8,
        logical: 8,
        attributes: Vec::new(),
        visibility: container_core::container::Visibility::Always,
    };
    let of = |shape: &[u64], axes| {
        let (numpy, losses) = target(&dataset(shape, Order::F), &Region::whole(shape), axes);
        assert!(losses.is_empty());
        (numpy.shape, numpy.order)
    };
    assert_eq!(of(&[1, 7, 1], Axes::AsStored), (vec![1, 7, 1], Order::C));
    assert_eq!(of(&[1, 1], Axes::AsStored), (vec![1, 1], Order::C));
    assert_eq!(of(&[], Axes::AsStored), (vec![], Order::C));
    assert_eq!(of(&[2, 1, 7], Axes::AsStored), (vec![2, 1, 7], Order::F));
    assert_eq!(of(&[2, 7], Axes::Reversed), (vec![7, 2], Order::C));
}

/// Another format has no use for type, shape and order of the array, and gets the other entries.
#[test]
fn entries_besides_the_description_of_an_array_are_carried() {
    let tree = |json: &str| crate::from_json(json.as_bytes(), &crate::Limits::default()).unwrap().0;
    let json = |value: &container_core::Value| crate::to_json(value).unwrap();
    let all = tree(r#"{"dtype":"x","shape":[1],"order":"C","container":"numpy","who":"me"}"#);
    assert_eq!(json(&same_format::carried(Some(&all), true)), r#"{"who":"me"}"#);
    assert_eq!(json(&same_format::carried(Some(&all), false)), json(&all));
    assert_eq!(json(&same_format::carried(None, true)), "{}");
    assert!(same_format::is_numpy(&all) && !same_format::is_numpy(&tree(r#"{"container":"x"}"#)));
    // The description is that of the new array, and the rest stays.
    let (numpy, _) = matrix(Order::C);
    let described = same_format::described(&all, &numpy).unwrap();
    let expected = r#"{"dtype":"'>u2'","shape":[20,30],"order":"C","container":"numpy","who":"me"}"#;
    assert_eq!(json(&described), expected);
    assert_eq!(same_format::described(&tree("{}"), &numpy), None);
    for plain in [r#"{"a":1}"#, "[1]", "5"] {
        assert_eq!(same_format::described(&tree(plain), &numpy), Some(tree(plain)));
    }
}
