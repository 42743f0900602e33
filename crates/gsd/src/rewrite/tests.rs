use container_core::dtype::ByteOrder;
use proptest::prelude::*;

use super::*;
use crate::hoomd::schema::{self, Inherit};
use crate::writer::sequential::{NewChunk, to_vec};
use crate::{ChunkType, IndexEntry, Limits, OpenOptions, Strictness, Version};

fn open(bytes: Vec<u8>) -> File {
    File::from_source(Box::new(bytes), &OpenOptions::default().with_strictness(Strictness::Strict)).unwrap()
}

fn file(schema: &str, chunks: &[NewChunk<'_>]) -> File {
    open(to_vec(Plan::new("test", schema, Version::new(1, 4)).unwrap(), chunks).unwrap())
}

fn rewritten(parts: &[(&File, Frames)], options: &RewriteOptions) -> (File, RewriteReport) {
    let mut out = Vec::new();
    let report = write(parts, &mut out, options, Progress::none()).unwrap();
    assert_eq!(out.len() as u64, report.file_len);
    let file = open(out);
    assert_eq!((file.nframes(), file.index().len() as u64), (report.frames, report.chunks));
    (file, report)
}

/// Shape and little-endian bytes of what a frame has under a name, by the rule of the schema.
fn value(file: &File, frame: u64, name: &str) -> Option<(u64, u32, Vec<u8>)> {
    let bytes = |entry: IndexEntry| {
        let mut bytes = file.read_chunk(&entry).unwrap().into_owned();
        if file.header().byte_order == ByteOrder::Big {
            let size = usize::try_from(entry.chunk_type().unwrap().size()).unwrap();
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        Some((entry.n, entry.m, bytes))
    };
    if let Some(entry) = file.find_chunk(frame, name) {
        return bytes(entry);
    }
    if file.header().schema_name() != "hoomd" {
        return None;
    }
    let field = schema::field(name);
    let count = field.and_then(|field| field.container.count_chunk());
    let n = |frame| {
        let found = value(file, frame, count?)?;
        Some(u64::from(u32::from_le_bytes(found.2.try_into().unwrap())))
    };
    let inherited = match schema::inherits(name) {
        Inherit::Never => return None,
        Inherit::Always => true,
        Inherit::IfSameN => n(frame) == n(0),
    };
    if let Some(entry) = file.find_chunk(0, name).filter(|_| inherited) {
        return bytes(entry);
    }
    let field = field?;
    let rows = if schema::inherits(name) == Inherit::IfSameN { n(frame)? } else { 1 };
    let (rows, columns) = field.default_shape(rows);
    let limits = Limits::default();
    Some((rows, columns, field.default_bytes(rows, field.chunk_type, ByteOrder::Little, &limits).unwrap()))
}

const NAMES: [&str; 12] = [
    "configuration/step",
    "configuration/box",
    "particles/N",
    "particles/types",
    "particles/position",
    "particles/mass",
    "bonds/N",
    "bonds/group",
    "log/a",
    "log/particles/b",
    "state/hpmc/integrate/d",
    "own",
];

/// A frame: for every name a small number, absent above 2. Few values, so that many are equal.
type Sketch = [u8; NAMES.len()];

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    prop::collection::vec(prop::array::uniform12(0..7_u8), 1..7)
}

/// As [`NewChunk`], with its bytes.
type ChunkSketch = (u64, &'static str, ChunkType, u64, u32, Vec<u8>);

/// The chunks of a trajectory: as many rows as the frame has particles or bonds.
fn chunks(frames: &[Sketch]) -> Vec<ChunkSketch> {
    let mut chunks = Vec::new();
    for (frame, sketch) in (0..).zip(frames) {
        let n = |at: usize| {
            let own = [sketch[at], frames[0][at]].into_iter().find(|value| *value < 3);
            own.map_or(0, u64::from)
        };
        for (name, value) in NAMES.into_iter().zip(*sketch).filter(|(_, value)| *value < 3) {
            let (chunk_type, n, m) = match name {
                "configuration/step" => (ChunkType::Uint64, 1, 1),
                "configuration/box" => (ChunkType::Float, 6, 1),
                "particles/types" => (ChunkType::Int8, u64::from(value), 2),
                "particles/position" => (ChunkType::Float, n(2), 3),
                "particles/mass" => (ChunkType::Float, n(2), 1),
                "bonds/group" => (ChunkType::Uint32, n(6), 2),
                "log/a" => (ChunkType::Int16, 1, 1),
                "log/particles/b" => (ChunkType::Int16, 3, 2),
                "state/hpmc/integrate/d" => (ChunkType::Double, 1, 1),
                "own" => (ChunkType::Uint8, 2, 1),
                _ => (ChunkType::Uint32, 1, 1),
            };
            let size = usize::try_from(chunk_type.size()).unwrap();
            let mut bytes = vec![0; usize::try_from(n).unwrap() * m as usize * size];
            bytes.chunks_exact_mut(size).for_each(|element| element[0] = value);
            chunks.push((frame, name, chunk_type, n, m, bytes));
        }
    }
    chunks
}

fn trajectory(frames: &[Sketch], schema: &str) -> File {
    let chunks = chunks(frames);
    let chunks: Vec<NewChunk<'_>> = chunks
        .iter()
        .map(|(frame, name, of, n, m, bytes)| (*frame, *name, *of, *n, *m, &bytes[..]))
        .collect();
    file(schema, &chunks)
}

/// The same file as a big-endian host would have written it.
pub(crate) fn big_endian(bytes: &[u8]) -> Vec<u8> {
    let file = open(bytes.to_vec());
    let mut big = bytes.to_vec();
    let mut header = *file.header();
    header.byte_order = ByteOrder::Big;
    big[..256].copy_from_slice(&header.to_bytes());
    for (at, entry) in file.index().iter().enumerate() {
        let place = usize::try_from(header.index_location).unwrap() + at * 32;
        big[place..place + 32].copy_from_slice(&entry.to_bytes(ByteOrder::Big));
        let range = entry.byte_range().unwrap();
        let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        let size = usize::try_from(entry.chunk_type().unwrap().size()).unwrap();
        big[range].chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    big
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn every_frame_reads_as_before(
        a in sketches(), b in sketches(), start in 0..6_u64, step in 1..4_u64, drop in any::<bool>(), big in any::<bool>(),
        hoomd in prop::bool::weighted(0.8), stored in prop::bool::weighted(0.1),
    ) {
        let schema = if hoomd { "hoomd" } else { "none" };
        let (a, mut b) = (trajectory(&a, schema), trajectory(&b, schema));
        if big {
            b = open(big_endian(b.source().lend(0..b.source().len()).unwrap()));
        }
        let equal = if drop { RedundantChunks::Drop } else { RedundantChunks::Keep };
        let defaults = if stored { Defaults::StoredOnly } else { Defaults::Schema };
        let options = RewriteOptions::default().with_redundant_chunks(equal).with_defaults(defaults);
        let options = options.with_new_logs(NewLogs::Keep);
        let start = start.min(a.nframes());
        let chosen = Frames::range(start..a.nframes()).by(step).unwrap();
        let both = [(&a, chosen), (&b, Frames::all(&b))];
        for parts in [&both[..1], &both[1..], &both[..]] {
            let (new, report) = rewritten(parts, &options);
            prop_assert_eq!(new.header().byte_order, ByteOrder::Little);
            let frames = parts.iter().flat_map(|(file, frames)| {
                (0..frames.count).map(|slot| (*file, frames.frame(slot).unwrap()))
            });
            for (at, (file, frame)) in frames.enumerate() {
                let at = at as u64;
                for name in NAMES {
                    if at >= new.nframes() {
                        prop_assert!(report.losses.iter().any(|loss| loss.dataset.is_none()));
                        continue;
                    }
                    if stored {
                        // As they are, whatever they would mean.
                        let entry = |file: &File, frame| file.find_chunk(frame, name).map(|entry| (entry.n, entry.m));
                        prop_assert_eq!(entry(&new, at), entry(file, frame), "{}", name);
                        continue;
                    }
                    let (now, before) = (value(&new, at, name), value(file, frame, name));
                    let gained = report.losses.iter().any(|loss| loss.dataset.as_deref() == Some(name));
                    if !(gained && before.is_none()) {
                        prop_assert_eq!(now, before, "{} of frame {}", name, at);
                    }
                }
            }
            // What has been rewritten once does not change any more.
            let again = Frames::all(&new);
            let (twice, second) = rewritten(&[(&new, again)], &options);
            prop_assert_eq!((second.dropped, second.added), (0, 0));
            let bytes = |file: &File| file.source().read(0..file.source().len()).unwrap().into_owned();
            prop_assert!(bytes(&twice) == bytes(&new));
        }
    }
}

const STEP: &str = "configuration/step";

#[test]
fn equal_chunks_are_written_once_and_frames_stay() {
    let (one, mass) = ([1, 0, 0, 0], 1.5_f32.to_le_bytes());
    let step = 5_u64.to_le_bytes();
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, STEP, ChunkType::Uint64, 1, 1, &step),
        (0, "particles/N", ChunkType::Uint32, 1, 1, &one),
        (0, "particles/mass", ChunkType::Float, 1, 1, &mass),
        (1, STEP, ChunkType::Uint64, 1, 1, &step),
        (1, "particles/N", ChunkType::Uint32, 1, 1, &one),
        (1, "particles/mass", ChunkType::Float, 1, 1, &mass),
        (2, "particles/N", ChunkType::Uint32, 1, 1, &one),
        (2, "particles/mass", ChunkType::Float, 1, 1, &mass),
    ];
    let old = file("hoomd", &chunks);
    let all = [(&old, Frames::all(&old))];
    let (new, report) = rewritten(&all, &RewriteOptions::default());
    let left: Vec<_> = new
        .index()
        .iter()
        .map(|entry| (entry.frame, new.names().get(entry.id).unwrap().into_owned()))
        .collect();
    let name = |frame: u64, name: &str| (frame, name.to_owned());
    assert_eq!(
        left,
        [
            name(0, STEP),
            name(0, "particles/N"),
            name(0, "particles/mass"),
            name(1, STEP),
            name(2, "particles/mass")
        ]
    );
    assert_eq!((report.dropped, report.added, report.frames), (3, 0, 3));
    let (kept, report) =
        rewritten(&all, &RewriteOptions::default().with_redundant_chunks(RedundantChunks::Keep));
    assert_eq!((kept.index().len(), report.dropped), (8, 0));
    let (kept, _) = rewritten(&all, &RewriteOptions::default().with_defaults(Defaults::StoredOnly));
    assert_eq!(kept.index().len(), 8);
}

/// The new frame 0 has a chunk of a type that no reader takes, which others must not inherit, and get no default of.
#[test]
fn replacement_of_an_absent_chunk_has_the_schema_type() {
    let one = 1_u32.to_le_bytes();
    for n in [0_u8, 1] {
        let count = [n, 0, 0, 0];
        let chunks: Vec<NewChunk<'_>> = vec![
            (0, "particles/N", ChunkType::Uint32, 1, 1, &count),
            (1, "particles/N", ChunkType::Uint32, 1, 1, &count),
            (1, "particles/typeid", ChunkType::Float, n.into(), 1, &one[..usize::from(n) * 4]),
            (2, STEP, ChunkType::Uint64, 1, 1, &[9; 8]),
        ];
        let old = file("hoomd", &chunks);
        let (new, _) = rewritten(&[(&old, Frames::range(1..3))], &RewriteOptions::default());
        assert_eq!(value(&new, 1, "particles/typeid"), Some((n.into(), 1, vec![0; usize::from(n) * 4])));
        let entry = new.find_chunk(1, "particles/typeid").unwrap();
        assert_eq!(entry.chunk_type(), Some(ChunkType::Uint32));
    }
}

