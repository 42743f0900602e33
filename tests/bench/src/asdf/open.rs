//! Opening a file, and closing it: with the index of its blocks, and without.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use asdf::writer::{ArraySpec, Plan};
use asdf::yaml::Yaml;
use asdf_rs::AsdfFile;
use container_core::dtype::Element as _;
use container_core::write::Overwrite;

use super::{CRATE, Job, OURS, PYTHON, cached, mean, python, text};
use crate::harness::{Claim, Contender, Group, Unit};

/// Blocks of the file with many.
const MANY_BLOCKS: usize = 10_000;

pub(super) fn open<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for count in [1, MANY_BLOCKS] {
        for index in [true, false] {
            groups.push(group(job, count, index)?);
        }
    }
    Ok(groups)
}

/// A file of so many blocks, of which the tree names the first: what a tree costs is measured elsewhere.
fn file(job: &Job<'_>, count: usize, index: bool) -> Result<PathBuf> {
    let name = format!("open-{count}-{index}.asdf");
    job.made(&name, |path| {
        let values = job.values();
        let each = values.len() / count;
        let mut options = cached(2);
        options.index = index;
        let mut plan = Plan::new(options);
        let spec = ArraySpec::new(f64::dtype(), [each as u64]);
        let first = plan.array(&spec)?;
        for _ in 1..count {
            plan.array(&spec)?;
        }
        let mut writer = plan.create(Yaml::mapping([("data", first)]), path, Overwrite::Refuse)?;
        writer.write(bytemuck::cast_slice(&values[..each * count]))?;
        Ok(writer.finish()?)
    })
}

fn group<'a>(job: &'a Job<'a>, count: usize, index: bool) -> Result<Group<'a>> {
    let path = file(job, count, index)?;
    let (times, words) = if count == 1 { (200, "20") } else { (10, "2") };
    // Looking for blocks through all of the data takes it tenths of a second each time.
    let times_of_theirs = if count == 1 && !index { 3 } else { times };
    let (ours, theirs) = (path.clone(), path.clone());
    let contenders = vec![
        Contender::new(OURS, move || {
            mean(times, || {
                let file = asdf::File::open(&ours)?;
                ensure!(file.blocks().len() == count && file.array("data").is_ok());
                Ok(())
            })
        }),
        Contender::new(CRATE, move || {
            mean(times_of_theirs, || {
                let file = AsdfFile::open(&theirs)?;
                ensure!(file.block_count() == count && file.tree()?.is_some());
                Ok(())
            })
        }),
        python(job, PYTHON, &["open", "cpu", text(&path)?, words]),
    ];
    // Others look for blocks through the data of those before: much of it in one large block, little in many small ones. With an index they
    // need not.
    let goal = (!index && count == 1).then_some(500.0);
    let with_index = (index && count > 1).then_some(1.0);
    let blocks =
        if count == 1 { format!("a block of {} MiB", job.bytes >> 20) } else { format!("{count} blocks") };
    Ok(Group {
        title: format!("Open a file of {blocks} {} an index", if index { "with" } else { "without" }),
        unit: Unit::Time,
        contenders,
        claims: vec![Claim::Speed(OURS, CRATE, goal.or(with_index)), Claim::Speed(OURS, PYTHON, goal)],
    })
}
