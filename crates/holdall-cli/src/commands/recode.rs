//! `holdall recode`: rewrites a file with other storage.

use std::path::PathBuf;

use holdall::formats::target_format;

use super::write_args::NewFileArgs;
use super::{shown, tell_before};
use crate::errors::{ErrorContext, Outcome, Result};
use crate::options::{Opening as _, local_path};
use crate::output::{Console, printable};
use crate::progress::ProgressReporter;

/// Write a file again in its own format, with another codec, filter, chunk or digest
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Values, types and shapes are kept, metadata as `convert` keeps them between two files of the \
format; losses are listed on standard error. Unused space is dropped. The options are those of `convert`.

Examples:
  holdall recode old.blp small.blp --codec zstd:9
  holdall recode --compact run.gsd small.gsd
  holdall recode notes.blp checked.blp --checksum sha256 --verify")]
pub struct Args {
    /// The file; `-` is standard input
    #[arg(value_name = "SOURCE", value_parser = local_path())]
    source: PathBuf,

    /// The new file; `-` is standard output
    #[arg(value_name = "TARGET", value_parser = local_path())]
    target: PathBuf,

    /// Drop unused space: a rewritten file has none
    ///
    /// Accepted for symmetry.
    #[arg(long)]
    compact: bool,

    #[command(flatten)]
    make: NewFileArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let bar = args.make.check_target("recode", &args.target, console)?;
    let _ = args.compact;
    tell_before(&args.source, &args.make.open.options(console.limits, console.formats));
    let (source, target) = (shown(&args.source), shown(&args.target));
    let (limits, formats) = (console.limits, console.formats);
    let outcome = ProgressReporter::new(printable(&target), bar).watch(|progress| {
        let options = args.make.options(None, args.make.write.import_options(), limits, formats, progress);
        holdall::recode::recode(&args.source, &args.target, &options)
    });
    let format = target_format(&args.target, None, formats).map_or("", |format| format.name);
    args.make.show(outcome.on(&source)?, &source, &target, format, console)
}
