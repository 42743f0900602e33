//! Items of reports, with their ranges and evidence.

use super::*;

fn texts(items: &[RepairItem]) -> Vec<&str> {
    items.iter().map(|item| &*item.what).collect()
}

/// A tree of arrays in flow style, each with these keys.
fn flow(arrays: &[(&str, &str)]) -> String {
    let arrays: String =
        arrays.iter().map(|(name, keys)| format!("{name}: !core/ndarray-1.1.0 {{{keys}}}\n")).collect();
    format!("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{arrays}...\n")
}

#[test]
fn rows_that_are_kept_and_lost_are_counted_for_each_array() {
    let made = file();
    let start = made.blocks[1] + 54;
    // Two rows of 32 bytes.
    let (_, report) = repaired(&made.bytes[..start + 64]);
    let lost = ["block 1: the file ends after 64 of 96 bytes", "three: all of 2 rows", "two: 1 of 3 rows"];
    assert_eq!(texts(&report.lost), lost);
    let there = start as u64..start as u64 + 64;
    let ranges: Vec<_> = report.lost.iter().map(|item| item.range.clone()).collect();
    assert_eq!(ranges, [Some(start as u64..start as u64 + 96), None, Some(there.clone())]);
    let kept = report.kept.iter().find(|item| item.what.starts_with("two")).unwrap();
    assert_eq!((&*kept.what, &kept.range), ("two: the first 2 of 3 rows", &Some(there)));
}

/// Elements of eight bytes, from which the file cuts the block: the rows that are wholly within it stay.
#[test]
fn rows_of_any_strides_are_kept_where_they_end_within_the_block() {
    let head = |keys: &str| {
        let keys = format!("source: 0, datatype: int64, byteorder: little, {keys}");
        [HEAD.as_bytes(), flow(&[("a", &keys)]).as_bytes()].concat()
    };
    for (keys, have, rows) in [
        // Elements at 8, 24, 40 and 56.
        ("shape: [4], offset: 8, strides: [16]", 63, Some(3)),
        ("shape: [4], offset: 8, strides: [16]", 64, None),
        ("shape: [4], offset: 8, strides: [16]", 48, Some(3)),
        ("shape: [4], offset: 8, strides: [16]", 47, Some(2)),
        ("shape: [4], offset: 8, strides: [16]", 16, Some(1)),
        ("shape: [4], offset: 8, strides: [16]", 15, Some(0)),
        // Columns of two: the rows begin at 0 and 8, and end at 40 and 48.
        ("shape: [2, 3], strides: [8, 16]", 48, None),
        ("shape: [2, 3], strides: [8, 16]", 47, Some(1)),
        ("shape: [2, 3], strides: [8, 16]", 39, Some(0)),
        // All rows are one.
        ("shape: [3], strides: [0]", 8, None),
        ("shape: [3], strides: [0]", 7, Some(0)),
        ("shape: [2, 4]", 64, None),
        ("shape: [2, 4]", 63, Some(1)),
        ("shape: [2, 0]", 0, None),
    ] {
        let head = head(keys);
        let whole = [&head[..], &block(&numbers(10), 0)].concat();
        let (out, report) = repaired(&whole[..head.len() + 54 + have]);
        let text = String::from_utf8_lossy(&out).into_owned();
        let told = report.lost.iter().find(|item| item.what.starts_with("a: "));
        let first = keys.split(['[', ',', ']']).nth(1).unwrap();
        match rows {
            None => assert!(told.is_none() && text.contains(keys), "{keys} {have}: {report:?}"),
            Some(0) => assert_eq!(told.unwrap().what, format!("a: all of {first} rows"), "{keys} {have}"),
            Some(rows) => {
                let all: u64 = first.parse().unwrap();
                assert_eq!(told.unwrap().what, format!("a: {} of {all} rows", all - rows), "{keys} {have}");
                assert!(text.contains(&keys.replacen(first, &rows.to_string(), 1)), "{keys} {have}: {text}");
            }
        }
    }
}

/// A single value has no rows of which some could stay.
#[test]
fn a_value_outside_of_a_cut_block_becomes_null() {
    let keys = "source: 0, datatype: int64, byteorder: little, shape: [], offset: 8";
    let head = [HEAD.as_bytes(), flow(&[("a", keys)]).as_bytes()].concat();
    let whole = [&head[..], &block(&numbers(2), 0)].concat();
    let (out, report) = repaired(&whole[..whole.len() - 1]);
    assert!(texts(&report.lost).contains(&"a: all of it, replaced by null"), "{report:?}");
    assert!(String::from_utf8_lossy(&out).contains("\na: null\n"));
}

