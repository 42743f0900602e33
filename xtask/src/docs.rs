//! `docs`: what is generated from the command: sessions, pictures and reference in docs/.

use anyhow::Result;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

/// Runs every session of the README and of docs/, and writes what it answered; draws the pictures of the gallery; and writes the reference of the command. `--check` compares.
pub(crate) fn docs(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [check] = flags(args, ["--check"])?;
    let step = Step::cargo(repo).args(["test", "--workspace", "--all-features", "--test", "docs"]);
    if check {
        step.run()?;
        return Ok(Outcome::Done);
    }
    step.env("HOLDALL_GOLDENS", "write").run()?;
    Ok(Outcome::Done)
}
