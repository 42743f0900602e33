//! `holdall extract`: datasets and items, as files.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;

use container_core::container::{Container, Digests};
use container_core::region::Region;
use container_core::source::Access;
use container_core::{Error, Progress};
use holdall::address::typed;
use holdall::extract::{
    ExtractAs, ExtractOptions, Extracted, are_lines, extract_files, extract_lines, is_item, is_numbers,
};
use holdall::json;
use holdall::open::{Accept, is_stream};

use super::write_args::tell_losses;
use super::{open, select, shown};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::options::{DigestsArgs, ForceArgs, JobsArgs, OpenAnywhereArgs, address, local_path};
use crate::output::{Console, Escapes, printable, to_stderr};
use crate::progress::{ProgressReporter, ShowProgress};

/// Write the items of a file as files or as lines, or its datasets as .npy files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --items and a directory, every item becomes a file below it: under the name it was packed with, less what would lead out \
of the directory, else as items/0, items/1 and so on. With --items alone, the lines of a text are written to standard output, \
byte for byte as they were packed; --text does that for other texts too, with a line feed after each. Without --items, every \
dataset becomes a .npy file named by its path.

No file is written over another one without -f. What fails leaves no new file and no new folder behind; with --keep-going what cannot be read is \
named on standard error, the rest is written, and the exit code is 2.

Examples:
  holdall extract --items notes.blp > notes.txt
  holdall extract --items all.blp -o here
  holdall extract --items 'all.blp::items/3' -o here
  holdall extract scan.blp -o arrays")]
pub struct Args {
    /// The file, or FILE::PATH for one dataset or item; `-` is standard input
    #[arg(value_name = "FILE")]
    file: OsString,

    /// The bytes of items instead of arrays
    #[arg(long)]
    items: bool,

    /// One line for each item on standard output
    ///
    /// Whatever they were made of.
    #[arg(long, requires = "items")]
    text: bool,

    /// The directory, which is made; `-` is standard output
    ///
    /// Standard output is for lines.
    #[arg(short, long, value_name = "DIR", value_parser = local_path())]
    output: Option<PathBuf>,

    /// One JSON line for each file written (holdall.extract/1)
    #[arg(long)]
    json: bool,

    /// Value for missing elements, as in a cell of CSV
    ///
    /// Default: NaN, NaT, for other types what is stored.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,

    /// Write what can be read where something cannot
    #[arg(short, long)]
    keep_going: bool,

    /// Do not compare digests while reading: --digests ignore
    #[arg(long, conflicts_with = "digests")]
    no_verify: bool,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    digests: DigestsArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let address = address(&args.file);
    let file = shown(&address.file);
    let mut options = args.open.options(console.limits, console.formats);
    if args.output.as_ref().is_some_and(|output| !is_stream(output)) {
        // Files and folders that are new are taken away after an error, and not after a signal.
        options.access = Access::Positioned;
    }
    let opened = open(&address.file, Accept::Containers, &options)?;
    let container = opened.container.as_ref();
    let chosen = select(&address, container)?;
    if chosen.is_empty()
        && let Some(error) = holdall::verify::first_damage(container)
    {
        return Err(error).on(file);
    }
    args.refuse_other_kind(container, &chosen).on(&file)?;
    let mut read = args.digests.apply(args.jobs.read_options(console.limits));
    if args.no_verify {
        read.digests = Digests::Ignore;
    }
    let unread = RefCell::new(Vec::new());
    let take = |_: &str, error| unread.borrow_mut().push(error);
    let mut options = ExtractOptions { overwrite: args.force.overwrite(), read, ..ExtractOptions::default() };
    options.fill = args.fill.as_deref();
    if args.keep_going {
        options.failed = Some(&take);
    }
    let directory = args.output.as_deref().filter(|path| !is_stream(path));
    match directory.filter(|_| !args.text) {
        None => {
            args.refuse_standard_output(container, &chosen).on(&file)?;
            let bar = if console.out.is_terminal() { ShowProgress::Never } else { ShowProgress::OnTerminal };
            let meter = ProgressReporter::new(printable(&file), bar);
            console.out.data(Escapes::Text, |out| {
                let lines = |progress: Progress<'_>| {
                    extract_lines(container, &chosen, &ExtractOptions { progress, ..options }, out)
                };
                meter.watch(lines).on(&file)
            })?;
        }
        Some(directory) => {
            let form = if args.items { ExtractAs::Items } else { ExtractAs::Arrays };
            let meter = ProgressReporter::new(printable(&file), ShowProgress::OnTerminal);
            let files = meter.watch(|progress: Progress<'_>| {
                let options = ExtractOptions { progress, ..options };
                extract_files(container, &chosen, form, directory, &options)
            });
            let files = files.on(&file)?;
            args.show(&file, &files, console)?;
        }
    }
    super::tell(&address.file, container.uncompared().as_slice());
    for error in unread.take() {
        console.fail(&Failure { subject: Some(file.clone()), error });
    }
    Ok(Outcome::Yes)
}

impl Args {
    /// `--items` is for items, and needs to be said.
    fn refuse_other_kind(
        &self,
        container: &dyn Container,
        chosen: &[(usize, Region)],
    ) -> container_core::Result<()> {
        let datasets = chosen.iter().filter_map(|(index, _)| container.dataset(*index));
        for dataset in datasets {
            match (self.items, is_item(&dataset)) {
                (true, false) => {
                    let problem = format!("{} is an array, not an item", dataset.path);
                    return Err(
                        Error::usage(problem).with_hint("holdall cat FILE, or extract without --items")
                    );
                }
                (false, true) if !is_numbers(&dataset) => {
                    let problem = format!("{} is an item, not an array", dataset.path);
                    return Err(Error::usage(problem).with_hint("holdall extract --items FILE"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Standard output is for lines, and for one thing at a time.
    fn refuse_standard_output(
        &self,
        container: &dyn Container,
        chosen: &[(usize, Region)],
    ) -> container_core::Result<()> {
        if self.json {
            return Err(Error::usage("standard output takes the lines or the JSON lines, not both")
                .with_hint("-o DIR"));
        }
        if self.text && self.output.as_ref().is_some_and(|output| !is_stream(output)) {
            return Err(Error::usage("--text writes to standard output, not to a directory"));
        }
        if !self.items || !(self.text || are_lines(container, chosen)?) {
            return Err(Error::usage("these are files, not lines").with_hint("-o DIR"));
        }
        Ok(())
    }

    fn show(&self, file: &str, files: &[Extracted], console: &mut Console) -> Result<()> {
        for one in files {
            tell_losses(&shown(&one.path), &one.losses);
            if let Some(name) = &one.refused_name {
                let path = shown(&one.path);
                to_stderr(&format!(
                    "holdall: {}: {} is written as {}: its own name was {}",
                    printable(file),
                    printable(typed(&one.dataset)),
                    printable(&path),
                    printable(name)
                ));
            }
            if self.json {
                console.out.json(&json::extract_json(file, one))?;
            } else {
                console.out.row(&[typed(&one.dataset), &shown(&one.path), &one.bytes.to_string()])?;
            }
        }
        Ok(())
    }
}