/// Chunks of LZ4 with eight literals each. Those that are listed cannot be decoded: their token announces more literals than there are.
fn chunks(count: u8, damaged: &[u8]) -> Vec<u8> {
    (0..count)
        .flat_map(|number| {
            let token = if damaged.contains(&number) { 0xf0 } else { 0x80 };
            [&[0, 0, 0, 13, 8, 0, 0, 0, token][..], &[number; 8]].concat()
        })
        .collect()
}

/// A file of arrays in one block of six such chunks.
fn of_chunks(count: u8, damaged: &[u8], arrays: &[(&str, &str)]) -> (Vec<u8>, usize) {
    let arrays: Vec<(&str, String)> = arrays
        .iter()
        .map(|(name, keys)| (*name, format!("source: 0, datatype: int64, byteorder: little, {keys}")))
        .collect();
    let arrays: Vec<(&str, &str)> = arrays.iter().map(|(name, keys)| (*name, &**keys)).collect();
    let head = [HEAD.as_bytes(), flow(&arrays).as_bytes()].concat();
    let mut block = block(&chunks(count, damaged), 0);
    block[10..14].copy_from_slice(b"lz4\0");
    block[30..38].copy_from_slice(&(u64::from(count) * 8).to_be_bytes());
    block[38..54].fill(0);
    ([&head[..], &block].concat(), head.len() + 54)
}

#[test]
fn rows_with_elements_in_a_hole_are_named_for_each_array() {
    let rows = |keys: &str, damaged: &[u8]| {
        let (bytes, data) = of_chunks(6, damaged, &[("a", keys)]);
        let (_, report) = repaired(&bytes);
        let of_array = report.lost.iter().filter(|item| item.what.starts_with("a: "));
        let told: Vec<(String, u64)> = of_array
            .map(|item| {
                let range = item.range.clone().unwrap();
                assert_eq!(range.end - range.start, 13, "{item:?}");
                (item.what.clone(), (range.start - 4 - data as u64) / 17)
            })
            .collect();
        told
    };
    let lost =
        |rows: &str, chunk: u64| (format!("a: lost elements of rows {rows}, replaced by zeros"), chunk);
    assert_eq!(rows("shape: [6]", &[1]), [lost("1..2 of 6", 1)]);
    assert_eq!(rows("shape: [6]", &[0, 4]), [lost("0..1 of 6", 0), lost("4..5 of 6", 4)]);
    assert_eq!(rows("shape: [3, 2]", &[1, 2]), [lost("0..1 of 3", 1), lost("1..2 of 3", 2)]);
    assert_eq!(rows("shape: [2, 3]", &[3]), [lost("1..2 of 2", 3)]);
    assert_eq!(rows("shape: ['*']", &[2]), [lost("2..3", 2)]);
    // From the second number on, and of these every other.
    assert_eq!(rows("shape: [5], offset: 8", &[0, 1]), [lost("0..1 of 5", 1)]);
    assert_eq!(rows("shape: [3], strides: [16]", &[1, 2]), [lost("1..2 of 3", 2)]);
    // Rows at 0..24 and at 8..32: of both, bytes are in the hole.
    assert_eq!(rows("shape: [2, 2], strides: [8, 16]", &[2]), [lost("0..2 of 2", 2)]);
    // Behind the last element.
    assert_eq!(rows("shape: [2]", &[3]), []);
    let any = "a: lost elements, if any, replaced by zeros".to_owned();
    assert_eq!(rows("shape: [6], offset: 40, strides: [-8]", &[1]), [(any.clone(), 1)]);
    assert_eq!(rows("shape: []", &[1]), [(any, 1)]);
}

#[test]
fn holes_beyond_a_hundred_are_counted() {
    for (count, more) in [(100, None), (102, Some("a: lost elements in 2 more byte ranges"))] {
        // The last chunk is sound, so that all holes are before it.
        let damaged: Vec<u8> = (0..count).collect();
        let (bytes, data) = of_chunks(count + 1, &damaged, &[("a", &format!("shape: [{}]", count + 1))]);
        let (_, report) = repaired(&bytes);
        let told = texts(&report.lost);
        assert_eq!(told.iter().filter(|what| what.starts_with("a: lost elements of")).count(), 100);
        let rest = report.lost.iter().find(|item| item.what.starts_with("a: lost elements in"));
        assert_eq!(rest.map(|item| &*item.what), more);
        let block = Some(data as u64..bytes.len() as u64);
        assert!(rest.is_none_or(|item| item.range == block), "{rest:?}");
    }
}

