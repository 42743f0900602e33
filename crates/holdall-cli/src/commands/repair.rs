//! `holdall repair`: writes the provable part of a file to a new one.

use std::io::Write;
use std::path::PathBuf;

use container_core::Error;
use container_core::container::StaleChecksums;
use container_core::report::Evidence;
use holdall::json;
use holdall::open::is_stream;
use holdall::repair::Repaired;

use super::write_args::tell_warning;
use super::{shown, tell_before};
use crate::errors::{ErrorContext, Outcome, Result};
use crate::format_value;
use crate::options::{ForceArgs, OpenSourceArgs, Opening as _, local_path};
use crate::output::{Console, ERROR, OK, WARN, printable};
use crate::progress::{ProgressReporter, ShowProgress};

/// Write what a damaged file proves to a new file, and list what was lost
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The damaged file is never changed. Exit codes: 0 nothing was lost, 1 something was, 2 nothing was written. With --dry-run \
the codes are those of a real run.

Examples:
  holdall repair broken.ra -o repaired.ra
  holdall repair --dry-run broken.ra")]
pub struct Args {
    /// The damaged file
    #[arg(value_name = "FILE", value_parser = local_path())]
    file: PathBuf,

    /// The new file
    #[arg(short, long, value_name = "FILE", required_unless_present = "dry_run", value_parser = local_path())]
    output: Option<PathBuf>,

    /// Report what a repair would do, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Drop unused space: a repaired file has none
    ///
    /// Accepted for symmetry.
    #[arg(long)]
    compact: bool,

    /// Recompute digests that differ
    ///
    /// And convert digests of decoded bytes to digests of stored bytes (ASDF).
    #[arg(long)]
    checksums: bool,

    /// One JSON line (holdall.repair/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    open: OpenSourceArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let _ = args.compact;
    let file = shown(&args.file);
    if args.output.as_ref().is_some_and(|output| is_stream(output)) {
        return Err(Error::usage("repair writes a file, not standard output").with_hint("-o NEW")).on(file);
    }
    let target = args.output.as_deref().filter(|_| !args.dry_run);
    let mut options = args.open.options(console.limits, console.formats);
    tell_before(&args.file, &options);
    if args.checksums {
        options.stale_checksums = StaleChecksums::Renew;
    }
    let meter = ProgressReporter::of_phases(printable(&file), ShowProgress::OnTerminal);
    let overwrite = args.force.overwrite();
    let repaired = meter
        .watch(|progress| holdall::repair::repair_with(&args.file, target, overwrite, &options, progress));
    let repaired = repaired.on(&file)?;
    tell_warning(&target.map_or_else(|| file.clone(), shown), repaired.warning.as_deref());
    if args.json {
        let target = target.map(shown);
        console.out.json(&json::repair_json(&file, target.as_deref(), &repaired))?;
    } else {
        show(&repaired, console)?;
    }
    Ok(Outcome::yes_if(repaired.report.lost.is_empty()))
}

fn show(repaired: &Repaired, console: &mut Console) -> Result<()> {
    let report = &repaired.report;
    let groups =
        [("kept", OK, &report.kept), ("guessed", WARN, &report.guessed), ("lost", ERROR, &report.lost)];
    for (word, style, items) in groups {
        for item in items {
            let bytes = item.range.as_ref().map(format_value::range);
            if console.out.is_for_people() {
                let bytes = bytes.map(|bytes| format!(" (bytes {bytes})")).unwrap_or_default();
                let word = console.out.paint.with(style, word).into_owned();
                let evidence =
                    item.evidence.map(|evidence| format!(" [{}]", evidence.name())).unwrap_or_default();
                writeln!(console.out, "{word}: {}{bytes}{evidence}", printable(&item.what))?;
            } else {
                let mut cells = vec![word, bytes.as_deref().unwrap_or("-"), &item.what];
                cells.extend(item.evidence.map(Evidence::name));
                console.out.row(&cells)?;
            }
        }
    }
    Ok(())
}
