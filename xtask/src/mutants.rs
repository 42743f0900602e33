//! `mutants`: a sample of changes to a crate's code, and how many of them the crate's own tests notice.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, Usage, tools};

const VERSION: &str = "27.1.0";

/// Mutants of a sample: every so many-th, over all files of the crate.
const SAMPLE: usize = 100;

/// Part of the viable mutants that a crate's tests are to notice, in percent.
const GOAL: usize = 90;

pub(crate) fn mutants(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [krate] = args else { return Err(Usage("mutants takes the name of one crate".into()).into()) };
    let manifest = format!("crates/{krate}/Cargo.toml");
    let package = repo.packages("Cargo.toml")?.into_iter().find(|package| package.manifest == manifest);
    let package = package.with_context(|| format!("there is no crate {krate} below crates/"))?.name;
    let tools = tools::installed(repo, "cargo-mutants", VERSION)?;
    let of_package = ["mutants", "--package", &package, "--all-features"];
    let list = Step::cargo(repo).args(of_package).arg("--list").tools(&tools).stdout()?;
    let all = list.lines().count();
    let shards = all.div_ceil(SAMPLE).max(1);
    let folder = repo.target()?.join("mutants").join(krate);
    fs::create_dir_all(&folder)?;
    let run = Step::cargo(repo)
        .args(of_package)
        .args(["--shard", &format!("0/{shards}"), "--sharding", "round-robin", "--output"])
        .arg(&folder)
        .tools(&tools)
        .run();
    // It does not end with 0 where a mutant survives, either: the outcomes on the disk are the answer.
    let outcomes = folder.join("mutants.out").join("outcomes.json");
    let sample = match read(&outcomes) {
        Ok(sample) if sample.viable() > 0 => sample,
        Ok(_) => bail!("no mutant of {package} was tested: do its tests pass unchanged?"),
        Err(error) => return Err(run.err().unwrap_or(error)),
    };
    println!("\n| crate | mutants | tested | viable | caught | of 100 |\n|---|--:|--:|--:|--:|--:|");
    println!("{}", sample.row(krate, all));
    sample.missed.iter().for_each(|name| println!("not caught: {name}"));
    if sample.percent() < GOAL {
        bail!("{} of 100 mutants are caught, {GOAL} are the goal", sample.percent());
    }
    Ok(Outcome::Done)
}

/// Outcomes of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sample {
    /// Mutants that the compiler refuses.
    unviable: usize,
    /// Mutants that tests fail for, or run without end.
    caught: usize,
    /// Names of the mutants that no test notices.
    missed: Vec<String>,
}

impl Sample {
    fn viable(&self) -> usize {
        self.caught + self.missed.len()
    }

    /// Of 100 viable mutants, so many are caught.
    fn percent(&self) -> usize {
        self.caught * 100 / self.viable().max(1)
    }

    /// The line of the table in docs/contributing.md.
    fn row(&self, krate: &str, all: usize) -> String {
        let tested = self.viable() + self.unviable;
        let (viable, caught, percent) = (self.viable(), self.caught, self.percent());
        format!("| `{krate}` | {all} | {tested} | {viable} | {caught} | {percent} |")
    }
}

fn read(outcomes: &Path) -> Result<Sample> {
    let text = fs::read_to_string(outcomes).with_context(|| format!("cannot read {}", outcomes.display()))?;
    parse(&serde_json::from_str(&text)?)
}

/// The outcomes of cargo-mutants, whose first one is that of the code without changes.
fn parse(outcomes: &Value) -> Result<Sample> {
    let mut sample = Sample::default();
    for outcome in outcomes["outcomes"].as_array().context("no outcomes")? {
        let Some(mutant) = outcome["scenario"].get("Mutant") else { continue };
        match outcome["summary"].as_str() {
            Some("CaughtMutant" | "Timeout") => sample.caught += 1,
            Some("Unviable") => sample.unviable += 1,
            Some("MissedMutant") => sample.missed.push(mutant["name"].as_str().unwrap_or("?").to_owned()),
            other => bail!("a mutant has the unknown outcome {other:?}"),
        }
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_without_the_baseline() {
        let mutant = |summary: &str, name: &str| serde_json::json!({"scenario": {"Mutant": {"name": name}}, "summary": summary});
        let outcomes = serde_json::json!({"outcomes": [
            {"scenario": "Baseline", "summary": "Success"},
            mutant("CaughtMutant", "a"),
            mutant("Timeout", "b"),
            mutant("Unviable", "c"),
            mutant("MissedMutant", "d"),
        ]});
        let sample = parse(&outcomes).unwrap();
        assert_eq!(sample, Sample { unviable: 1, caught: 2, missed: vec!["d".to_owned()] });
        assert_eq!(sample.row("x", 50), "| `x` | 50 | 4 | 3 | 2 | 66 |");
        assert!(parse(&serde_json::json!({"outcomes": [mutant("Failure", "e")]})).is_err());
        assert!(parse(&serde_json::json!({})).is_err());
    }
}
