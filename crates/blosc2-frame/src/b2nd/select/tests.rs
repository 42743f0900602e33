use super::*;

fn plan(indices: &Indices, chunk: u32, block: u32) -> AxisPlan {
    AxisPlan::new(indices, chunk, block, &Limits::default()).unwrap()
}

/// Returns every index of the axis with its place, put back together from the plan.
fn unrolled(plan: &AxisPlan, chunk: u64, block: u64) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    for row in &plan.rows {
        for part in &plan.parts[row.parts.clone()] {
            for tile in &plan.tiles[part.tiles.clone()] {
                for at in 0..tile.count {
                    let src = tile.src.checked_add_signed(tile.step * at as isize).unwrap();
                    assert!(part.bounds.contains(&src) && src < plan.block_len);
                    found.push((tile.dst + at, row.chunk * chunk + part.block * block + src as u64));
                }
            }
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn slices_are_cut_at_chunks_and_blocks() {
    // Chunks of 10 in blocks of 4: the last block of each has 2.
    let slice = |start, step, count| Indices::Slice(AxisSelection { start, step, count, kept: Kept::Yes });
    for (start, step, count) in
        [(0, 1, 35), (3, 1, 9), (34, -1, 35), (33, -3, 11), (1, 7, 5), (0, 40, 1), (5, 30, 1)]
    {
        let plan = plan(&slice(start, step, count), 10, 4);
        let want: Vec<(usize, u64)> =
            (0..count).map(|at| (at as usize, start.wrapping_add_signed(step * at as i64))).collect();
        assert_eq!(unrolled(&plan, 10, 4), want, "{start} {step} {count}");
        assert!(plan.is_in_order && plan.count == count as usize);
    }
    let plan = plan(&slice(3, 1, 9), 10, 4);
    let tile = |src, count, dst| Tile { src, step: 1, count, dst };
    assert_eq!(plan.tiles, [tile(3, 1, 0), tile(0, 4, 1), tile(0, 2, 5), tile(0, 2, 7)]);
    assert_eq!(
        plan.rows.iter().map(|row| (row.chunk, row.parts.clone())).collect::<Vec<_>>(),
        [(0, 0..3), (1, 3..4)]
    );
}

#[test]
fn lists_are_sorted_into_blocks_and_keep_their_places() {
    let list = vec![30, 3, 4, 5, 3, 31, 30, 0];
    let plan = plan(&list.clone().into(), 10, 4);
    let want: Vec<(usize, u64)> = list.into_iter().enumerate().collect();
    assert_eq!(unrolled(&plan, 10, 4), want);
    assert!(!plan.is_in_order);
    // Each block once, so that it is decoded once.
    assert_eq!(plan.parts.iter().map(|part| part.block).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(plan.count, 8);
}

#[test]
fn selections_outside_their_axis_are_refused() {
    let usage = |selection: &[Indices], shape: &[u64]| {
        let error = check(selection, shape).unwrap_err();
        matches!(error.kind(), container_core::ErrorKind::Usage(_))
    };
    assert!(usage(&[vec![0, 5].into()], &[5]));
    assert!(usage(&[(3..6).into()], &[5]));
    assert!(usage(&[], &[5]));
    assert!(check(&[vec![4, 4].into(), (5..5).into()], &[5, 5]).is_ok());
}

/// Chunks of 4 by 3 by 5 in blocks of 2 by 2 by 5, of an array of 9 by 7 by 6.
#[test]
fn every_touched_chunk_is_visited_once_with_its_touched_blocks() {
    use std::collections::BTreeMap;

    let (shape, chunk, block) = ([9_u64, 7, 6], [4_u64, 3, 5], [2_u64, 2, 5]);
    let geometry = Geometry::new(&shape, &[4, 3, 5], &[2, 2, 5], 1).unwrap();
    let in_order = |place: [u64; 3], grid: [u64; 3]| (place[0] * grid[1] + place[1]) * grid[2] + place[2];
    for lists in [
        [vec![0, 8], vec![1, 2, 6], vec![0, 5]],
        [vec![3, 4, 5], vec![0], vec![5]],
        [(0..9).collect(), (0..7).collect(), (0..6).collect()],
        [vec![8], vec![6], vec![4, 5]],
    ] {
        let mut expected: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for x in &lists[0] {
            for y in &lists[1] {
                for z in &lists[2] {
                    let place = [*x, *y, *z];
                    let chunk_place: [u64; 3] = std::array::from_fn(|axis| place[axis] / chunk[axis]);
                    let block_place = std::array::from_fn(|axis| place[axis] % chunk[axis] / block[axis]);
                    // Grids of chunks and of blocks in a chunk: 3 by 3 by 2, and 2 by 2 by 1.
                    let blocks = expected.entry(in_order(chunk_place, [3, 3, 2])).or_default();
                    blocks.push(in_order(block_place, [2, 2, 1]));
                }
            }
        }
        for blocks in expected.values_mut() {
            blocks.sort_unstable();
            blocks.dedup();
        }
        let selection: Vec<Indices> = lists.iter().cloned().map(Indices::from).collect();
        let plan = Plan::new(&selection, &geometry, &Limits::default()).unwrap();
        let mut found = Vec::new();
        let none = plan.find_chunk(&geometry, |chunk, blocks| {
            found.push((chunk, blocks.collect::<Vec<_>>()));
            false
        });
        assert_eq!(none, None);
        assert_eq!(found, expected.clone().into_iter().collect::<Vec<_>>());
        // The first for which it holds ends the search.
        let (last, _) = expected.last_key_value().unwrap();
        let mut count = 0;
        let is_last = |chunk: u64, _: &mut dyn Iterator<Item = u64>| {
            count += 1;
            chunk == *last
        };
        assert_eq!(plan.find_chunk(&geometry, is_last), Some(*last));
        assert_eq!(count, expected.len());
        let blocks = [0, 1, 2].map(|axis| {
            let mut places: Vec<(u64, u64)> =
                lists[axis].iter().map(|at| (at / chunk[axis], at % chunk[axis] / block[axis])).collect();
            places.dedup();
            places.len() as u64
        });
        assert_eq!(plan.block_count(), blocks.iter().product::<u64>());
    }
    // A single element without axes.
    let scalar = Geometry::new(&[], &[], &[], 8).unwrap();
    let plan = Plan::new(&[], &scalar, &Limits::default()).unwrap();
    assert_eq!((plan.axes.len(), plan.block_count()), (1, 1));
}