#[test]
fn zeros_in_the_data_of_a_block_are_ranges_of_bytes() {
    let (bytes, data) = of_chunks(6, &[1], &[("a", "shape: [6]")]);
    let (out, report) = repaired(&bytes);
    let lost: Vec<&str> = texts(&report.lost);
    assert!(lost[0].starts_with("block 0: its data cannot be decoded: "), "{lost:?}");
    assert_eq!(lost[1], "block 0: bytes 8..16 of its data, replaced by zeros");
    // LZ4 has no checksum.
    assert_eq!(lost[2], "block 0: the decoded bytes are unverified: lz4 has no checksum before its end");
    let kept =
        "block 0: the first 48 of 48 bytes of its data, stored uncompressed, except for the lost bytes";
    assert!(texts(&report.kept).contains(&kept), "{report:?}");
    let file = crate::File::from_bytes(out, crate::OpenOptions::default()).unwrap();
    let expected: Vec<u8> = [0_u8, 0, 2, 3, 4, 5].iter().flat_map(|number| [*number; 8]).collect();
    assert_eq!(*file.read_block(0, &Default::default()).unwrap(), expected[..]);
    // The last chunk has nothing behind it.
    let (bytes, _) = of_chunks(6, &[5], &[("a", "shape: [6]")]);
    let (_, report) = repaired(&bytes);
    assert!(texts(&report.lost).contains(&"block 0: bytes 40..48 of its data"), "{report:?}");
    assert!(texts(&report.lost).contains(&"a: 1 of 6 rows"), "{report:?}");
    let kept = "block 0: the first 40 of 48 bytes of its data, stored uncompressed";
    assert!(texts(&report.kept).contains(&kept), "{report:?}");
    // The file ends within the last chunk.
    let (bytes, _) = of_chunks(6, &[], &[("a", "shape: [6]")]);
    let (_, report) = repaired(&bytes[..bytes.len() - 3]);
    let lost = [
        "block 0: the file ends after 99 of 102 bytes",
        "block 0: bytes 40..48 of its data",
        "a: 1 of 6 rows",
    ];
    assert_eq!(texts(&report.lost), lost);
    assert!(data > 0);
}

#[test]
fn the_index_is_kept_or_made() {
    let made = file();
    let index = made.index as u64..made.bytes.len() as u64;
    let end = made.index as u64;
    let mut stale = made.bytes.clone();
    let len = stale.len();
    stale[len - 6] ^= 1;
    for (bytes, range, what) in [
        (&made.bytes[..], index.clone(), "block index"),
        (&made.bytes[..made.index], end..end, "block index, created from the blocks (it was missing)"),
        (&stale, index, "block index, created from the blocks (it did not match them)"),
    ] {
        let (_, report) = repaired(bytes);
        let told: Vec<_> = report.kept.iter().filter(|item| item.what.starts_with("block index")).collect();
        assert_eq!(told.len(), 1, "{report:?}");
        assert_eq!((&*told[0].what, &told[0].range), (what, &Some(range)));
    }
}

#[test]
fn blocks_without_an_array_are_kept_and_named() {
    let arrays = |sources: [i64; 2]| {
        let keys =
            sources.map(|source| format!("source: {source}, datatype: int8, byteorder: big, shape: [1]"));
        let head = [HEAD.as_bytes(), flow(&[("a", &keys[0]), ("b", &keys[1])]).as_bytes()].concat();
        let blocks = [block(b"x", 0), block(b"y", 0), block(b"z", 3)].concat();
        let (_, report) = repaired(&[&head[..], &blocks].concat());
        let told = report.kept.into_iter().filter(|item| item.what.contains("not referenced"));
        told.map(|item| (item.what, item.range.unwrap().start - head.len() as u64)).collect::<Vec<_>>()
    };
    let unreferenced = |block: u64| (format!("block {block}, not referenced by any array"), block * 55);
    assert_eq!(arrays([0, 1]), [unreferenced(2)]);
    // From the end.
    assert_eq!(arrays([-1, -2]), [unreferenced(0)]);
    assert_eq!(arrays([0, 0]), [unreferenced(1), unreferenced(2)]);
}

#[test]
fn invalid_nodes_beyond_a_hundred_are_counted() {
    for (count, more) in [(100, None), (103, Some("3 more invalid nodes of the tree"))] {
        let names: Vec<String> = (0..count).map(|at| format!("a{at}")).collect();
        let arrays: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "source: x, shape: 7")).collect();
        let (_, report) = repaired(&[HEAD.as_bytes(), flow(&arrays).as_bytes()].concat());
        let of_tree = |item: &&RepairItem| item.what.contains("unreadable array left unchanged");
        assert_eq!(report.lost.iter().filter(of_tree).count(), 100);
        assert_eq!(texts(&report.lost).into_iter().find(|what| what.contains("more")), more);
    }
}

