//! The map of a frame: every byte once, in the order of the file, with what it belongs to.

use std::ops::Range;

use container_core::container::{Container, Segment};

use crate::container::{open, sound};
use crate::manifest::{Fixture, fixtures};

fn named(name: &str) -> (Fixture, Box<dyn Container>) {
    let fixture = fixtures().into_iter().find(|it| it.path == name).unwrap();
    let container = open(&fixture);
    (fixture, container)
}

/// Roles with their ranges, in the order of the map.
fn roles(map: &[Segment]) -> Vec<(&str, Range<u64>)> {
    map.iter().map(|segment| (segment.role.as_str(), segment.range.clone())).collect()
}

#[test]
fn maps_cover_every_byte_once() {
    for fixture in sound() {
        let (container, path) = (open(&fixture), &fixture.path);
        let map = container.byte_map();
        let mut covered = 0;
        for file in map.chunk_by(|one, next| one.part == next.part) {
            assert_eq!(file[0].range.start, 0, "{path}");
            assert!(file.windows(2).all(|pair| pair[0].range.end == pair[1].range.start), "{path}: {file:?}");
            assert!(file.iter().all(|segment| !segment.range.is_empty()), "{path}: {file:?}");
            covered += file.last().unwrap().range.end;
        }
        assert_eq!(covered, container.about().size, "{path}");
        // One by one is the same.
        let mut again = Vec::new();
        container
            .for_each_segment(&mut |segment| {
                again.push(segment);
                Ok(())
            })
            .unwrap();
        assert_eq!(again, map, "{path}");
        let of = |role: &str| map.iter().filter(|segment| segment.role == role).collect::<Vec<_>>();
        // Fixed fields take 87 bytes, a trailer without user metadata 35. Spec: blosc2 section 5.
        assert_eq!(of("header")[0].range, 0..87, "{path}");
        assert!(!of("trailer").is_empty(), "{path}");
        for layer in fixture.meta.iter().flatten() {
            let found = of(&format!("metalayer {}", layer.name));
            // Marker and length of four bytes precede the value.
            let len = found[0].range.end - found[0].range.start;
            assert_eq!((found.len(), len), (1, 5 + layer.hex.len() as u64 / 2), "{path}");
        }
        for layer in fixture.vlmeta.iter().flatten() {
            let [found] = of(&format!("vlmetalayer {}", layer.name))[..] else { panic!("{path}: {map:?}") };
            assert_eq!(found.decoded, Some(layer.hex.len() as u64 / 2), "{path}");
            assert_eq!(found.stored, Some(found.range.end - found.range.start - 5), "{path}");
            assert!(found.codec.is_some(), "{path}");
        }
        let dead: u64 = of("dead space").iter().map(|gap| gap.range.end - gap.range.start).sum();
        assert_eq!(dead > 0, fixture.codes.iter().any(|code| code == "dead_space"), "{path}");
        // Those that share bytes are mapped once.
        let is_shared = fixture.codes.iter().any(|code| code == "shared_chunk");
        let chunks = of("chunk");
        let stored: u64 = chunks.iter().map(|chunk| chunk.stored.unwrap()).sum();
        let blocks: u64 = of("block").iter().map(|block| block.range.end - block.range.start).sum();
        let heads: u64 = chunks.iter().map(|chunk| chunk.range.end - chunk.range.start).sum();
        assert!(is_shared || stored == heads + blocks, "{path}");
        for chunk in chunks {
            let dataset = chunk.dataset.as_deref().unwrap();
            assert!(container.find(dataset).is_some(), "{path} {dataset}");
            assert!(chunk.codec.is_some() && chunk.decoded.is_some() && chunk.checksum.is_none(), "{path}");
        }
        let entries = container.blocks();
        assert_eq!(entries.len(), of("chunk").len() + usize::from(is_shared), "{path}");
        let largest = entries.iter().map(|entry| entry.range().end - entry.range().start).max().unwrap_or(0);
        assert!(container.has_small_blocks(u64::from(u32::MAX)), "{path}");
        // Blocks of any length take more than their bytes.
        let is_known = largest > 0 && !path.contains("_vl_");
        assert!(!is_known || !container.has_small_blocks(largest - 1), "{path}");
    }
}

/// Three chunks of 1000 bytes at most, and what is between them.
#[test]
fn gaps_and_bytes_after_the_frame_are_named() {
    let (fixture, container) = named("odd/gap_before.b2frame");
    let map = container.byte_map();
    let found = roles(&map);
    let first = found.iter().position(|(role, _)| *role == "chunk").unwrap();
    assert_eq!(found[first - 1].0, "dead space", "{}", fixture.path);
    for name in ["odd/trailing_bytes.b2frame", "odd/trailing_zeros.b2frame", "odd/trailing_frame.b2frame"] {
        let (fixture, container) = named(name);
        let map = container.byte_map();
        let last = map.last().unwrap();
        let len = last.range.end - last.range.start;
        assert_eq!((last.role.as_str(), Some(len)), ("trailing", fixture.trailing), "{name}");
    }
}

/// Blocks of split and other chunks, each with what it decodes to.
#[test]
fn blocks_decode_to_all_of_their_chunk() {
    for name in
        ["ok/shape_2d_edges.b2nd", "ok/lz4_shuffle.b2frame", "ok/three_chunks.b2frame", "ok/sparse.b2frame"]
    {
        let (_, container) = named(name);
        let map = container.byte_map();
        let mut sum = None;
        for segment in &map {
            let len = segment.range.end - segment.range.start;
            match segment.role.as_str() {
                // One that is stored as it is has no blocks.
                "chunk" if segment.codec.as_deref() == Some("none") => {
                    assert_eq!((sum.unwrap_or(0), Some(len)), (0, segment.stored), "{name}");
                    sum = Some(0);
                }
                "chunk" => {
                    assert_eq!(sum.unwrap_or(0), 0, "{name}");
                    sum = segment.decoded;
                    // A header of 32 bytes and the starts of blocks.
                    assert!(len >= 36 && len % 4 == 0, "{name}: {segment:?}");
                }
                "block" => sum = Some(sum.unwrap() - segment.decoded.unwrap()),
                _ => {}
            }
        }
        assert_eq!(sum, Some(0), "{name}: {map:?}");
    }
}

#[test]
fn files_of_sparse_frames_are_mapped_one_by_one() {
    let (fixture, container) = named("ok/sparse.b2frame");
    let map = container.byte_map();
    let files: Vec<Option<String>> =
        map.chunk_by(|one, next| one.part == next.part).map(|file| file[0].part.clone()).collect();
    assert_eq!(files[0].as_deref(), Some("chunks.b2frame"));
    assert_eq!(files.len() as u64, 1 + fixture.nchunks.unwrap());
    assert_eq!(files[1].as_deref(), Some("00000000.chunk"));
    for file in map.chunk_by(|one, next| one.part == next.part).skip(1) {
        assert_eq!(file[0].role, "chunk");
        assert!(file[1..].iter().all(|segment| segment.role == "block"));
    }
    let index = map.iter().find(|segment| segment.role == "index").unwrap();
    // Offsets of 8 bytes.
    assert_eq!(index.decoded, Some(8 * fixture.nchunks.unwrap()));
    assert_eq!(index.stored, Some(index.range.end - index.range.start));
    assert!(index.codec.is_some());
}
