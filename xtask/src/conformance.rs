//! `conformance`: every fixture through the released implementations, into the table of docs/conformance.md.

use anyhow::Result;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags, python};

/// Asks the peers.
const SCRIPT: &str = "tests/interop/peers/conformance.py";
/// The Rust crate that has no Python.
const PEER: &str = "rawarray_peer";

/// Asks all of them, which takes minutes, and writes the page. `--check`: asks nobody, and compares what holdall says now.
pub(crate) fn conformance(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [check] = flags(args, ["--check"])?;
    // Selected out of the whole workspace, so that nothing is built anew with other features.
    let test =
        Step::cargo(repo).args(["test", "--workspace", "--all-features", "--test", "conformance", "table::"]);
    if check {
        test.env("HOLDALL_GOLDENS", "check").run()?;
        return Ok(Outcome::Done);
    }
    if cfg!(not(unix)) {
        return Ok(Outcome::NotRun("the readers are forked, for which it takes Unix".to_owned()));
    }
    let python = python::ready(repo)?;
    let target = repo.target()?;
    Step::cargo(repo).args(["build", "--workspace", "--all-features", "--bin", PEER]).run()?;
    let answers = target.join("conformance.tsv");
    Step::new(repo, &python).args(["-B", SCRIPT]).arg(&answers).arg(target.join("debug").join(PEER)).run()?;
    test.env("HOLDALL_GOLDENS", "write").env("HOLDALL_PEERS", &answers).run()?;
    Ok(Outcome::Done)
}
