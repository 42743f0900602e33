//! `ci`: every check, here as in CI.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::parallel::BackgroundTask;
use crate::repo::Repo;
use crate::step::Step;
use crate::tools::Missing;
use crate::{Outcome, TASKS, flags};

/// Whether `--quick` runs a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    Both,
    Full,
}

/// Steps that run at the same time as a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// Nothing: the next one waits for it.
    Alone,
    /// The steps after it, as a process of its own, up to the step of this name, or to the end.
    Before(&'static str),
}

/// Task, arguments. What needs seconds comes first; tests before what only repeats them otherwise. Beside others runs what
/// waits for a network or an interpreter, and tests once they are built: many keep one core busy, and builds take the other.
const STEPS: &[(&str, &[&str], In, Runs)] = &[
    ("fmt", &[], In::Both, Runs::Alone),
    ("lines", &[], In::Both, Runs::Alone),
    ("arrows", &[], In::Both, Runs::Alone),
    ("words", &[], In::Both, Runs::Alone),
    ("links", &[], In::Both, Runs::Alone),
    ("licences", &[], In::Both, Runs::Alone),
    ("setup", &[], In::Both, Runs::Before("test")),
    ("package", &[], In::Both, Runs::Before("test")),
    ("web", &["--check"], In::Both, Runs::Before("test")),
    ("clippy", &[], In::Both, Runs::Alone),
    ("test", &["--debug", "--no-run"], In::Both, Runs::Alone),
    ("test", &["--debug"], In::Both, Runs::Before(END)),
    ("book", &[], In::Both, Runs::Before(END)),
    ("features", &[], In::Full, Runs::Alone),
    ("fixtures", &["--check"], In::Both, Runs::Before(END)),
    ("web", &["--test"], In::Full, Runs::Before("consumers")),
    ("test", &["--release"], In::Full, Runs::Alone),
    ("consumers", &[], In::Full, Runs::Alone),
    ("doc", &[], In::Full, Runs::Before(END)),
    ("wheel", &[], In::Both, Runs::Alone),
];

const END: &str = "the end";

pub(crate) fn ci(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [quick] = flags(args, ["--quick"])?;
    let start = Instant::now();
    print!("{}", Step::new(repo, "rustc").arg("--version").stdout()?);
    let program = std::env::current_exe()?;
    let mut run = Run { repo, program, beside: Vec::new(), summary: Vec::new() };
    let steps = run.steps(quick);
    if let (Err(error), false) = (&steps, run.beside.is_empty()) {
        eprintln!("\n{error:#}\nwaiting for what runs beside it");
    }
    // Nothing is left behind.
    let rest = run.join(END);
    steps.and(rest)?;
    println!("\n{}", run.summary.join("\n"));
    println!("{:>7.1} s  in all{}", start.elapsed().as_secs_f64(), if quick { " (quick)" } else { "" });
    Ok(Outcome::Done)
}

struct Run<'a> {
    repo: &'a Repo,
    /// This one, where it was at the start: it may be built anew meanwhile.
    program: PathBuf,
    /// With the step before which each has to end.
    beside: Vec<(&'static str, BackgroundTask)>,
    summary: Vec<String>,
}

impl Run<'_> {
    fn steps(&mut self, quick: bool) -> Result<()> {
        for (name, args, _, runs) in STEPS.iter().filter(|(_, _, part, _)| !quick || *part == In::Both) {
            let task = TASKS.iter().find(|task| task.name == *name).context("ci names a task that is not")?;
            self.join(name)?;
            if let Runs::Before(step) = runs {
                println!("\n== {} (beside what follows)", call(name, args));
                self.beside.push((*step, BackgroundTask::start(&self.program, self.repo, name, args)?));
                continue;
            }
            println!("\n== {}", call(name, args));
            let started = Instant::now();
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            let end = match (task.run)(self.repo, &args) {
                Ok(Outcome::Done) => OK.to_owned(),
                Ok(Outcome::NotRun(why)) => not_run(&why),
                Err(error) if error.is::<Missing>() => not_run(&error.to_string()),
                Err(error) => return Err(error.context(task.name)),
            };
            if end != OK {
                println!("{end}");
            }
            self.summary.push(line(started.elapsed().as_secs_f64(), task.name, &args, &end));
        }
        Ok(())
    }

    /// Waits for what has to end before a step of this name, and shows what it said; for all if it is the end.
    fn join(&mut self, step: &str) -> Result<()> {
        let (due, rest) = self.beside.drain(..).partition(|(before, _)| step == END || *before == step);
        self.beside = rest;
        let due: Vec<(&str, BackgroundTask)> = due;
        let mut failed = None;
        for (_, beside) in due {
            let (task, args) = (beside.task, beside.args);
            let end = beside.end()?;
            println!(
                "\n== {} (ran beside other steps, {:.1} s)\n{}",
                call(task, args),
                end.seconds,
                end.said
            );
            let told = match end.not_run {
                Some(why) => not_run(&why),
                None => format!("{OK}, beside other steps"),
            };
            if !end.success {
                failed = failed.or(Some(anyhow::anyhow!("{} failed, as said above", call(task, args))));
            }
            self.summary.push(line(end.seconds, task, args, &told));
        }
        failed.map_or(Ok(()), Err)
    }
}

const OK: &str = "ok";

fn not_run(why: &str) -> String {
    format!("NOT RUN: {why}")
}

fn call<A: AsRef<str>>(task: &str, args: &[A]) -> String {
    args.iter().fold(task.to_owned(), |call, arg| call + " " + arg.as_ref())
}

fn line<A: AsRef<str>>(seconds: f64, task: &str, args: &[A], end: &str) -> String {
    format!("{seconds:>7.1} s  {:<28} {end}", call(task, args))
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

    #[test]
    fn parallel_steps_end_before_a_later_step() {
        for (at, (name, _, _, runs)) in STEPS.iter().enumerate() {
            if let Runs::Before(step) = runs {
                let later = STEPS[at + 1..].iter().any(|(name, ..)| name == step);
                assert!(*step == END || later, "{name}");
            }
        }
    }
}
