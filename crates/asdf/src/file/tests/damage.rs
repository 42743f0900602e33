//! Files that break the rules, opened with each strictness.

use super::*;

const TREE: &str = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint16, byteorder: big, shape: [4]}";

fn patched(block: &[u8], at: usize, value: u64) -> Vec<u8> {
    let mut block = block.to_vec();
    block[at..at + 8].copy_from_slice(&value.to_be_bytes());
    block
}

#[test]
fn elements_outside_of_their_block_are_refused() {
    for geometry in [
        "shape: [5]",
        "shape: [4], offset: 1",
        "shape: [4], offset: 18446744073709551615",
        "shape: [2], strides: [-2]",
        "shape: [2], offset: 2, strides: [-4]",
        "shape: [2, 3], strides: [2, 4]",
        "shape: [9223372036854775807, 9223372036854775807]",
        "shape: [9223372036854775807], strides: [9223372036854775807]",
        "shape: [2, 9223372036854775807], strides: [-9223372036854775808, -9223372036854775808]",
    ] {
        let tree =
            format!("a: !core/ndarray-1.1.0 {{source: 0, datatype: uint16, byteorder: big, {geometry}}}");
        let file = open(&tree, &[plain(&[0; 8])]);
        let error = all(&file, "a").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{geometry}: {error}");
        assert_eq!(file.array_faults().len(), 1, "{geometry}");
        assert!(open_as(Strictness::Strict, &bytes(&tree, &[plain(&[0; 8])])).is_err());
    }
    // Elements on one another are any number of them, and so is the memory that they would take.
    let tree = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [9000000000000000000], strides: [0]}";
    assert!(matches!(all(&open(tree, &[plain(&[0])]), "a").unwrap_err().kind(), ErrorKind::Limit { .. }));
    for (source, kind) in [("1", "source 1"), ("-2", "source -2"), ("99999999999999999999", "out of range")] {
        let tree = TREE.replace("source: 0", &format!("source: {source}"));
        let file = File::from_bytes(bytes(&tree, &[plain(&[0; 8])]), OpenOptions::default()).unwrap();
        let error = file.array("a").map(|_| ()).and_then(|()| all(&file, "a").map(|_| ())).unwrap_err();
        assert!(error.to_string().contains(kind), "{error}");
    }
}

#[test]
fn incomplete_or_invalid_array_descriptions_are_refused() {
    for array in [
        "{source: 0, datatype: uint16, shape: [4]}",
        "{source: 0, byteorder: big, shape: [4]}",
        "{source: 0, datatype: uint16, byteorder: big}",
        "{source: 0, datatype: uint16, byteorder: middle, shape: [4]}",
        "{source: 0, datatype: uint16, byteorder: big, shape: [-4]}",
        "{source: 0, datatype: uint16, byteorder: big, shape: [4, '*']}",
        "{source: 0, datatype: uint16, byteorder: big, shape: [true]}",
        "{source: 0, datatype: uint16, byteorder: big, shape: 4}",
        "{source: 0, datatype: uint16, byteorder: big, shape: [4], offset: -1}",
        "{source: 0, datatype: uint16, byteorder: big, shape: [4], strides: [2, 2]}",
        "{source: 1.5, datatype: uint16, byteorder: big, shape: [4]}",
        "{source: 0, datatype: [], byteorder: big, shape: [4]}",
        "{source: 0, datatype: {name: x}, byteorder: big, shape: [4]}",
        "{source: 0, datatype: [{name: a, datatype: int8}, {name: a, datatype: int8}], byteorder: big, shape: [4]}",
        "{source: 0, datatype: [ascii, 9223372036854775807], byteorder: big, shape: [4], data: []}",
    ] {
        let file = open(&format!("a: !core/ndarray-1.1.0 {array}"), &[plain(&[0; 8])]);
        let error = file.array("a").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{array}: {error}");
    }
    // A single byte has no byte order.
    let file =
        open("a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, shape: [4]}", &[plain(&[1, 2, 3, 4])]);
    assert_eq!(all(&file, "a").unwrap(), [1, 2, 3, 4]);
}

