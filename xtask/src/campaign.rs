//! `campaign`: hostile files through the command, for longer than the tests have it.

use anyhow::Result;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, Usage};

/// Hostile files through the command; the tests have ten seconds of it.
pub(crate) fn campaign(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let (seconds, seed) = parse(args)?;
    Step::cargo(repo)
        .args([
            "test",
            "--package",
            "holdall-cli",
            "--all-features",
            "--test",
            "cli",
            "campaign::",
            "--",
            "--nocapture",
        ])
        .env("HOLDALL_CAMPAIGN_SECONDS", seconds.to_string())
        .env("HOLDALL_CAMPAIGN_SEED", seed.to_string())
        .run()?;
    Ok(Outcome::Done)
}

fn parse(args: &[String]) -> Result<(u64, u64)> {
    let (mut seconds, mut seed) = (60, 1);
    for pair in args.chunks(2) {
        let number = pair.get(1).and_then(|text| text.parse().ok());
        match (pair[0].as_str(), number) {
            ("--seconds", Some(number)) => seconds = number,
            ("--seed", Some(number)) => seed = number,
            (word, _) => return Err(Usage(format!("{word:?} is not --seconds N or --seed S")).into()),
        }
    }
    Ok((seconds, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_seeds_are_numbers() {
        let args = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parse(&[]).unwrap(), (60, 1));
        assert_eq!(parse(&args("--seed 7 --seconds 5")).unwrap(), (5, 7));
        for wrong in ["--seed", "--seed x", "5", "--seconds 5 --seed"] {
            assert!(parse(&args(wrong)).unwrap_err().is::<Usage>(), "{wrong}");
        }
    }
}
