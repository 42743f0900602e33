use std::borrow::Cow;

use container_core::array::Array;
use container_core::container::{Digests, ReadOptions};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::source::{Access, Source};
use container_core::{ErrorKind, Limits};
use proptest::prelude::*;

use super::*;
use crate::blocks::header::BlockHeader;
use crate::{FaultKind, compression};

mod chunks;
mod cutouts;
mod damage;
mod hostile;
mod inline;
mod listed;
mod masks;
mod single_pass;

/// A source that cannot lend bytes, as a file that is read by position.
struct Copied(Vec<u8>);

impl Source for Copied {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

fn header(label: &[u8; 4], used: &[u8], data_size: usize) -> BlockHeader {
    BlockHeader {
        header_size: 48,
        flags: 0,
        compression: *label,
        allocated_size: used.len() as u64,
        used_size: used.len() as u64,
        data_size: data_size as u64,
        checksum: BlockHeader::ALGORITHM.digest(used).as_bytes().try_into().unwrap(),
    }
}

fn plain(data: &[u8]) -> Vec<u8> {
    [&header(&[0; 4], data, data.len()).to_bytes()[..], data].concat()
}

fn encoded(label: &str, data: &[u8]) -> Vec<u8> {
    let mut used = Vec::new();
    compression::codecs().get(label).unwrap().encode(data, None, &mut used).unwrap();
    let mut padded = [0; 4];
    padded[..label.len()].copy_from_slice(label.as_bytes());
    [&header(&padded, &used, data.len()).to_bytes()[..], &used].concat()
}

fn streamed(data: &[u8]) -> Vec<u8> {
    let header = BlockHeader {
        flags: 1,
        allocated_size: 0,
        used_size: 0,
        data_size: 0,
        checksum: [0; 16],
        ..header(&[0; 4], &[], 0)
    };
    [&header.to_bytes()[..], data].concat()
}

fn bytes(tree: &str, blocks: &[Vec<u8>]) -> Vec<u8> {
    let text = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{tree}\n...\n"
    );
    [text.into_bytes(), blocks.concat()].concat()
}

fn open(tree: &str, blocks: &[Vec<u8>]) -> File {
    File::from_bytes(bytes(tree, blocks), OpenOptions::default()).unwrap()
}

fn open_as(strictness: Strictness, bytes: &[u8]) -> Result<File> {
    File::from_bytes(bytes.to_vec(), OpenOptions::default().with_strictness(strictness))
}

fn all(file: &File, path: &str) -> Result<Vec<u8>> {
    let index = file.find_array(path).unwrap();
    let array = file.read_index(index, &file.whole(index)?, &ReadOptions::default())?;
    Ok(array.bytes(Order::C, &Limits::default())?.into_owned())
}

fn lent(array: &Array<'_>, order: Order) -> bool {
    matches!(array.bytes(order, &Limits::default().with_memory(0)), Ok(Cow::Borrowed(_)))
}

#[test]
fn arrays_are_listed_wherever_they_are() {
    let file = open(
        concat!(
            "a: &one !core/ndarray-1.0.0 [1]\n",
            "b: {c/d: [0, *one, !core/ndarray-1.2.0 [2]], '~': !core/ndarray-1.1.0 {data: [1], mask: !core/ndarray-1.1.0 [true]}}\n",
            "u: !<asdf://x/y-1.0.0> {in: !core/ndarray-1.1.0 [3]}\n",
            "m: {<<: {n: !core/ndarray-1.1.0 [4]}, 5: !core/ndarray-1.1.0 [5]}\n",
            "loop: &loop {self: *loop, x: !core/ndarray-1.1.0 [6]}\n",
            "broken: !core/ndarray-1.1.0 {source: 0}\n",
            "near: !core/ndarrays-1.1.0 [7]"
        ),
        &[],
    );
    let paths: Vec<&str> = file.arrays().iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["a", "b/c~1d/1", "b/c~1d/2", "b/~0", "b/~0/mask", "u/in", "m/5", "m/n", "loop/x"]);
    for (index, path) in paths.iter().enumerate() {
        assert_eq!(file.find_array(path), Some(index));
        assert_eq!(file.tree().find(path).unwrap().target().id(), file.arrays()[index].array.node);
    }
    assert_eq!(file.arrays()[1].array, file.arrays()[0].array);
    let faults: Vec<_> = file.faults().filter(|fault| fault.kind() == FaultKind::Array).collect();
    assert!(faults.len() == 1 && faults[0].message().starts_with("broken cannot be read"), "{faults:?}");
    assert!(matches!(file.array("broken").unwrap_err().kind(), ErrorKind::Malformed(_)));
    for nothing in ["near", "nix", "b"] {
        assert!(matches!(file.array(nothing).unwrap_err().kind(), ErrorKind::Usage(_)), "{nothing}");
    }
    let root = b"#ASDF 1.0.0\n%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/ndarray-1.1.0> [1, 2]\n...\n";
    let file = open_as(Strictness::Compatible, root).unwrap();
    assert_eq!(all(&file, ".").unwrap(), [1_i64, 2].map(i64::to_le_bytes).concat());
}

