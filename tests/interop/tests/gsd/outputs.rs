//! Files made from the fixtures: repacked, cut, joined, repaired, upgraded, replaced.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use container_core::Progress;
use gsd::hoomd::SCHEMA;
use gsd::repair::{RepairOptions, repair_source};
use gsd::rewrite::{NewLogs, RewriteOptions, concat, repack, slice};
use gsd::{Durability, File, Frames, Writer, WriterOptions, write_restart};
use tempfile::tempdir;

use crate::listing;
use crate::peers::{Gsd, assert_chunks, assert_same, files, gsd, listed};

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd").join(kind);
    files(&folder, "gsd")
}

fn name(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

/// Some frames of a list, one after the other.
fn frames_of(list: &str, frames: &[u64]) -> String {
    let mut lines = Vec::new();
    for (new, at) in frames.iter().enumerate() {
        let prefix = format!("{at}\t");
        let fields = list.lines().filter_map(|line| line.strip_prefix(&prefix));
        lines.extend(fields.map(|field| format!("{new}\t{field}")));
    }
    listing::whole(frames.len() as u64, lines)
}

/// Files of schema hoomd, rewritten: every frame that gsd.hoomd reads, it reads as before.
#[test]
fn rewritten_trajectories_are_read_as_they_were() {
    // gsd.hoomd takes no frame without a log that frame 0 lacks, unless it is frame 0; and over gsd.pygsd no empty table in frame 0.
    const LEFT_OUT: [&str; 3] = ["hoomd_late_log.joined", "hoomd_late.sliced", "duplicate_repeated.sliced"];
    let folder = tempdir().unwrap();
    let mut made = Vec::new();
    for path in [fixtures("ok"), fixtures("odd")].concat() {
        let original = folder.path().join(path.file_name().unwrap());
        let Ok(file) = File::open(&path) else { continue };
        if file.header().schema_name() != SCHEMA || file.nframes() == 0 {
            continue;
        }
        std::fs::copy(&path, &original).unwrap();
        let last = file.nframes();
        for (what, frames) in [
            ("repacked", (0..last).collect::<Vec<_>>()),
            ("sliced", (last / 2..last).collect()),
            ("joined", (0..last).chain(0..last).collect()),
        ] {
            let (mut out, options) = (Vec::new(), RewriteOptions::default().with_new_logs(NewLogs::Keep));
            let rewritten = match what {
                "repacked" => repack(&file, &mut out, &options, Progress::none()),
                "sliced" => {
                    slice(&file, &Frames::range(last / 2..last), &mut out, &options, Progress::none())
                }
                _ => concat(&[&file, &file], &mut out, &options, Progress::none()),
            };
            let target = folder.path().join(format!("{}.{what}.gsd", name(&path)));
            // What is not of the schema is not rewritten by it, and logs that come into frame 0 are told.
            if rewritten.is_ok_and(|rewritten| rewritten.losses.is_empty())
                && !LEFT_OUT.contains(&name(&target))
            {
                std::fs::write(&target, out).unwrap();
                made.push((original.clone(), frames, target));
            }
        }
    }
    gsd(Gsd::Newest, [OsStr::new("frames"), folder.path().as_os_str()]);
    let mut count = 0;
    for (original, frames, target) in made {
        for by in ["hoomd", "hoomd_pygsd"] {
            let before = listed(&original, by);
            if before.lines().next().is_some_and(|line| line.ends_with(" frames")) {
                let what = format!("{} by {by}", name(&target));
                assert_same(&listed(&target, by), &frames_of(&before, &frames), &what);
                count += 1;
            }
        }
    }
    assert!(count > 200, "only {count} lists");
}

/// Files of other schemas, repacked, and whatever can be repaired.
#[test]
fn repacked_and_repaired_files_are_read_by_gsd() {
    // Two chunks of one name in a frame, and names that are not UTF-8, which Python does not take; texts of two columns.
    const LEFT_OUT: [&str; 5] =
        ["duplicate_other", "duplicate_same", "name_not_utf8", "v1_name_cut", "v21_string_shapes"];
    let folder = tempdir().unwrap();
    let mut count = 0;
    for path in [fixtures("ok"), fixtures("odd")].concat() {
        let Ok(file) = File::open(&path) else { continue };
        let mut out = Vec::new();
        let done = repack(&file, &mut out, &RewriteOptions::default(), Progress::none());
        if file.header().schema_name() != SCHEMA && done.is_ok() && !LEFT_OUT.contains(&name(&path)) {
            let target = folder.path().join(format!("{}.repacked.gsd", name(&path)));
            std::fs::write(&target, out).unwrap();
            assert_same(&listing::ours(&target), &listing::ours(&path), name(&path));
            count += 1;
        }
    }
    for path in fixtures("bad") {
        let mut out = Vec::new();
        if repair_source(
            &std::fs::read(&path).unwrap(),
            &RepairOptions::default(),
            Some(&mut out),
            Progress::none(),
        )
        .is_ok()
        {
            std::fs::write(folder.path().join(format!("{}.repaired.gsd", name(&path))), out).unwrap();
            count += 1;
        }
    }
    assert!(count > 150, "only {count} files");
    assert_chunks(Gsd::Newest, folder.path(), listing::ours);
    assert_chunks(Gsd::Old, folder.path(), listing::ours);
}

/// Upgrades, truncation, and files that take the place of others.
#[test]
fn files_that_change_as_a_whole_are_read_by_gsd() {
    let folder = tempdir().unwrap();
    let options = WriterOptions::default().with_durability(Durability::Cached);
    for name in
        ["v1_0_frames", "v1_small", "v1_types", "v1_write_order", "v1_long_names", "v03_small", "v03_types"]
    {
        let path = folder.path().join(format!("{name}.gsd"));
        std::fs::copy(fixtures("ok")[0].with_file_name(format!("{name}.gsd")), &path).unwrap();
        let before = listing::ours(&path);
        let mut writer = Writer::open(&path, &options).unwrap();
        writer.upgrade().unwrap();
        writer.close().unwrap();
        assert_same(&listing::ours(&path), &before, name);
    }
    for frames in 0..3 {
        let path = folder.path().join(format!("truncated{frames}.gsd"));
        std::fs::copy(fixtures("ok")[0].with_file_name("fl_flushes.gsd"), &path).unwrap();
        let mut writer = Writer::open(&path, &options).unwrap();
        writer.truncate().unwrap();
        for frame in 0..frames {
            writer.write_chunk("new", 2, 1, &[frame; 2]).unwrap();
            writer.end_frame().unwrap();
        }
        writer.close().unwrap();
        assert!(listing::ours(&path).starts_with(&format!("{frames} frames")));

        let path = folder.path().join(format!("restart{frames}.gsd"));
        std::fs::copy(fixtures("ok")[0].with_file_name("v1_small.gsd"), &path).unwrap();
        let fill = |writer: &mut Writer| {
            writer.write_chunk("step", 1, 1, &[frames])?;
            writer.write_chunk("position", 4, 3, &[0.5_f32; 12])
        };
        write_restart(&path, &options, fill).unwrap();
        assert!(listing::ours(&path).starts_with("1 frames"));
    }
    assert_chunks(Gsd::Newest, folder.path(), listing::ours);
    assert_chunks(Gsd::Old, folder.path(), listing::ours);
}
