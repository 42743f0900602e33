//! Reading a plain array: into memory of one's own, or where the map shows it.

use std::rc::Rc;

use anyhow::{Context as _, Result};
use asdf::{File, OpenOptions};
use asdf_rs::AsdfFile;
use container_core::Limits;
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::source::Access;

use super::{CRATE, Clock, Job, OURS, OURS_TWO, PYTHON, python, text, timed, unproved};
use crate::harness::{Claim, Contender, Group, Unit};
use crate::scratch::{check, check_values, sum};

pub(super) fn read<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (path, raw) = (job.plain()?, job.raw()?);
    let shape = [job.bytes as u64 / 8];
    let ours = |name: &'static str, read: ReadOptions| {
        let path = path.clone();
        Contender::new(name, move || {
            let mut open = OpenOptions::default();
            open.access = Access::Positioned;
            let work = || {
                let file = File::open_with(&path, open)?;
                // With the file, so that nothing can be lent from it.
                Ok(file.read("data", &Region::whole(&shape), &read)?.into_owned(&read.limits)?)
            };
            timed(Clock::of(read.threads), work, |array| {
                Ok(Some(check(&array.bytes(Order::C, &Limits::default())?)))
            })
        })
    };
    let proved = "holdall, digests compared";
    let theirs = path.clone();
    let contenders = vec![
        ours(OURS, unproved(1)),
        ours(OURS_TWO, unproved(2)),
        ours(proved, ReadOptions::default()),
        Contender::new(CRATE, move || {
            let work = || Ok(AsdfFile::open(&theirs)?.read_array_of::<f64>("data")?);
            timed(Clock::Cpu, work, |values| Ok(Some(check_values(values))))
        }),
        python(job, PYTHON, &["read", "cpu", text(&path)?]),
        python(job, "numpy.fromfile", &["fromfile", "cpu", text(&raw)?, "<f8"]),
    ];
    Ok(vec![Group {
        title: "Read a plain array into new memory".into(),
        unit: Unit::Rate(job.bytes as u64),
        contenders,
        claims: vec![
            Claim::Speed(OURS, CRATE, Some(4.0)),
            Claim::Speed(OURS, "numpy.fromfile", Some(1.0)),
            Claim::Speed(OURS, PYTHON, None),
            Claim::Speed(OURS_TWO, "numpy.fromfile", None),
        ],
    }])
}

pub(super) fn borrow<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let path = job.plain()?;
    let shape = [job.bytes as u64 / 8];
    let warm = Rc::new(job.values());
    let total = |total: &f64| Ok(Some(*total as u64));
    let memory = "the same sum of memory";
    let (ours, theirs) = (path.clone(), path.clone());
    let contenders = vec![
        Contender::new(OURS, move || {
            let work = || {
                let file = File::open(&ours)?;
                let options = unproved(1);
                let array = file.read("data", &Region::whole(&shape), &options)?;
                let bytes = array.bytes(Order::C, &options.limits)?;
                sum_of_bytes(&bytes)
            };
            timed(Clock::Cpu, work, total)
        }),
        Contender::new(memory, move || {
            timed(Clock::Cpu, || sum_of_bytes(bytemuck::cast_slice(warm.as_slice())), total)
        }),
        Contender::new(CRATE, move || {
            let work = || sum_of_bytes(&AsdfFile::open(&theirs)?.block_data(0)?);
            timed(Clock::Cpu, work, total)
        }),
        python(job, PYTHON, &["mapped_sum", "cpu", text(&path)?]),
    ];
    Ok(vec![Group {
        title: "Open a file, and sum up the array that it lends".into(),
        unit: Unit::Rate(job.bytes as u64),
        contenders,
        claims: vec![
            Claim::Speed(OURS, memory, Some(0.9)),
            Claim::Speed(OURS, CRATE, None),
            Claim::Speed(OURS, PYTHON, None),
        ],
    }])
}

/// Data of a block begin anywhere: the sum of whole numbers of bytes that lie as they are, for all alike.
fn sum_of_bytes(bytes: &[u8]) -> Result<f64> {
    if let Ok(values) = bytemuck::try_cast_slice(bytes) {
        return Ok(sum(values));
    }
    let (blocks, rest) = bytes.as_chunks::<128>();
    let mut lanes = [0.0; 16];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane += f64::from_le_bytes(*word);
        }
    }
    let (words, rest) = rest.as_chunks::<8>();
    rest.is_empty().then_some(()).context("half a number")?;
    Ok(lanes.into_iter().chain(words.iter().map(|word| f64::from_le_bytes(*word))).sum())
}