/// An invalid count leaves open whether it equals that of another frame, and what that frame would inherit from frame 0. Chunks as they
/// are stored are copied all the same.
#[test]
fn invalid_counts_get_no_defaults() {
    let (huge, minus, one) = ((5_u64 << 40).to_le_bytes(), [0xFF], 1_u32.to_le_bytes());
    let wrong = [(ChunkType::Uint64, &huge[..]), (ChunkType::Int8, &minus)];
    for (chunk_type, number) in wrong {
        let chunks: Vec<NewChunk<'_>> = vec![
            (0, STEP, ChunkType::Uint64, 1, 1, &[1; 8]),
            (1, "constraints/N", chunk_type, 1, 1, number),
            (2, "constraints/N", ChunkType::Uint32, 1, 1, &one),
        ];
        let old = file("hoomd", &chunks);
        let (mut out, options) = (Vec::new(), RewriteOptions::default());
        let error = slice(&old, &Frames::range(1..3), &mut out, &options, Progress::none()).unwrap_err();
        assert!(error.is_damage() && out.is_empty(), "{error}");
        assert_eq!(error.range(), old.index().get(1).unwrap().byte_range());
        let stack =
            crate::StackedChunks::new(&old, "constraints/value", &Frames::all(&old), Defaults::Schema);
        assert!(stack.is_err_and(|error| error.is_damage()));

        let options = options.with_defaults(Defaults::StoredOnly);
        let (new, _) = rewritten(&[(&old, Frames::range(1..3))], &options);
        assert_eq!(value(&new, 0, "constraints/N").unwrap().2, number);
        let (new, _) = rewritten(&[(&old, Frames::range(2..3))], &RewriteOptions::default());
        assert_eq!(value(&new, 0, "constraints/N").unwrap().2, one);
    }
}

