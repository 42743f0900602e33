//! Header lines, ends of trees, block headers and indices at their edges, each with the result of every policy.

use asdf::{BlockIndex, FaultKind, IndexState, Layout, Strictness};

use crate::crafted::{HEAD, block, file, header, index, open, plain, said, short, tree};

const ONE: &str = "a: !core/ndarray-1.1.0 {source: 0, datatype: int8, byteorder: little, shape: [4]}";

fn whole() -> Vec<u8> {
    file(ONE, &[plain(b"abcd")])
}

/// Each input, the policies that open it (compatible, strict, lenient; `R` where all is read too), and its findings except notes.
fn table(rows: &[(&str, Vec<u8>, &str, &[&str])]) {
    let mut wrong = Vec::new();
    for (name, bytes, opens, codes) in rows {
        let (said, found) = short(bytes);
        if (said.as_str(), found.as_slice()) != (opens, codes) {
            wrong.push(format!("{name}: {said} {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn headers_and_comments() {
    let with = |head: &str| [head.as_bytes(), &whole()[HEAD.len()..]].concat();
    table(&[
        ("empty", vec![], "---", &["not opened"]),
        ("no newline", b"#ASDF 1.0.0".to_vec(), "RRR", &[]),
        ("another format version", with("#ASDF 2.0.0\n"), "---", &["not opened"]),
        ("a minor format version", with("#ASDF 1.1.0\n"), "RRR", &[]),
        ("no standard", with("#ASDF 1.0.0\n"), "RRR", &[]),
        ("a standard of the future", with("#ASDF 1.0.0\n#ASDF_STANDARD 9.9.9\n"), "R-R", &["standard"]),
        ("no version", with("#ASDF 1.0.0\n#ASDF_STANDARD x\n"), "R-R", &["standard"]),
        ("a version past 2^32", with("#ASDF 99999999999999999999.0.0\n"), "---", &["not opened"]),
        (
            "comments of any bytes",
            [b"#ASDF 1.0.0\n#\xff\0\x01 %YAML\n", &whole()[HEAD.len()..]].concat(),
            "RRR",
            &[],
        ),
        ("byte order mark", [b"\xef\xbb\xbf", &whole()[..]].concat(), "---", &["not opened"]),
        ("blank line before the tree", with(&format!("{HEAD}\n")), "R-R", &["blank_before_tree"]),
        ("spaces before the tree", with(&format!("{HEAD}   ")), "R-R", &["blank_before_tree"]),
        (
            "comments without end",
            [b"#ASDF 1.0.0\n#", &vec![b'x'; 2 << 20][..]].concat(),
            "---",
            &["not opened"],
        ),
        (
            "comment lines without end",
            [b"#ASDF 1.0.0\n", &b"#\n".repeat(1 << 20)[..]].concat(),
            "---",
            &["not opened"],
        ),
        (
            "a version of a million digits",
            [b"#ASDF ", &vec![b'1'; 1 << 20][..]].concat(),
            "---",
            &["not opened"],
        ),
        (
            "blanks of a megabyte",
            [b"#ASDF", &vec![b' '; 1 << 20][..], b"1.0.0\n"].concat(),
            "---",
            &["not opened"],
        ),
    ]);
}

#[test]
fn ends_of_trees() {
    let text = |from: &str, to: &str| {
        let text = tree(ONE).replace(from, to);
        let at = text.len() as u64;
        [text.as_bytes(), &plain(b"abcd"), &index(&[at])].concat()
    };
    table(&[
        ("no dots", text("\n...\n", "\n"), "R-R", &["tree_unterminated"]),
        ("dots and a blank", text("\n...\n", "\n... \n"), "R-R", &["tree_end_blanks"]),
        ("no directive", text("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n", ""), "R-R", &["no_yaml_directive"]),
        ("1.2", text("YAML 1.1", "YAML 1.2"), "RRR", &[]),
        ("2.0", text("YAML 1.1", "YAML 2.0"), "--R", &["tree"]),
        ("two documents", text("\n...\n", "\n--- {}\n...\n"), "--R", &["tree"]),
        ("a NUL", text("a:", "a\0:"), "--R", &["tree"]),
        ("a control character", text("a:", "a\u{7}:"), "--R", &["tree"]),
    ]);
    // At the end of the file the newline may be missing, and lines may end as elsewhere.
    let bare = tree("a: 5");
    for bytes in [bare.trim_end().to_owned(), bare.replace('\n', "\r\n")] {
        assert_eq!(short(bytes.as_bytes()), ("RRR".to_owned(), vec![]), "{bytes:?}");
    }
}

#[test]
fn lines_that_are_almost_the_end() {
    // Each is checked, and costs no more for all that follows.
    for line in ["\n...x", "\n....", "\n... x", "\n...\t\u{1}"] {
        let text = format!("{HEAD}%YAML 1.1\n--- |{}", line.repeat(20_000));
        assert!(!said(text.as_bytes()).opens[1], "{line:?}");
    }
}

#[test]
fn block_headers() {
    let with = |head: asdf::BlockHeader, data: &[u8]| file(ONE, &[[&head.to_bytes()[..], data].concat()]);
    let resized = |size: u16| {
        let mut bytes = whole();
        let at = tree(ONE).len() + 4;
        bytes[at..at + 2].copy_from_slice(&size.to_be_bytes());
        bytes
    };
    let mut longer = header(b"", 4, 4, 4);
    longer.header_size = 64;
    let longer = file(ONE, &[[&longer.to_bytes()[..], &[7; 16], b"abcd"].concat()]);
    let mut flagged = header(b"", 4, 4, 4);
    flagged.flags = 0x8000_0000;
    let mut streamed = header(b"", 0, 0, 0);
    streamed.flags = 1;
    let stream = [tree(ONE).as_bytes(), &streamed.to_bytes(), b"abcd"].concat();
    streamed.compression = *b"zlib";
    let packed = [tree(ONE).as_bytes(), &streamed.to_bytes(), b"abcd"].concat();
    table(&[
        ("a longer header", longer, "RRR", &[]),
        ("header size 47", resized(47), "o-o", &["block_header"]),
        ("header size 0", resized(0), "o-o", &["block_header"]),
        ("header size past the end", resized(65535), "o-o", &["block_header"]),
        (
            "used over allocated",
            with(header(b"", 3, 4, 4), b"abcd"),
            "o-R",
            &["junk_after_blocks", "used_over_allocated"],
        ),
        ("plain sizes", with(header(b"", 4, 4, 5), b"abcd"), "o-R", &["plain_sizes"]),
        ("unknown flags", with(flagged, b"abcd"), "R-R", &["block_flags"]),
        ("streamed", stream, "RRR", &[]),
        ("streamed with a codec", packed, "o-o", &["streamed_compressed"]),
        ("an unknown codec", file(ONE, &[block(b"huff", b"abcd", 4)]), "ooo", &["compression"]),
        ("a codec that is no text", file(ONE, &[block(b"\xff\x01\0a", b"abcd", 4)]), "ooo", &["compression"]),
        ("input", file(ONE, &[block(b"inpt", b"abcd", 4)]), "ooo", &["compression"]),
    ]);
    for size in [5, 1 << 31, 1 << 62, 1 << 63, (1 << 63) - 1, u64::MAX, u64::MAX - 53] {
        for (allocated, used, data) in
            [(size, 4, 4), (size, size, size), (4, size, size), (4, 4, size), (4, size, 4), (size, size, 4)]
        {
            let said = said(&with(header(b"", allocated, used, data), b"abcd"));
            assert!(!said.opens[1] && said.opens[0] && said.opens[2], "{allocated} {used} {data}: {said:?}");
        }
    }
}

#[test]
fn indices() {
    let at = tree(ONE).len() as u64;
    let with = |list: &[u8]| [tree(ONE).as_bytes(), &plain(b"abcd"), list].concat();
    let state = |bytes: &[u8]| {
        assert!(said(bytes).opens[0]);
        open(bytes, Strictness::Compatible).unwrap().layout().index_state
    };
    assert_eq!(state(&with(&index(&[at]))), IndexState::Valid);
    assert_eq!(state(&with(&[&index(&[at])[..], &[0; 999]].concat())), IndexState::Valid);
    for list in [
        index(&[]),
        index(&[at, at]),
        index(&[at, u64::MAX]),
        index(&[at + 1]),
        index(&[0]),
        b"#ASDF BLOCK INDEX\n--- [1152921504606846976, -1]\n...\n".to_vec(),
        b"#ASDF BLOCK INDEX\n--- &a [*a]\n...\n".to_vec(),
        b"#ASDF BLOCK INDEX\n--- {a: b}\n...\n".to_vec(),
        b"#ASDF BLOCK INDEX\n--- 5".to_vec(),
        b"#ASDF BLOCK INDEX\n%YAML 1.1\n--- !!python/object:x [1]\n...\n".to_vec(),
        [&b"#ASDF BLOCK INDEX\n---\n"[..], &vec![b'['; 100_000], b"\n...\n"].concat(),
        [&b"#ASDF BLOCK INDEX\n---\n"[..], &b"- 1152921504606846976\n".repeat(50_000), b"...\n"].concat(),
        [&b"#ASDF BLOCK INDEX\n--- &a [x]\n"[..], &b"- &b [*a, *a]\n".repeat(200), b"...\n"].concat(),
    ] {
        assert_eq!(
            state(&with(&list)),
            IndexState::Invalid,
            "{}",
            String::from_utf8_lossy(&list[..40.min(list.len())])
        );
    }
    let (parsed, _) = BlockIndex::parse(&index(&[1 << 60])).unwrap();
    assert_eq!(parsed.offsets, [1 << 60]);
    // Readers follow the walk: whatever the index lists, block 0 is block 0.
    let lying = with(&index(&[at + 58]));
    let file = open(&lying, Strictness::Compatible).unwrap();
    assert_eq!(*file.read_block(0, &Default::default()).unwrap(), *b"abcd");
    // With two blocks it may list one twice, one alone, or a magic within the data of the first.
    let two = format!("{ONE}\nb: {}", ONE[3..].replace("source: 0", "source: 1"));
    let (at, first) = (tree(&two).len() as u64, plain(b"\xd3BLK"));
    let second = at + first.len() as u64;
    for list in [vec![at, at], vec![at], vec![second], vec![at, second - 4], vec![at, second - 4, second]] {
        let bytes = [tree(&two).as_bytes(), &first, &plain(b"efgh"), &index(&list)].concat();
        assert_eq!(state(&bytes), IndexState::Invalid, "{list:?}");
        let file = open(&bytes, Strictness::Compatible).unwrap();
        let read = |index| file.read_block(index, &Default::default()).unwrap().into_owned();
        assert_eq!((read(0), read(1)), (b"\xd3BLK".to_vec(), b"efgh".to_vec()), "{list:?}");
    }
}

/// An index at the end of the file that lists its blocks is cut from the rows and reported; all other bytes are rows.
#[test]
fn bytes_after_a_streamed_block_are_its_data_except_its_index() {
    let mut head = header(b"", 0, 0, 0);
    head.flags = 1;
    let lines = ONE.replace("shape: [4]", "shape: ['*']");
    let begin = [tree(&lines).as_bytes(), &head.to_bytes(), b"abcd"].concat();
    let at = tree(&lines).len() as u64;
    let own = index(&[at]);
    for (behind, is_index) in [
        (plain(b"efgh"), false),
        (vec![0; 99], false),
        (index(&[]), false),
        (index(&[at + 1]), false),
        (index(&[at, at]), false),
        ([&own[..], b"efgh"].concat(), false),
        (own.clone(), true),
    ] {
        let bytes = [&begin[..], &behind].concat();
        let file = open(&bytes, Strictness::Compatible).unwrap();
        let cut = is_index.then_some(begin.len() as u64..bytes.len() as u64);
        assert_eq!((file.blocks().len(), file.layout().index.clone()), (1, cut));
        let rows = if is_index { b"abcd".to_vec() } else { [b"abcd", &behind[..]].concat() };
        assert_eq!(*file.read_block(0, &Default::default()).unwrap(), rows);
        // Rows that end with a possible former index are reported as well.
        let told = file.layout().faults.iter().any(|fault| fault.kind() == FaultKind::IndexForbidden);
        assert_eq!(told, is_index || behind == index(&[at + 1]));
        let _ = said(&bytes);
    }
}

#[test]
fn files_within_blocks() {
    // A whole file, its magics, its index, and the beginning of one more, as data.
    let inner = [&whole()[..], b"#ASDF BLOCK INDEX\n--- [3]\n...\n\xd3BLK\0\x30"].concat();
    let lines = format!(
        "a: !core/ndarray-1.1.0 {{source: 0, datatype: uint8, byteorder: big, shape: [{}]}}",
        inner.len()
    );
    let outer = file(&lines, &[plain(&inner)]);
    assert_eq!(short(&outer), ("RRR".to_owned(), vec![]));
    let opened = open(&outer, Strictness::Strict).unwrap();
    assert_eq!((opened.blocks().len(), opened.arrays().len()), (1, 1));
    assert_eq!(*opened.read_block(0, &Default::default()).unwrap(), inner[..]);
    // A repair leaves it unchanged, and adds only an index to the same file without one.
    assert_eq!(crate::crafted::repaired(&outer).unwrap(), outer);
    let bare = &outer[..outer.len() - index(&[tree(&lines).len() as u64]).len()];
    assert_eq!(crate::crafted::repaired(bare).unwrap(), outer);
    let layout = Layout::parse(&bare.to_vec(), &Default::default()).unwrap();
    assert_eq!((layout.blocks.len(), layout.index_state), (1, IndexState::Absent));
}
