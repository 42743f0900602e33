//! `shadow`: the test suites of gsd, asdf, python-blosc2 and bloscpack, with each file that they write read by holdall as well.

use anyhow::Result;

use crate::python::{self, SUITES};
use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, wheel};

/// Runs the suites and compares.
const RUN: &str = "crates/holdall-py/tests/shadow/run.py";

pub(crate) fn shadow(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let peers = python::ready(repo)?;
    let package = wheel::unpacked(repo, false)?;
    let run = Step::new(repo, &peers).arg(RUN).arg("--peers").arg(&peers).args(["--suites", SUITES]);
    run.args(args).env("PYTHONPATH", package).run()?;
    Ok(Outcome::Done)
}
