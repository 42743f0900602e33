//! `holdall implode`: several ASDF files as one.

use std::path::PathBuf;

use container_core::Error;
use holdall::explode::implode;
use holdall::open::is_stream;

use super::explode::{options, show};
use super::shown;
use crate::errors::{ErrorContext, Outcome, Result};
use crate::options::{ForceArgs, JobsArgs, LenientArgs, local_path};
use crate::output::Console;

/// Write one ASDF file of a tree and the files that hold its blocks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
FILE has the tree; the blocks are brought in from the files beside it that its arrays name. The tree stays as it is but for the `source` of each \
array. Without -o, NAME.asdf becomes NAME_all.asdf beside it.

Examples:
  holdall implode parts/image_exploded.asdf -o image2.asdf")]
pub struct Args {
    /// The file with the tree
    #[arg(value_name = "FILE", value_parser = local_path())]
    file: PathBuf,

    /// The new file
    #[arg(short, long, value_name = "FILE", value_parser = local_path())]
    output: Option<PathBuf>,

    /// One JSON line (holdall.explode/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    lenient: LenientArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let file = shown(&args.file);
    if args.output.as_ref().is_some_and(|output| is_stream(output)) {
        return Err(Error::usage("implode writes a file, not standard output").with_hint("-o NEW")).on(file);
    }
    let options = options(&args.force, &args.jobs, args.lenient, console);
    let done = implode(&args.file, args.output.as_deref(), &options).on(&file)?;
    show(&file, &done, args.json, console)
}
