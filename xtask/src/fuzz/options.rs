//! Options of `fuzz`.

use anyhow::Result;

use super::SMOKE;
use crate::Usage;

/// Seconds that each target has unless told: for libFuzzer, and for all targets of a smoke run together.
const SECONDS: u64 = 60;
const SMOKE_SECONDS: u64 = 10;

/// Length of each target's run, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Seconds(u64),
    /// Executions, those of the inputs that there are among them.
    Runs(u64),
    /// Not at all: of the inputs that there are the best are kept.
    Keep,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// A target, `all` or `smoke`.
    pub target: String,
    pub length: Length,
    /// As cargo-fuzz calls it.
    pub sanitizer: &'static str,
    /// Whether libFuzzer sees the operands of comparisons: slower by two to ten times, but it meets words that are compared as a whole.
    pub compares: bool,
}

impl Options {
    /// # Errors
    /// [`Usage`] for what makes no sense.
    pub fn parse(args: &[String]) -> Result<Self> {
        let (mut target, mut length, mut sanitizer, mut compares) = (None, None, None, true);
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            let mut number = || match args.next().map(str::parse) {
                Some(Ok(number)) => Ok(number),
                _ => Err(Usage(format!("{arg} takes a whole number"))),
            };
            let fresh = match arg {
                "--seconds" => length.replace(Length::Seconds(number()?)).is_none(),
                "--runs" => length.replace(Length::Runs(number()?)).is_none(),
                "--keep" => length.replace(Length::Keep).is_none(),
                "--no-trace-compares" => std::mem::replace(&mut compares, false),
                "--sanitizer" => sanitizer.replace(named(args.next())?).is_none(),
                name if !name.starts_with('-') => target.replace(name).is_none(),
                _ => false,
            };
            if !fresh {
                return Err(
                    Usage(format!("{arg:?} is unknown, or does not go with what is before it")).into()
                );
            }
        }
        let target = target.ok_or_else(|| Usage("name one target, `all` or `smoke`".to_owned()))?.to_owned();
        let usual = if target == SMOKE { SMOKE_SECONDS } else { SECONDS };
        let options = Self {
            length: length.unwrap_or(Length::Seconds(usual)),
            sanitizer: sanitizer.unwrap_or("address"),
            compares,
            target,
        };
        if options.target == SMOKE && (sanitizer.is_some() || !compares) {
            return Err(Usage("a smoke run has neither sanitizer nor instrumentation".to_owned()).into());
        }
        Ok(options)
    }

    /// # Errors
    /// [`Usage`] where another length than seconds was given.
    pub fn smoke_seconds(&self) -> Result<u64> {
        match self.length {
            Length::Seconds(seconds) => Ok(seconds),
            _ => Err(Usage("a smoke run lasts --seconds N".to_owned()).into()),
        }
    }
}

fn named(name: Option<&str>) -> Result<&'static str> {
    let known = ["address", "none"];
    let found = known.into_iter().find(|known| Some(*known) == name);
    Ok(found.ok_or_else(|| Usage("--sanitizer is address or none".to_owned()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options> {
        Options::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn one_target_perhaps_a_length_and_a_sanitizer() {
        let options = |target: &str, length, sanitizer| Options {
            target: target.to_owned(),
            length,
            sanitizer,
            compares: true,
        };
        let plain = options("npy", Length::Seconds(60), "address");
        assert_eq!(parse("npy").unwrap(), plain);
        assert_eq!(parse("all --seconds 20").unwrap(), options("all", Length::Seconds(20), "address"));
        assert_eq!(parse("--seconds 20 all").unwrap(), options("all", Length::Seconds(20), "address"));
        let fast = options("npy", Length::Runs(10_000_000), "none");
        assert_eq!(parse("npy --runs 10000000 --sanitizer none").unwrap(), fast);
        let faster = Options { compares: false, ..fast };
        assert_eq!(parse("npy --runs 10000000 --sanitizer none --no-trace-compares").unwrap(), faster);
        assert_eq!(parse("npy --keep").unwrap().length, Length::Keep);
        assert_eq!(parse("smoke").unwrap().smoke_seconds().unwrap(), 10);
        for wrong in [
            "",
            "--seconds",
            "npy gsd",
            "npy --seconds",
            "npy --seconds soon",
            "npy --seconds 1 --runs 2",
            "npy --sanitizer memory",
            "npy --sanitizer",
            "npy --keep --keep",
            "npy --no-trace-compares --no-trace-compares",
            "smoke --sanitizer none",
            "smoke --no-trace-compares",
            "npy --quick",
        ] {
            assert!(parse(wrong).unwrap_err().is::<Usage>(), "{wrong}");
        }
        assert!(parse("smoke --runs 5").unwrap().smoke_seconds().unwrap_err().is::<Usage>());
    }
}