#[test]
fn aliases_without_number_end_somewhere() {
    let mut tree = "l0: &l0 [!core/ndarray-1.1.0 [1]]\n".to_owned();
    for level in 1..40 {
        let below = format!("*l{}", level - 1);
        tree.push_str(&format!("l{level}: &l{level} [{}]\n", [below.as_str(); 8].join(", ")));
    }
    let file = open(tree.trim_end(), &[]);
    assert_eq!(file.arrays().len(), 1);
    assert_eq!(file.arrays()[0].path, "l0/0");
}

#[test]
fn plain_arrays_are_lent_whatever_their_strides() {
    let block: Vec<u8> = (0..24).collect();
    let tree = concat!(
        "c: !core/ndarray-1.0.0 {source: 0, datatype: uint16, byteorder: little, shape: [3, 4]}\n",
        "f: !core/ndarray-1.0.0 {source: 0, datatype: uint16, byteorder: big, shape: [3, 4], strides: [2, 6]}\n",
        "neg: !core/ndarray-1.0.0 {source: -1, datatype: uint8, byteorder: big, shape: [4], offset: 23, strides: [-5]}\n",
        "same: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: big, shape: [2, 3], offset: 5, strides: [0, 1]}\n",
        "own: !core/ndarray-1.0.0 {source: '#', datatype: uint8, byteorder: big, shape: [2], offset: 2}\n",
        "none: !core/ndarray-1.0.0 {source: 0, datatype: float64, byteorder: big, shape: [0, 1000000000000, 10000000000], offset: 99}"
    );
    let file = open(tree, &[plain(&block)]);
    let transposed: Vec<u8> = (0..3_u8)
        .flat_map(|row| (0..4).flat_map(move |at| [row * 2 + at * 6, row * 2 + at * 6 + 1]))
        .collect();
    for (path, want, order) in [
        ("c", block.clone(), Some(Order::C)),
        ("f", transposed, Some(Order::F)),
        ("neg", vec![23, 18, 13, 8], None),
        ("same", vec![5, 6, 7, 5, 6, 7], None),
        ("own", vec![2, 3], Some(Order::C)),
        ("none", vec![], Some(Order::C)),
    ] {
        assert_eq!(all(&file, path).unwrap(), want, "{path}");
        let index = file.find_array(path).unwrap();
        assert_eq!(file.geometry(index).unwrap().order(), order, "{path}");
        if let Some(order) = order {
            let whole = file.whole(index).unwrap();
            assert!(lent(&file.read_index(index, &whole, &ReadOptions::default()).unwrap(), order), "{path}");
        }
    }
    assert_eq!(&*file.read_block(0, &ReadOptions::default()).unwrap(), &block);
    assert!(matches!(file.read_block(1, &ReadOptions::default()).unwrap_err().kind(), ErrorKind::Usage(_)));
    let kinds: Vec<_> = file.array_faults().iter().map(Fault::kind).collect();
    assert_eq!(kinds, [FaultKind::ZeroStride]);
}

