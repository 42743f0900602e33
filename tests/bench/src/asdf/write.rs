//! Writing a plain array with its digest to a new file, without waiting for the disk.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Result, ensure};
use asdf::writer::ArraySpec;
use asdf_rs::AsdfBuilder;
use container_core::dtype::Element as _;

use super::{CRATE, Clock, Job, OURS, OURS_TWO, PYTHON, cached, text, timed, write_array};
use crate::harness::{Claim, Contender, Group, Run, Unit};
use crate::scratch::check_values;

pub(super) fn write<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let values = Rc::new(job.values());
    let raw = job.raw()?;
    let check = check_values(&values);
    let ours = |name: &'static str, threads: usize| {
        let values = Rc::clone(&values);
        let mut seen = false;
        Contender::new(name, move || {
            let spec = ArraySpec::new(f64::dtype(), [values.len() as u64]);
            let write = |path: &Path| {
                let bytes = bytemuck::cast_slice(&values);
                timed(Clock::Wall, || write_array(path, &spec, bytes, cached(threads)), |()| Ok(None))
            };
            to_new_file(job, check, &mut seen, write)
        })
    };
    let theirs = Rc::clone(&values);
    let (mut crate_seen, mut python_seen) = (false, false);
    let contenders = vec![
        ours(OURS, 1),
        ours(OURS_TWO, 2),
        Contender::new(CRATE, move || {
            let write = |path: &Path| {
                let work = || {
                    let mut builder = AsdfBuilder::new();
                    builder.set_array("data", &theirs)?;
                    Ok(builder.write_to_path(path)?)
                };
                timed(Clock::Wall, work, |()| Ok(None))
            };
            to_new_file(job, check, &mut crate_seen, write)
        }),
        Contender::new(PYTHON, move || {
            job.python(&["hold", text(&raw)?, "<f8"])?;
            let write = |path: &Path| job.python(&["write", "wall", text(path)?, "none"]);
            to_new_file(job, check, &mut python_seen, write)
        }),
    ];
    Ok(vec![Group {
        title: "Write a plain array with its MD5".into(),
        unit: Unit::Rate(job.bytes as u64),
        contenders,
        claims: vec![
            Claim::Speed(OURS_TWO, PYTHON, Some(1.4)),
            Claim::Speed(OURS, PYTHON, None),
            Claim::Speed(OURS, CRATE, None),
        ],
    }])
}

/// Has `write` make a file of a new name on a quiet disk, and removes it. Python asdf reads the first that a contender writes: it is to have
/// the values that it should, with the digests that they have.
pub(super) fn to_new_file(
    job: &Job<'_>,
    check: u64,
    seen: &mut bool,
    write: impl FnOnce(&Path) -> Result<Run>,
) -> Result<Run> {
    let path = job.scratch.fresh("asdf");
    job.scratch.settle()?;
    let run = write(&path)?;
    if !*seen {
        let read = job.python(&["read", "cpu", text(&path)?])?;
        ensure!(read.check == Some(check), "Python asdf reads {:x?}, not {check:x}", read.check);
        job.python(&["verify", "cpu", text(&path)?])?;
        *seen = true;
    }
    fs::remove_file(&path)?;
    Ok(run)
}
