//! `holdall verify`: whether files are sound.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use container_core::Limits;
use container_core::container::{Depth, ReadOptions};
use container_core::report::{Finding, Severity};
use holdall::json;
use holdall::schema::Schema;
use holdall::verify::{Verdict3, Verification, verify};

use super::shown;
use crate::errors::{On, Outcome, Result};
use crate::options::{JobsArgs, OpenArgs};
use crate::output::{BAD, Console, FAINT, GOOD, ODD, printable, to_stderr};
use crate::progress::{Meter, Shown};
use crate::values;

/// Check files for damage: structure, checksums, and that everything decodes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is reported. Exit codes: 0 all are sound (notes and warnings allowed), 1 some are damaged, 2 some could not be \
read at all. Through a pipe the columns are: path, verdict or severity, code, bytes, dataset, message.

Examples:
  holdall verify scan.ra
  holdall verify --quick *.ra
  holdall verify --schema image.asdf
  holdall verify --json *.ra | jq 'select(.verdict != \"sound\")'")]
pub struct Args {
    /// Files to check; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The structure alone, without reading the data
    #[arg(long)]
    quick: bool,

    /// Hold ASDF trees against the schemas of their tags too, and with =FILE their roots against that schema: what does not fit is an error
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    schema: Option<OsString>,

    /// One JSON line for each file (holdall.verify/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let schema = args.schema.as_deref().map(Path::new).map(|file| {
        let named = (!file.as_os_str().is_empty()).then_some(file);
        Schema::load(named).on(shown(file))
    });
    let check = Check { args, limits: console.limits, schema: schema.transpose()? };
    let mut report = |verification: &Verification| -> Result<()> {
        console.note(match verification.verdict {
            Verdict3::Sound => Outcome::Yes,
            Verdict3::Damaged => Outcome::No,
            Verdict3::Unreadable => Outcome::CouldNot,
        });
        show(verification, args.json, console)
    };
    // Standard input is there once only, and a file that is checked again needs it again.
    let streams = args.files.iter().any(|file| file.as_os_str() == "-");
    let workers = if streams { 1 } else { args.jobs.count().min(args.files.len()) };
    if workers > 1 && check.in_parallel(workers, &mut report)? == Ran::Yes {
        return Ok(Outcome::Yes);
    }
    for file in &args.files {
        let meter = Meter::new(printable(&shown(file)), Shown::OnTerminal);
        report(&check.one(file, args.jobs.count(), check.limits, &meter))?;
    }
    Ok(Outcome::Yes)
}

struct Check<'a> {
    args: &'a Args,
    limits: Limits,
    schema: Option<Schema>,
}

#[derive(PartialEq, Eq)]
enum Ran {
    Yes,
    /// The machine gives no thread; nothing has been reported.
    No,
}

impl Check<'_> {
    fn one(&self, file: &Path, threads: usize, limits: Limits, meter: &Meter) -> Verification {
        let depth = if self.args.quick { Depth::Quick } else { Depth::Full };
        let options = self.args.open.options(limits);
        let read = ReadOptions::default().with_threads(threads).with_limits(limits);
        let mut verification = meter.watch(|progress| verify(file, depth, &options, &read, progress));
        if let Some(schema) = &self.schema {
            schema.judge(file, &options, &mut verification);
        }
        verification
    }

    /// Several files at a time, reported in the order in which they were named. Each has its share of the memory; one
    /// that cannot be read within it is read again alone, with all of it.
    fn in_parallel(
        &self,
        workers: usize,
        report: &mut dyn FnMut(&Verification) -> Result<()>,
    ) -> Result<Ran> {
        let files = &self.args.files;
        let share = self.limits.with_memory(self.limits.memory / workers as u64);
        let threads = (self.args.jobs.count() / workers).max(1);
        let (next, alone) = (AtomicUsize::new(0), RwLock::new(()));
        let meter = Meter::new(format!("{} files", files.len()), Shown::OnTerminal);
        let quiet = Meter::new("", Shown::Never);
        let (sender, receiver) = mpsc::channel::<(usize, Verification)>();
        let work = |sender: mpsc::Sender<(usize, Verification)>| {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = files.get(at) else { return };
                let shared = alone.read();
                let mut verification = self.one(file, threads, share, &quiet);
                drop(shared);
                if verification.verdict == Verdict3::Unreadable && workers > 1 {
                    let _alone = alone.write();
                    verification = self.one(file, threads, self.limits, &quiet);
                }
                if sender.send((at, verification)).is_err() {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            let mut running = 0;
            for _ in 0..workers {
                let sender = sender.clone();
                // Fewer threads do as well.
                running +=
                    usize::from(std::thread::Builder::new().spawn_scoped(scope, || work(sender)).is_ok());
            }
            drop(sender);
            if running == 0 {
                return Ok(Ran::No);
            }
            let mut early = BTreeMap::new();
            let mut due = 0;
            for (count, (at, verification)) in receiver.iter().enumerate() {
                let _ = meter.tick(count as u64 + 1, files.len() as u64);
                early.insert(at, verification);
                while let Some(verification) = early.remove(&due) {
                    due += 1;
                    if let Err(failure) = report(&verification) {
                        // Nobody listens any more.
                        next.store(files.len(), Ordering::Relaxed);
                        quiet.cancel();
                        return Err(failure);
                    }
                }
            }
            Ok(Ran::Yes)
        })
    }
}

