//! Files that a crash leaves, as gsd reads them: a sample of the states that the writer's own tests go through.

use std::path::Path;

use container_core::dtype::DType;
use crash_test::{RecordingStorage, crash_states};
use gsd::{ChunkType, CommitScheme, Writer};
use interop::gsd_calls::{options, pattern};
use tempfile::tempdir;

use crate::calls::{Random, expected, frames};
use crate::listing;
use crate::peers::{Gsd, files, gsd, listed};

fn call(writer: &mut Writer<RecordingStorage>, call: &str) {
    match call.split_whitespace().collect::<Vec<_>>()[..] {
        ["chunk", name, dtype, n, m, seed] => {
            let chunk_type = ChunkType::from_dtype(&DType::parse(dtype).unwrap()).unwrap();
            let (n, m): (u64, u32) = (n.parse().unwrap(), m.parse().unwrap());
            let bytes = pattern(seed.parse().unwrap(), (n * u64::from(m) * chunk_type.size()) as usize);
            writer.write_chunk_bytes(name, chunk_type, n, m, &bytes).unwrap();
        }
        ["end"] => writer.end_frame().unwrap(),
        ["flush"] => writer.flush().unwrap(),
        _ => panic!("{call}"),
    }
}

/// A file, what was done to it, and what it held after how many of these operations.
struct Recorded {
    start: Vec<u8>,
    storage: RecordingStorage,
    promised: Vec<(usize, String)>,
}

/// Frames that `script` appends to those that another one makes, each committed when it ends.
fn record(first: &str, scheme: CommitScheme, script: &str) -> Recorded {
    let storage = RecordingStorage::default();
    let mut writer = Writer::create_storage(storage.clone(), &options().with_scheme(scheme)).unwrap();
    first.lines().for_each(|line| call(&mut writer, line));
    writer.close().unwrap();
    let start = storage.image();
    let storage = RecordingStorage::new(start.clone());
    let mut all = format!("{first}close\n");
    let mut promised = vec![(0, expected(&all))];
    let mut writer = Writer::open_storage(storage.clone(), &options()).unwrap();
    for line in script.lines() {
        call(&mut writer, line);
        all += &format!("{line}\n");
        if line == "end" {
            promised.push((storage.operation_count(), expected(&all)));
        }
    }
    writer.close().unwrap();
    Recorded { start, storage, promised }
}

impl Recorded {
    /// Writes each `every`th state into `folder`, and beside it what may be in it. Gives the number of states.
    fn sample(&self, folder: &Path, name: &str, every: usize) -> usize {
        let mut count = 0;
        crash_states(&self.start, &self.storage.operations(), 4, |crash| {
            count += 1;
            if count % every != 0 {
                return;
            }
            let kept = self.promised.iter().filter(|(done, _)| *done <= crash.done).count();
            let path = folder.join(format!("{name}-{count:05}.gsd"));
            std::fs::write(&path, crash.image).unwrap();
            std::fs::write(path.with_extension("what"), &crash.what).unwrap();
            for (extension, at) in [("old", kept - 1), ("new", kept.min(self.promised.len() - 1))] {
                std::fs::write(path.with_extension(extension), &self.promised[at].1).unwrap();
            }
        });
        count
    }
}

/// An index that is moved, and names that are: all the writer does in place and behind the end.
#[test]
fn gsd_reads_the_last_commit_or_the_one_before_it() {
    let folder = tempdir().unwrap();
    let mut states = 0;
    for (number, scheme) in [(0, CommitScheme::Atomic), (1, CommitScheme::Reference)] {
        let (mut random, mut names) = (Random(77 + number), Vec::new());
        let first = frames(&mut random, 12, &mut names).replace("flush\n", "");
        let script = frames(&mut random, 25, &mut names).replace("flush\n", "");
        let recorded = record(&first, scheme, &script);
        states += recorded.sample(folder.path(), &number.to_string(), 41);
    }
    assert!(states > 2000, "only {states} states");
    gsd(Gsd::Newest, [std::ffi::OsStr::new("chunks"), folder.path().as_os_str()]);
    let (mut problems, mut changed) = (Vec::new(), 0);
    for path in files(folder.path(), "gsd") {
        let (old, new) = (listed(&path, "old"), listed(&path, "new"));
        let found = [listing::ours(&path), listed(&path, "fl"), listed(&path, "pygsd")];
        changed += usize::from(found[0] != old);
        if found.iter().any(|it| *it != found[0]) || (found[0] != old && found[0] != new) {
            let lines = found.map(|list| list.lines().next().unwrap_or_default().to_owned());
            problems.push(format!("{}: {lines:?}", listed(&path, "what")));
        }
    }
    assert!(problems.is_empty(), "{} of them: {:#?}", problems.len(), problems.first());
    assert!(changed > 0, "no state is that of a commit that was under way");
}
