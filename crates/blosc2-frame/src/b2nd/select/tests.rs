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
