use super::*;
use crate::testing::Memory;
use container_core::container::ReadOptions;
use container_core::dtype::DType;
use container_core::format::TargetOptions;
use container_core::region::Region;
use container_core::{ErrorKind, Limits, Value};

fn fits(memory: &Memory, words: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<Loss>)> {
    let mut options = TargetOptions::default();
    options.extra = words.iter().map(|(word, value)| ((*word).into(), (*value).into())).collect();
    let selection = memory.all();
    let read = ReadOptions::default();
    let job = WriteRequest {
        container: memory,
        selection: &selection,
        options: &options,
        read,
        progress: Progress::none(),
    };
    let mut out = Vec::new();
    let losses = import(&job, &mut out)?;
    Ok((out, losses))
}

/// The cards of the header at `at`, without trailing blanks, up to the end.
fn cards(bytes: &[u8], at: usize) -> Vec<String> {
    let cards = bytes[at..].chunks(80).map(|card| std::str::from_utf8(card).unwrap().trim_end().to_owned());
    cards.take_while(|card| card != "END").collect()
}

#[test]
fn an_image_has_its_axes_reversed_and_big_endian_numbers() {
    let meta = Value::Map(vec![
        ("gain".into(), Value::Float(1.5)),
        ("naxis1".into(), Value::Int(9)),
        (
            "deep".into(),
            Value::Map(vec![("on".into(), Value::Bool(true)), ("list".into(), Value::List(vec![]))]),
        ),
        ("bad".into(), Value::Float(f64::NAN)),
    ]);
    let mut memory = Memory::new().with("data", "<u2", &[2, 3], &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 255, 255]);
    memory.meta = meta;
    let memory = memory.attribute("data", "unit", "DN");
    let (bytes, losses) = fits(&memory, &[]).unwrap();
    assert_eq!(bytes.len(), 2 * 2880);
    let cards = cards(&bytes, 0);
    let expected = [
        "SIMPLE  =                    T",
        "BITPIX  =                   16",
        "NAXIS   =                    2",
        "NAXIS1  =                    3",
        "NAXIS2  =                    2",
        "BSCALE  =                    1",
        "BZERO   =                32768",
        "GAIN    =                  1.5",
        "HIERARCH HOLDALL NAXIS1 = 9",
        "HIERARCH DEEP ON = T",
        "BUNIT   = 'DN      '",
    ];
    assert_eq!(cards[..expected.len()], expected);
    assert_eq!(cards.len(), expected.len() + 2);
    // Less 32768: the sign bit is the other one.
    assert_eq!(bytes[2880..2892], [0x80, 0, 0x80, 1, 0x80, 2, 0x80, 3, 0x80, 4, 0x7f, 0xff]);
    assert!(bytes[2892..].iter().all(|byte| *byte == 0));
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].what, "metadata that do not fit a card: deep/list, bad");
}

/// numpy: `np.array([1, -2.5, np.inf, 6e-8], '<f2').astype('>f4').tobytes()`; every float16 and every bfloat16 is a float32.
#[test]
fn floats_of_two_bytes_become_singles() {
    let halves = Memory::new().with("data", "<f2", &[4], &[0, 0x3c, 0, 0xc1, 0, 0x7c, 1, 0]);
    let (bytes, losses) = fits(&halves, &[]).unwrap();
    assert_eq!(
        cards(&bytes, 0)[1..4],
        [
            "BITPIX  =                  -32",
            "NAXIS   =                    1",
            "NAXIS1  =                    4"
        ]
    );
    assert_eq!(bytes[2880..2896], [0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0, 0x7f, 0x80, 0, 0, 0x33, 0x80, 0, 0]);
    assert_eq!((bytes.len(), losses.len()), (2 * 2880, 0));
    let bfloat = DType::new(Kind::BFloat, 2, container_core::dtype::ByteOrder::Big);
    let (bytes, _) =
        fits(&Memory::new().with_type("data", bfloat, &[1], Order::C, &[0x3f, 0x80]), &[]).unwrap();
    assert_eq!(bytes[2880..2884], [0x3f, 0x80, 0, 0]);
}

