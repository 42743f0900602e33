//! `holdall explode`: an ASDF file as several.

use std::path::PathBuf;

use container_core::source::Access;
use container_core::write::Durability;
use holdall::explode::{ExplodeOptions, Exploded, explode};
use holdall::json::explode_json;

use super::{shown, tell_before};
use crate::errors::{ErrorContext, Outcome, Result};
use crate::options::{ForceArgs, JobsArgs, LenientArgs, Opening as _, local_path};
use crate::output::{Console, printable, to_stderr};

/// Write an ASDF file as several: its tree, and a file for each block
#[derive(Debug, clap::Args)]
#[command(after_help = "\
NAME.asdf becomes NAME_exploded.asdf, which is the tree alone and can be changed in a text editor, and NAME_exploded0000.asdf and so on with a \
block each. The tree stays as it is but for the `source` of each array. The new files are listed. `holdall implode` makes one file of them again.

Examples:
  holdall explode image.asdf -o parts
  holdall implode parts/image_exploded.asdf -o image2.asdf")]
pub struct Args {
    /// The file
    #[arg(value_name = "FILE", value_parser = local_path())]
    file: PathBuf,

    /// Folder for the new files; default: that of FILE
    ///
    /// It is made where it is not there.
    #[arg(short, long, value_name = "DIR", value_parser = local_path())]
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
    let options = options(&args.force, &args.jobs, args.lenient, console);
    tell_before(&args.file, &options.open);
    let done = explode(&args.file, args.output.as_deref(), &options).on(&file)?;
    show(&file, &done, args.json, console)
}

/// The library's options.
pub fn options(
    force: &ForceArgs,
    jobs: &JobsArgs,
    lenient: LenientArgs,
    console: &Console,
) -> ExplodeOptions {
    let mut open = lenient.options(console.limits, console.formats);
    // Files and folders that are new are taken away after an error, and not after a signal.
    open.access = Access::Positioned;
    ExplodeOptions {
        overwrite: force.overwrite(),
        durability: Durability::Synced,
        open,
        read: jobs.read_options(console.limits),
    }
}

/// Lists the files that were written, and says what they do not hold.
pub fn show(source: &str, done: &Exploded, json: bool, console: &mut Console) -> Result<Outcome> {
    for loss in &done.losses {
        to_stderr(&format!("holdall: {}: not carried over: {}", printable(source), printable(loss)));
    }
    if json {
        console.out.json(&explode_json(source, done))?;
    } else {
        done.files.iter().try_for_each(|path| console.out.row(&[shown(path)]))?;
    }
    Ok(Outcome::Yes)
}
