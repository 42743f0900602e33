//! Files that were changed at random: no field makes a read panic, hang or take more memory than is allowed.

use super::*;

const TREE: &str = concat!(
    "asdf_library: !core/software-1.0.0 {name: x, version: 1.0}\n",
    "a: &a !core/ndarray-1.0.0 {source: 0, datatype: uint16, byteorder: little, shape: [3, 4], strides: [8, 2], offset: 0}\n",
    "b: !core/ndarray-1.1.0 {source: 1, datatype: [{name: x, datatype: [ascii, 3]}, int8], byteorder: big, shape: [6]}\n",
    "c: !core/ndarray-1.1.0 {data: [[1, null], [2, 3]], datatype: float32, shape: [2, 2], mask: 2}\n",
    "d: !core/ndarray-1.1.0 {source: -1, datatype: int8, byteorder: big, shape: ['*', 2], mask: *a}\n",
    "e: [*a, {$ref: '#/c'}, !core/integer-1.0.0 {sign: +, words: !core/ndarray-1.0.0 [1, 2]}, !core/complex-1.0.0 1+2j]\n",
    "f: !time/time-1.1.0 {value: 5, format: mjd}"
);

fn example() -> Vec<u8> {
    let block: Vec<u8> = (0..24).collect();
    bytes(TREE, &[plain(&block), encoded("zlib", &block), encoded("lz4", &block), streamed(&[1, 2, 3])])
}

fn use_all_of(file: &File) {
    let limits = Limits::default().with_memory(1 << 20);
    let options = ReadOptions::default().with_limits(limits);
    for (index, entry) in file.arrays().iter().enumerate() {
        let Ok(whole) = file.whole(index) else { continue };
        if let Ok(array) = file.read_index(index, &whole, &options) {
            let _ = array.bytes(Order::C, &limits);
        }
        let _ = file.mask(&entry.path, &whole, &options);
        let _ = file.value(&entry.path);
    }
    for index in 0..file.blocks().len() {
        let _ = file.read_block(index, &options);
    }
    for at in 0..4 {
        let _ = file.value(&format!("e/{at}"));
    }
    let _ = (file.value("f"), file.history(), file.library(), file.array_faults());
    for reference in file.find_references().unwrap_or_default() {
        let _ = file.find_reference(&reference.uri);
    }
}

fn try_all(file: &[u8]) {
    for strictness in [Strictness::Strict, Strictness::Compatible, Strictness::Lenient] {
        let limits = Limits::default().with_memory(1 << 20);
        let options = OpenOptions::default().with_strictness(strictness).with_limits(limits);
        if let Ok(file) = File::from_bytes(file.to_vec(), options) {
            use_all_of(&file);
        }
    }
}

#[test]
fn the_example_is_whole() {
    let file = open_as(Strictness::Compatible, &example()).unwrap();
    assert_eq!(file.arrays().len(), 7);
    for index in [0, 1, 2, 3] {
        file.read_index(index, &file.whole(index).unwrap(), &ReadOptions::default()).unwrap();
    }
}

#[test]
fn every_cut_is_survived() {
    let whole = example();
    for len in (0..whole.len()).step_by(3) {
        try_all(&whole[..len]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn changed_bytes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut file = example();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        try_all(&file);
    }

    #[test]
    fn changed_numbers_are_survived(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(vec![
            "0", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "99999999999999999999999", "*a", "'*'",
            "[1]", "{}", "null", "4294967296", "1.5", "[ascii, 4294967296]",
        ])), 1..4),
    ) {
        let mut tree = TREE.to_owned();
        for (at, with) in changes {
            let digits: Vec<usize> = tree.match_indices(|mark: char| mark.is_ascii_digit()).map(|(at, _)| at).collect();
            let at = digits[at.index(digits.len())];
            tree.replace_range(at..=at, with);
        }
        let block: Vec<u8> = (0..24).collect();
        try_all(&bytes(&tree, &[plain(&block), encoded("lz4", &block), streamed(&[1, 2, 3])]));
    }
}
