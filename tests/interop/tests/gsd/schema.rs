//! Random frames of schema hoomd, written by gsd.hoomd and here.

use std::ffi::OsStr;
use std::path::Path;

use gsd::hoomd::{StepRule, Trajectory, TrajectoryOptions, TrajectoryWriter, Validation};
use gsd::{Commit, CommitScheme, Durability, Version, WriterOptions};
use holdall::Address;
use holdall::append::{Addition, AppendOptions, append};

use crate::peers::{Gsd, assert_same, files, gsd, listed};
use crate::{fields, listing};
use interop::json_peer::folder;

fn random(release: Gsd, folder: &Path, count: &str) {
    gsd(release, [OsStr::new("random"), folder.as_os_str(), OsStr::new("0"), OsStr::new(count)]);
}

/// Has gsd.hoomd list the frames of every file, over gsd.fl and over gsd.pygsd, and compares with `expected`.
fn assert_frames(release: Gsd, folder: &Path, expected: impl Fn(&Path) -> String) {
    gsd(release, [OsStr::new("frames"), folder.as_os_str()]);
    for path in files(folder, "gsd") {
        let expected = expected(&path);
        for by in ["hoomd", "hoomd_pygsd"] {
            assert_same(&listed(&path, by), &expected, &format!("{} by {by} of {release:?}", path.display()));
        }
    }
}

/// Writes the frames that a file gives chunk by chunk, as they are given.
fn write(given: &Path, target: &Path, step: StepRule, writer: WriterOptions) {
    let given = Trajectory::open(given).unwrap();
    let options = TrajectoryOptions::default()
        .with_writer(writer)
        .with_step_rule(step)
        // The numbers are random.
        .with_validation(Validation::Off);
    let mut writer = TrajectoryWriter::create(target, &options).unwrap();
    for frame in given.iter() {
        let appended = writer.append(&frame.to_stored_frame().unwrap());
        appended.unwrap_or_else(|error| panic!("{}: {error}", target.display()));
    }
    writer.close().unwrap();
}

fn writer(number: usize, version: Version) -> WriterOptions {
    WriterOptions::default()
        .with_schema("cross", "hoomd", version)
        .with_scheme([CommitScheme::Atomic, CommitScheme::Atomic, CommitScheme::Reference][number % 3])
        .with_commit([Commit::EveryFrame, Commit::Manual, Commit::Every(2), Commit::Every(9)][number % 4])
        .with_durability(Durability::Cached)
}

/// Both read what either wrote: every field of every frame, after inheritance and defaults.
#[test]
fn frames_of_each_are_read_by_the_other() {
    for (release, version, count) in
        [(Gsd::Newest, Version::new(2, 0), "30"), (Gsd::Old, Version::new(1, 4), "10")]
    {
        let (theirs, ours) = (folder(), folder());
        random(release, theirs.path(), count);
        let paths = files(theirs.path(), "gsd");
        assert_eq!(paths.len(), count.parse::<usize>().unwrap());
        assert_frames(release, theirs.path(), fields::ours);
        for (number, path) in paths.iter().enumerate() {
            let target = ours.path().join(path.file_name().unwrap());
            write(&path.with_extension("given"), &target, StepRule::Always, writer(number, version));
            assert_same(&fields::ours(&target), &fields::ours(path), &format!("{} here", path.display()));
            assert_same(&listing::hoomd_gsd(&target), &listing::ours(&target), "hoomd-gsd");
        }
        let expected = |path: &Path| listed(&theirs.path().join(path.file_name().unwrap()), "hoomd");
        assert_frames(release, ours.path(), expected);
        if release == Gsd::Old {
            assert_frames(Gsd::Newest, theirs.path(), fields::ours);
            assert_frames(Gsd::Newest, ours.path(), expected);
        }
    }
}

/// Frames of one trajectory behind those of another: gsd.hoomd reads in each what it read before.
#[test]
fn frames_that_are_appended_read_as_they_did() {
    const COUNT: usize = 60;
    let (theirs, joined) = (folder(), folder());
    random(Gsd::Newest, theirs.path(), &COUNT.to_string());
    gsd(Gsd::Newest, [OsStr::new("frames"), theirs.path().as_os_str()]);
    let paths = files(theirs.path(), "gsd");
    let target = |path: &Path| joined.path().join(path.file_name().unwrap());
    for (path, other) in paths.iter().zip(paths.iter().cycle().skip(1)) {
        std::fs::copy(path, target(path)).unwrap();
        let (source, options) = (Address::file(other), AppendOptions::default());
        let appended = append(&target(path), Addition::Datasets(&source), &options).unwrap();
        assert_eq!(appended.losses, [], "{} behind {}", other.display(), path.display());
    }
    gsd(Gsd::Newest, [OsStr::new("frames"), joined.path().as_os_str()]);
    for (path, other) in paths.iter().zip(paths.iter().cycle().skip(1)) {
        let (before, behind) = (listed(path, "hoomd"), listed(other, "hoomd"));
        let count = |list: &str| list.split(' ').next().unwrap().parse::<u64>().unwrap();
        let frames = before.lines().skip(1).map(str::to_owned).chain(behind.lines().skip(1).map(|line| {
            let (frame, rest) = line.split_once('\t').unwrap();
            format!("{}\t{rest}", frame.parse::<u64>().unwrap() + count(&before))
        }));
        let mut expected: Vec<String> = frames.collect();
        expected.sort_unstable();
        expected.insert(0, format!("{} frames", count(&before) + count(&behind)));
        let what = format!("{} behind {}", other.display(), path.display());
        let found = listed(&target(path), "hoomd");
        assert_same(found.trim_end(), &expected.join("\n"), &what);
    }
}

/// With [`StepRule::IfDifferent`]: the same chunks in each frame, no more and no less.
#[test]
fn the_same_frames_make_the_same_chunks() {
    let folder = folder();
    random(Gsd::Newest, folder.path(), "30");
    for (number, path) in files(folder.path(), "gsd").iter().enumerate() {
        let target = path.with_extension("ours");
        write(
            &path.with_extension("given"),
            &target,
            StepRule::IfDifferent,
            writer(number, Version::new(2, 0)),
        );
        assert_same(&listing::ours(&target), &listing::ours(path), &path.display().to_string());
    }
}
