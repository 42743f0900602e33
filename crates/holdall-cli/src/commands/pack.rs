//! `holdall pack`: raw elements, lines, files and tables into a container.

use std::path::{Path, PathBuf};

use container_core::dtype::{DType, Order};
use container_core::format::Formats;
use container_core::{Error, Limits, Progress, Value};
use holdall::convert::ConvertOptions;
use holdall::formats::target_format;
use holdall::json;
use holdall::pack::{ItemSource, PackOutcome, RawBytesSpec};
use holdall::set_meta::metadata_of_file;

use super::csv_args::{TableArgs, is_table, is_wrong_format};
use super::shown;
use super::write_args::{NewFileArgs, tell_differences, tell_warning};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::options::{address, local_path};
use crate::output::{Console, printable};
use crate::progress::ProgressReporter;

/// Write text tables, raw elements, lines or whole files to a container
#[derive(Debug, clap::Args)]
#[command(override_usage = "holdall pack [OPTIONS] <SOURCE>... <TARGET>")]
#[command(after_help = "\
With --items lines, every line of a text is an item: what lies between line feeds, without them. `extract --items` gives the \
same bytes back, whether the last line ended or not. With --items files, every file is an item and keeps its name, less what \
leads out of a directory; names with a colon, a backslash or a control character, which not every system allows, are refused. \
With --items arrays, every array of every file that `convert` reads is an item, of any length: arrays of one axis and of one type. With --dtype, \
which says that type, files of no known format are elements of it. `ls`, `cat`, `stat`, `convert` and the others then show items as arrays of that type. \
With --dtype, SOURCE is elements alone: --shape and --order say how they lie, else they are one axis. Without any of these, \
SOURCE is a file that `convert` reads, such as .npy, or a table whose name ends in .csv.

With --csv, SOURCE is a table of comma-separated values, whatever its name. Columns of one type without names are a matrix, or one axis where there is but one; \
others are records, whose fields have the names that the first row gives. A column is bool, integers, decimals, complex numbers or \
text, the first of these that each cell is; integers with leading zeros or of more than 64 bits are text. --dtype says the type instead: of every cell, or of the records, \
such as \"[('id', '<u4'), ('x', '<f4', (3,))]\". What `cat --format csv` writes becomes the array that it was, but for the width of its \
numbers, which --dtype says, and for strings of bytes that are not text, which become the text that Python has for them.

The target's format is told by --to or by its extension; codecs, filters and checksums are those of `convert`.

