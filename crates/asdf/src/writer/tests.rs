mod history;

use container_codecs::checksum::Algorithm;
use container_core::Limits;
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::format::Pipe;
use container_core::source::Source;
use container_core::write::{Durability, Overwrite};

use super::*;
use crate::layout::{IndexState, Layout};
use crate::yaml::Yaml;

fn layout(file: &Vec<u8>) -> Layout {
    let layout = Layout::parse(file, &Limits::default()).unwrap();
    assert_eq!(layout.faults, [], "{}", String::from_utf8_lossy(file));
    layout
}

fn numbers(count: u64) -> Vec<u8> {
    (0..count).flat_map(|number| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes()).collect()
}

fn int64() -> DType {
    DType::new(Kind::Int, 8, ByteOrder::Little)
}

/// Three arrays of 8, 0 and 24 000 bytes, given in pieces.
fn write(options: WriteOptions, piece: usize, out: &mut dyn Output) {
    let mut plan = Plan::new(options);
    let nodes: Vec<Yaml> =
        [1, 0, 3000].iter().map(|count| plan.array(&ArraySpec::new(int64(), [*count])).unwrap()).collect();
    let tree = Yaml::mapping([("arrays", Yaml::sequence(nodes))]);
    let mut writer = plan.start(tree, out).unwrap();
    for piece in numbers(3001).chunks(piece) {
        writer.write(piece).unwrap();
    }
    assert_eq!(writer.complete(), 3);
    writer.finish().unwrap();
}

#[test]
fn output_is_independent_of_pieces_and_sinks() {
    for padding in [Padding::None, Padding::Factor(1.1)] {
        for align in [None, Some(4096)] {
            let options = WriteOptions { padding, align, ..WriteOptions::default() };
            let mut expected = Vec::new();
            write(options.clone(), 8, &mut expected);
            let found = layout(&expected);
            assert_eq!(found.index_state, IndexState::Valid);
            let sizes: Vec<u64> = found.blocks.iter().map(|block| block.header.data_size).collect();
            assert_eq!(sizes, [8, 0, 24_000]);
            let mut from = 0;
            for block in &found.blocks {
                let data = expected.read(block.data.clone()).unwrap();
                assert_eq!(*data, numbers(3001)[from..from + data.len()]);
                from += data.len();
                assert_eq!(block.header.digest().unwrap(), Algorithm::Md5.digest(&data));
                assert!(align.is_none_or(|align| block.data.start % align == 0));
                let room = block.header.allocated_size - block.header.used_size;
                assert_eq!(room, padding.after(block.header.used_size));
            }
            if padding != Padding::None {
                assert_eq!(found.blocks[0].at % 4096, 0);
            }
            for piece in [1, 4095, 24_008] {
                let mut bytes = Vec::new();
                write(options.clone(), piece, &mut bytes);
                assert!(bytes == expected, "{piece} bytes");
                let mut pipe = Pipe(Vec::new());
                write(options.clone(), piece, &mut pipe);
                assert!(pipe.0 == expected, "{piece} bytes to a pipe");
                let mut seekable = Seekable(std::io::Cursor::new(Vec::new()));
                write(WriteOptions { threads: 2, ..options.clone() }, piece, &mut seekable);
                assert!(seekable.0.into_inner() == expected, "{piece} bytes to a file");
            }
        }
    }
}

struct Seekable(std::io::Cursor<Vec<u8>>);