#[test]
fn four_external_files_are_named() {
    for (count, told) in [
        (1, "arrays in other files, x0.asdf: left unchanged"),
        (4, "arrays in other files, x0.asdf, x1.asdf, x2.asdf, x3.asdf: left unchanged"),
        (5, "arrays in other files, x0.asdf, x1.asdf, x2.asdf, x3.asdf and others: left unchanged"),
    ] {
        // Each twice, and one array in the file itself.
        let keys: Vec<String> = (0..count)
            .flat_map(|at| [at, at])
            .map(|at| format!("source: x{at}.asdf, datatype: int8, byteorder: big, shape: [1]"))
            .chain(["source: '#', datatype: int8, byteorder: big, shape: [1]".to_owned()])
            .collect();
        let names: Vec<String> = (0..keys.len()).map(|at| format!("a{at}")).collect();
        let arrays: Vec<(&str, &str)> =
            names.iter().zip(&keys).map(|(name, keys)| (&**name, &**keys)).collect();
        let text = flow(&arrays);
        let (_, report) = repaired(&[HEAD.as_bytes(), text.as_bytes(), &block(b"x", 0)].concat());
        let kept: Vec<&str> =
            texts(&report.kept).into_iter().filter(|what| what.contains("other files")).collect();
        assert!(kept.len() == 1 && kept[0].starts_with(told), "{kept:?}");
    }
}

#[test]
fn evidence_for_a_size_is_the_digest_or_the_second_copy() {
    let data = numbers(50);
    let head = [HEAD.as_bytes(), tree(&[("one", 0, "[50]")]).as_bytes()].concat();
    let mut stored = Vec::new();
    compression::encode("zlib", &data, &Default::default(), &mut stored).unwrap();
    let mut block = block(&stored, 5);
    block[10..14].copy_from_slice(b"zlib");
    block[30..38].copy_from_slice(&401_u64.to_be_bytes());
    let place = Some(head.len() as u64..(head.len() + block.len()) as u64);
    let mut without = block.clone();
    without[38..54].fill(0);
    for (block, by, evidence) in
        [(&block, "match their digest", Evidence::Digest), (&without, "have no digest", Evidence::SecondCopy)]
    {
        let (_, report) = repaired(&[&head[..], block, &index(&[head.len()])].concat());
        let [item] = &report.guessed[..] else { panic!("{report:?}") };
        assert_eq!(item.what, format!("block 0: data_size corrected: its bytes, which {by}, decode to 400"));
        assert_eq!((item.evidence, &item.range), (Some(evidence), &place));
    }
    // More than was used, of what is set aside.
    let mut used = block.clone();
    used[22..30].copy_from_slice(&(stored.len() as u64 + 4).to_be_bytes());
    used[30..38].copy_from_slice(&400_u64.to_be_bytes());
    used[14..22].copy_from_slice(&(stored.len() as u64 + 5).to_be_bytes());
    let (_, report) = repaired(&[&head[..], &used, &index(&[head.len()])].concat());
    let told = texts(&report.guessed);
    let what = format!("block 0: used_size corrected: its first {} bytes match its digest", stored.len());
    // A number that differs in one bit is tried.
    if (stored.len() ^ (stored.len() + 4)).is_power_of_two() {
        assert_eq!(told, [what]);
    }
}

#[test]
fn bytes_outside_of_blocks_are_measured() {
    let made = file();
    let (blocks, index) = made.bytes.split_at(made.index);
    let (_, report) = repaired(&[blocks, index, b"more"].concat());
    let [item] = &report.guessed[..] else { panic!("{report:?}") };
    assert!(item.what.ends_with(": left out, because the format does not allow it here"), "{report:?}");
    let end = made.bytes.len() as u64;
    assert_eq!((&item.range, item.evidence), (&Some(end..end + 4), Some(Evidence::Walk)));
    // A blank line before the tree, where Python asdf stops.
    let blank = [HEAD.as_bytes(), b"\n", &blocks[HEAD.len()..]].concat();
    let (_, report) = repaired(&blank);
    let told = texts(&report.guessed);
    assert!(
        told.iter().any(|what| what.ends_with(": left out, because some readers stop here")),
        "{report:?}"
    );
}
