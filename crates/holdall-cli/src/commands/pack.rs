//! `holdall pack`: what is no container, into one.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use container_core::dtype::{DType, Order};
use container_core::write::Durability;
use container_core::{Error, ErrorKind, Limits, Progress};
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack};
use holdall::json;
use holdall::pack::{ItemSource, PackOutcome, RawArray};

use super::shown;
use super::writing::{WriteArgs, tell_differences, tell_losses};
use crate::errors::{Failure, On, Outcome, Result};
use crate::options::{ForceArgs, JobsArgs, OpenArgs, address};
use crate::output::{Console, printable};
use crate::progress::{Meter, Shown};

/// Write raw elements, the lines of a text, or whole files to a container
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --items lines, every line of a text is an item: what lies between line feeds, without them. `extract --items` gives the \
same bytes back, whether the last line ended or not. With --items files, every file is an item and keeps its name, less what \
leads out of a directory. With --dtype, SOURCE is elements alone: --shape and --order say how they lie, else they are one \
axis. Without any of these, SOURCE is a file that `convert` reads, such as .npy.

The target's format is told by --to or by its extension; codecs, filters and checksums are those of `convert`.

Examples:
  holdall pack --items lines notes.txt notes.blp
  holdall pack --items files *.json all.blp --codec zstd:9
  holdall pack --dtype '<f8' --shape 100,3 positions.bin positions.blp
  holdall pack scan.npy scan.blp
  zcat words.gz | holdall pack --items lines - words.blp")]
pub struct Args {
    /// What is packed; `-` is standard input. Several only with --items files
    #[arg(value_name = "SOURCE", required = true, num_args = 1..)]
    sources: Vec<PathBuf>,

    /// The new file; `-` is standard output
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// Pack items, each of a length of its own
    #[arg(long, value_name = "KIND", conflicts_with = "dtype")]
    items: Option<ItemsOf>,

    /// SOURCE is elements of this type, such as '<f8' or '|u1', and nothing else
    #[arg(long, value_name = "DTYPE", value_parser = dtype())]
    dtype: Option<DType>,

    /// The shape of those elements, such as 100,3
    #[arg(long, value_name = "SHAPE", value_delimiter = ',', requires = "dtype")]
    shape: Option<Vec<u64>>,

    /// Whether the last axis of those elements is the fastest one (C) or the first (F)
    #[arg(long, value_name = "ORDER", default_value = "C", requires = "dtype")]
    order: AxisOrder,

    /// The target's format, where its name does not tell
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,

    #[command(flatten)]
    write: WriteArgs,

    /// Read the target back and compare before it appears; exit code 1 and no target if anything differs
    #[arg(long)]
    verify: bool,

    /// Do not wait until the target is on the disk
    #[arg(long)]
    no_sync: bool,

    /// One JSON line (holdall.pack/1 for items, else holdall.convert/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenArgs,
}

/// What items are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ItemsOf {
    /// The lines of a text
    Lines,
    /// Whole files, with their names
    Files,
}

/// Which axis is fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AxisOrder {
    /// The last one
    #[value(name = "C", alias = "c")]
    C,
    /// The first one
    #[value(name = "F", alias = "f")]
    F,
}

/// Types as numpy's `dtype.str` has them.
fn dtype() -> impl TypedValueParser<Value = DType> {
    clap::builder::NonEmptyStringValueParser::new().try_map(|text| DType::parse(&text))
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let (source, target_name) = (args.source()?, shown(&args.target));
    let to_stdout = args.target.as_os_str() == "-";
    if to_stdout && args.json {
        return Err(Failure::usage("pack: standard output takes the target or the JSON line, not both"));
    }
    if to_stdout && args.verify {
        return Err(Failure::usage("pack: what is written to standard output cannot be read back"));
    }
    if to_stdout && console.out.is_terminal() {
        let problem = Error::usage("these bytes are not for a terminal");
        return Err(problem.hint("a file name, or a pipe")).on(target_name);
    }
    let bar = if to_stdout { Shown::Never } else { Shown::OnTerminal };
    let meter = Meter::new(printable(&target_name), bar);
    let limits = console.limits;
    let name = shown(source);
    if let Some(kind) = args.items {
        let items = match kind {
            ItemsOf::Lines => ItemSource::Lines(source),
            ItemsOf::Files => ItemSource::Files(&args.sources),
        };
        // Of several files, the one that an error is about is named in its text.
        let subject = if args.sources.len() > 1 { target_name.clone() } else { name };
        let outcome = meter
            .watch(|progress| holdall::pack::pack_items(items, &args.target, &args.options(limits, progress)))
            .on(subject)?;
        return args.show_items(outcome, &target_name, console);
    }
    let outcome = meter.watch(|progress| match &args.dtype {
        Some(dtype) => {
            let order = if args.order == AxisOrder::C { Order::C } else { Order::F };
            let array = RawArray { dtype: dtype.clone(), shape: args.shape.clone(), order };
            holdall::pack::pack_raw(source, &array, &args.target, &args.options(limits, progress))
        }
        None => holdall::convert::convert(
            &address(source.as_os_str()),
            &args.target,
            &args.options(limits, progress),
        ),
    });
    let outcome = outcome.map_err(|error| match error.kind() {
        ErrorKind::WrongFormat { .. } if args.dtype.is_none() => {
            error.hint("--items lines, --items files, or --dtype '|u1' for bytes of any kind")
        }
        _ => error,
    });
    args.show_array(outcome.on(&name)?, &name, &target_name, console)
}

impl Args {
    /// The source, of which there is one but for files as items.
    fn source(&self) -> Result<&Path> {
        match self.sources.as_slice() {
            [one] => Ok(one),
            [first, ..] if self.items == Some(ItemsOf::Files) => Ok(first),
            _ => Err(Failure::usage("pack: one source and one target, but for --items files")),
        }
    }

    fn options<'a>(&'a self, limits: Limits, progress: Progress<'a>) -> ConvertOptions<'a> {
        ConvertOptions {
            to: self.to.as_deref(),
            overwrite: self.force.overwrite(),
            durability: if self.no_sync { Durability::Cached } else { Durability::Synced },
            import: self.write.import_options(),
            open: self.open.options(limits),
            read: self.jobs.read_options(limits),
            verify: if self.verify { ReadBack::Yes } else { ReadBack::No },
            progress,
        }
    }

    fn show_items(&self, outcome: PackOutcome, target: &str, console: &mut Console) -> Result<Outcome> {
        match outcome {
            PackOutcome::Done(packing) => {
                if self.json {
                    let sources: Vec<String> = self.sources.iter().map(|source| shown(source)).collect();
                    console.out.json(&json::pack_json(&sources, target, &packing))?;
                }
                Ok(Outcome::Yes)
            }
            PackOutcome::Differs(differences) => {
                tell_differences(target, &differences);
                Ok(Outcome::No)
            }
        }
    }

    fn show_array(
        &self,
        outcome: ConvertOutcome,
        source: &str,
        target: &str,
        console: &mut Console,
    ) -> Result<Outcome> {
        match outcome {
            ConvertOutcome::Done(conversion) => {
                tell_losses(target, &conversion.losses);
                if self.json {
                    console.out.json(&json::convert_json(source, target, &conversion))?;
                }
                Ok(Outcome::Yes)
            }
            ConvertOutcome::Differs(differences) => {
                tell_differences(target, &differences);
                Ok(Outcome::No)
            }
        }
    }
}
