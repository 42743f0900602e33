//! Messages of findings, and the chunks that a check counts.

use std::ops::Range;

use container_core::Progress;
use container_core::container::{self, CheckDepth, Container, ReadOptions};
use container_core::format::Input;
use container_core::report::{BlockCounts, Report, Severity};
use gsd::sequential::{NewChunk, Plan, to_vec};
use gsd::{ChunkType, FORMAT, File, OpenOptions, Strictness, Version};

use crate::small::{DATA, NAMES, put, slot, usual, with_entry};

fn report_of(bytes: &[u8], depth: CheckDepth) -> Report {
    let input = Input::bytes(Box::new(bytes.to_vec()));
    let lens: Box<dyn Container> = (FORMAT.open)(input, &container::OpenOptions::default()).unwrap();
    lens.check(depth, &ReadOptions::default(), Progress::none()).unwrap()
}

fn messages(bytes: &[u8]) -> Vec<String> {
    report_of(bytes, CheckDepth::Full).findings.into_iter().map(|finding| finding.message).collect()
}

/// The usual file with its second frame as another one.
fn with_last_frame(frame: u64) -> Vec<u8> {
    put(with_entry(2, |it| it.frame = frame), slot(3).start, &frame.to_le_bytes())
}

/// The usual file, whose last frame is another one with its chunks at the end: those of frame 1 have no entry.
fn with_gap(frame: u64) -> Vec<u8> {
    let mut file = put(with_last_frame(frame), slot(2).start + 16, &608_u64.to_le_bytes());
    file = put(file, slot(3).start + 16, &612_u64.to_le_bytes());
    file.extend([7; 16]);
    file
}

#[test]
fn findings_say_what_is_wrong_and_where() {
    let word = |at: u64, value: u64| put(usual(), at, &value.to_le_bytes());
    let entry = |text: &str| format!("index entry {text}");
    let cases = [
        (word(16, 1000), "the index runs past the end of the file".to_owned()),
        (word(32, 100), "the namelist runs past the end of the file".into()),
        (word(32, 0), "the namelist has no space for a name".into()),
        (word(16, 0), "the index has no space for an entry".into()),
        (word(24, 480), "index and namelist overlap".into()),
        (word(24, 224), "header and namelist overlap (and 1 more)".into()),
        (with_entry(2, |it| it.type_code = 77), entry("2: unknown type code")),
        (with_entry(2, |it| it.n = 9), entry("2: its chunk is not within the file")),
        (
            with_entry(3, |it| it.frame = 8),
            entry("3: its frame is not below the allocated number of entries"),
        ),
        (with_entry(1, |it| it.id = 2), entry("1: its name is not in the namelist")),
        (with_entry(1, |it| it.flags = 1), entry("1: its flags are not 0")),
        (with_entry(1, |it| it.m = 0), entry("1: its chunk has no columns")),
        (with_entry(2, |it| it.frame = 0), entry("2: frame 0 and name 0 come after frame 0 and name 1")),
        (with_entry(3, |it| it.id = 0), entry("3: frame 1 has a second chunk of name 0")),
        (put(usual(), slot(1).start, &[0; 32]), "1 unused slots before index entry 2".into()),
        (
            put(usual(), slot(4).start, &[1; 16]),
            "slot 4 of the index is unused, but not zero: a partly written entry".into(),
        ),
        (put(usual(), NAMES + 63, b"x"), "the last byte of the namelist is not 0".into()),
        (put(usual(), NAMES + 20, b"x"), "bytes are set after the last name".into()),
        (put(usual(), NAMES + 3, &[0xFF]), "name 1 is not UTF-8".into()),
        (put(usual(), NAMES, b"a\0a\0"), "name 1, \"a\", is a duplicate".into()),
        (put(usual(), NAMES + 5, b"c"), "unused name \"c\"".into()),
        (put(usual(), NAMES + 5, b"c\0d\0e"), "unused name \"c\" (and 2 more)".into()),
        (put(usual(), 48, b"\xFF"), "the application is not UTF-8 text padded with NULs".into()),
        (put(usual(), 175, b"x"), "the schema is not UTF-8 text padded with NULs".into()),
        (put(usual(), 200, b"x"), "reserved bytes of the header are set".into()),
        (with_last_frame(2), "1 frame has no chunk".into()),
        (with_last_frame(5), "4 frames have no chunk".into()),
    ];
    for (bytes, message) in cases {
        assert_eq!(messages(&bytes), [message]);
    }
}

