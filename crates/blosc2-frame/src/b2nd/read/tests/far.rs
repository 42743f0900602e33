//! Reads of far frames, which fetch blocks instead of chunks: values are those of near ones, whatever the bytes are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use container_core::source::Source;

use super::*;

/// A far source that counts the bytes that are read.
struct Far(Vec<u8>, Arc<AtomicU64>);

impl Source for Far {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.1.fetch_add(dst.len() as u64, Ordering::Relaxed);
        self.0.read_into(at, dst)
    }
    fn is_far(&self) -> bool {
        true
    }
}

/// The array of a frame, and the number of bytes that are read.
fn far(frame: Vec<u8>) -> Result<(NdArray, Arc<AtomicU64>)> {
    let read = Arc::new(AtomicU64::new(0));
    let source = Box::new(Far(frame, Arc::clone(&read)));
    let frame = Frame::from_source(source, 0, &OpenOptions { cache: 0, ..OpenOptions::default() })?;
    Ok((NdArray::from_frame(frame)?, read))
}

fn near(frame: Vec<u8>) -> Result<NdArray> {
    Frame::from_source(Box::new(frame), 0, &OpenOptions::default()).and_then(NdArray::from_frame)
}

/// Bytes of a selection; `None` where it cannot be read.
fn found(array: &NdArray, selection: &[Indices]) -> Option<Vec<u8>> {
    let options = options(1);
    let array = array.read_orthogonal(selection, &options).ok()?;
    Some(array.bytes(Order::C, &options.limits).ok()?.into_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 120 }))]

    #[test]
    fn far_selections_are_those_of_single_elements((making, selections) in case(), threads in 1_usize..4) {
        let (frame, elements) = making.make();
        let (array, _) = far(frame).unwrap();
        for selection in &selections {
            let want = naive(&elements, &making.shape, making.itemsize, selection);
            prop_assert_eq!(&bytes(&array, selection, threads), &want);
        }
    }
}

/// A frame of four chunks of 25 blocks, of a kind that is fetched in part.
fn makings() -> [Making; 5] {
    let making = Making::new(&[80, 80], &[40, 40], &[8, 8], 4);
    let noise = Making { compressor: Compressor::ZSTD, level: 0, ..making.clone() };
    let delta = Making { filters: pipeline(Filter::DELTA), ..making.clone() };
    let zlib = Making { compressor: Compressor::ZLIB, ..making.clone() };
    [Making { compressor: Compressor::BLOSCLZ, ..making.clone() }, making, noise, delta, zlib]
}

/// Selections in one chunk, in two, and twice in one.
fn parts() -> [[Indices; 2]; 3] {
    [
        [slice(10, 1, 3), slice(60, 1, 2)],
        [slice(38, 1, 4), slice(3, 1, 1)],
        [Indices::List(vec![70, 3, 66, 1]), Indices::List(vec![9])],
    ]
}

#[test]
fn parts_of_far_chunks_read_less_than_the_chunks() {
    for making in makings() {
        let (frame, elements) = making.make();
        let stored = near(frame.clone()).unwrap();
        let chunks: u64 = (0..4).map(|index| stored.frame().chunk(index).unwrap().len() as u64).sum();
        for selection in parts() {
            let (array, read) = far(frame.clone()).unwrap();
            read.store(0, Ordering::Relaxed);
            let want = naive(&elements, &[80, 80], 4, &selection);
            assert_eq!(bytes(&array, &selection, 1), want, "{making:?}");
            let read = read.load(Ordering::Relaxed);
            // Of the two chunks that are touched a few blocks, and the header several times.
            assert!(read < chunks / 8 + 1000, "{read} of {chunks}: {making:?}");
        }
    }
}

#[test]
fn changed_bytes_of_far_frames_are_those_of_near_ones() {
    let (mut sound, mut refused) = (0, 0);
    for making in makings() {
        let (frame, elements) = making.make();
        let header_len = near(frame.clone()).unwrap().frame().layout().header_range().end as usize;
        let starts = header_len..header_len + 32 + 4 * 25;
        let others = (starts.end..frame.len()).step_by(if cfg!(miri) { 997 } else { 37 });
        for at in starts.chain(others) {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut frame = frame.clone();
                frame[at] ^= change;
                let (Ok(near), far) = (near(frame.clone()), far(frame)) else { continue };
                let (far, _) = far.unwrap();
                for selection in [[slice(10, 1, 3), slice(10, 1, 2)], [slice(30, 1, 3), slice(1, 1, 30)]] {
                    let expected = found(&near, &selection);
                    assert_eq!(found(&far, &selection), expected, "byte {at} ^ {change}: {making:?}");
                    match expected {
                        Some(bytes) => {
                            sound += usize::from(bytes == naive(&elements, &[80, 80], 4, &selection));
                        }
                        None => refused += 1,
                    }
                }
            }
        }
    }
    assert!(sound > 100 && refused > 100, "{sound} {refused}");
}

#[test]
fn starts_of_far_blocks_that_overlap_or_leave_the_chunk_are_read_as_of_near_ones() {
    let making = Making::new(&[40, 40], &[40, 40], &[8, 8], 4);
    let (frame, _) = making.make();
    let chunk_at = near(frame.clone()).unwrap().frame().layout().header_range().end as usize;
    let place = |block: usize| chunk_at + 32 + 4 * block..chunk_at + 36 + 4 * block;
    let start = |block: usize| u32::from_le_bytes(frame[place(block)].try_into().unwrap());
    let selection = [slice(9, 1, 2), slice(9, 1, 2)];
    // The block with the number 6 is read; 7 starts after it.
    for (block, value) in [
        (6, start(7)),
        (6, start(7) - 1),
        (6, start(6) + 1),
        (7, start(6)),
        (7, start(6) + 1),
        (7, start(6) + 4),
        (24, start(6) + 5),
        (6, 0),
        (6, 31),
        (6, 131),
        (6, 132),
        (6, u32::MAX),
        (6, u32::MAX / 2),
        (7, 0),
        (7, u32::MAX),
    ] {
        let mut frame = frame.clone();
        frame[place(block)].copy_from_slice(&value.to_le_bytes());
        let (far, near) = (far(frame.clone()).unwrap().0, near(frame).unwrap());
        assert_eq!(found(&far, &selection), found(&near, &selection), "block {block} at {value}");
    }
}
