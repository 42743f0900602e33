//! Opening a large file: only the header may be touched.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};
use container_core::container::OpenOptions;
use container_core::dtype::{Element as _, Order};
use container_core::npy;
use container_core::source::Access;
use rawarray::RawArray;
use reference_rawarray::RawArrayFile;

use super::Job;
use crate::harness::{Claim, Contender, Group, Unit, mean};

const LEN: u64 = 4 << 30;
const COUNT: u64 = LEN / 8;
/// Opens per round, as in the Python peer.
const TIMES: u32 = 200;

pub(super) fn open<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let ra = job.scratch.file("sparse.ra");
    sparse(&ra, &ra_header())?;
    let npy = job.scratch.file("sparse.npy");
    sparse(&npy, &npy::Header::to_bytes(&f64::dtype(), &[COUNT], Order::C)?)?;
    let (a, b, c) = (ra.clone(), ra.clone(), ra);
    let mapped = "holdall, mapped";
    let contenders = vec![
        Contender::new(mapped, move || {
            mean(TIMES, || {
                let file = RawArray::<f64>::open(&a)?;
                ensure!(file.dims() == [COUNT] && file.view()?.len() as u64 == COUNT);
                Ok(())
            })
        }),
        Contender::new("holdall, header alone", move || {
            let mut options = OpenOptions::default();
            options.access = Access::Positioned;
            mean(TIMES, || {
                ensure!(rawarray::File::open_with(&b, &options)?.dims() == [COUNT]);
                Ok(())
            })
        }),
        Contender::new("rawarray 0.1.4, first dimension", move || {
            mean(TIMES, || {
                ensure!(RawArrayFile::valid_open(&c)?.u64_at(48)? == COUNT);
                Ok(())
            })
        }),
        Contender::new("numpy memmap", move || job.numpy("memmap_open", &[&npy])),
    ];
    let claims = vec![Claim::AtMost(mapped, 100.0), Claim::Speed(mapped, "numpy memmap", None)];
    Ok(vec![Group {
        title: "Open a file of 4 GiB, and close it".into(),
        unit: Unit::Time,
        contenders,
        claims,
    }])
}

/// The header of a RawArray file of `COUNT` float64, word by word.
fn ra_header() -> Vec<u8> {
    let words = [u64::from_le_bytes(*b"rawarray"), 0, 3, 8, LEN, 1, COUNT];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A file that begins with `header`, and else is a hole.
fn sparse(path: &Path, header: &[u8]) -> Result<()> {
    let mut file = File::create(path)?;
    file.write_all(header)?;
    Ok(file.set_len(header.len() as u64 + LEN)?)
}
