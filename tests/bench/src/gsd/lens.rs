//! Listing the datasets of a long file through the lens that all formats share.

use anyhow::{Context as _, Result, ensure};
use container_core::container::OpenOptions;
use holdall::open::{Accept, open_with};

use super::{Job, OURS};
use crate::harness::{Claim, Contender, Group, Unit, timed};

pub(super) fn list<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let frames = job.frames(1_000_000);
    let path = job.scalars(frames)?;
    let ours = Contender::new(OURS, move || {
        let list = || {
            let opened = open_with(&path, Accept::Containers, &OpenOptions::default())?;
            let datasets = 0..opened.container.listed_count();
            let datasets =
                datasets.map(|at| Ok(opened.container.dataset(at).context("no dataset")?.into_owned()));
            datasets.collect::<Result<Vec<_>>>()
        };
        timed(list, |datasets| {
            ensure!(
                datasets.iter().filter(|dataset| dataset.shape == [frames, 1]).count() == 10,
                "{datasets:?}"
            );
            Ok(None)
        })
    });
    Ok(vec![Group {
        title: format!("Open a file, and list what stacks of its {frames} frames of 10 chunks"),
        unit: Unit::Time,
        contenders: vec![ours],
        claims: vec![Claim::AtMost(OURS, 1e6)],
    }])
}
