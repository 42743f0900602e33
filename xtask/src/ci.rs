//! `ci`: every check, here as in CI.

use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::repo::Repo;
use crate::step::Step;
use crate::tools::Missing;
use crate::{Outcome, TASKS, flags};

/// Task, arguments, and whether `--quick` runs it. What needs seconds comes first; tests before what only
/// repeats them otherwise.
const STEPS: &[(&str, &[&str], bool)] = &[
    ("fmt", &[], true),
    ("lines", &[], true),
    ("arrows", &[], true),
    ("words", &[], true),
    ("links", &[], true),
    ("package", &[], true),
    ("clippy", &[], true),
    ("test", &["--debug"], true),
    ("goldens", &["--check"], false),
    ("fixtures", &["--check"], true),
    ("doc", &[], false),
    ("features", &[], false),
    ("consumers", &[], false),
    ("test", &["--release"], false),
    ("fuzz", &["smoke", "--seconds", "10"], false),
    ("deny", &[], false),
    ("msrv", &[], false),
];

pub(crate) fn ci(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [quick] = flags(args, ["--quick"])?;
    let start = Instant::now();
    print!("{}", Step::new(repo, "rustc").arg("--version").stdout()?);
    let mut summary = Vec::new();
    for (name, args, _) in STEPS.iter().filter(|(.., is_quick)| *is_quick || !quick) {
        let task = TASKS.iter().find(|task| task.name == *name).context("ci names a task that is not")?;
        let call = [&[*name], *args].concat().join(" ");
        println!("\n== {call}");
        let started = Instant::now();
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let end = match (task.run)(repo, &args) {
            Ok(Outcome::Done) => "ok".to_owned(),
            Ok(Outcome::NotRun(why)) => format!("NOT RUN: {why}"),
            Err(error) if error.is::<Missing>() => format!("NOT RUN: {error}"),
            Err(error) => return Err(error.context(call)),
        };
        if end != "ok" {
            println!("{end}");
        }
        summary.push(format!("{:>7.1} s  {call:<28} {end}", started.elapsed().as_secs_f64()));
    }
    println!("\n{}", summary.join("\n"));
    println!("{:>7.1} s  in all{}", start.elapsed().as_secs_f64(), if quick { " (quick)" } else { "" });
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_a_task() {
        for (name, ..) in STEPS {
            assert!(TASKS.iter().any(|task| task.name == *name), "{name}");
        }
    }
}
