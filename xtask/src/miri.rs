//! `miri`: tests under an interpreter that finds undefined behaviour.

use anyhow::Result;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

pub(crate) fn miri(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    if Step::cargo_of(repo, "nightly").args(["miri", "--version"]).stdout().is_err() {
        return Ok(Outcome::NotRun("Miri is not available for the installed nightly".to_owned()));
    }
    // What uses unsafe. Without the codecs, whose C code Miri cannot run.
    Step::cargo_of(repo, "nightly")
        .args(["miri", "test", "--package", "container-core", "--lib"])
        .args(["--no-default-features", "--features", "mmap", "--", "source::mmap::"])
        .env("MIRIFLAGS", "-Zmiri-disable-isolation")
        .run()?;
    // The plain form of the kernels, which Miri takes for want of vectors, and the copies of LZ4 and BloscLZ.
    // Tests that damage or vary long data run for hours there.
    Step::cargo_of(repo, "nightly")
        .args(["miri", "test", "--package", "blosc-chunk", "--lib", "--", "simd::", "filters::"])
        .args(["lz4::tests::dictionaries_are_reached_into", "blosclz::tests::a_cut_stream_is_at_fault"])
        .env("MIRIFLAGS", "-Zmiri-disable-isolation")
        .run()?;
    Ok(Outcome::Done)
}