#[test]
fn datasets_that_images_lack_are_losses_where_others_are_left() {
    let memory = Memory::new().with("n", "|u1", &[1], &[1]).with("t", "<U1", &[1], &[97, 0, 0, 0]).with(
        "b",
        "|b1",
        &[1],
        &[1],
    );
    let options = TargetOptions::default();
    let able = |selection: &[(usize, Region)]| {
        let (read, progress) = (ReadOptions::default(), Progress::none());
        able(&WriteRequest { container: &memory, selection, options: &options, read, progress }).unwrap()
    };
    let (kept, losses) = able(&memory.all());
    assert_eq!(kept, memory.all()[..1]);
    let told: Vec<&str> = losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(
        told,
        [
            "the dataset: FITS images have no elements of <U1",
            "the dataset: FITS images have no elements of |b1 (--as-bytes writes 0 and 1)"
        ]
    );
    assert_eq!(able(&memory.all()[1..]), (memory.all()[1..].to_vec(), vec![]));
}

#[test]
fn column_major_data_are_transposed_and_several_images_are_extensions() {
    let u1 = DType::parse("|u1").unwrap();
    let memory = Memory::new().with_type("a/b", u1, &[2, 3], Order::F, &[0, 3, 1, 4, 2, 5]).with(
        &"x".repeat(80),
        "|i1",
        &[],
        &[0xff],
    );
    let (bytes, losses) = fits(&memory, &[]).unwrap();
    assert_eq!(bytes.len(), 5 * 2880);
    assert_eq!(
        cards(&bytes, 0)[1..4],
        [
            "BITPIX  =                    8",
            "NAXIS   =                    0",
            "EXTEND  =                    T"
        ]
    );
    let second = cards(&bytes, 2880);
    assert_eq!(second[0], "XTENSION= 'IMAGE   '");
    assert_eq!(
        second[5..8],
        ["PCOUNT  =                    0", "GCOUNT  =                    1", "EXTNAME = 'a/b     '"]
    );
    assert_eq!(bytes[5760..5766], [0, 1, 2, 3, 4, 5]);
    // -1 plus 128.
    assert_eq!(bytes[4 * 2880], 127);
    let what: Vec<&str> = losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(
        what,
        ["the shape without axes: FITS has one of length 1", "its name, which does not fit a card"]
    );
}

#[test]
fn types_that_images_lack_are_refused_with_what_to_do() {
    for dtype in ["<c8", "|S3", "|b1", "<M8[s]", "<f16", "[['a', '<f4']]"] {
        let dtype = DType::parse(dtype).unwrap();
        let bytes = vec![1; dtype.itemsize()];
        let memory = Memory::new().with_type("data", dtype.clone(), &[1], Order::C, &bytes);
        let error = fits(&memory, &[]).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Unsupported(_))
                && error.to_string().contains(&dtype.to_string())
        );
        assert!(error.hint().unwrap().contains(".asdf"), "{dtype}");
    }
    let memory = Memory::new().with("data", "|b1", &[2], &[1, 0]);
    let (bytes, losses) = fits(&memory, &[("as-bytes", "")]).unwrap();
    assert_eq!((&bytes[2880..2882], losses.len()), (&[1, 0][..], 1));
    assert!(fits(&memory, &[("chunks", "1")]).is_err());
}

#[test]
fn written_images_read_back_with_their_types() {
    let memory = Memory::new()
        .with("a", "<u2", &[2, 3], &[0, 0, 1, 0, 255, 127, 0, 128, 1, 128, 255, 255])
        .with("b", "|i1", &[], &[255])
        .with("c", "<f4", &[0, 2], &[]);
    let (bytes, _) = fits(&memory, &[]).unwrap();
    let made_from = [("a".to_owned(), 2), ("b".to_owned(), 0), ("c".to_owned(), 2)];
    let open = |bytes: &[u8], count: usize| Written::open(Box::new(bytes.to_vec()), &made_from[..count]);
    let written = open(&bytes, 3).unwrap();
    let values = |index: usize| {
        let region = Region::whole(&written.datasets()[index].shape);
        let array = written.read(index, &region, &ReadOptions::default()).unwrap();
        let bytes = array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
        (array.dtype().to_string(), array.shape().to_vec(), bytes)
    };
    assert_eq!(values(0), (">u2".into(), vec![2, 3], vec![0, 0, 0, 1, 127, 255, 128, 0, 128, 1, 255, 255]));
    assert_eq!(values(1), ("|i1".into(), vec![], vec![255]));
    assert_eq!(values(2), (">f4".into(), vec![0, 2], vec![]));
    // Other images than there are datasets, a file that is cut, and a header that never ends.
    assert!(open(&bytes, 2).is_err());
    for len in [0, 100, 2880, 5760, bytes.len() - 2880, bytes.len() - 1] {
        assert!(open(&bytes[..len], 3).is_err(), "{len}");
    }
    assert!(open(&[b' '; 5760], 3).is_err());
}