/// Arrays of the same 60 × 7 numbers of 16 bits, by their strides.
const VIEWS: [(&str, u64, [i64; 2]); 4] =
    [("c", 0, [14, 2]), ("f", 0, [2, 120]), ("back", 838, [-14, -2]), ("spread", 0, [4, 240])];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// A region equals that part of the whole array, for any strides, codec and source.
    #[test]
    fn regions_are_parts_of_the_whole(
        view in 0..VIEWS.len(),
        label in prop::sample::select(vec!["", "zlib", "bzp2", "lz4", "zstd"]),
        (row, col) in (0..60_usize, 0..7_usize),
        steps in (1..5_i64, -3..3_i64),
        copies in any::<bool>(),
        stop in 0..61_usize,
    ) {
        let block: Vec<u8> = (0..1680_u32).map(|at| (at * 7 % 251) as u8).collect();
        let stored = if label.is_empty() { plain(&block) } else { encoded(label, &block) };
        let (path, offset, [by_row, by_col]) = VIEWS[view];
        let tree = format!(
            "{path}: !core/ndarray-1.1.0 {{source: 0, datatype: uint16, byteorder: little, shape: [60, 7], offset: {offset}, strides: [{by_row}, {by_col}]}}"
        );
        let file = bytes(&tree, &[stored]);
        let source: Box<dyn Source> = if copies { Box::new(Copied(file)) } else { Box::new(file) };
        let file = File::from_source(source, None, OpenOptions::default()).unwrap();
        let back = if steps.1 == 0 { 1 } else { steps.1 };
        let text = format!("{row}:{stop}:{}, {}", steps.0, if steps.1 == 0 { col.to_string() } else { format!("::{back}") });
        let region = Region::parse(&text, &[60, 7]).unwrap();
        let read = file.read(path, &region, &ReadOptions::default()).unwrap();
        prop_assert_eq!(read.shape(), region.shape());
        let mut want = Vec::new();
        let columns: Vec<usize> = match back {
            _ if steps.1 == 0 => vec![col],
            back if back > 0 => (0..7).step_by(back as usize).collect(),
            back => (0..7).rev().step_by(back.unsigned_abs() as usize).collect(),
        };
        for row in (row..stop).step_by(steps.0 as usize) {
            for column in &columns {
                let at = offset as i64 + row as i64 * by_row + *column as i64 * by_col;
                want.extend_from_slice(&block[at as usize..at as usize + 2]);
            }
        }
        prop_assert_eq!(read.bytes(Order::C, &Limits::default()).unwrap().into_owned(), want);
    }
}

#[test]
fn threads_share_a_file() {
    let block: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let tree = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint32, byteorder: little, shape: [1000, 100]}";
    let file = open(tree, &[encoded("zlib", &block)]);
    std::thread::scope(|scope| {
        for start in 0..4_u32 {
            let (file, block) = (&file, &block);
            scope.spawn(move || {
                for row in (start * 200..start * 200 + 200).step_by(50) {
                    let region = Region::parse(&format!("{row}"), &[1000, 100]).unwrap();
                    let read = file.read("a", &region, &ReadOptions::default()).unwrap();
                    let at = row as usize * 400;
                    assert_eq!(&*read.bytes(Order::C, &Limits::default()).unwrap(), &block[at..at + 400]);
                }
            });
        }
    });
}

#[test]
fn a_streamed_array_has_its_whole_rows() {
    let tree = "s: !core/ndarray-1.0.0 {source: -1, datatype: uint8, byteorder: big, shape: ['*', 3]}";
    let file = open(tree, &[streamed(&[1, 2, 3, 4, 5, 6, 7, 8])]);
    let geometry = file.geometry(0).unwrap();
    assert_eq!((geometry.shape.as_slice(), geometry.partial_row_len), (&[2, 3][..], 2));
    assert_eq!(all(&file, "s").unwrap(), [1, 2, 3, 4, 5, 6]);
    let faults = file.array_faults();
    assert_eq!((faults.len(), faults[0].code()), (1, "torn_row"));
    let strict = open_as(Strictness::Strict, &bytes(tree, &[streamed(&[1, 2, 3, 4])]));
    assert!(strict.is_err());
    assert!(open_as(Strictness::Strict, &bytes(tree, &[streamed(&[1, 2, 3])])).is_ok());
    // Rows without bytes cannot be counted.
    let tree = "s: !core/ndarray-1.0.0 {source: -1, datatype: uint8, byteorder: big, shape: ['*', 0]}";
    assert_eq!(open(tree, &[streamed(&[1])]).geometry(0).unwrap().shape, [0, 0]);
}

#[test]
fn a_path_opens_as_bytes_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.asdf");
    let tree = "a: !core/ndarray-1.1.0 {source: 'x%20y.asdf', datatype: uint8, byteorder: big, shape: [3]}";
    std::fs::write(&path, bytes(tree, &[])).unwrap();
    let file = File::open(&path).unwrap();
    assert!(matches!(file.geometry(0).unwrap_err().kind(), ErrorKind::Io(_)));
    std::fs::write(folder.path().join("x y.asdf"), bytes("{}", &[plain(&[7, 8, 9]), plain(&[1])])).unwrap();
    for access in [Access::Auto, Access::Positioned, Access::Memory] {
        let options = OpenOptions { access, ..OpenOptions::default() };
        let file = File::open_with(&path, options).unwrap();
        assert_eq!(all(&file, "a").unwrap(), [7, 8, 9], "{access:?}");
    }
    let core = container_core::container::OpenOptions::default();
    assert_eq!(File::open_with(&path, &core).unwrap().options().strictness, Strictness::Compatible);
    let error = File::open(folder.path().join("none.asdf")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)));
}