/// Frame 2 has masses of 1 by default, without a chunk, and frame 1, with which the new file begins, stores others.
#[test]
fn writing_huge_defaults_is_a_limit_error() {
    let n = 2_000_000_000_u32.to_le_bytes();
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, "particles/N", ChunkType::Uint32, 1, 1, &[1, 0, 0, 0]),
        (1, "particles/N", ChunkType::Uint32, 1, 1, &n),
        (1, "particles/mass", ChunkType::Float, 1, 1, &[1; 4]),
        (2, "particles/N", ChunkType::Uint32, 1, 1, &n),
    ];
    let bytes = to_vec(Plan::new("test", "hoomd", Version::new(1, 4)).unwrap(), &chunks).unwrap();
    let mut options = OpenOptions::default().with_strictness(Strictness::Strict);
    options.limits.memory = 1 << 20;
    let old = File::from_source(Box::new(bytes), &options).unwrap();
    let (mut out, options) = (Vec::new(), RewriteOptions::default());
    let error = slice(&old, &Frames::range(1..3), &mut out, &options, Progress::none()).unwrap_err();
    assert!(matches!(error.kind(), crate::ErrorKind::Limit { .. }), "{error}");
    assert!(out.is_empty());
}

#[test]
fn a_log_that_frames_did_not_have_is_a_loss() {
    let a = file(
        "hoomd",
        &[(0, "log/x", ChunkType::Uint8, 1, 1, b"x"), (0, STEP, ChunkType::Uint64, 1, 1, &[0; 8])],
    );
    let b = file(
        "hoomd",
        &[(0, "log/y", ChunkType::Uint8, 1, 1, b"y"), (1, STEP, ChunkType::Uint64, 1, 1, &[1; 8])],
    );
    let mut out = Vec::new();
    let report = concat(&[&a, &b], &mut out, &RewriteOptions::default(), Progress::none()).unwrap();
    assert_eq!((report.frames, report.losses.len()), (3, 1));
    assert_eq!(report.losses[0].dataset.as_deref(), Some("log/x"));
    assert!(report.losses[0].what.starts_with("2 frames, the first is 1"));
    // y is in both frames of b, as before.
    let new = open(out);
    assert!(new.find_chunk(1, "log/y").is_some() && new.find_chunk(2, "log/y").is_some());
}