impl std::io::Write for Seekable {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Output for Seekable {
    fn as_seek(&mut self) -> Option<&mut dyn container_core::format::WriteSeek> {
        Some(&mut self.0)
    }
}

#[test]
fn a_file_without_checksums_and_index() {
    let options = WriteOptions { checksums: false, index: false, ..WriteOptions::default() };
    for seekable in [false, true] {
        let mut out = Seekable(std::io::Cursor::new(Vec::new()));
        let mut pipe = Pipe(Vec::new());
        write(options.clone(), 100, if seekable { &mut out } else { &mut pipe });
        let file = if seekable { out.0.into_inner() } else { pipe.0 };
        let found = Layout::parse(&file, &Limits::default()).unwrap();
        assert_eq!((found.blocks.len(), found.index_state), (3, IndexState::Absent));
        assert!(found.blocks.iter().all(|block| block.header.digest().is_none()));
        assert_eq!(*file.read(found.blocks[2].data.clone()).unwrap(), numbers(3001)[8..]);
    }
}

#[test]
fn the_text_is_that_of_the_standard() {
    let mut plan = Plan::new(WriteOptions {
        software: Some(("holdall".into(), "1.2.3".into())),
        ..WriteOptions::default()
    });
    let spec = ArraySpec::new(DType::new(Kind::Float, 4, ByteOrder::Big), [2, 3])
        .order(Order::F)
        .masked(Yaml::int(-1));
    let first = plan.array(&spec).unwrap();
    let view = plan
        .view(0, &ArraySpec::new(DType::new(Kind::Float, 4, ByteOrder::Big), [2]), 20, Some(&[-8]))
        .unwrap();
    let inline =
        plan.inline(&ArraySpec::new(DType::new(Kind::Uint, 2, ByteOrder::Big), [2]), &[0, 1, 1, 0]).unwrap();
    let streamed =
        plan.streamed(&ArraySpec::new(DType::new(Kind::Bytes, 5, ByteOrder::Big), [0, 2])).unwrap();
    let tree = Yaml::mapping([("first", first), ("view", view), ("inline", inline), ("rows", streamed)]);
    let mut file = Vec::new();
    let mut writer = plan.start(tree, &mut file).unwrap();
    writer.write(&[7; 24]).unwrap();
    writer.write(b"abcde12345vwxyz67890").unwrap();
    writer.finish().unwrap();
    let found = layout(&file);
    let text = "#ASDF 1.0.0
#ASDF_STANDARD 1.6.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
asdf_library: !core/software-1.0.0
  name: holdall
  version: 1.2.3
history:
  extensions:
  - !core/extension_metadata-1.0.0
    extension_class: holdall.asdf
    extension_uri: asdf://asdf-format.org/core/extensions/core-1.6.0
    software: !core/software-1.0.0
      name: holdall
      version: 1.2.3
first: !core/ndarray-1.1.0
  source: 0
  mask: -1
  datatype: float32
  byteorder: big
  shape: [2, 3]
  strides: [4, 8]
view: !core/ndarray-1.1.0
  source: 0
  datatype: float32
  byteorder: big
  shape: [2]
  offset: 20
  strides: [-8]
inline: !core/ndarray-1.1.0
  data: [1, 256]
  datatype: uint16
  shape: [2]
rows: !core/ndarray-1.1.0
  source: -1
  datatype: [ascii, 5]
  byteorder: big
  shape: ['*', 2]
...
";
    let end = usize::try_from(found.tree.clone().unwrap().end).unwrap();
    assert_eq!(std::str::from_utf8(&file[..end]).unwrap(), text);
    assert_eq!(file[file.len() - 20..], *b"abcde12345vwxyz67890");
    assert!(found.blocks[1].header.is_streamed() && found.index.is_none());
    assert_eq!(found.blocks[1].header.to_bytes()[14..], [0; 40]);
}

#[test]
fn older_versions_have_their_own_tags() {
    let head = |minor| {
        let standard = crate::Version { major: 1, minor, patch: 0 };
        let entry = NewHistoryEntry { description: "made".into(), time: None, software: None };
        let mut plan = Plan::new(WriteOptions { standard, history: vec![entry], ..WriteOptions::default() });
        let node = plan.array(&ArraySpec::new(int64(), [0]))?;
        let mut file = Vec::new();
        plan.start(Yaml::mapping([("a", node)]), &mut file)?.finish()?;
        Ok::<_, Error>(String::from_utf8_lossy(&file).into_owned())
    };
    for (minor, root, array) in
        [(0, "1.0.0", "1.0.0"), (2, "1.1.0", "1.0.0"), (5, "1.1.0", "1.0.0"), (6, "1.1.0", "1.1.0")]
    {
        let text = head(minor).unwrap();
        assert!(text.contains(&format!("#ASDF_STANDARD 1.{minor}.0\n")));
        assert!(text.contains(&format!("--- !core/asdf-{root}\n")), "{text}");
        assert!(text.contains(&format!("a: !core/ndarray-{array}\n")), "{text}");
        assert_eq!(text.contains("extension_metadata"), minor >= 2);
        assert_eq!(text.contains("history:\n- !core/history_entry-1.0.0"), minor < 2, "{text}");
    }
    assert!(head(7).is_err());
    let old =
        WriteOptions { standard: crate::Version { major: 1, minor: 5, patch: 0 }, ..WriteOptions::default() };
    assert!(Plan::new(old).array(&ArraySpec::new(DType::native(Kind::Float, 2), [1])).is_err());
}

#[test]
fn wrong_amounts_of_data_are_refused() {
    let start = |shape: u64| {
        let mut plan = Plan::new(WriteOptions::default());
        let node = plan.array(&ArraySpec::new(int64(), [shape])).unwrap();
        (plan, Yaml::mapping([("a", node)]))
    };
    let mut file = Vec::new();
    let (plan, tree) = start(2);
    let mut writer = plan.start(tree, &mut file).unwrap();
    writer.write(&[0; 15]).unwrap();
    assert!(writer.finish().is_err());
    let (plan, tree) = start(2);
    assert!(plan.start(tree, &mut file).unwrap().write(&[0; 17]).is_err());
    let mut plan = Plan::new(WriteOptions::default());
    let node = plan.streamed(&ArraySpec::new(int64(), [0])).unwrap();
    assert!(plan.array(&ArraySpec::new(int64(), [1])).is_err());
    let mut writer = plan.start(Yaml::mapping([("a", node)]), &mut file).unwrap();
    writer.write(&[0; 9]).unwrap();
    assert!(writer.finish().is_err());
    let (plan, _) = start(2);
    let spec = ArraySpec::new(int64(), [2]);
    for (offset, strides) in [(1, None), (0, Some([9])), (0, Some([-8])), (0, Some([0]))] {
        assert!(plan.view(0, &spec, offset, strides.as_ref().map(|strides| &strides[..])).is_err());
    }
    assert!(plan.view(1, &spec, 0, None).is_err());
    assert!(plan.clone().start(Yaml::sequence([]), &mut file).is_err());
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.asdf");
    let options = WriteOptions { durability: Durability::Cached, ..WriteOptions::default() };
    let mut plan = Plan::new(options);
    let node = plan.array(&ArraySpec::new(int64(), [3])).unwrap();
    let mut writer = plan.create(Yaml::mapping([("a", node)]), &path, Overwrite::Refuse).unwrap();
    writer.write(&numbers(3)).unwrap();
    assert!(!path.exists());
    writer.finish().unwrap();
    let file = std::fs::read(&path).unwrap();
    assert_eq!(*file.read(layout(&file).blocks[0].data.clone()).unwrap(), numbers(3));
}

#[test]
fn a_history_is_added_to() {
    let entry = Yaml::mapping([("description", Yaml::text("before"))]);
    let other = Yaml::mapping([("extension_class", Yaml::text("x"))]);
    let history =
        Yaml::mapping([("extensions", Yaml::sequence([other])), ("entries", Yaml::sequence([entry]))]);
    let now = NewHistoryEntry { description: "now".into(), time: None, software: None };
    let plan = Plan::new(WriteOptions { history: vec![now], ..WriteOptions::default() });
    let mut file = Vec::new();
    let tree =
        Yaml::mapping([("b", Yaml::Null), ("history", history), ("asdf_library", Yaml::text("previous"))]);
    plan.start(tree, &mut file).unwrap().finish().unwrap();
    let text = String::from_utf8(file).unwrap();
    let order = [
        "asdf_library",
        "holdall",
        "history",
        "core-1.6.0",
        "extension_class: x",
        "entries",
        "before",
        "now",
        "\nb:",
    ];
    let places: Vec<usize> =
        order.iter().map(|word| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("previous") && text.ends_with("b: null\n...\n"), "{text}");
}

/// C order is that of every reader, and needs none.
#[test]
fn strides_are_written_where_the_order_matters() {
    let strides = |order: Order, shape: &[u64]| {
        let node =
            Plan::new(WriteOptions::default()).array(&ArraySpec::new(int64(), shape).order(order)).unwrap();
        let Yaml::Tagged(_, inner) = node else { panic!("no tag") };
        let Yaml::Mapping(pairs, _) = *inner else { panic!("no mapping") };
        let found = pairs.into_iter().find(|(key, _)| *key == Yaml::text("strides"))?;
        let Yaml::Sequence(items, _) = found.1 else { panic!("no list") };
        Some(items)
    };
    assert_eq!(strides(Order::F, &[2, 3]), Some(vec![Yaml::int(8), Yaml::int(16)]));
    for shape in [&[][..], &[3], &[0], &[0, 3], &[2, 0]] {
        assert_eq!(strides(Order::F, shape), None, "{shape:?}");
    }
    assert_eq!(strides(Order::C, &[2, 3]), None);
}