fn show(verification: &Verification, json: bool, console: &mut Console) -> Result<()> {
    if json {
        console.out.json(&json::verify_json(verification))?;
    } else if console.out.is_terminal() {
        show_to_people(verification, console)?;
    } else {
        show_rows(verification, console)?;
    }
    // Someone who only watches standard error learns why the exit code is 2.
    if verification.verdict == Verdict3::Unreadable && (json || !console.out.is_terminal()) {
        let finding = verification.findings.first();
        let why = finding.map_or("it cannot be read", |finding| &finding.message);
        let place = finding.and_then(|finding| finding.range.as_ref());
        let place =
            place.map(|range| format!("\n  where: bytes {}", values::range(range))).unwrap_or_default();
        console.out.flush()?;
        to_stderr(&format!("holdall: {}: {}{place}", printable(&verification.path), printable(why)));
    }
    Ok(())
}

fn show_to_people(verification: &Verification, console: &mut Console) -> Result<()> {
    let paint = console.out.paint;
    let style = if verification.verdict == Verdict3::Sound { GOOD } else { BAD };
    let verdict = paint.with(style, verification.verdict.name());
    let blocks = paint.with(FAINT, &blocks(verification)).into_owned();
    writeln!(console.out, "{}: {verdict}{blocks}", printable(&verification.path))?;
    for finding in &verification.findings {
        let style = match finding.severity {
            Severity::Error => BAD,
            Severity::Warning => ODD,
            Severity::Note => FAINT,
        };
        let place = [
            finding.part.clone(),
            finding.range.as_ref().map(|range| format!("bytes {}", values::range(range))),
        ];
        let place: Vec<String> = place.into_iter().flatten().chain(finding.dataset.clone()).collect();
        let place =
            if place.is_empty() { String::new() } else { format!(" ({})", printable(&place.join(", "))) };
        let severity = paint.with(style, finding.severity.name());
        writeln!(console.out, "  {severity} {}: {}{place}", finding.code, printable(&finding.message))?;
    }
    Ok(())
}

fn blocks(verification: &Verification) -> String {
    let counts = verification.blocks;
    match (verification.verdict, counts.bad) {
        (Verdict3::Unreadable, _) => String::new(),
        (_, 0) => format!(" ({} of {} blocks checked)", counts.checked, counts.total),
        (_, bad) => format!(" ({} of {} blocks checked, {bad} bad)", counts.checked, counts.total),
    }
}

fn show_rows(verification: &Verification, console: &mut Console) -> Result<()> {
    let counted = blocks(verification);
    let counted = match counted.trim_start_matches(" (").trim_end_matches(')') {
        "" => "-",
        counted => counted,
    };
    console.out.row(&[&verification.path, verification.verdict.name(), "-", "-", "-", counted])?;
    for finding in &verification.findings {
        let Finding { severity, code, part, range, dataset, message } = finding;
        // The bytes are those of that file.
        let message = &part.as_ref().map_or_else(|| message.clone(), |part| format!("{part}: {message}"));
        let bytes = range.as_ref().map_or_else(|| "-".into(), values::range);
        let dataset = dataset.as_deref().unwrap_or("-");
        console.out.row(&[&verification.path, severity.name(), code, &bytes, dataset, message])?;
    }
    Ok(())
}
