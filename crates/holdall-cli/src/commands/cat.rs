//! `holdall cat`: values, as text or as bytes.

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use container_core::container::{Container, Dataset, Digests, ReadOptions, visible_datasets};
use container_core::dtype::Order;
use container_core::format::Formats;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::write::{AtomicFile, Durability};
use container_core::{Error, Progress};
use holdall::address::typed;
use holdall::export::{AsStored, ExportFormat, export, least_len};
use holdall::extract::{is_item, is_numbers, is_text};
use holdall::open::{Accept, OpenFile, open_for_streaming};
use holdall::output_file::refuse_source;
use holdall::views::fill_missing::Filled;

use super::write_args::tell_losses;
use super::{select, shown, tell};
use crate::errors::{ErrorContext, Outcome, Result};
use crate::options::{DigestsArgs, ForceArgs, JobsArgs, OpenAnywhereArgs, address, local_path};
use crate::output::{Console, Escapes, Named, printable};
use crate::progress::{ProgressReporter, ShowProgress};

/// Write the values of a dataset, or of a part of it, to standard output or a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Text is for people: the last axis along a line, an empty line between planes. csv has a column for each value of a row, \
or index columns and a value for more than two dimensions. json nests lists. raw is C order, little-endian, whatever the order of the file \
(`append --raw` takes that of its file, or --dtype). npy is for \
numpy.load. An item of a file of items is written as its bytes, unless --format says otherwise; text of a text item is readable \
on a terminal.

Examples:
  holdall cat scan.ra
  holdall cat 'scan.ra::data[0, ::10]'
  holdall cat scan.ra -o scan.csv
  holdall cat notes.blp::items/3
  holdall cat 'scan.ra::data[..., 0]' --format npy > first.npy")]
pub struct Args {
    /// The file, FILE::PATH or FILE::PATH[SEL]; `-` is standard input
    #[arg(value_name = "FILE")]
    file: OsString,

    /// How the values are written; default: with -o by its extension, which has to tell; else text; for items raw
    #[arg(long, value_name = "FORMAT", value_parser = format_word())]
    format: Option<ExportFormat>,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_parser = local_path())]
    output: Option<PathBuf>,

    /// Do not compare digests while reading: --digests ignore
    #[arg(long, conflicts_with = "digests")]
    no_verify: bool,

    /// Value for missing elements, as in a cell of CSV; default: -- in text, an empty cell, null in JSON; in npy and raw NaN, NaT, for other
    /// types what is stored
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,

    /// npy: write bfloat16 as the two bytes that are stored (u2, in their byte order) instead of widening it to <f4
    #[arg(long)]
    as_stored: bool,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    digests: DigestsArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

/// The words of `--format`.
fn format_word() -> impl TypedValueParser<Value = ExportFormat> {
    PossibleValuesParser::new(ExportFormat::ALL.map(ExportFormat::name))
        .try_map(|word| ExportFormat::by_name(&word))
}

/// The form that the name of a target asks for.
fn by_name_of(path: &Path, formats: Formats) -> container_core::Result<ExportFormat> {
    ExportFormat::for_path(path).ok_or_else(|| {
        let error = Error::usage("the name of the target does not show the format");
        match holdall::formats::target_format(path, None, formats) {
            Ok(_) => error.with_hint("holdall convert, which writes containers"),
            Err(_) => {
                error.with_hint(format!("--format {}", ExportFormat::ALL.map(ExportFormat::name).join(", ")))
            }
        }
    })
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let address = address(&args.file);
    let file = shown(&address.file);
    let output = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let asked = args.format.or_else(|| output.and_then(ExportFormat::for_path));
    if let Some(path) = output {
        refuse_source(&address.file, path).on(&file)?;
    }
    let not_for_terminal = |format| {
        let bytes = matches!(format, ExportFormat::Raw | ExportFormat::Npy);
        if bytes && output.is_none() && console.out.is_terminal() {
            return Err(
                Error::usage("binary output is not written to a terminal").with_hint("-o NEW, or a pipe")
            );
        }
        Ok(format)
    };
    asked.map(not_for_terminal).transpose().on(&file)?;
    let options = args.open.options(console.limits, console.formats);
    let in_order = |opened: &OpenFile| {
        let stored = opened.container.dataset(0).map(|dataset| dataset.order);
        stored.map(|stored| asked.map_or(Order::C, |format| format.order(stored)))
    };
    let opened = open_for_streaming(&address.file, Accept::ContainersAndArrays, &options, in_order)
        .on(shown(&address.file))?;
    let container = opened.container.as_ref();
    tell(&address.file, &container.notices());
    let (index, region) = single(container, select(&address, container)?).on(&file)?;
    let format =
        args.form(&*container.require(index).on(&file)?, output, console.out.is_terminal(), console.formats)?;
    not_for_terminal(format).on(&file)?;
    let mut read = args.digests.apply(args.jobs.read_options(console.limits));
    if args.no_verify {
        read.digests = Digests::Ignore;
    }
    let filled = match &args.fill {
        Some(fill) => Filled::new(container, &[(index, region.clone())], Some(fill), &read).on(&file)?,
        None => None,
    };
    let losses = filled.as_ref().map(Filled::losses).unwrap_or_default();
    let container = filled.as_ref().map_or(container, |filled| filled as &dyn Container);
    let target = output.map_or_else(|| file.clone(), shown);
    let job = Job {
        container,
        index,
        region: &region,
        format,
        as_stored: if args.as_stored { AsStored::Yes } else { AsStored::No },
        read,
    };
    let more = match output {
        Some(path) => job.to_file(path, args.force, &file)?,
        None => {
            let bar = if console.out.is_terminal() { ShowProgress::Never } else { ShowProgress::OnTerminal };
            let meter = ProgressReporter::new(printable(&file), bar);
            let escapes = if format == ExportFormat::Json { Escapes::Json } else { Escapes::Text };
            console.out.text(escapes, |out| meter.watch(|progress| job.write(progress, out)).on(file))?
        }
    };
    tell_losses(&target, &[losses, more].concat());
    tell(&address.file, container.uncompared().as_slice());
    Ok(Outcome::Yes)
}