#[test]
fn frames_without_entries_are_told_with_the_bytes_of_their_chunks() {
    let missing = |frames: &str, have: &str, len: usize| {
        format!(
            "{frames} {have} no entry, but {len} bytes outside every chunk are where their chunks would be: see repair"
        )
    };
    let one = [
        missing("frame 1", "has", 16),
        "1 frame has no chunk".into(),
        "16 bytes outside every chunk, where repair looks for frames".into(),
    ];
    assert_eq!(messages(&with_gap(2)), one);
    let several = messages(&with_gap(4));
    assert_eq!(several[0], missing("frames 1 to 3", "have", 16));
    // No entry at all.
    let first = &messages(&put(usual(), 256, &[0; 128]))[0];
    assert!(
        first.starts_with("the index has no entry, but there are 2 names and 32 bytes of data: "),
        "{first}"
    );
    // Without names, bytes after the blocks are data from 8 on.
    let nameless = |len: usize| {
        let mut file = put(put(usual(), 256, &[0; 128]), NAMES, &[0; 4]);
        file.truncate(usize::try_from(DATA).unwrap() + len);
        report_of(&file, CheckDepth::Full).findings.iter().any(|finding| finding.code == "entries_missing")
    };
    assert_eq!([7, 8, 9].map(nameless), [false, true, true]);
}

