//! `zarrs`: another implementation of Zarr, which takes minutes to compile, reads what is converted to Zarr.

use anyhow::Result;

use crate::repo::{BENCH, Repo};
use crate::step::Step;
use crate::test::PYTHON;
use crate::{Outcome, flags, python};

pub(crate) fn zarrs(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let python = python::ready(repo)?;
    Step::cargo(repo)
        .args(["test", "--manifest-path", BENCH, "--features", "zarrs", "--test", "targets", "--target-dir"])
        .arg(repo.target()?)
        .args(["--", "--nocapture"])
        .env(PYTHON, &python)
        .run()?;
    Ok(Outcome::Done)
}