#[test]
fn of_a_block_that_is_cut_whole_rows_are_left() {
    let whole = bytes(TREE, &[plain(&[1, 2, 3, 4, 5, 6, 7, 8])]);
    let cut = &whole[..whole.len() - 3];
    assert!(open_as(Strictness::Strict, cut).is_err());
    let file = open_as(Strictness::Compatible, cut).unwrap();
    assert!(matches!(all(&file, "a").unwrap_err().kind(), ErrorKind::Truncated { .. }));
    // The wanted elements are there.
    let head = Region::parse("0:2", &[4]).unwrap();
    let read = file.read("a", &head, &ReadOptions::default()).unwrap();
    assert_eq!(&*read.bytes(Order::C, &Limits::default()).unwrap(), [1, 2, 3, 4]);
    let file = open_as(Strictness::Lenient, cut).unwrap();
    assert_eq!(file.geometry(0).unwrap().shape, [2]);
    assert_eq!(all(&file, "a").unwrap(), [1, 2, 3, 4]);
}

#[test]
fn a_plain_block_with_two_sizes_has_its_used_bytes() {
    let block = plain(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let odd = bytes(TREE, &[patched(&block, 30, 9)]);
    assert!(open_as(Strictness::Strict, &odd).is_err());
    let file = open_as(Strictness::Compatible, &odd).unwrap();
    assert!(all(&file, "a").unwrap_err().is_damage());
    assert_eq!(all(&open_as(Strictness::Lenient, &odd).unwrap(), "a").unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn numbers_of_blocks_behind_a_lost_one_are_not_guessed() {
    let blocks = [plain(&[0; 8]), plain(&[1; 8]), plain(&[2; 8])];
    let tree = concat!(
        "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [8]}\n",
        "b: !core/ndarray-1.1.0 {source: 1, datatype: uint8, byteorder: big, shape: [8]}\n",
        "c: !core/ndarray-1.1.0 {source: -1, datatype: uint8, byteorder: big, shape: [8]}",
    );
    let mut broken = bytes(tree, &blocks);
    let second = broken.len() - 2 * 62;
    broken[second] = 0;
    let file = open_as(Strictness::Compatible, &broken).unwrap();
    assert_eq!(file.blocks().len(), 2);
    assert_eq!(all(&file, "a").unwrap(), [0; 8]);
    for path in ["b", "c"] {
        assert!(
            all(&file, path).unwrap_err().to_string().contains("the block cannot be identified"),
            "{path}"
        );
    }
    let file = open_as(Strictness::Lenient, &broken).unwrap();
    assert_eq!(all(&file, "c").unwrap(), [2; 8]);
    // A header without a size was that of a block, so that all blocks after it have other numbers in every reader.
    let mut broken = bytes(tree, &blocks);
    broken[second + 4..second + 6].fill(0);
    for strictness in [Strictness::Compatible, Strictness::Lenient] {
        let file = open_as(strictness, &broken).unwrap();
        assert_eq!(file.blocks().len(), 2);
        assert_eq!(all(&file, "a").unwrap(), [0; 8]);
        for path in ["b", "c"] {
            assert!(
                all(&file, path).unwrap_err().to_string().contains("the block cannot be identified"),
                "{strictness:?} {path}"
            );
        }
    }
}

#[test]
fn a_tree_that_cannot_be_read_leaves_the_blocks() {
    let broken = bytes("a: [", &[plain(&[1, 2])]);
    for strictness in [Strictness::Strict, Strictness::Compatible] {
        assert!(open_as(strictness, &broken).unwrap_err().is_damage());
    }
    let file = open_as(Strictness::Lenient, &broken).unwrap();
    assert!(file.faults().any(|fault| fault.kind() == FaultKind::TreeUnreadable));
    assert_eq!(&*file.read_block(0, &ReadOptions::default()).unwrap(), [1, 2]);
    assert!(file.arrays().is_empty());
}

#[test]
fn last_duplicate_key_wins_unless_strict() {
    let twice = bytes("a: 1\nb: {x: 1, x: 2}", &[]);
    let file = open_as(Strictness::Compatible, &twice).unwrap();
    assert_eq!(file.tree().find("b/x").unwrap().text(), "2");
    let error = open_as(Strictness::Strict, &twice).unwrap_err();
    let at = twice.windows(4).position(|bytes| bytes == b"x: 2").unwrap() as u64;
    assert_eq!(error.range(), Some(at..at + 1));
    let options = OpenOptions { duplicate_keys: DuplicateKeys::Refuse, ..OpenOptions::default() };
    assert!(File::from_bytes(twice, options).is_err());
}

#[test]
fn records_with_gaps_that_are_not_described_are_noticed() {
    let tree =
        "a: !core/ndarray-1.1.0 {source: 0, byteorder: little, datatype: [uint8, float64], shape: [2]}";
    let codes = |len: usize| {
        let file = open(tree, &[plain(&vec![0; len])]);
        file.array_faults().iter().map(Fault::code).collect::<Vec<_>>()
    };
    // Python asdf 6.0 writes an aligned record of numpy's, 16 bytes of it, so.
    assert_eq!(codes(32), ["padded_records"]);
    assert_eq!(codes(18), [""; 0]);
    assert_eq!(codes(31), [""; 0]);
}

/// A block of whole records may have more of them than the array shows; only a gap of the size that alignment makes is reported. The sizes are those
/// of `numpy.dtype(..., align=True).itemsize`.
#[test]
fn only_alignment_sized_gaps_are_reported_as_padded_records() {
    let codes = |datatype: &str, count: usize, len: usize| {
        let tree = format!(
            "a: !core/ndarray-1.0.0 {{source: 0, datatype: [{datatype}], byteorder: little, shape: [{count}]}}"
        );
        let faults = open(&tree, &[plain(&vec![0; len])]).array_faults();
        faults.iter().map(|fault| fault.code().to_owned()).collect::<Vec<String>>()
    };
    let (nine, six) = ("uint8, float64", "uint8, float32, uint8");
    for (datatype, count, len, is_told) in [
        (nine, 3, 27, false),
        (nine, 3, 48, true),
        (nine, 9, 144, true),
        (nine, 3, 36, false),
        (nine, 3, 54, false),
        (nine, 3, 270, false),
        (six, 4, 48, true),
        (six, 4, 72, false),
        ("uint8, [ucs4, 2], complex64", 2, 40, true),
        ("uint8, [ascii, 3], uint16", 3, 18, false),
        // Other gaps, as of a view of some fields.
        (nine, 3, 60, true),
    ] {
        let expected: &[&str] = if is_told { &["padded_records"] } else { &[] };
        assert_eq!(codes(datatype, count, len), expected, "{datatype} {count} {len}");
    }
}

/// Many arrays of records in blocks of their own, and in one: the time is that of reading them.
#[test]
fn many_arrays_of_records_are_looked_at_once() {
    let node = |block: usize| {
        format!(
            "- !core/ndarray-1.0.0 {{source: {block}, datatype: [uint8, float64], byteorder: little, shape: [1]}}\n"
        )
    };
    let tree: String = (0..20_000).map(|_| node(0)).collect();
    let file = open(&format!("a:\n{tree}"), &[plain(&[0; 16])]);
    assert_eq!(file.array_faults().len(), 20_000);
}

/// The order of a record's numbers may be that of each field.
#[test]
fn an_array_needs_a_byte_order_unless_its_fields_have_their_own() {
    let read = |datatype: &str| {
        let tree = format!("a: !core/ndarray-1.1.0 {{source: 0, datatype: {datatype}, shape: [2]}}");
        let file = open(&tree, &[plain(&[0, 1, 2, 0, 3, 4])]);
        file.array("a")?;
        file.geometry(0).map(|geometry| geometry.dtype.clone())
    };
    let own = "[{name: a, datatype: int16, byteorder: big}, {name: b, datatype: int8, byteorder: little}]";
    let dtype = |numpy: &str| container_core::dtype::DType::parse(numpy).unwrap();
    assert_eq!(read(own).unwrap(), dtype("[('a', '>i2'), ('b', '|i1')]"));
    // Bytes and texts of bytes have none.
    let bytes = read("[{name: a, datatype: int8}, [ascii, 2]]").unwrap();
    assert_eq!(bytes, dtype("[('a', '|i1'), ('f1', '|S2')]"));
    for without in [
        "int16",
        "[ucs4, 1]",
        "[{name: a, datatype: int16}]",
        "[{name: a, datatype: int16, byteorder: big}, {name: b, datatype: int16}]",
        "[{name: a, datatype: int16, byteorder: big}, int16]",
    ] {
        let error = read(without).unwrap_err();
        assert!(error.to_string().contains("needs a byteorder"), "{without}: {error}");
    }
}