#[test]
fn headers_decide_what_goes_together() {
    let (a, b) = (file("hoomd", &[]), file("none", &[]));
    let mut out = Vec::new();
    let options = RewriteOptions::default();
    assert!(concat(&[], &mut out, &options, Progress::none()).is_err());
    assert!(concat(&[&a, &b], &mut out, &options, Progress::none()).is_err());
    assert!(slice(&a, &Frames::range(0..1), &mut out, &options, Progress::none()).is_err());
    assert!(out.is_empty());
    let newer = open(to_vec(Plan::new("other", "hoomd", Version::new(2, 0)).unwrap(), &[]).unwrap());
    concat(&[&a, &newer], &mut out, &options, Progress::none()).unwrap();
    let header = *open(out).header();
    assert_eq!((header.schema_version, header.application_name().as_str()), (Version::new(2, 0), "test"));
}

#[test]
fn files_of_version_1_become_2_1() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gsd/ok/append3_v1.gsd"));
    let old = open(bytes.unwrap());
    let (new, _) = rewritten(&[(&old, Frames::all(&old))], &RewriteOptions::default());
    assert_eq!(
        (old.header().gsd_version, new.header().gsd_version),
        (Version::new(1, 0), Version::new(2, 1))
    );
    for entry in old.index().iter() {
        let name = old.names().get(entry.id).unwrap();
        let copy = new.find_chunk(entry.frame, &name).unwrap();
        assert_eq!((copy.n, copy.m, copy.type_code), (entry.n, entry.m, entry.type_code));
        assert_eq!(new.read_chunk(&copy).unwrap(), old.read_chunk(&entry).unwrap());
    }
}

