//! Tables of text into an array file.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use container_core::write::Durability;
use holdall::convert::ConvertOutcome;
use holdall::csv::{Csv, pack_csv};

use super::write::to_new_file_of;
use super::{Job, convert_options};
use crate::harness::{Claim, Contender, Group, Unit, timed};

/// Values of a row.
const COLUMNS: usize = 8;

/// An eighth of the bytes of the other groups: text takes longer.
pub(super) fn table<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let count = (job.bytes / 64).next_multiple_of(COLUMNS);
    let numbers = || job.values().into_iter().cycle().take(count);
    // Of both signs, in up to seven digits.
    let integers = job.made("integers.csv", |path| {
        write_table(path, numbers().map(|number| number as i64 * 8 - 4_000_000))
    })?;
    // With all digits that doubles take.
    let doubles = job.made("doubles.csv", |path| write_table(path, numbers().map(|number| number / 3.0)))?;
    Ok(vec![
        group(job, "integers", "loadtxt_integers", integers, count),
        group(job, "doubles", "loadtxt_doubles", doubles, count),
    ])
}

fn write_table(path: &Path, values: impl Iterator<Item = impl Display>) -> Result<()> {
    let mut file = BufWriter::new(File::create_new(path)?);
    for (at, value) in values.enumerate() {
        let end = if at % COLUMNS == COLUMNS - 1 { '\n' } else { ',' };
        write!(file, "{value}{end}")?;
    }
    Ok(file.flush()?)
}

fn group<'a>(
    job: &'a Job<'a>,
    kind: &str,
    command: &'static str,
    source: PathBuf,
    count: usize,
) -> Group<'a> {
    let len = count as u64 * 8;
    let table = source.clone();
    let contenders = vec![
        Contender::new("holdall", move || {
            to_new_file_of(job, "npy", len, |path| {
                let pack =
                    || Ok(pack_csv(&table, &Csv::default(), path, &convert_options(Durability::Cached))?);
                timed(pack, |outcome| {
                    ensure!(matches!(outcome, ConvertOutcome::Done(_)), "{outcome:?}");
                    Ok(None)
                })
            })
        }),
        Contender::new("numpy.loadtxt and save, told the type", move || {
            to_new_file_of(job, "npy", len, |path| job.numpy(command, &[&source, path]))
        }),
    ];
    let claims = vec![Claim::Speed("holdall", "numpy.loadtxt and save, told the type", Some(1.0))];
    let title = format!(
        "Write a table of {} million {kind} in text to .npy, without waiting for the disk",
        count / 1_000_000
    );
    Group { title, unit: Unit::Rate(len), contenders, claims }
}
