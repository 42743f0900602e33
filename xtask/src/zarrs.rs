//! `zarrs`: another implementation of Zarr, which takes minutes to compile, reads what is converted to Zarr.

use anyhow::Result;

use crate::repo::{BENCH, Repo};
use crate::step::Step;
use crate::test::PYTHON;
use crate::{Outcome, flags, python};

/// Reads with zarrs.
const PEER: &str = "zarrs_peer";

pub(crate) fn zarrs(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let python = python::ready(repo)?;
    let target = repo.target()?;
    Step::cargo(repo)
        .args(["build", "--bin", PEER, "--features", "zarrs", "--manifest-path", BENCH, "--target-dir"])
        .arg(&target)
        .run()?;
    // Selected out of the whole workspace, so that nothing is built anew with other features.
    Step::cargo(repo)
        .args(["test", "--workspace", "--all-features", "--test", "targets", "--", "--nocapture"])
        .env(PYTHON, &python)
        .env("HOLDALL_ZARRS", target.join("debug").join(PEER))
        .run()?;
    Ok(Outcome::Done)
}