/// The frames that `gsd.hoomd` reads: it asks frame 0 for each log that the file lists and the frame does not store.
fn is_read(file: &File, frame: u64) -> bool {
    let logs = file.names().iter().filter(|name| name.starts_with("log/"));
    let mut missing = logs.filter(|name| file.find_chunk(frame, name).is_none());
    frame == 0 || missing.all(|name| file.find_chunk(0, &name).is_some())
}

#[test]
fn logs_that_the_first_file_lacks_are_named_before_they_make_frames_unreadable() {
    let [one, two] = [[1], [2]];
    let plain = file(
        "hoomd",
        &[(0, "log/e", ChunkType::Uint8, 1, 1, &one), (1, "log/e", ChunkType::Uint8, 1, 1, &two)],
    );
    let more = file(
        "hoomd",
        &[
            (0, "log/e", ChunkType::Uint8, 1, 1, &one),
            (0, "log/f", ChunkType::Uint8, 1, 1, &one),
            (1, "log/e", ChunkType::Uint8, 1, 1, &two),
        ],
    );
    let write_all =
        |parts: &[&File], options: &RewriteOptions| concat(parts, &mut Vec::new(), options, Progress::none());
    let refused = write_all(&[&plain, &more], &RewriteOptions::default()).unwrap_err();
    let said = refused.to_string();
    assert!(matches!(refused.kind(), container_core::ErrorKind::Usage(_)), "{said}");
    assert!(said.contains("frame 1") && said.contains("log/f"), "{said}");
    let parts = |all: &[&'_ File]| all.iter().map(|file| Frames::all(file)).collect::<Vec<_>>();
    for (files, choice, frames, has) in [
        (vec![&plain, &more], NewLogs::Drop, 4, false),
        (vec![&plain, &more], NewLogs::Keep, 4, true),
        (vec![&plain, &plain, &more], NewLogs::Drop, 6, false),
        // In this order frame 0 has both.
        (vec![&more, &plain], NewLogs::Refuse, 4, true),
    ] {
        let frames_of = parts(&files);
        let chosen: Vec<(&File, Frames)> = files.iter().copied().zip(frames_of).collect();
        let (new, report) = rewritten(&chosen, &RewriteOptions::default().with_new_logs(choice));
        assert_eq!(new.nframes(), frames);
        assert_eq!(new.names().iter().any(|name| name == "log/f"), has, "{choice:?}");
        assert_eq!((0..frames).all(|frame| is_read(&new, frame)), choice != NewLogs::Keep, "{choice:?}");
        let named = report
            .losses
            .iter()
            .filter(|loss| loss.dataset.as_deref() == Some("log/f") || loss.what.contains("log/f"));
        assert_eq!(named.count(), 1, "{:?}", report.losses);
    }
}

#[test]
fn a_log_that_is_listed_and_stored_nowhere_counts() {
    let value = [1];
    let plain = file("hoomd", &[(0, "log/e", ChunkType::Uint8, 1, 1, &value)]);
    let mut plan = Plan::new("test", "hoomd", Version::new(1, 4)).unwrap();
    plan.name(b"log/e").unwrap();
    plan.name(b"log/never").unwrap();
    let listed = open(to_vec(plan, &[(0, "log/e", ChunkType::Uint8, 1, 1, &value)]).unwrap());
    let write_all = |options: &RewriteOptions| {
        concat(&[&plain, &listed], &mut Vec::new(), options, Progress::none()).map(|done| done.frames)
    };
    assert!(write_all(&RewriteOptions::default()).unwrap_err().to_string().contains("log/never"));
    assert_eq!(write_all(&RewriteOptions::default().with_new_logs(NewLogs::Drop)).unwrap(), 2);
    // A part of one file makes no frame unreadable.
    let late = file(
        "hoomd",
        &[
            (0, "log/e", ChunkType::Uint8, 1, 1, &value),
            (2, "log/g", ChunkType::Uint8, 1, 1, &value),
            (3, "log/e", ChunkType::Uint8, 1, 1, &value),
        ],
    );
    let (new, _) = rewritten(&[(&late, Frames::range(2..4))], &RewriteOptions::default());
    assert!((0..2).all(|frame| is_read(&new, frame) || !is_read(&late, frame + 2)));
}