impl Args {
    /// The form that is asked for. Items are bytes that were packed, and come out as they went in; on a terminal texts are
    /// shown as such.
    fn form(
        &self,
        dataset: &Dataset,
        output: Option<&Path>,
        terminal: bool,
        formats: Formats,
    ) -> Result<ExportFormat> {
        match (self.format, output) {
            (Some(format), _) => Ok(format),
            (None, None) if is_text(dataset) && terminal => Ok(ExportFormat::Text),
            (None, _) if is_item(dataset) && !is_numbers(dataset) => Ok(ExportFormat::Raw),
            (None, Some(path)) => by_name_of(path, formats).on(shown(path)),
            (None, None) => Ok(ExportFormat::Text),
        }
    }
}

struct Job<'a> {
    container: &'a dyn Container,
    index: usize,
    region: &'a Region,
    format: ExportFormat,
    as_stored: AsStored,
    read: ReadOptions,
}

impl Job<'_> {
    fn write(&self, progress: Progress<'_>, out: &mut dyn Write) -> container_core::Result<Vec<Loss>> {
        let Self { container, index, region, format, as_stored, read } = self;
        export(*container, *index, region, *format, *as_stored, read, progress, out)
    }

    /// The file appears when it is complete.
    fn to_file(&self, path: &Path, force: ForceArgs, source: &str) -> Result<Vec<Loss>> {
        let target = AtomicFile::create(path, force.overwrite()).on(shown(path))?;
        let dataset = self.container.require(self.index).on(source)?;
        let len = least_len(&dataset, self.region, self.format);
        target.require_room(len).map_err(|error| error.with_context("writing")).on(shown(path))?;
        let mut buffered = BufWriter::with_capacity(256 << 10, Named { inner: target, name: shown(path) });
        let meter = ProgressReporter::new(printable(source), ShowProgress::OnTerminal);
        let losses = meter.watch(|progress| self.write(progress, &mut buffered)).on(source)?;
        let target =
            buffered.into_inner().map_err(|failed| Error::from(failed.into_error())).on(shown(path))?;
        target.inner.commit(Durability::Synced).on(shown(path))?;
        Ok(losses)
    }
}

/// The one dataset that is meant.
pub(super) fn single(
    container: &dyn Container,
    mut chosen: Vec<(usize, Region)>,
) -> container_core::Result<(usize, Region)> {
    match (chosen.pop(), chosen.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => {
            let nothing = || Error::usage("no dataset in this file");
            Err(holdall::verify::first_damage(container).unwrap_or_else(nothing))
        }
        (Some(_), false) => {
            // A file may hold thousands.
            const MAX_NAMED: usize = 20;
            let count = container.listed_count();
            let paths: Vec<String> = visible_datasets(container)
                .take(MAX_NAMED)
                .map(|(_, dataset)| typed(&dataset.path).to_owned())
                .collect();
            let problem = format!("the file has {count} datasets");
            let more = count.saturating_sub(MAX_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(Error::usage(problem)
                .with_hint(format!("FILE::PATH with one of: {}{more}", paths.join(", "))))
        }
    }
}