#[test]
fn memory_limit_covers_decoded_blocks_of_all_external_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut tree = String::new();
    for number in 0..8_u8 {
        let name = format!("part{number}.asdf");
        let block = encoded("zlib", &vec![number; 1000]);
        std::fs::write(folder.path().join(&name), bytes("{}", &[block])).unwrap();
        tree += &format!(
            "a{number}: !core/ndarray-1.0.0 {{source: {name}, datatype: uint8, byteorder: little, shape: [1000]}}\n"
        );
    }
    let path = folder.path().join("main.asdf");
    std::fs::write(&path, bytes(&tree, &[])).unwrap();
    let limits = Limits::default().with_memory(6000);
    let mut options = container_core::container::OpenOptions::default();
    options.limits = limits;
    let file = File::open_with(&path, &options).unwrap();
    let options = ReadOptions::default().with_limits(limits);
    for _ in 0..2 {
        for number in 0..8_u8 {
            // The second read at the end of a block keeps all of it.
            for place in [900, 901] {
                let region = Region::parse(&place.to_string(), &[1000]).unwrap();
                let array = file.read(&format!("a{number}"), &region, &options).unwrap();
                assert_eq!(&*array.bytes(Order::C, &limits).unwrap(), [number]);
            }
        }
    }
    // As much as one file may hold, and the last decoded block.
    assert!((1000..=4000).contains(&file.others.held_len()));
}

#[test]
fn digests_are_compared_once_and_may_be_of_decoded_bytes() {
    let tree = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [4]}";
    let mut old = encoded("zlib", &[1, 2, 3, 4]);
    old[38..54].copy_from_slice(BlockHeader::ALGORITHM.digest(&[1, 2, 3, 4]).as_bytes());
    assert_eq!(all(&open(tree, &[old]), "a").unwrap(), [1, 2, 3, 4]);
    let mut bad = plain(&[1, 2, 3, 4]);
    bad[54] = 9;
    let file = open(tree, &[bad]);
    assert!(matches!(all(&file, "a").unwrap_err().kind(), ErrorKind::Checksum { .. }));
    assert!(file.read_block(0, &ReadOptions::default()).is_err());
    // A part does not need the other bytes of the digest.
    let part = Region::parse("1:3", &[4]).unwrap();
    let read = |digests: Digests| {
        let mut options = ReadOptions::default();
        options.digests = digests;
        file.read("a", &part, &options)
            .map(|array| array.bytes(Order::C, &Limits::default()).unwrap().into_owned())
    };
    assert!(file.uncompared().is_none() && read(Digests::Ignore).unwrap() == [2, 3]);
    assert!(file.uncompared().is_none() && read(Digests::Compare).is_err());
    assert!(read(Digests::Whole).unwrap() == [2, 3]);
    assert!(file.uncompared().unwrap().contains("digest of a not compared (2 of 4 bytes"));
    let mut anyway = ReadOptions::default();
    anyway.digests = Digests::Ignore;
    assert_eq!(&*file.read_block(0, &anyway).unwrap(), [9, 2, 3, 4]);
}

/// A header near the start is wiped out: the apparent first block is the second, as the index proves.
#[test]
fn no_policy_reads_another_blocks_values() {
    let array = |name: &str, source: i32| {
        format!(
            "{name}: !core/ndarray-1.1.0 {{source: {source}, datatype: int8, byteorder: little, shape: [4]}}"
        )
    };
    let tree = [array("a", 0), array("b", 1), array("last", -1)].join("\n");
    let blocks = [plain(&[1; 4]), plain(&[2; 4]), plain(&[3; 4])];
    let whole = bytes(&tree, &blocks);
    let len = blocks[0].len();
    let starts: Vec<usize> = (0..3).map(|number| whole.len() - (3 - number) * len).collect();
    let index: String = starts.iter().map(|at| format!("- {at}\n")).collect();
    let index = format!("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n{index}...\n");
    for lost in 0..2 {
        let mut damaged = [&whole[..], index.as_bytes()].concat();
        damaged[starts[lost]..starts[lost] + 54].fill(0);
        for strictness in [Strictness::Compatible, Strictness::Lenient] {
            let file = open_as(strictness, &damaged).unwrap();
            assert_eq!(all(&file, "a").ok(), (lost > 0).then(|| vec![1; 4]), "{strictness:?}");
            for path in ["b", "last"] {
                let problem = all(&file, path).unwrap_err().to_string();
                assert!(problem.contains("the block cannot be identified"), "{path}: {problem}");
            }
        }
    }
}
