//! `holdall append`: more rows or items at the end of a file.

use std::ffi::OsString;
use std::path::PathBuf;

use container_core::dtype::DType;
use container_core::write::Durability;
use holdall::append::{Addition, AppendOptions};
use holdall::json;

use super::csv_args::{TableArgs, is_table};
use super::pack::ItemsOf;
use super::write_args::{AppendArgs, tell_losses, tell_warning};
use super::{shown, tell_before};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::options::{JobsArgs, OpenArgs, Opening as _, address, local_path};
use crate::output::{Console, printable};
use crate::progress::{ProgressReporter, ShowProgress};

/// Add values or items to the end of a file; an error leaves it as it was
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The source has the type and shape of the file, except for axis 0, which grows. It comes from any file \
that `convert` reads, or with --raw from bytes without a header, in C order and the byte order of the file; with --items from the lines of a text, from whole files or from arrays. \
With --csv, or by a name that ends in .csv, it is a table of text: cells are converted to the type of the file, and names in \
its first row must be those of the fields, unless --header skip leaves them out. New chunks are written as the file's own are, unless --codec or --filter say otherwise. The file keeps \
its setting for a final line feed.

A RawArray file grows along its last dimension, which is its slowest.

A GSD file grows by frames: those of another GSD file, or the rows of arrays with the names of its chunks; --frames=RANGE takes \
some of them. Logs that frame 0 lacks keep gsd.hoomd from reading the frames without them: such an append is refused, with -O new-logs=drop they are left out, \
with -O new-logs=keep added all the same.
`append` is atomic, except for streamed ASDF arrays, where an interrupted append may leave some complete rows. GSD and Blosc2 files change in place; Bloscpack and RawArray files \
are replaced by a new file, for which the disk needs room.

Examples:
  holdall append log.blp today.npy
  holdall append log.blp 'scan.ra::data[100:]' --codec zstd:5
  holdall append log.blp today.csv
  holdall append run.gsd more.gsd
  sensor | holdall append log.blp - --raw
  holdall append --items lines notes.blp more.txt")]
pub struct Args {
    /// The file that grows
    #[arg(value_name = "FILE", value_parser = local_path())]
    file: PathBuf,

    /// Files, FILE::PATH or FILE::PATH[SEL] to add; `-` is standard input
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<OsString>,

    /// SOURCE is elements alone, of the file's type
    ///
    /// In its byte order, unless --dtype is given.
    #[arg(long, conflicts_with_all = ["items", "csv"])]
    raw: bool,

    #[command(flatten)]
    table: TableArgs,

    /// Type of raw elements, in their byte order: '<f8'
    ///
    /// For a byte order other than the file's: '<f8' for the output of `cat --format raw`.
    #[arg(long, value_name = "DTYPE", requires = "raw", value_parser = crate::options::dtype())]
    dtype: Option<DType>,

    /// Kind of items to append
    ///
    /// SOURCE is the lines of a text, or whole files or arrays, of which there may be several.
    #[arg(long, value_name = "KIND")]
    items: Option<ItemsOf>,

    #[command(flatten)]
    write: AppendArgs,

    /// Do not wait until the file is on the disk
    #[arg(long)]
    no_sync: bool,

    /// One JSON line (holdall.append/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let file = shown(&args.file);
    let paths: Vec<PathBuf> = args.sources.iter().map(PathBuf::from).collect();
    let several = || Failure::usage("append: one source at a time, except for --items files and arrays");
    let source = args.sources.first().ok_or_else(several)?;
    if args.sources.len() > 1 && !args.items.is_some_and(ItemsOf::takes_several) {
        return Err(several());
    }
    let address = address(source);
    args.table.check("append", source.as_ref(), args.raw)?;
    let csv = args.table.csv(None);
    let table = Addition::Table { source: source.as_ref(), csv: &csv };
    let addition = match (args.items, args.raw) {
        (Some(kind), _) => Addition::Items(kind.source(source.as_ref(), &paths, None).on(&file)?),
        (None, true) => Addition::Raw { source: source.as_ref(), dtype: args.dtype.as_ref() },
        (None, false) if args.table.csv => table,
        (None, false) => Addition::Datasets(&address),
    };
    let open = args.open.options(console.limits, console.formats);
    tell_before(&args.file, &open);
    let may_be_table = matches!(addition, Addition::Datasets(_));
    let outcome = ProgressReporter::new(printable(&file), ShowProgress::OnTerminal).watch(|progress| {
        let options = AppendOptions {
            durability: if args.no_sync { Durability::Cached } else { Durability::Synced },
            import: args.write.import_options(),
            open: args.open.options(console.limits, console.formats),
            read: args.jobs.read_options(console.limits),
            fill: args.write.fill(),
            progress,
        };
        match holdall::append::append(&args.file, addition, &options) {
            Err(error) if may_be_table && is_table(&error, source.as_ref()) => {
                holdall::append::append(&args.file, table, &options)
            }
            outcome => outcome,
        }
    });
    let appended = outcome.on(&file)?;
    tell_losses(&file, &appended.losses);
    tell_warning(&file, appended.warning.as_deref());
    if args.json {
        let sources: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        console.out.json(&json::append_json(&sources, &file, &appended))?;
    }
    Ok(Outcome::Yes)
}
