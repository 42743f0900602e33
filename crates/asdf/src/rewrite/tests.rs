use container_codecs::checksum::Algorithm;
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Kind};
use container_core::region::Region;

use super::*;
use crate::writer::{ArraySpec, Plan};
use crate::{File, IndexState};

/// Arrays of so many 64-bit numbers, some of them in the tree; a negative number names its block from the end.
fn file(lens: &[u64], named: &[(&str, i64)], options: WriteOptions) -> Vec<u8> {
    let mut plan = Plan::new(options);
    let nodes: Vec<Yaml> = lens.iter().map(|len| plan.array(&spec(*len)).unwrap()).collect();
    let node = |number: i64| {
        let block = resolve_index(number, lens.len()).unwrap();
        let Yaml::Tagged(tag, inner) = nodes[block].clone() else { unreachable!() };
        let Yaml::Mapping(mut pairs, style) = *inner else { unreachable!() };
        pairs[0].1 = Yaml::int(number);
        Yaml::Tagged(tag, Box::new(Yaml::Mapping(pairs, style)))
    };
    let tree = Yaml::mapping(named.iter().map(|(name, number)| (*name, node(*number))));
    let mut bytes = Vec::new();
    let mut writer = plan.start(tree, &mut bytes).unwrap();
    for (number, len) in lens.iter().enumerate() {
        writer.write(&data(number, *len)).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn spec(len: u64) -> ArraySpec {
    ArraySpec::new(DType::native(Kind::Uint, 8), [len])
}

fn data(number: usize, len: u64) -> Vec<u8> {
    (0..len).flat_map(|at| (at / 3 + number as u64 * 1000).to_ne_bytes()).collect()
}

fn rewritten(old: &Vec<u8>, options: &RewriteOptions) -> (Vec<u8>, RewriteReport) {
    let mut new = Vec::new();
    let done = rewrite(old, options, &mut new).unwrap();
    let layout = Layout::parse(&new, &Limits::default()).unwrap();
    assert_eq!((layout.faults, layout.index_state), (vec![], IndexState::Valid));
    (new, done)
}

fn read(file: &[u8], path: &str) -> Vec<u8> {
    let file = File::from_bytes(file.to_vec(), crate::OpenOptions::default()).unwrap();
    let options = ReadOptions::default();
    let shape: Vec<u64> = file.array(path).unwrap().array.shape.iter().map(|len| len.unwrap()).collect();
    let array = file.read(path, &Region::whole(&shape), &options).unwrap();
    array.bytes(container_core::dtype::Order::C, &options.limits).unwrap().into_owned()
}

#[test]
fn a_file_in_order_stays_as_it_is() {
    let old = file(&[10, 20], &[("a", 0), ("b", -1)], WriteOptions::default());
    let (new, done) = rewritten(&old, &RewriteOptions::default());
    assert!(new == old && done == RewriteReport::default());
}

#[test]
fn unreferenced_blocks_are_dropped() {
    let old = file(&[10, 20, 30, 40], &[("a", 1), ("b", 3), ("c", -1), ("d", -3)], WriteOptions::default());
    let (new, done) = rewritten(&old, &RewriteOptions::default());
    assert_eq!(done.dropped, [0, 2]);
    for (path, number, len) in [("a", 1, 20), ("b", 3, 40), ("c", 3, 40), ("d", 1, 20)] {
        assert_eq!(read(&new, path), data(number, len), "{path}");
    }
    let text = String::from_utf8_lossy(&new);
    let sources: Vec<&str> = text.lines().filter(|line| line.contains("source:")).map(str::trim).collect();
    // Numbers from the end are still right where the end is the same.
    assert_eq!(sources, ["source: 0", "source: 1", "source: -1", "source: 0"]);
    let all = RewriteOptions { drop_unreferenced: false, ..RewriteOptions::default() };
    assert_eq!(rewritten(&old, &all).0, old);
}

#[test]
fn rooms_and_gaps_are_closed() {
    let plain = file(&[10, 20], &[("a", 0), ("b", 1)], WriteOptions::default());
    let padded = WriteOptions { padding: Padding::Factor(1.1), ..WriteOptions::default() };
    let mut old = file(&[10, 20], &[("a", 0), ("b", 1)], padded.clone());
    assert!(rewritten(&old, &RewriteOptions::default()).0 == plain);
    let keep = RewriteOptions { padding: None, write: padded.clone(), ..RewriteOptions::default() };
    assert!(rewritten(&old, &keep).0 == old);
    let wide =
        RewriteOptions { padding: Some(Padding::Factor(1.1)), write: padded, ..RewriteOptions::default() };
    assert!(rewritten(&plain, &wide).0 == old);
    // A gap between blocks, which makes the index stale.
    let second = Layout::parse(&old, &Limits::default()).unwrap().blocks[1].at;
    let second = usize::try_from(second).unwrap();
    old.splice(second..second, *b"gap");
    let (new, done) = rewritten(&old, &RewriteOptions::default());
    assert!(new == plain && done.gaps == 3);
}

#[test]
fn codecs_change_and_data_do_not() {
    let old = file(&[1000, 0, 20], &[("a", 0), ("b", 1), ("c", 2)], WriteOptions::default());
    let mut before = old.clone();
    for label in ["zlib", "bzp2", "lz4", "zstd", "blsc"] {
        let compression = Some(Recompression::Codec(label.into(), None));
        let options = RewriteOptions { compression, ..RewriteOptions::default() };
        let (new, done) = rewritten(&before, &options);
        assert_eq!(done.recoded, [0, 1, 2]);
        let layout = Layout::parse(&new, &Limits::default()).unwrap();
        for block in &layout.blocks {
            assert_eq!(block.label(), Some(label));
            let stored = new.read(block.data.clone()).unwrap();
            assert_eq!(block.header.digest().unwrap(), Algorithm::Md5.digest(&stored));
        }
        assert_eq!(read(&new, "a"), data(0, 1000), "{label}");
        assert_eq!(read(&new, "c"), data(2, 20), "{label}");
        // The same again is not done again.
        assert_eq!(rewritten(&new, &options).1, RewriteReport::default());
        before = new;
    }
    let plain = RewriteOptions { compression: Some(Recompression::Plain), ..RewriteOptions::default() };
    assert!(rewritten(&before, &plain).0 == old);
}

#[test]
fn damage_is_not_written_on() {
    let old = file(&[10, 20], &[("a", 0), ("b", 1)], WriteOptions::default());
    let cut = old[..old.len() - 100].to_vec();
    assert!(rewrite(&cut, &RewriteOptions::default(), &mut Vec::new()).is_err());
    let zarr = b"#ASDF 1.0.0\n%YAML 1.1\n---\na: {chunk_block_map: 0}\n...\n";
    let blocks = Layout::parse(&old, &Limits::default()).unwrap().blocks[0].at;
    let with_blocks = [&zarr[..], &old[usize::try_from(blocks).unwrap()..]].concat();
    let error = rewrite(&with_blocks, &RewriteOptions::default(), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("asdf-zarr"), "{error}");
}
