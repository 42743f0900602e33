//! Comparing every block with its digest.

use anyhow::{Context as _, Result, ensure};
use asdf_rs::{AsdfFile, ChecksumStatus};
use container_core::Progress;
use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use holdall::open::{Accept, open_with};

use super::{CRATE, Clock, Job, OURS, OURS_TWO, PYTHON, python, text, timed};
use crate::harness::{Claim, Contender, Group, Unit};

/// Blocks of the file with several.
const SEVERAL: usize = 16;

const OPENSSL: &str = "MD5 of OpenSSL";

pub(super) fn verify<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    [1, SEVERAL].into_iter().map(|count| group(job, count)).collect()
}

fn group<'a>(job: &'a Job<'a>, count: usize) -> Result<Group<'a>> {
    let path = if count == 1 { job.plain()? } else { job.blocks(count)? };
    let ours = |name: &'static str, threads: usize| {
        let path = path.clone();
        Contender::new(name, move || {
            let work = || {
                let opened = open_with(&path, Accept::Containers, &OpenOptions::default())?;
                let options = ReadOptions::default().with_threads(threads);
                Ok(opened.container.check(CheckDepth::Full, &options, Progress::none())?)
            };
            timed(Clock::of(threads), work, |report| {
                ensure!(report.blocks.checked == count as u64 && report.blocks.bad == 0, "{report:?}");
                Ok(None)
            })
        })
    };
    let theirs = path.clone();
    let contenders = vec![
        ours(OURS, 1),
        ours(OURS_TWO, 2),
        Contender::new(CRATE, move || {
            let work = || {
                let file = AsdfFile::open(&theirs)?;
                (0..file.block_count()).map(|at| Ok(file.verify_block(at)?)).collect::<Result<Vec<_>>>()
            };
            timed(Clock::Cpu, work, |found| {
                found.iter().all(|one| *one == ChecksumStatus::Valid).then_some(None).context("a bad digest")
            })
        }),
        python(job, PYTHON, &["verify", "cpu", text(&path)?]),
        python(job, OPENSSL, &["md5", "cpu", text(&path)?]),
    ];
    let (one, two) = if count == 1 { (Some(0.95), None) } else { (Some(3.0), Some(1.9)) };
    Ok(Group {
        title: format!("Verify {count} block{}", if count == 1 { "" } else { "s" }),
        unit: Unit::Rate(job.bytes as u64),
        contenders,
        claims: vec![
            Claim::Speed(OURS, OPENSSL, one),
            Claim::Speed(OURS_TWO, OPENSSL, two),
            Claim::Speed(OURS, CRATE, None),
            Claim::Speed(OURS, PYTHON, None),
        ],
    })
}
