//! Changing one number of a tree, in a large file and in a small one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use asdf::update::{CommitKind, UpdateOptions, Updater};
use asdf::yaml::Yaml;
use asdf_rs::AsdfFile;
use container_core::write::Durability;

use super::{CRATE, Clock, Job, OURS, PYTHON, text, timed};
use crate::harness::{Claim, Contender, Group, Run, Unit};

const SMALL_FILE: &str = "holdall, a small file";
const SYNCED: &str = "holdall, on the disk";

pub(super) fn edit<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let large = 4 * job.bytes as u64;
    let ours = |name: &'static str, file: &str, len: u64, durability: Durability| {
        let path = made(job, file, len)?;
        let mut value = 0;
        Ok::<_, anyhow::Error>(Contender::new(name, move || {
            value += 1;
            change(&path, value, durability)
        }))
    };
    let (theirs, python) = (made(job, "edit-crate.asdf", large)?, made(job, "edit-python.asdf", large)?);
    let contenders = vec![
        ours(OURS, "edit-large.asdf", large, Durability::Cached)?,
        ours(SMALL_FILE, "edit-small.asdf", 4096, Durability::Cached)?,
        ours(SYNCED, "edit-synced.asdf", large, Durability::Synced)?,
        Contender::new(CRATE, move || {
            let target = job.scratch.fresh("asdf");
            let work = || {
                let mut edited = AsdfFile::open(&theirs)?.edit()?;
                edited.set_i64("meta/value", 70_000)?;
                Ok(edited.write_to_path(&target)?)
            };
            let run = timed(Clock::Wall, work, |()| Ok(None))?;
            fs::remove_file(&target)?;
            Ok(run)
        })
        .at_most(1),
        Contender::new(PYTHON, move || job.python(&["edit", "wall", text(&python)?, "70000"])).at_most(1),
    ];
    Ok(vec![Group {
        title: format!("Change a number of the tree of a file of {} MiB", large >> 20),
        unit: Unit::Time,
        contenders,
        claims: vec![
            Claim::Speed(OURS, SMALL_FILE, Some(0.9)),
            Claim::Speed(OURS, CRATE, None),
            Claim::Speed(OURS, PYTHON, None),
        ],
    }])
}

/// A file of its own for each: a tree of 500 nodes and a block of `len` zeros, which take no room on the disk. It has no digest, which
/// no contender would look at.
fn made(job: &Job<'_>, name: &str, len: u64) -> Result<PathBuf> {
    job.made(name, |path| {
        let mut head = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
            meta:\n  value: 10000\n"
            .to_owned();
        for at in 0..240 {
            writeln!(head, "  key{at}: value {at}")?;
        }
        writeln!(
            head,
            "data: !core/ndarray-1.1.0\n  source: 0\n  datatype: uint8\n  byteorder: little\n  shape: [{len}]\n..."
        )?;
        let mut bytes = head.into_bytes();
        bytes.extend(b"\xd3BLK\0\x30\0\0\0\0\0\0\0\0");
        for _ in ["allocated", "used", "data"] {
            bytes.extend(len.to_be_bytes());
        }
        bytes.extend([0; 16]);
        fs::write(path, &bytes)?;
        Ok(fs::File::options().write(true).open(path)?.set_len(bytes.len() as u64 + len)?)
    })
}

fn change(path: &Path, value: u32, durability: Durability) -> Result<Run> {
    let mut options = UpdateOptions::default();
    options.durability = durability;
    let work = || {
        let mut updater = Updater::open(path, options)?;
        updater.set("meta/value", &Yaml::int(10_000 + value))?;
        Ok(updater.commit()?)
    };
    timed(Clock::Wall, work, |committed| {
        ensure!(matches!(committed, CommitKind::OneWrite | CommitKind::Journal), "{committed:?}");
        Ok(None)
    })
}
