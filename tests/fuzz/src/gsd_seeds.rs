//! Seeds of the targets of GSD.

use std::fs;
use std::path::Path;

use container_core::dtype::ByteOrder;
use gsd::header::{Header, MAGIC, Version};
use gsd::sequential::{NewChunk, Plan, to_vec};
use gsd::{ChunkType, IndexEntry};

use crate::mutate::XorShift;
use crate::seeds::{choices as noise, gather};

/// Small files of the fixtures, and smaller ones made here.
pub(crate) fn files() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd"), "gsd", &mut paths);
    paths.sort();
    let files: Vec<Vec<u8>> =
        paths.iter().map(|path| fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))).collect();
    assert!(files.len() > 100, "the fixtures are not where they should be");
    let mut files: Vec<Vec<u8>> = files.into_iter().filter(|file| file.len() < 1 << 13).collect();
    files.extend(small_files());
    files
}

/// Those of the `hoomd` schema.
pub(crate) fn hoomd_files() -> Vec<Vec<u8>> {
    let is_hoomd = |file: &Vec<u8>| file.get(112..118) == Some(b"hoomd\0");
    files().into_iter().filter(is_hoomd).collect()
}

/// Files without spare room: changes meet the header, an entry, a name or a value more often than in a fixture.
pub(crate) fn small_files() -> Vec<Vec<u8>> {
    let step: Vec<[u8; 8]> = (0..4_u64).map(|step| (step * 10).to_le_bytes()).collect();
    let position: Vec<u8> = (0..12_u8).flat_map(|at| (f32::from(at) / 16.0 - 0.3).to_le_bytes()).collect();
    let cube: Vec<u8> = [1_f32, 1.0, 1.0, 0.0, 0.0, 0.0].iter().flat_map(|one| one.to_le_bytes()).collect();
    let count = 4_u32.to_le_bytes();
    let mut hoomd: Vec<NewChunk<'_>> = vec![
        (0, "configuration/step", ChunkType::Uint64, 1, 1, &step[0]),
        (0, "configuration/box", ChunkType::Float, 6, 1, &cube),
        (0, "particles/N", ChunkType::Uint32, 1, 1, &count),
        (0, "particles/types", ChunkType::Int8, 2, 2, b"A\0B\0"),
        (0, "particles/typeid", ChunkType::Uint32, 4, 1, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
        (0, "particles/position", ChunkType::Float, 4, 3, &position),
        (0, "bonds/N", ChunkType::Uint32, 1, 1, &[1, 0, 0, 0]),
        (0, "bonds/group", ChunkType::Int32, 1, 2, &[0, 0, 0, 0, 3, 0, 0, 0]),
        (0, "log/energy", ChunkType::Double, 1, 1, &step[1]),
        (0, "log/text", ChunkType::Character, 3, 1, b"abc"),
        (0, "particles/type_shapes", ChunkType::Int8, 2, 3, b"{}\0{}\0"),
    ];
    for (frame, step) in step.iter().enumerate().skip(1) {
        hoomd.push((frame as u64, "configuration/step", ChunkType::Uint64, 1, 1, step));
        if frame % 2 == 1 {
            hoomd.push((frame as u64, "particles/position", ChunkType::Float, 4, 3, &position));
            hoomd.push((frame as u64, "log/energy", ChunkType::Double, 1, 1, step));
        }
    }
    let plain: Vec<NewChunk<'_>> = vec![
        (0, "a", ChunkType::Uint8, 3, 1, b"abc"),
        (
            0,
            "a/shape",
            ChunkType::Uint64,
            3,
            1,
            &[1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        ),
        (1, "a", ChunkType::Uint8, 3, 1, b"def"),
        (1, "empty", ChunkType::Float, 0, 3, b""),
        (2, "a", ChunkType::Uint8, 3, 1, b"ghi"),
    ];
    let file = |schema: &str, version, chunks: &[NewChunk<'_>]| {
        let plan = Plan::new("seeds", schema, version).and_then(|plan| plan.with_alignment(1));
        plan.and_then(|plan| to_vec(plan, chunks)).expect("a small file")
    };
    let mut files = vec![
        file("hoomd", Version::new(2, 0), &hoomd),
        file("hoomd", Version::new(1, 4), &hoomd),
        file("none", Version::new(1, 0), &plain),
    ];
    for order in [ByteOrder::Little, ByteOrder::Big] {
        files.extend(
            [Version::new(1, 0), Version::new(0, 3), Version::new(2, 1)].map(|version| tiny(version, order)),
        );
    }
    files
}

/// Two frames of a chunk each, by hand, in any version and byte order.
fn tiny(version: Version, order: ByteOrder) -> Vec<u8> {
    let mut schema = [0; 64];
    schema[..4].copy_from_slice(b"none");
    let names_at = 256 + 3 * 32;
    let data_at = names_at + 192;
    let header = Header {
        byte_order: order,
        index_location: 256,
        index_allocated_entries: 3,
        namelist_location: names_at,
        namelist_allocated_entries: 3,
        schema_version: Version::new(1, 0),
        gsd_version: version,
        application: [0; 64],
        schema,
        reserved: [0; 80],
    };
    let mut file = header.to_bytes().to_vec();
    assert!(file.starts_with(&MAGIC.to_le_bytes()) || file.starts_with(&MAGIC.to_be_bytes()));
    for frame in 0..2_u16 {
        let location = i64::try_from(data_at).unwrap_or(0) + 4 * i64::from(frame);
        let id = if version.major() < 2 { 1 - frame } else { frame };
        let entry = IndexEntry { frame: frame.into(), n: 2, location, m: 1, id, type_code: 2, flags: 0 };
        file.extend(entry.to_bytes(order));
    }
    file.extend([0; 32]);
    let mut names = [0; 192];
    let second = if version.major() < 2 { 64 } else { 2 };
    (names[0], names[second]) = (b'x', b'y');
    file.extend(names);
    file.extend([1, 2, 3, 4, 5, 6, 7, 8]);
    file
}

/// Noise, some of it long enough for many steps.
pub(crate) fn choices() -> Vec<Vec<u8>> {
    let mut all = noise();
    let mut numbers = XorShift::new(13);
    all.extend((0..100).map(|at| (0..60 + 5 * at).map(|_| numbers.next().to_le_bytes()[3]).collect()));
    all
}
