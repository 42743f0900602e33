//! `holdall verify`: whether files are sound.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use container_core::container::{CheckDepth, ReadOptions};
use container_core::format::Formats;
use container_core::report::Finding;
use holdall::address::typed;
use holdall::json;
use holdall::schema::Schema;
use holdall::verify::{Verification, VerifyStatus, verify_with};

use super::shown;
use crate::errors::{ErrorContext, Outcome, Result};
use crate::format_value;
use crate::many_files::{Share, expand, in_order, summary};
use crate::options::{JobsArgs, OpenAnywhereArgs, OpenFileArgs};
use crate::output::{Console, printable, to_stderr};

mod report;
use report::Listing;

/// Check files for damage: structure, checksums, and that everything decodes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is reported, in order. Below a folder, files are those with the bytes or the extension of a format; a folder that cannot be listed is reported as a file that cannot be read. Exit codes: 0 all are sound (notes and warnings allowed), 1 some are damaged, 2 some could not be \
read at all, or not be checked because their codec or filter is a plugin that is not here, or one of several files that they consist of cannot be read (`unchecked`). Through a pipe every finding is a line, and the columns are: path, verdict or severity, code, bytes, dataset, message. On a terminal more than three findings of one severity and code are summed \
up as one line, with the first of them and the bytes that all are within; --all lists each.

Examples:
  holdall verify scan.ra
  holdall verify --quick *.ra
  holdall verify -j 8 /data/archive
  holdall verify --schema image.asdf
  holdall verify --all image.asdf
  holdall verify --json *.ra | jq 'select(.verdict != \"sound\")'")]
pub struct Args {
    /// Files, or folders with all containers below; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The structure alone, without reading the data
    #[arg(long)]
    quick: bool,

    /// Check ASDF trees by the schemas of their tags, or =FILE
    ///
    /// With =FILE their roots by that schema too: what does not fit is an error.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    schema: Option<OsString>,

    /// List every finding on a terminal, too
    ///
    /// Without it a terminal shows more than three findings of one severity and code as one line.
    #[arg(long)]
    all: bool,

    /// One JSON line for each file (holdall.verify/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs<OpenFileArgs>,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let schema = args.schema.as_deref().map(Path::new).map(|file| {
        let named = (!file.as_os_str().is_empty()).then_some(file);
        Schema::load(named).on(shown(file))
    });
    let check = Check { args, schema: schema.transpose()?, formats: console.formats };
    let files = expand(&args.files, &args.open.options(console.limits, console.formats));
    let listing = if args.all { Listing::All } else { Listing::Summed };
    let mut counts = [0; 4];
    in_order(
        &files,
        args.jobs.count(),
        console.limits,
        |file, share| match &file.unreadable {
            Some(failure) => Verification::unreadable(&file.path, &failure.error),
            None => check.one(&file.path, share),
        },
        |verification| verification.verdict == VerifyStatus::Unreadable,
        |verification| {
            let (outcome, count) = match verification.verdict {
                VerifyStatus::Sound => (Outcome::Yes, &mut counts[0]),
                VerifyStatus::Damaged => (Outcome::No, &mut counts[1]),
                VerifyStatus::Unchecked => (Outcome::CouldNot, &mut counts[3]),
                VerifyStatus::Unreadable => (Outcome::CouldNot, &mut counts[2]),
            };
            console.note(outcome);
            *count += 1;
            show(&verification, args.json, listing, console)
        },
    )?;
    if !args.json {
        console.out.flush()?;
        let [sound, damaged, unreadable, unchecked] = counts;
        let mut told = vec![("sound", sound), ("damaged", damaged), ("unreadable", unreadable)];
        told.extend((unchecked > 0).then_some(("unchecked", unchecked)));
        summary(files.len(), &told);
    }
    Ok(Outcome::Yes)
}

struct Check<'a> {
    args: &'a Args,
    schema: Option<Schema>,
    formats: Formats,
}

impl Check<'_> {
    fn one(&self, file: &Path, share: &Share<'_>) -> Verification {
        let depth = if self.args.quick { CheckDepth::Quick } else { CheckDepth::Full };
        let options = self.args.open.options(share.limits, self.formats);
        let read = ReadOptions::default().with_threads(share.threads).with_limits(share.limits);
        let mut verification =
            share.meter.watch(|progress| verify_with(file, depth, &options, &read, progress));
        if let Some(schema) = &self.schema {
            schema.judge(file, &options, &mut verification);
        }
        verification
    }
}

fn show(verification: &Verification, json: bool, listing: Listing, console: &mut Console) -> Result<()> {
    if json {
        console.out.json(&json::verify_json(verification))?;
    } else if console.out.is_for_people() {
        report::show(verification, listing, console)?;
    } else {
        show_rows(verification, console)?;
    }
    // Standard error alone has to explain why the exit code is 2.
    if matches!(verification.verdict, VerifyStatus::Unreadable | VerifyStatus::Unchecked)
        && (json || !console.out.is_for_people())
    {
        let finding = verification.findings.first();
        let why = finding.map_or("it cannot be read", |finding| &finding.message);
        let place = finding.and_then(|finding| finding.range.as_ref());
        let place =
            place.map(|range| format!("\n  where: bytes {}", format_value::range(range))).unwrap_or_default();
        console.out.flush()?;
        to_stderr(&format!("holdall: {}: {}{place}", printable(&verification.path), printable(why)));
    }
    Ok(())
}

/// The numbers of blocks; `None` for a file that was not read.
fn blocks(verification: &Verification) -> Option<String> {
    let counts = verification.blocks;
    let checked = format!("{} of {} blocks checked", counts.checked, counts.total);
    match (verification.verdict, counts.bad) {
        (VerifyStatus::Unreadable, _) => None,
        (_, 0) => Some(checked),
        (_, bad) => Some(format!("{checked}, {bad} bad")),
    }
}

fn show_rows(verification: &Verification, console: &mut Console) -> Result<()> {
    let counted = blocks(verification);
    let path = verification.path.as_str();
    console.out.row(&[
        path,
        verification.verdict.name(),
        "-",
        "-",
        "-",
        counted.as_deref().unwrap_or("-"),
    ])?;
    for finding in &verification.findings {
        let Finding { severity, code, part, range, dataset, message } = finding;
        // The bytes are those of that file.
        let message = &part.as_ref().map_or_else(|| message.clone(), |part| format!("{part}: {message}"));
        let bytes = range.as_ref().map_or_else(|| "-".into(), format_value::range);
        let dataset = dataset.as_deref().map_or("-", typed);
        console.out.row(&[path, severity.name(), code, &bytes, dataset, message])?;
    }
    Ok(())
}
