//! Logs as columns, logs that frame 0 lacks, and trajectories killed within their first commit.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use container_core::Progress;
use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use gsd::File;
use gsd::hoomd::columns::{Changes, Column, LogOptions, LogTable, Values};
use gsd::repair::repair;
use gsd::rewrite::{NewLogs, RewriteOptions, concat};
use holdall::Address;
use holdall::append::{Addition, AppendOptions, append};
use holdall::open::{Accept, open_with};

use crate::listing::{line, little_endian, text_line, whole};
use crate::peers::{Gsd, assert_same, files, gsd, listed};
use interop::json_peer::folder;

/// The rows of a column, as gsd's own log lists them.
fn lines_of(column: &Column, frames: &[u64]) -> Vec<String> {
    let rows = frames.iter().enumerate().filter(|(row, _)| !column.is_null(*row));
    rows.map(|(row, frame)| match &column.values {
        Values::Text(texts) => text_line(*frame, &column.name, texts.get(row).unwrap()),
        values => {
            let size = column.chunk_type.size() as usize;
            let len = column.width() * size;
            let bytes = little_endian(size, values_of(values, row * len, len));
            line(*frame, &column.name, column.chunk_type, column.n, column.m, &bytes)
        }
    })
    .collect()
}

fn values_of(values: &Values, start: usize, len: usize) -> &[u8] {
    let bytes: &[u8] = match values {
        Values::U8(all) => all,
        Values::U16(all) => bytemuck::cast_slice(all),
        Values::U32(all) => bytemuck::cast_slice(all),
        Values::U64(all) => bytemuck::cast_slice(all),
        Values::I8(all) => bytemuck::cast_slice(all),
        Values::I16(all) => bytemuck::cast_slice(all),
        Values::I32(all) => bytemuck::cast_slice(all),
        Values::I64(all) => bytemuck::cast_slice(all),
        Values::F32(all) => bytemuck::cast_slice(all),
        Values::F64(all) => bytemuck::cast_slice(all),
        _ => panic!("a type that logs do not have"),
    };
    &bytes[start..start + len]
}

#[test]
fn columns_of_the_log_have_the_types_and_values_that_gsd_reads() {
    let theirs = folder();
    gsd(Gsd::Newest, [OsStr::new("typed"), theirs.path().as_os_str()]);
    for (name, changes) in [("typed", &["log/changes"][..]), ("one_frame", &[])] {
        let path = theirs.path().join(name).with_extension("gsd");
        let options = LogOptions::default().with_changes(Changes::Skip);
        let table = LogTable::read(&File::open(&path).unwrap(), &options).unwrap();
        let skipped: Vec<&str> = table.skipped.iter().map(|skipped| skipped.name.as_str()).collect();
        assert_eq!(skipped, changes, "{name}");
        let found = table.columns.iter().flat_map(|column| lines_of(column, &table.frames)).collect();
        let expected = listed(&path, "logs");
        let kept = |line: &&str| !changes.iter().any(|name| line.split('\t').nth(1) == Some(name));
        let expected: Vec<&str> = expected.lines().filter(kept).collect();
        assert_same(&whole(table.len() as u64, found), &expected.join("\n"), name);
    }
}

#[test]
fn trajectories_that_were_killed_within_their_first_commit_come_back() {
    let (theirs, killed, repaired) = (folder(), folder(), folder());
    gsd(Gsd::Newest, [OsStr::new("uncommitted"), theirs.path().as_os_str(), killed.path().as_os_str()]);
    let files = files(killed.path(), "gsd");
    assert_eq!(files.len(), 12);
    for path in &files {
        let opened = open_with(path, Accept::Containers, &OpenOptions::default()).unwrap();
        assert!(!opened.container.about().complete, "{}", path.display());
        let read = ReadOptions::default();
        let report = opened.container.check(CheckDepth::Full, &read, Progress::none()).unwrap();
        assert_ne!(report.verdict().name(), "sound", "{}", path.display());
        let report = repair(path, repaired.path().join(path.file_name().unwrap())).unwrap();
        // A form of frames that none before has, and none after proves, is not taken: what is lost is told.
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_whole = !matches!(name, "plain2" | "logged2" | "typed2" | "typed5" | "typed12");
        assert_eq!(report.lost.is_empty(), is_whole, "{name}: {report:?}");
    }
    for folder in [theirs.path(), repaired.path()] {
        gsd(Gsd::Newest, [OsStr::new("frames"), folder.as_os_str()]);
    }
    for path in &files {
        let name = path.file_name().unwrap();
        let expected = listed(&theirs.path().join(name), "hoomd");
        let found = listed(&repaired.path().join(name), "hoomd");
        let frames: u64 = found.lines().next().unwrap().trim_end_matches(" frames").parse().unwrap();
        let number = |line: &str| line.split('\t').next().and_then(|frame| frame.parse().ok());
        let first = expected.lines().skip(1).filter(|line| number(line).is_some_and(|it: u64| it < frames));
        assert_same(&found, &whole(frames, first.map(str::to_owned).collect()), &path.display().to_string());
    }
}

/// Returns gsd.hoomd's reading of the files of a folder.
fn read_frames(folder: &Path) -> Vec<(String, String)> {
    gsd(Gsd::Newest, [OsStr::new("frames"), folder.as_os_str()]);
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files(folder, "gsd").iter().map(|path| (name(path), listed(path, "hoomd"))).collect()
}

#[test]
fn gsd_reads_every_frame_where_new_logs_are_not_kept() {
    let (theirs, ours) = (folder(), folder());
    gsd(Gsd::Newest, [OsStr::new("late"), theirs.path().as_os_str()]);
    let their = |name: &str| theirs.path().join(name).with_extension("gsd");
    for (first, more, is_new) in [("e", "both", true), ("both", "e", false), ("e", "late", true)] {
        let paths = [their(first), their(more)];
        for (choice, word) in [(NewLogs::Refuse, "refuse"), (NewLogs::Drop, "drop"), (NewLogs::Keep, "keep")]
        {
            let target = |how: &str| ours.path().join(format!("{word}_{how}_{first}_{more}.gsd"));
            let grown = target("append");
            std::fs::copy(&paths[0], &grown).unwrap();
            let mut options = AppendOptions::default();
            options.import.extra.push(("new-logs".into(), word.into()));
            let added = append(&grown, Addition::Datasets(&Address::file(&paths[1])), &options);
            let mut out = Vec::new();
            let [a, b] = [&paths[0], &paths[1]].map(|path| File::open(path).unwrap());
            let options = RewriteOptions::default().with_new_logs(choice);
            let joined = concat(&[&a, &b], &mut out, &options, Progress::none());
            let is_refused = is_new && choice == NewLogs::Refuse;
            assert_eq!((added.is_err(), joined.is_err()), (is_refused, is_refused), "{grown:?}");
            if is_refused {
                assert_eq!(std::fs::read(&grown).unwrap(), std::fs::read(&paths[0]).unwrap());
            } else {
                std::fs::write(target("join"), out).unwrap();
            }
        }
    }
    let mut unread = BTreeSet::new();
    for (name, list) in read_frames(ours.path()) {
        // The list of what cannot be read says why.
        if list.starts_with("KeyError") {
            unread.insert(name);
        }
    }
    let kept = ["keep_append_e_both", "keep_append_e_late", "keep_join_e_both", "keep_join_e_late"];
    assert_eq!(unread.into_iter().collect::<Vec<_>>(), kept);
}
