//! Random calls of the file layer: what comes of them, by whomever they are made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use container_core::dtype::DType;
use gsd::{ChunkType, Commit, CommitScheme, Durability};
use interop::gsd_calls::{options, pattern, run};
use interop::json_peer::folder;

use crate::listing::{hoomd_gsd, line, ours, whole};
use crate::peers::{Gsd, assert_chunks, assert_same, gsd};

const TYPES: [&str; 10] = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"];

/// Numbers that look random and are the same each time (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Some frames: chunks under names of a growing set, in any order, small ones and now and then one that is larger than the buffer.
pub fn frames(random: &mut Random, count: u64, names: &mut Vec<String>) -> String {
    let mut script = String::new();
    for _ in 0..count {
        while names.is_empty() || random.below(4) == 0 {
            let tail = "n".repeat([0, 3, 40, 90][random.below(4) as usize]);
            names.push(format!("name/{}{tail}", names.len()));
        }
        let mut chosen: Vec<&String> = names.iter().filter(|_| random.below(3) > 0).take(12).collect();
        for at in (1..chosen.len()).rev() {
            chosen.swap(at, random.below(at as u64 + 1) as usize);
        }
        for name in chosen {
            let n = match random.below(20) {
                0 => 0,
                1 => 700 + random.below(900),
                _ => 1 + random.below(9),
            };
            let m = [1, 1, 1, 2, 3, 4][random.below(6) as usize];
            let dtype = TYPES[random.below(10) as usize];
            script += &format!("chunk {name} {dtype} {n} {m} {}\n", random.below(251));
        }
        script += "end\n";
        if random.below(9) == 0 {
            script += "flush\n";
        }
    }
    script
}

/// A file written in several sessions.
fn sessions(seed: u64) -> String {
    let mut random = Random(seed);
    let mut names = Vec::new();
    let mut script = "open w\n".to_owned();
    for session in 0..1 + random.below(4) {
        if session > 0 {
            script += "open r+\n";
        }
        if random.below(2) == 0 {
            script += &format!("buffer {}\n", [64, 900, 4096, 1 << 20][random.below(4) as usize]);
        }
        let many = random.below(8) == 0;
        let count = if many { 60 } else { random.below(12) };
        script += &frames(&mut random, count, &mut names);
        match random.below(9) {
            0 => script += "truncate\n",
            // A frame that is not ended: its chunks are lost, around a flush or not.
            1 => script += "chunk unended f4 5 3 7\nclose\n",
            2 => script += "chunk unended f4 5 3 7\nflush\nchunk more u1 9 1 8\nend\n",
            _ => {}
        }
        if !script.ends_with("close\n") {
            script += "close\n";
        }
    }
    script
}

/// The chunks that `script` leaves, if it starts with a new file.
pub fn expected(script: &str) -> String {
    let mut chunks: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let (mut frame, mut pending) = (0, Vec::new());
    for call in script.lines() {
        match call.split_whitespace().collect::<Vec<_>>()[..] {
            ["chunk", name, dtype, n, m, seed] => {
                let chunk_type = ChunkType::from_dtype(&DType::parse(dtype).unwrap()).unwrap();
                let (n, m): (u64, u32) = (n.parse().unwrap(), m.parse().unwrap());
                let bytes = pattern(seed.parse().unwrap(), (n * u64::from(m) * chunk_type.size()) as usize);
                pending.push((name.to_owned(), chunk_type, n, m, bytes));
            }
            ["end"] => {
                let lines = pending
                    .drain(..)
                    .map(|(name, chunk_type, n, m, bytes)| line(frame, &name, chunk_type, n, m, &bytes));
                chunks.entry(frame).or_default().extend(lines);
                frame += 1;
            }
            ["truncate"] => {
                chunks.clear();
                pending.clear();
                frame = 0;
            }
            ["close"] => {
                // Frames without chunks at the end leave nothing.
                pending.clear();
                chunks.retain(|_, lines| !lines.is_empty());
                frame = chunks.last_key_value().map_or(0, |(last, _)| last + 1);
            }
            _ => {}
        }
    }
    whole(frame, chunks.into_values().flatten().collect())
}

/// Writes the scripts beside the files that they make: script and file, one after the other.
fn scripts(folder: &Path, seeds: std::ops::Range<u64>, script: fn(u64) -> String) -> Vec<(PathBuf, PathBuf)> {
    let write = |seed: u64| {
        let path = folder.join(format!("{seed:03}.gsd"));
        std::fs::write(path.with_extension("calls"), script(seed)).unwrap();
        (path.with_extension("calls"), path)
    };
    seeds.map(write).collect()
}

/// Bytes, not only what is read: sizes of files, dead copies of the index and all.
#[test]
fn the_same_calls_make_the_same_file_in_the_references_scheme() {
    let folder = folder();
    let scripts = scripts(folder.path(), 0..60, sessions);
    let args = scripts.iter().flat_map(|(script, path)| [script.as_os_str(), path.as_os_str()]);
    gsd(Gsd::Newest, [std::ffi::OsStr::new("calls")].into_iter().chain(args));
    let reference = options()
        .with_scheme(CommitScheme::Reference)
        .with_commit(Commit::Manual)
        .with_durability(Durability::Cached);
    for (script, path) in scripts {
        let script = std::fs::read_to_string(script).unwrap();
        let ours = path.with_extension("ours");
        run(&script, &ours, &reference).unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
        let (found, theirs) = (std::fs::read(&ours).unwrap(), std::fs::read(&path).unwrap());
        let differs = found.iter().zip(&theirs).position(|(one, other)| one != other);
        assert_eq!((found.len(), differs), (theirs.len(), None), "{}: {script}", path.display());
    }
}

/// Each scheme and time of commits, aligned chunks or not.
#[test]
fn everyone_reads_what_is_written_here() {
    let folder = folder();
    for (script, path) in scripts(folder.path(), 100..148, sessions) {
        let script = std::fs::read_to_string(script).unwrap();
        let number = path.file_stem().unwrap().to_str().unwrap().parse::<usize>().unwrap();
        let mut options = options()
            .with_scheme([CommitScheme::Atomic, CommitScheme::Atomic, CommitScheme::Reference][number % 3])
            .with_commit(
                [Commit::EveryFrame, Commit::Every(3), Commit::Manual, Commit::Every(1000)][number % 4],
            )
            .with_durability(Durability::Cached);
        options.alignment =
            [gsd::ChunkAlignment::Packed, gsd::ChunkAlignment::Eight, gsd::ChunkAlignment::SixtyFour]
                [number / 4 % 3];
        run(&script, &path, &options).unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
        let expected = expected(&script);
        assert_same(&ours(&path), &expected, "here");
        // hoomd-gsd opens no file without a chunk.
        if expected.contains('\n') {
            assert_same(&hoomd_gsd(&path), &expected, "hoomd-gsd");
        }
    }
    for release in [Gsd::Newest, Gsd::Old] {
        assert_chunks(release, folder.path(), |path| {
            expected(&std::fs::read_to_string(path.with_extension("calls")).unwrap())
        });
    }
}