Examples:
  holdall pack --items lines notes.txt notes.blp
  holdall pack --items files *.json all.blp --codec zstd:9
  holdall pack --items arrays runs/*.npy runs.blp
  holdall pack --items arrays --dtype '<f8' a.bin b.bin ragged.blp
  holdall pack --dtype '<f8' --shape 100,3 positions.bin positions.blp
  holdall pack scan.npy scan.blp --metadata about.json
  holdall pack table.csv table.b2nd
  holdall pack --csv --dtype '<f4' --delimiter tab - grid.asdf < grid.tsv
  zcat words.gz | holdall pack --items lines - words.blp")]
pub struct Args {
    /// Files to pack, and last the new file; `-` is standard input or output
    ///
    /// Several only with --items files or arrays.
    // One list, since clap allows no options within a list that another argument follows.
    #[arg(value_name = "PATH", required = true, num_args = 1.., value_parser = local_path())]
    paths: Vec<PathBuf>,

    /// Items to pack: lines, files or arrays
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    items: Option<ItemsOf>,

    #[command(flatten)]
    table: TableArgs,

    /// SOURCE is elements of this type alone: '<f8'
    ///
    /// Such as '<f8' or '|u1'; with --csv, what its cells are; with --items arrays, what items are made of.
    #[arg(long, value_name = "DTYPE", value_parser = crate::options::dtype())]
    dtype: Option<DType>,

    /// The shape of those elements, such as 100,3
    #[arg(long, value_name = "SHAPE", value_delimiter = ',', value_parser = crate::options::axis_length, requires = "dtype", conflicts_with_all = ["csv", "items"])]
    shape: Option<Vec<u64>>,

    /// Fastest axis: C is the last one, F the first
    #[arg(hide_possible_values = true, long, value_name = "ORDER", default_value = "C", requires = "dtype", conflicts_with_all = ["csv", "items"])]
    order: AxisOrder,

    /// The target's format, where its name does not tell
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,

    /// Metadata for the new file: a JSON object in a file of its own
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,

    #[command(flatten)]
    make: NewFileArgs,
}

/// Kind of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ItemsOf {
    /// The lines of a text
    Lines,
    /// Whole files, with their names
    Files,
    /// Arrays of one axis and of one type, of files that `convert` reads
    Arrays,
}

impl ItemsOf {
    /// The library's source of items. Files whose elements have a type are arrays.
    ///
    /// # Errors
    /// `Usage` for a type of lines.
    pub fn source<'a>(
        self,
        source: &'a Path,
        sources: &'a [PathBuf],
        dtype: Option<&'a DType>,
    ) -> container_core::Result<ItemSource<'a>> {
        match (self, dtype) {
            (Self::Lines, None) => Ok(ItemSource::Lines(source)),
            (Self::Lines, Some(_)) => {
                let error = Error::usage("lines are text and have no --dtype");
                Err(error.with_hint("--items arrays, or --csv for numbers in text"))
            }
            (Self::Files, None) => Ok(ItemSource::Files(sources)),
            (Self::Files | Self::Arrays, dtype) => Ok(ItemSource::Arrays(sources, dtype)),
        }
    }

    /// Whether several sources are items of one file.
    pub const fn takes_several(self) -> bool {
        matches!(self, Self::Files | Self::Arrays)
    }
}

/// Order of the axes.
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
pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let (source, sources, target) = args.paths()?;
    let bar = args.make.check_target("pack", target, console)?;
    let (name, target_name) = (shown(source), shown(target));
    let metadata =
        args.metadata.as_deref().map(|file| metadata_of_file(file, &console.limits).on(shown(file)));
    let metadata = &metadata.transpose()?;
    let meter = ProgressReporter::new(printable(&target_name), bar);
    let (limits, formats) = (console.limits, console.formats);
    if let Some(kind) = args.items {
        let items = kind.source(source, sources, args.dtype.as_ref()).on(&name)?;
        // Of several files, the one that an error is about is named in its text.
        let subject = if sources.len() > 1 { target_name.clone() } else { name };
        let outcome = meter.watch(|progress| {
            holdall::pack::pack_items(items, target, &args.options(metadata, limits, formats, progress))
        });
        return args.show_items(outcome.on(subject)?, sources, &target_name, console);
    }
    args.table.check("pack", source, args.dtype.is_some())?;
    let csv = args.table.csv(args.dtype.as_ref());
    let outcome = meter.watch(|progress| {
        let options = args.options(metadata, limits, formats, progress);
        let of_table = || holdall::csv::pack_csv(source, &csv, target, &options);
        match &args.dtype {
            _ if args.table.csv => of_table(),
            Some(dtype) => {
                let order = if args.order == AxisOrder::C { Order::C } else { Order::F };
                let array = RawBytesSpec { dtype: dtype.clone(), shape: args.shape.clone(), order };
                holdall::pack::pack_raw(source, &array, target, &options)
            }
            None => match holdall::convert::convert(&address(source.as_os_str()), target, &options) {
                // A table is recognised by its name alone.
                Err(error) if is_table(&error, source) => of_table(),
                outcome => outcome,
            },
        }
    });
    let outcome = outcome.map_err(|error| match args.dtype {
        None if is_wrong_format(&error) => error.with_hint(
            "--csv, --items lines, --items files, --items arrays, or --dtype '|u1' for bytes of any kind",
        ),
        _ => error,
    });
    let format = target_format(target, args.to.as_deref(), formats).map_or("", |format| format.name);
    args.make.show(outcome.on(&name)?, &name, &target_name, format, console)
}

impl Args {
    /// The source, or the first of the files as items, then all sources, and the target.
    fn paths(&self) -> Result<(&Path, &[PathBuf], &Path)> {
        match self.paths.split_last() {
            Some((target, sources @ [source])) => Ok((source, sources, target)),
            Some((target, sources @ [first, ..])) if self.items.is_some_and(ItemsOf::takes_several) => {
                Ok((first, sources, target))
            }
            Some((_, [])) | None => Err(Failure::usage("pack: source or target is missing")),
            _ => Err(Failure::usage("pack: one source and one target, except for --items files and arrays")),
        }
    }

    fn options<'a>(
        &'a self,
        metadata: &Option<Value>,
        limits: Limits,
        formats: Formats,
        progress: Progress<'a>,
    ) -> ConvertOptions<'a> {
        let mut import = self.make.write.import_options();
        import.metadata.clone_from(metadata);
        self.make.options(self.to.as_deref(), import, limits, formats, progress)
    }

    fn show_items(
        &self,
        outcome: PackOutcome,
        sources: &[PathBuf],
        target: &str,
        console: &mut Console,
    ) -> Result<Outcome> {
        match outcome {
            PackOutcome::Done(packing) => {
                tell_warning(target, packing.warning.as_deref());
                if self.make.json {
                    let sources: Vec<String> = sources.iter().map(|source| shown(source)).collect();
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
}
