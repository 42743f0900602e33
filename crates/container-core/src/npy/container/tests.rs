use super::*;
use crate::ErrorKind;
use crate::container::toy::Toy;
use crate::format::TargetOptions;

/// A file of two columns of three big-endian elements, with bytes after them.
fn file() -> Vec<u8> {
    let dtype = DType::parse(">u2").unwrap();
    let mut file = Writer::new(Vec::new(), &dtype, &[3, 2], Order::F).unwrap();
    file.write(&[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]).unwrap();
    [file.finish().unwrap(), b"more".to_vec()].concat()
}

fn open(bytes: Vec<u8>, options: &OpenOptions) -> Result<Box<dyn Container>> {
    (FORMAT.open)(Input::bytes(Box::new(bytes)), options)
}

fn values(container: &dyn Container, region: &str) -> Vec<u16> {
    let shape = &container.dataset(0).unwrap().shape;
    let region = Region::parse(region, shape).unwrap();
    container.read(0, &region, &ReadOptions::default()).unwrap().to_vec::<u16>().unwrap()
}

#[test]
fn a_file_is_one_dataset() {
    let npy = open(file(), &OpenOptions::default()).unwrap();
    let want =
        About { format: "npy", version: Some("1.0".into()), size: 144, complete: true, details: vec![] };
    assert_eq!((npy.about(), npy.meta().unwrap()), (want, Value::Map(vec![])));
    let want = Dataset {
        path: "data".into(),
        dtype: DType::parse(">u2").unwrap(),
        shape: vec![3, 2],
        order: Order::F,
        chunks: None,
        codec: "none".into(),
        stored: 12,
        logical: 12,
        attributes: vec![],
        visibility: Visibility::Always,
    };
    assert_eq!(npy.datasets(), [want]);
    assert_eq!((values(&*npy, "..."), values(&*npy, "1:, 1")), (vec![1, 4, 2, 5, 3, 6], vec![5, 6]));
    let error = npy.read(1, &Region::whole(&[3, 2]), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    let reversed = open(file(), &OpenOptions { axes: Axes::Reversed, ..OpenOptions::default() }).unwrap();
    assert_eq!((&reversed.datasets()[0].shape, reversed.datasets()[0].order), (&vec![2, 3], Order::C));
    assert_eq!(values(&*reversed, "..."), [1, 2, 3, 4, 5, 6]);
    let rows = Writer::new(Vec::new(), &DType::parse("|u1").unwrap(), &[0, 2], Order::C).unwrap();
    let reversed =
        open(rows.finish().unwrap(), &OpenOptions { axes: Axes::Reversed, ..OpenOptions::default() });
    assert_eq!(reversed.unwrap().datasets()[0].shape, [0, 2]);
}

#[test]
fn every_byte_of_a_file_has_its_role() {
    let npy = open(file(), &OpenOptions::default()).unwrap();
    let data = Segment {
        codec: Some("none".into()),
        stored: Some(12),
        decoded: Some(12),
        dataset: Some("data".into()),
        ..Segment::plain(128..140, "data")
    };
    let want = [Segment::plain(0..128, "header"), data.clone(), Segment::plain(140..144, "trailer")];
    assert_eq!(npy.byte_map(), want);
    let exact = open(file()[..140].to_vec(), &OpenOptions::default()).unwrap();
    assert_eq!(exact.byte_map(), [Segment::plain(0..128, "header"), data]);
    let blocks = npy.blocks();
    assert_eq!((blocks.len(), blocks[0].range(), blocks[0].decoded_len()), (1, 128..140, 12));
    assert!(blocks[0].codec().is_none());
    let report = npy.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    assert_eq!((report.findings.len(), report.blocks.total, report.blocks.checked), (0, 1, 0));
}

#[test]
fn only_files_with_the_magic_are_npy() {
    let sniff = |head: &[u8]| (FORMAT.sniff)(&Probe { head, directory: None, len: None });
    assert!(sniff(&file()) && sniff(MAGIC) && !sniff(b"\x93NUMP") && !sniff(b"PK"));
    let directory = (FORMAT.open)(Input { source: None, path: None }, &OpenOptions::default());
    assert!(matches!(directory.err().unwrap().kind(), ErrorKind::Usage(_)));
    assert!(open(file()[..139].to_vec(), &OpenOptions::default()).is_err());
}

/// Writes the only dataset and returns the file and the losses.
fn imported(toy: &Toy, region: &str, options: &TargetOptions) -> Result<(Vec<u8>, Vec<String>)> {
    let selection = [(0, Region::parse(region, &toy.datasets[0].shape).unwrap())];
    let request = WriteRequest {
        container: toy,
        selection: &selection,
        options,
        read: ReadOptions::default(),
        progress: Progress::none(),
    };
    let mut out = Vec::new();
    let losses = FORMAT.import.unwrap()(&request, &mut out)?;
    Ok((out, losses.into_iter().map(|loss| loss.what).collect()))
}

#[test]
fn a_part_of_a_dataset_becomes_a_file_of_its_shape_and_order() {
    let toy = Toy::new().with("a", ">u2", &[2, 3], Order::F);
    let (file, losses) = imported(&toy, "1, ::2", &TargetOptions::default()).unwrap();
    let header = Header::read(&file, &Limits::default()).unwrap();
    assert_eq!((header.shape, header.dtype, losses.len()), (vec![2], DType::parse(">u2").unwrap(), 0));
    assert_eq!(file[128..], [2, 3, 10, 11]);
    let (file, _) = imported(&toy, "...", &TargetOptions::default()).unwrap();
    assert!(Header::read(&file, &Limits::default()).unwrap().order == Order::F);
    assert_eq!(file[128..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn losses_of_the_source_are_told_once() {
    let loss = |what: &str| Loss { dataset: None, what: what.to_owned() };
    let losses = vec![loss("a tree"), loss("a name")];
    let toy = Toy { losses, ..Toy::new().with("a", "bfloat16", &[2], Order::C) };
    let (_, told) = imported(&toy, "...", &TargetOptions::default()).unwrap();
    assert_eq!(told, ["bfloat16 is widened to float32", "a tree", "a name"]);
}

#[test]
fn options_that_npy_lacks_are_refused() {
    let toy = Toy::new().with("a", "|u1", &[2], Order::C);
    let refused = |options: TargetOptions| imported(&toy, "...", &options).unwrap_err();
    let reversed = refused(TargetOptions { axes: Axes::Reversed, ..TargetOptions::default() });
    assert!(matches!(reversed.kind(), ErrorKind::Usage(_)) && reversed.hint().is_some());
    let codec = Some(("zlib".to_owned(), None));
    let codec = refused(TargetOptions { codec, ..TargetOptions::default() });
    assert_eq!(codec.to_string(), "npy has no codec \"zlib\" (it has none)");
    let extra = vec![("filter".to_owned(), "shuffle".to_owned())];
    let option = refused(TargetOptions { extra, ..TargetOptions::default() });
    assert_eq!(option.to_string(), "npy has no filter (it has none of these options)");
}

/// The type that is written, its bytes, and the loss.
fn exported(dtype: &DType, bytes: &[u8], bfloat: Bfloat) -> Result<(DType, Vec<u8>, Option<String>)> {
    let mut toy = Toy::new().with("a", "|u1", &[1], Order::C);
    let count = (bytes.len() / dtype.itemsize()) as u64;
    (toy.last().dtype, toy.last().shape) = (dtype.clone(), vec![count]);
    toy.elements[0] = bytes.to_vec();
    let region = Region::whole(&[count]);
    let (read, mut out) = (ReadOptions::default(), Vec::new());
    let losses = export(&toy, 0, &region, bfloat, &read, Progress::none(), &mut out)?;
    assert!(losses.iter().all(|loss| loss.dataset.as_deref() == Some("a")) && losses.len() < 2);
    let header = Header::read(&out, &Limits::default())?;
    let at = usize::try_from(header.data_at).unwrap();
    Ok((header.dtype, out[at..].to_vec(), losses.into_iter().next().map(|loss| loss.what)))
}

#[test]
fn types_that_numpy_lacks_are_written_in_the_nearest_one() {
    let of = |text: &str| DType::parse(text).unwrap();
    let widened = |order| {
        exported(&DType::new(Kind::BFloat, 2, order), &[0xc0, 0x3f, 0x3f, 0xc0], Bfloat::Widened).unwrap()
    };
    let told = Some("bfloat16 is widened to float32".to_owned());
    assert_eq!(
        widened(ByteOrder::Little),
        (of("<f4"), vec![0, 0, 0xc0, 0x3f, 0, 0, 0x3f, 0xc0], told.clone())
    );
    assert_eq!(widened(ByteOrder::Big), (of("<f4"), vec![0, 0, 0x3f, 0xc0, 0, 0, 0xc0, 0x3f], told));
    let bits = exported(&DType::new(Kind::BFloat, 2, ByteOrder::Big), &[1, 2], Bfloat::Bits).unwrap();
    assert_eq!(bits, (of(">u2"), vec![1, 2], Some("bfloat16 is written as its bits".into())));
    let wide: Vec<u8> = (0..16).collect();
    let told = Some("numpy has no type for the elements: written as |V16".to_owned());
    let little = exported(&DType::new(Kind::Int, 16, ByteOrder::Little), &wide, Bfloat::Widened).unwrap();
    assert_eq!(little, (DType::void(16), wide.clone(), told.clone()));
    let big = exported(&DType::new(Kind::Int, 16, ByteOrder::Big), &wide, Bfloat::Widened).unwrap();
    assert_eq!(big, (DType::void(16), wide.iter().rev().copied().collect(), told));
    let plain = exported(&of(">i8"), &wide, Bfloat::Widened).unwrap();
    assert_eq!(plain, (of(">i8"), wide, None));
}

#[test]
fn records_with_bfloat16_are_written_as_bits_or_not_at_all() {
    let records = DType::parse("[('a', '|u1'), ('b', 'bfloat16', (2,))]").unwrap();
    let bytes = [9, 1, 2, 3, 4];
    let error = exported(&records, &bytes, Bfloat::Widened).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
    assert_eq!(error.hint(), Some("--as-stored writes its bits as <u2"));
    let (dtype, written, loss) = exported(&records, &bytes, Bfloat::Bits).unwrap();
    assert_eq!(dtype, DType::parse("[('a', '|u1'), ('b', '<u2', (2,))]").unwrap());
    assert_eq!((written, loss.as_deref()), (bytes.to_vec(), Some("bfloat16 is written as its bits")));
}

/// The header is not written before the elements can be read.
#[test]
fn nothing_is_written_of_what_cannot_be_read() {
    let toy = Toy { absent: Some(0), ..Toy::new().with("a", "|u1", &[4], Order::C) };
    let (region, mut out) = (Region::whole(&[4]), Vec::new());
    let result =
        export(&toy, 0, &region, Bfloat::Widened, &ReadOptions::default(), Progress::none(), &mut out);
    assert!(result.is_err() && out.is_empty());
}

#[test]
fn the_format_tells_what_it_can() {
    let support = [("1.0, 2.0, 3.0", Level::Yes, Level::Yes, Level::No, Level::No)];
    let told = FORMAT.support.iter().map(|one| (one.version, one.read, one.write, one.verify, one.repair));
    assert_eq!(told.collect::<Vec<_>>(), support);
    assert_eq!((FORMAT.name, FORMAT.title, FORMAT.extensions), ("npy", "npy", &["npy"][..]));
    assert!(FORMAT.opens_by_head && FORMAT.comparable_metadata.is_none() && FORMAT.order.is_none());
    assert_eq!((FORMAT.magics, FORMAT.codecs), (&[&MAGIC[..]][..], &[CodecSpec::NONE][..]));
}
