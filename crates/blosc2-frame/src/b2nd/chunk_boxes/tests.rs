use container_core::region::{Kept, Region};
use proptest::prelude::*;

use super::*;

/// Returns the chunk of the element at `index`, and its byte there, by the definition: chunks in C order, blocks in C order inside,
/// elements in C order inside those.
fn place_of(geometry: &Geometry, index: &[u64]) -> (u64, usize) {
    let (mut chunk, mut block, mut element) = (0, 0, 0);
    for (d, at) in index.iter().enumerate() {
        let (len, side) = (u64::from(geometry.chunkshape()[d]), u64::from(geometry.blockshape()[d]));
        let within = at % len;
        chunk = chunk * geometry.chunk_grid()[d] + at / len;
        block = block * geometry.block_grid()[d] + within / side;
        element = element * side + within % side;
    }
    let byte = block * geometry.block_bytes() + element * geometry.itemsize() as u64;
    (chunk, byte as usize)
}

#[derive(Clone, Debug)]
struct Case {
    geometry: Geometry,
    region: Region,
}

/// Makes an axis: its length, chunk, block, and a selection by (start, step, count) that is made to fit.
fn axis() -> impl Strategy<Value = (u64, u32, u32, AxisSelection)> {
    (1_u64..12, 1_u32..7, 1_u32..7, any::<u64>(), -4_i64..5, any::<u64>()).prop_map(
        |(len, chunk, block, start, step, count)| {
            let step = if step == 0 { 1 } else { step };
            let start = start % len;
            let most =
                if step > 0 { (len - 1 - start) / step as u64 } else { start / step.unsigned_abs() } + 1;
            let selection = AxisSelection { start, step, count: count % (most + 1), kept: Kept::Yes };
            (len, chunk, block.min(chunk), selection)
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    (prop::collection::vec(axis(), 0..4), 1_usize..6).prop_map(|(axes, itemsize)| {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let chunks: Vec<u32> = axes.iter().map(|axis| axis.1).collect();
        let blocks: Vec<u32> = axes.iter().map(|axis| axis.2).collect();
        let region = Region::new(axes.iter().map(|axis| axis.3).collect(), &shape).unwrap();
        Case { geometry: Geometry::new(&shape, &chunks, &blocks, itemsize).unwrap(), region }
    })
}

/// Returns all indices of a region, in C order.
fn indices(region: &Region) -> Vec<Vec<u64>> {
    let mut list = vec![vec![]];
    for axis in region.axes() {
        let own = |at: u64| (axis.start as i64 + axis.step * at as i64) as u64;
        list = list
            .iter()
            .flat_map(|head: &Vec<u64>| (0..axis.count).map(move |at| [head.as_slice(), &[own(at)]].concat()))
            .collect();
    }
    list
}

proptest! {
    #[test]
    fn elements_go_to_their_places_and_come_back(case in case()) {
        let Case { geometry, region } = case;
        let size = geometry.itemsize();
        let indices = indices(&region);
        let elements: Vec<u8> = (0..indices.len() * size).map(|at| at as u8 | 1).collect();
        let mut want = vec![vec![0_u8; geometry.chunk_bytes() as usize]; geometry.chunk_count() as usize];
        for (number, index) in indices.iter().enumerate() {
            let (chunk, byte) = place_of(&geometry, index);
            want[chunk as usize][byte..byte + size].copy_from_slice(&elements[number * size..][..size]);
        }

        let window = ChunkBoxes::region(region.axes(), size).unwrap();
        prop_assert_eq!(window.byte_len(), elements.len() as u64);
        let mut chunks = vec![vec![0_u8; geometry.chunk_bytes() as usize]; geometry.chunk_count() as usize];
        let mut back = vec![0; elements.len()];
        window.for_each_chunk(&geometry, |place| {
            let chunk = &mut chunks[chunk_index(&geometry, place) as usize];
            window.write_chunk(&geometry, place, &elements, chunk)?;
            window.read_chunk(&geometry, place, chunk, &mut back)?;
            // A chunk that is covered has no element that is not selected.
            let all = chunk_box(&geometry, place).iter().map(|range| range.end - range.start).product::<u64>();
            let own = indices.iter().filter(|at| place_of(&geometry, at).0 == chunk_index(&geometry, place));
            assert_eq!(window.covers(&geometry, place), own.count() as u64 == all);
            Ok(())
        }).unwrap();
        prop_assert_eq!(&chunks, &want);
        prop_assert_eq!(&back, &elements);
    }
}

#[test]
fn a_buffer_that_is_too_short_is_refused() {
    let geometry = Geometry::new(&[4], &[4], &[2], 1).unwrap();
    let window = ChunkBoxes::plain(&[0], &[4], 1).unwrap();
    let mut chunk = [0; 4];
    assert!(window.write_chunk(&geometry, &[0], &[1, 2, 3], &mut chunk).is_err());
    assert!(window.write_chunk(&geometry, &[0], &[1, 2, 3, 4], &mut chunk[..3]).is_err());
    window.write_chunk(&geometry, &[0], &[1, 2, 3, 4], &mut chunk).unwrap();
    assert_eq!(chunk, [1, 2, 3, 4]);
}
