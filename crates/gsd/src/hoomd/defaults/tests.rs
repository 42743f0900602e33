use container_core::container::{Container, Defaults, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::format::Input;
use container_core::region::Region;
use container_core::{Limits, Result};

use super::*;
use crate::ChunkType;
use crate::container::FORMAT;
use crate::header::Version;
use crate::writer::sequential::{NewChunk, Plan, to_vec};

fn container(schema: &str, chunks: &[NewChunk<'_>], defaults: Defaults) -> Box<dyn Container> {
    let bytes = to_vec(Plan::new("app", schema, Version::new(2, 0)).unwrap(), chunks).unwrap();
    let mut options = OpenOptions::default();
    options.defaults = defaults;
    (FORMAT.open)(Input::bytes(Box::new(bytes)), &options).unwrap()
}

/// Shape and bytes of all that an address means.
fn at(container: &dyn Container, path: &str) -> Option<(Vec<u64>, Vec<u8>)> {
    let index = container.find(path)?;
    let shape = container.require(index).unwrap().shape.clone();
    assert_eq!(container.require(index).unwrap().path, path);
    let array = container.read(index, &Region::whole(&shape), &ReadOptions::default()).unwrap();
    assert_eq!(array.shape(), shape);
    Some((shape, array.bytes(Order::C, &Limits::default()).unwrap().into_owned()))
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn datasets_without_chunks_have_schema_defaults() {
    let (n, place) = (3_u32.to_le_bytes(), floats(&[0.5; 9]));
    let chunks: [NewChunk<'_>; 3] = [
        (0, "particles/N", ChunkType::Uint32, 1, 1, &n),
        (0, "particles/position", ChunkType::Float, 3, 3, &place),
        (1, "particles/position", ChunkType::Float, 3, 3, &place),
    ];
    let file = container("hoomd", &chunks, Defaults::Apply);
    let file = &*file;
    assert_eq!(at(file, "particles/mass"), Some((vec![2, 3], floats(&[1.0; 6]))));
    assert_eq!(at(file, "frames/0/particles/mass"), Some((vec![3], floats(&[1.0; 3]))));
    assert_eq!(at(file, "particles/typeid"), Some((vec![2, 3], vec![0; 24])));
    assert_eq!(at(file, "particles/types"), Some((vec![2, 1, 2], b"A\0A\0".to_vec())));
    assert_eq!(at(file, "configuration/step"), Some((vec![2, 1], vec![0; 16])));
    assert_eq!(at(file, "frames/1/particles/N"), Some((vec![1], n.to_vec())));
    let orientation = floats(&[1.0, 0.0, 0.0, 0.0].repeat(3));
    assert_eq!(at(file, "frames/1/particles/orientation"), Some((vec![3, 4], orientation)));
    assert_eq!(at(file, "bonds/group"), Some((vec![2, 0, 2], vec![])));
    for none in
        ["frames/2/particles/mass", "frames/00/particles/mass", "state/hpmc/integrate/d", "log/a", "mass"]
    {
        assert_eq!(at(file, none), None, "{none}");
    }
    // Parts, and none of it is listed.
    let index = file.find("particles/orientation").unwrap();
    assert!(index >= file.dataset_count());
    let region = Region::parse("1, ::2, 0", &file.require(index).unwrap().shape).unwrap();
    let part = file.read(index, &region, &ReadOptions::default()).unwrap();
    assert_eq!(part.bytes(Order::C, &Limits::default()).unwrap().into_owned(), floats(&[1.0, 1.0]));
    let index = file.find("frames/1/particles/orientation").unwrap();
    let region = Region::parse("::-2, 1:", &[3, 4]).unwrap();
    let part = file.read(index, &region, &ReadOptions::default()).unwrap();
    assert_eq!((part.shape(), part.bytes(Order::C, &Limits::default()).unwrap().len()), (&[2, 3][..], 24));

    for (schema, defaults) in [("hoomd", Defaults::StoredOnly), ("none", Defaults::Apply)] {
        let file = container(schema, &chunks, defaults);
        assert_eq!(at(&*file, "particles/mass"), None);
        assert_eq!(at(&*file, "frames/1/particles/N"), None);
        assert!(at(&*file, "frames/1/particles/position").is_some());
    }
}

#[test]
fn a_frame_has_the_values_of_frame_0_where_n_varies() {
    let n = [3_u32, 5].map(u32::to_le_bytes);
    let (masses, more) = (floats(&[2.0; 3]), floats(&[2.0; 5]));
    let (log, shape) = (floats(&[7.0; 4]), [2_u64, 1, 2].map(u64::to_le_bytes).concat());
    let chunks: [NewChunk<'_>; 8] = [
        (0, "particles/N", ChunkType::Uint32, 1, 1, &n[0]),
        (0, "particles/mass", ChunkType::Float, 3, 1, &masses),
        (0, "log/x", ChunkType::Float, 4, 1, &log),
        (0, "log/x/shape", ChunkType::Uint64, 3, 1, &shape),
        (1, "particles/N", ChunkType::Uint32, 1, 1, &n[1]),
        (1, "particles/mass", ChunkType::Float, 5, 1, &more),
        (2, "particles/N", ChunkType::Uint32, 1, 1, &n[1]),
        (3, "log/late", ChunkType::Float, 4, 1, &log),
    ];
    let file = container("hoomd", &chunks, Defaults::Apply);
    let file = &*file;
    assert_eq!(at(file, "particles/mass"), None);
    // As many as frame 0 has, or not.
    assert_eq!(at(file, "frames/3/particles/mass"), Some((vec![3], masses)));
    assert_eq!(at(file, "frames/2/particles/mass"), Some((vec![5], floats(&[1.0; 5]))));
    assert_eq!(at(file, "frames/2/particles/charge"), Some((vec![5], vec![0; 20])));
    assert_eq!(at(file, "frames/3/log/x"), Some((vec![2, 1, 2], log)));
    assert_eq!(at(file, "frames/1/log/late"), None);
}

#[test]
fn a_large_n_is_refused_when_it_is_read() -> Result<()> {
    let n = u32::MAX.to_le_bytes();
    let chunks: [NewChunk<'_>; 2] = [
        (0, "particles/N", ChunkType::Uint32, 1, 1, &n),
        (9, "configuration/step", ChunkType::Uint64, 1, 1, &[1; 8]),
    ];
    let file = container("hoomd", &chunks, Defaults::Apply);
    let index = file.find("particles/orientation").unwrap();
    let shape = file.require(index)?.shape.clone();
    assert_eq!(shape, [10, u64::from(u32::MAX), 4]);
    let mut options = ReadOptions::default();
    options.limits = options.limits.with_memory(1 << 20);
    assert!(file.read(index, &Region::whole(&shape), &options).is_err());
    let part = Region::parse("9, 4294967294", &shape).unwrap();
    assert_eq!(file.read(index, &part, &options)?.shape(), [4]);
    Ok(())
}

#[test]
fn default_dataset_numbers_round_trip() {
    let all = [
        DefaultDataset::Stacked(0),
        DefaultDataset::Stacked(FIELDS.len() - 1),
        DefaultDataset::Frame(0, DefaultName::Field(0)),
        DefaultDataset::Frame(7, DefaultName::Field(FIELDS.len() - 1)),
        DefaultDataset::Frame(7, DefaultName::Log(u16::MAX)),
        DefaultDataset::Frame(1 << 32, DefaultName::Log(0)),
    ];
    for one in all {
        // 32-bit numbers do not reach so late a frame.
        let is_out = usize::BITS < u64::BITS && one == DefaultDataset::Frame(1 << 32, DefaultName::Log(0));
        assert_eq!(one.number().and_then(DefaultDataset::of_number), Some(one).filter(|_| !is_out));
    }
    assert_eq!(DefaultDataset::Frame(u64::MAX, DefaultName::Field(0)).number(), None);
}