#[test]
fn a_last_frame_that_lacks_chunks_is_told_from_five_frames_on() {
    let of = |counts: &[usize]| {
        let mut chunks: Vec<NewChunk<'_>> = Vec::new();
        for (frame, count) in (0..).zip(counts) {
            let names = ["a", "b", "c"].into_iter().take(*count);
            chunks.extend(names.map(|name| -> NewChunk<'_> { (frame, name, ChunkType::Uint8, 1, 1, &[1]) }));
        }
        messages(&to_vec(Plan::new("test", "none", Version::new(1, 0)).unwrap(), &chunks).unwrap())
    };
    let lacks = |frame: u64, count: u64| {
        vec![format!("the last frame, {frame}, lacks {count} of the chunks of the frames before it")]
    };
    assert_eq!(of(&[3, 3, 3, 3, 2]), lacks(4, 1));
    assert_eq!(of(&[1, 3, 3, 3, 1]), lacks(4, 2));
    assert_eq!(of(&[3, 3, 3, 2]), [""; 0]);
    // The three before it have to be alike.
    assert_eq!(of(&[3, 2, 3, 3, 2]), [""; 0]);
    assert_eq!(of(&[3, 3, 2, 3, 2]), [""; 0]);
    assert_eq!(of(&[3, 3, 3, 3, 3]), [""; 0]);
    assert_eq!(of(&[2, 2, 2, 2, 3]), [""; 0]);
}

#[test]
fn chunks_are_counted_with_those_that_are_not_there() {
    let counts = |bytes: &[u8], depth| report_of(bytes, depth).blocks;
    let of = |total, checked, bad| BlockCounts { total, checked, bad };
    assert_eq!(counts(&usual(), CheckDepth::Full), of(4, 4, 0));
    assert_eq!(counts(&usual(), CheckDepth::Quick), of(4, 0, 0));
    for wrong in [
        with_entry(2, |it| it.type_code = 77),
        with_entry(2, |it| it.n = 9),
        // No search finds it.
        with_entry(3, |it| it.frame = 8),
    ] {
        assert_eq!(counts(&wrong, CheckDepth::Full), of(4, 3, 1));
        assert_eq!(counts(&wrong, CheckDepth::Quick), of(4, 0, 1));
    }
    let open = |bytes: Vec<u8>| {
        let lenient = OpenOptions::default().with_strictness(Strictness::Lenient);
        File::from_source(Box::new(bytes), &lenient).unwrap()
    };
    let layout = |bytes| {
        let file = open(bytes);
        let layout = file.layout();
        (
            layout.entries(),
            layout.dropped_entries(),
            layout.frames(),
            layout.used_index(),
            layout.is_complete(),
        )
    };
    assert_eq!(layout(usual()), (4, 0, 2, 256..384, true));
    assert_eq!(layout(with_entry(3, |it| it.frame = 8)), (3, 1, 2, 256..352, true));
    assert_eq!(layout(with_entry(2, |it| it.n = 9)), (4, 0, 2, 256..384, false));
}

fn hoomd(version: Version, chunks: &[NewChunk<'_>]) -> Vec<u8> {
    to_vec(Plan::new("test", "hoomd", version).unwrap(), chunks).unwrap()
}

#[test]
fn problems_of_the_schema_are_told_once_of_each_kind() {
    let (one, nan) = (1_u32.to_le_bytes(), f32::NAN.to_le_bytes());
    let n: NewChunk<'_> = (0, "particles/N", ChunkType::Uint32, 1, 1, &one);
    let real =
        |frame: u64, name: &'static str| -> NewChunk<'_> { (frame, name, ChunkType::Float, 1, 1, &nan) };
    let (mass, charge) = ("particles/mass", "particles/charge");
    for (chunks, end) in [
        (&[n, real(0, mass)][..], ""),
        (&[n, real(0, mass), real(1, mass)], " (2 frames)"),
        (&[n, real(0, mass), real(0, charge)], " (2 chunks, up to 1 frames)"),
        (&[n, real(0, mass), real(0, charge), real(1, charge)], " (2 chunks, up to 2 frames)"),
    ] {
        let bytes = hoomd(Version::new(2, 0), chunks);
        let entry = File::from_source(Box::new(bytes.clone()), &OpenOptions::default()).unwrap();
        let range = entry.find_chunk(0, mass).unwrap().byte_range();
        let report = report_of(&bytes, CheckDepth::Full);
        let [finding] = report.findings.as_slice() else { panic!("{report:?}") };
        assert_eq!((finding.code, finding.severity), ("not_finite", Severity::Warning));
        assert_eq!(finding.message, format!("frame 0: row 0 is not finite{end}"));
        assert_eq!(
            (finding.dataset.as_deref(), finding.range.clone()),
            (Some("frames/0/particles/mass"), range)
        );
        // The structure alone says nothing of values.
        assert_eq!(report_of(&bytes, CheckDepth::Quick).findings, []);
    }
}

#[test]
fn newer_schemas_are_told_with_their_version() {
    let told = |version: Version| -> Vec<(&'static str, Option<Range<u64>>, String)> {
        let bytes = hoomd(version, &[(0, "log/e", ChunkType::Uint8, 1, 1, &[1])]);
        let found = report_of(&bytes, CheckDepth::Full).findings;
        found.into_iter().map(|finding| (finding.code, finding.range, finding.message)).collect()
    };
    assert_eq!(told(Version::new(2, 0)), []);
    let newer = ("newer_schema", Some(40..44), "schema 2.1 is newer than 2.0".to_owned());
    assert_eq!(told(Version::new(2, 1)), [newer]);
    let found = told(Version::new(3, 0));
    let [(code, range, message)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((*code, range.clone()), ("newer_schema", Some(40..44)));
    assert!(message.contains("unsupported version 3.0 of the schema hoomd"), "{message}");
}

/// Message, range and context of opening a file as the reference does.
fn refused(bytes: Vec<u8>) -> (String, Option<Range<u64>>, Option<String>) {
    let error = File::from_source(Box::new(bytes), &OpenOptions::default()).err().unwrap();
    (error.kind().to_string(), error.range(), error.context().map(str::to_owned))
}

#[test]
fn files_that_the_reference_refuses_are_refused_at_their_bytes() {
    let word = |at: u64, value: u64| put(usual(), at, &value.to_le_bytes());
    let of_entry = |at: u64, why: &str| (format!("index entry {at}: {why}"), Some(slot(at)), None);
    assert_eq!(refused(with_entry(0, |it| it.type_code = 77)), of_entry(0, "unknown type code"));
    // Of eight slots the search reads 4, 2 and 3.
    assert_eq!(refused(with_entry(2, |it| it.type_code = 77)), of_entry(2, "unknown type code"));
    assert_eq!(refused(with_entry(3, |it| it.n = 90)), of_entry(3, "its chunk is not within the file"));
    let back = put(with_entry(2, |it| it.frame = 3), slot(3).start, &2_u64.to_le_bytes());
    assert_eq!(refused(back), of_entry(3, "its frame comes before that of an earlier entry"));
    let names = |why: &str, range| (why.to_owned(), Some(range), None);
    assert_eq!(
        refused(put(usual(), NAMES + 63, b"x")),
        names("the last byte of the namelist is not 0", 575..576)
    );
    assert_eq!(refused(word(32, 0)), names("the namelist has a length of 0", 32..40));
    assert_eq!(refused(word(32, 1 << 60)), names("the namelist ends past 2^64", 24..40));
    assert_eq!(refused(word(16, 1 << 60)), names("the index ends past 2^64", 8..24));
    let version = put(usual(), 44, &(3_u32 << 16).to_le_bytes());
    let (message, range, context) = refused(version);
    assert_eq!(message, "unsupported GSD file layer 3.0 (expected 0.3, 1.x or 2.x)");
    assert_eq!((range, context.as_deref()), (Some(44..48), Some("gsd header")));
    let (_, range, context) = refused(word(16, 1000));
    assert_eq!((range, context.as_deref()), (Some(256..32_256), Some("gsd index")));
    let (_, range, context) = refused(word(32, 100));
    assert_eq!((range, context.as_deref()), (Some(512..6912), Some("gsd namelist")));
}
