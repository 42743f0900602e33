//! Reading everything: into memory of one's own, or summed up where the map shows it.

use anyhow::Result;
use container_core::container::{OpenOptions, ReadOptions};
use container_core::source::Access;
use rawarray::RawArray;
use reference_rawarray::RawArray as Reference;

use super::Job;
use crate::harness::{Claim, Contender, Group, Unit, timed};
use crate::scratch::{check, check_values, sum};

/// Bytes before the data of a RawArray file of one dimension.
const HEADER: usize = 56;

pub(super) fn read<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (ra, npy) = (job.plain_ra()?, job.plain_npy()?);
    let (one, two) = ("holdall", "holdall, 2 threads");
    let ours = |name, threads| {
        let ra = ra.clone();
        Contender::new(name, move || {
            let mut open = OpenOptions::default();
            open.access = Access::Positioned;
            let read = ReadOptions::default().with_threads(threads);
            timed(
                || Ok(RawArray::<f64>::read_with(&ra, &open, &read)?),
                |it| Ok(Some(check_values(it.as_slice()))),
            )
        })
    };
    let (a, b, c) = (ra.clone(), ra.clone(), ra.clone());
    let contenders = vec![
        ours(one, 1),
        ours(two, 2),
        Contender::new("rawarray 0.1.4", move || {
            timed(|| Ok(Reference::<f64>::read(&a)?), |it| Ok(Some(check_values(it.data_as_ref()))))
        }),
        Contender::new("numpy.load", move || job.numpy("load", &[&npy])),
        Contender::new("numpy.fromfile", move || job.numpy("fromfile", &[&b])),
        Contender::new("std::fs::read", move || {
            timed(|| Ok(std::fs::read(&c)?), |it| Ok(Some(check(&it[HEADER..]))))
        }),
    ];
    let claims = vec![
        Claim::Speed(one, "rawarray 0.1.4", Some(5.0)),
        Claim::Speed(two, "rawarray 0.1.4", None),
        Claim::Speed(one, "numpy.load", Some(1.0)),
        Claim::Speed(two, "numpy.load", Some(1.25)),
        Claim::Speed(one, "numpy.fromfile", None),
    ];
    let unit = Unit::Rate(job.bytes as u64);
    Ok(vec![Group { title: "Read a whole file into new memory".into(), unit, contenders, claims }])
}

pub(super) fn mapped_sum<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (ra, npy) = (job.plain_ra()?, job.plain_npy()?);
    let warm = RawArray::<f64>::read(&ra)?;
    let mapped = "holdall, mapped";
    let total = |total: &f64| Ok(Some(*total as u64));
    let contenders = vec![
        Contender::new(mapped, move || timed(|| Ok(sum(&RawArray::<f64>::open(&ra)?.view()?)), total)),
        Contender::new("the same sum of memory", move || timed(|| Ok(sum(warm.as_slice())), total)),
        Contender::new("numpy memmap", move || job.numpy("memmap_sum", &[&npy])),
    ];
    let claims = vec![
        Claim::Speed(mapped, "the same sum of memory", Some(0.95)),
        Claim::Speed(mapped, "numpy memmap", None),
    ];
    let unit = Unit::Rate(job.bytes as u64);
    Ok(vec![Group { title: "Open a file, and sum up its values".into(), unit, contenders, claims }])
}
