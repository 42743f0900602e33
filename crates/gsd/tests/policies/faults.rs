//! One file for each fault or oddity: its code, its severity, its range, and the policies that open it.

use std::ops::Range;

use container_core::Progress;
use container_core::container::{self, CheckDepth, ReadOptions};
use container_core::dtype::ByteOrder;
use container_core::format::Input;
use container_core::report::Severity::{self, Error, Note, Warning};
use gsd::{FORMAT, File, IndexEntry, OpenOptions, Strictness};

use crate::small::{DATA, NAMES, put, slot, usual, with_entry};

type Found = Vec<(&'static str, Severity, Range<u64>)>;

/// Returns the findings of a full check, by place.
fn findings(bytes: &[u8]) -> Found {
    let input = Input::bytes(Box::new(bytes.to_vec()));
    let lens = (FORMAT.open)(input, &container::OpenOptions::default()).unwrap();
    let report = lens.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    let all = report.findings.iter();
    let mut found: Found =
        all.map(|it| (it.code, it.severity, it.range.clone().unwrap_or_default())).collect();
    found.sort_by_key(|(code, _, range)| (range.start, range.end, *code));
    found
}

/// Frames with the first of the usual chunks, or with both.
fn frames_of(counts: [usize; 5]) -> Vec<u8> {
    let mut file = usual();
    file.truncate(576);
    let mut slots = 0..8;
    for (frame, count) in (0..).zip(counts) {
        for id in (0..2).take(count) {
            let location = i64::try_from(file.len()).unwrap();
            let entry = IndexEntry { frame, n: 1, location, m: 1, id, type_code: 1, flags: 0 };
            file = put(file, slot(slots.next().unwrap()).start, &entry.to_bytes(ByteOrder::Little));
            file.push(1);
        }
    }
    file
}

/// Name, file, findings, and whether the compatible and the strict policy open the file.
struct Case(&'static str, Vec<u8>, Found, bool, bool);

#[test]
fn faults_have_their_codes_severities_and_places() {
    let word = |at: u64, value: u64| put(usual(), at, &value.to_le_bytes());
    let end = DATA + 32;
    let mut old_names = put(usual(), 24, &end.to_le_bytes());
    old_names.extend_from_slice(&usual()[512..576]);
    let mut old_index = put(usual(), 8, &end.to_le_bytes());
    old_index.extend_from_slice(&usual()[256..512]);
    let mut more = usual();
    more.extend([7; 10]);
    let mut gap = put(with_entry(2, |it| (it.frame, it.location) = (2, 608)), slot(3).start, &[2]);
    gap = put(gap, slot(3).start + 16, &612_u64.to_le_bytes());
    gap.extend([7; 16]);
    let cases = [
        Case("nothing", usual(), vec![], true, true),
        Case("index too long", word(16, 1000), vec![("index_past_end", Error, 256..32_256)], false, false),
        Case("index far away", word(8, 5000), vec![("index_past_end", Error, 8..24)], false, false),
        Case("names too long", word(32, 100), vec![("namelist_past_end", Error, 512..6912)], false, false),
        Case("no room for names", word(32, 0), vec![("namelist_past_end", Error, 32..40)], false, false),
        Case("names in the index", word(24, 480), vec![("blocks_overlap", Error, 480..512)], false, false),
        Case("no room for entries", word(16, 0), vec![("index_empty", Error, 16..24)], true, false),
        Case(
            "type",
            with_entry(2, |it| it.type_code = 77),
            vec![("entry_type", Error, slot(2))],
            false,
            false,
        ),
        Case(
            "place",
            with_entry(2, |it| it.location = 600),
            vec![("chunks_overlap", Error, 600..604)],
            true,
            true,
        ),
        Case(
            "place past",
            with_entry(2, |it| it.n = 9),
            vec![("entry_range", Error, 592..610)],
            false,
            false,
        ),
        Case(
            "place below 0",
            with_entry(1, |it| it.location = -9),
            vec![("entry_range", Error, slot(1))],
            true,
            false,
        ),
        Case("frame", with_entry(3, |it| it.frame = 8), vec![("entry_frame", Error, slot(3))], false, false),
        Case("id", with_entry(1, |it| it.id = 2), vec![("entry_id", Error, slot(1))], true, false),
        Case("flags", with_entry(1, |it| it.flags = 1), vec![("entry_flags", Error, slot(1))], true, false),
        Case(
            "no columns",
            with_entry(1, |it| it.m = 0),
            vec![("entry_zero_columns", Error, slot(1))],
            true,
            false,
        ),
        Case("order", with_entry(2, |it| it.frame = 0), vec![("entry_order", Error, slot(2))], true, false),
        Case(
            "twice",
            with_entry(3, |it| it.id = 0),
            vec![("entry_duplicate", Warning, slot(3))],
            true,
            false,
        ),
        Case(
            "hole",
            put(usual(), slot(1).start, &[0; 32]),
            vec![("hole_in_index", Error, slot(1))],
            true,
            false,
        ),
        Case(
            "half an entry",
            put(usual(), slot(4).start, &[1; 16]),
            vec![("tail_not_zero", Error, slot(4))],
            true,
            false,
        ),
        Case(
            "in the header",
            with_entry(1, |it| it.location = 40),
            vec![("chunk_in_block", Error, 40..52)],
            true,
            true,
        ),
        Case(
            "no NUL",
            put(usual(), NAMES + 63, b"x"),
            vec![("namelist_unterminated", Error, 575..576)],
            false,
            false,
        ),
        Case(
            "name after the end",
            put(usual(), NAMES + 20, b"x"),
            vec![("namelist_tail", Warning, 532..576)],
            true,
            true,
        ),
        Case(
            "name",
            put(usual(), NAMES + 3, &[0xFF]),
            vec![("name_not_utf8", Warning, 514..517)],
            true,
            true,
        ),
        Case(
            "names",
            put(usual(), NAMES, b"a\0a\0"),
            vec![("name_duplicate", Warning, 514..516)],
            true,
            true,
        ),
        Case("third name", put(usual(), NAMES + 5, b"c"), vec![("name_unused", Note, 512..576)], true, true),
        Case("application", put(usual(), 48 + 20, b"x"), vec![("header_text", Warning, 48..112)], true, true),
        Case("schema", put(usual(), 112, &[0xFF]), vec![("header_text", Warning, 112..176)], true, true),
        Case("reserved", put(usual(), 200, b"x"), vec![("reserved_not_zero", Note, 176..256)], true, true),
        Case("old names", old_names, vec![("dead_bytes", Note, 512..576)], true, true),
        Case("old index", old_index, vec![("dead_index", Note, 256..512)], true, true),
        Case(
            "no entries",
            put(usual(), 256, &[0; 128]),
            vec![
                ("name_unused", Note, 512..576),
                ("entries_missing", Error, 576..608),
                ("orphan_bytes", Note, 576..608),
            ],
            true,
            true,
        ),
        Case(
            "entries gone",
            gap,
            vec![
                ("chunkless_frames", Note, 256..384),
                ("entries_missing", Error, 592..608),
                ("orphan_bytes", Note, 592..608),
            ],
            true,
            true,
        ),
        Case("more", more, vec![("orphan_bytes", Note, end..end + 10)], true, true),
        Case(
            "same bytes",
            with_entry(3, |it| it.location = 580),
            vec![("shared_bytes", Note, 580..592), ("orphan_bytes", Note, 596..608)],
            true,
            true,
        ),
        Case(
            "frames",
            put(with_entry(2, |it| it.frame = 3), slot(3).start, &3_u64.to_le_bytes()),
            vec![("chunkless_frames", Note, 256..384)],
            true,
            true,
        ),
        Case("part", frames_of([1, 2, 2, 2, 1]), vec![("frame_pattern", Warning, 256..512)], true, true),
    ];
    let mut problems = Vec::new();
    for Case(name, bytes, expected, compatible, strict) in cases {
        let found = findings(&bytes);
        if found != expected {
            problems.push(format!("{name}: {found:?}, not {expected:?}"));
        }
        for (strictness, opens) in
            [(Strictness::Compatible, compatible), (Strictness::Strict, strict), (Strictness::Lenient, true)]
        {
            let file = File::from_source(
                Box::new(bytes.clone()),
                &OpenOptions::default().with_strictness(strictness),
            );
            if file.is_ok() != opens {
                problems
                    .push(format!("{name}: {strictness:?} {:?}", file.err().map(|error| error.to_string())));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
