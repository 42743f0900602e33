//! Logged quantities as columns.

use anyhow::{Result, ensure};
use gsd::hoomd::columns::{LogOptions, LogTable};
use gsd::{Commit, Writer};

use super::{Job, OURS, quick, text};
use crate::harness::{Claim, Contender, Group, Unit, timed};

const READ_LOG: &str = "gsd.hoomd.read_log";
const THREADS: &str = "holdall, 2 threads";

pub(super) fn log<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let frames = job.frames(1_000_000);
    let path = job.made("log.gsd", |path| {
        let mut writer = Writer::create(path, &quick(Commit::Every(100_000)))?;
        for frame in 0..frames {
            writer.write_chunk("configuration/step", 1, 1, &[frame])?;
            writer.write_chunk("log/energy", 1, 1, &[(frame % 1000) as f64])?;
            writer.write_chunk("log/pressure", 1, 1, &[(frame % 77) as f64])?;
            writer.end_frame()?;
        }
        Ok(writer.close()?)
    })?;
    let ours = |threads: usize| {
        let path = path.clone();
        move || {
            let options = LogOptions::default().with_threads(threads);
            let read = || Ok(LogTable::read(&gsd::File::open(&path)?, &options)?);
            timed(read, |table| {
                ensure!(table.columns.len() == 2 && table.len() as u64 == frames, "{} rows", table.len());
                let steps = table.steps.iter().map(|step| *step as f64).sum::<f64>();
                let values = table.columns.iter().filter_map(|column| column.values.elements::<f64>());
                let values: f64 = values.flatten().sum();
                Ok(Some((steps + values) as u64))
            })
        }
    };
    let python = path.clone();
    let python = Contender::new(READ_LOG, move || job.python(&["read_log", text(&python)?]));
    Ok(vec![Group {
        title: format!("Read two logged scalars and the step of {frames} frames as columns"),
        unit: Unit::Time,
        contenders: vec![Contender::new(OURS, ours(1)), Contender::new(THREADS, ours(2)), python.at_most(1)],
        claims: vec![Claim::Speed(OURS, READ_LOG, Some(100.0)), Claim::Speed(THREADS, READ_LOG, None)],
    }])
}
