//! `holdall cat`: values, as text or as bytes.

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use container_core::container::{Container, Dataset, Digests, ReadOptions};
use container_core::dtype::Order;
use container_core::format::Formats;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::write::{AtomicFile, Durability};
use container_core::{Error, Progress};
use holdall::Address;
use holdall::export::{AsStored, ExportFormat, Page, Shown, export, export_aligned, least_len};
use holdall::extract::{is_item, is_numbers, is_text};
use holdall::open::{Accept, OpenFile, open_for_streaming};
use holdall::output_file::refuse_source;
use holdall::views::fill_missing::Filled;

use super::write_args::tell_losses;
use super::{select, shown, tell, tell_left_out};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::many_files::{Folders, NamedAddress, NamedAddresses, expand_all};
use crate::options::{DigestsArgs, ForceArgs, JobsArgs, OpenAnywhereArgs, local_path};
use crate::output::{Console, Escapes, Named, printable};
use crate::progress::{ProgressReporter, ShowProgress};

mod label;

use label::Label;

/// Write the values of datasets, or of parts of them, to standard output or a file
#[derive(Debug, clap::Args)]
#[command(mut_arg("force", |force| force.requires("output")))]
#[command(after_help = "\
Text is for people: the last axis along a line, an empty line between planes. csv has a column for each value of a row, \
or index columns and a value for more than two dimensions. json nests lists. raw is C order, little-endian, whatever the order of the file \
(`append --raw` takes that of its file, or --dtype). npy is for \
numpy.load. An item of a file of items is written as its bytes, unless --format says otherwise; text of a text item is readable \
on a terminal.

With several files, a group or stars in PATH (* within one name, ** across), each dataset is written after the other: as text below a heading, \
==> FILE::PATH <==, an empty line between; as json a line for each (holdall.cat/1); as raw and npy without anything between, which numpy.load \
reads one by one from an open file. A csv is one table.

Examples:
  holdall cat scan.ra
  holdall cat 'scan.ra::data[0, ::10]'
  holdall cat scan.ra -o scan.csv
  holdall cat notes.blp::items/3
  holdall cat 'run.gsd::log/*' 'old.gsd::log/*'
  holdall cat 'scan.ra::data[..., 0]' --format npy > first.npy")]
pub struct Args {
    /// Files, FILE::PATH or FILE::PATH[SEL]; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,

    /// Form of the values
    ///
    /// Default: with -o by its extension, which has to tell; else text; for items raw.
    #[arg(long, value_name = "FORMAT", value_parser = format_word())]
    format: Option<ExportFormat>,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_parser = local_path())]
    output: Option<PathBuf>,

    /// Do not compare digests while reading: --digests ignore
    #[arg(long, conflicts_with = "digests")]
    no_verify: bool,

    /// Print every value
    ///
    /// A terminal gets the first and last of large arrays.
    #[arg(long, conflicts_with = "output")]
    all: bool,

    /// Value for missing elements, as in a cell of CSV
    ///
    /// Default: -- in text, an empty cell, null in JSON; in npy and raw NaN, NaT, for other types what is stored.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,

    /// npy: write bfloat16 as its two bytes (u2)
    ///
    /// In their byte order, instead of widening it to <f4.
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
        if path.is_dir() {
            return holdall::formats::directory_as_target(path, "NEW.csv");
        }
        let error = Error::usage("the name of the target does not show the format");
        let words = || format!("--format {}", ExportFormat::ALL.map(ExportFormat::name).join(", "));
        match holdall::formats::target_format(path, None, formats) {
            Ok(_) => error.with_hint(format!("holdall convert SOURCE {}", shown(path))),
            Err(_) => error.with_hint(holdall::formats::step_for_other(path).unwrap_or_else(words)),
        }
    })
}

/// The error for several datasets as CSV.
fn one_table() -> Error {
    Error::usage("csv is one table, and several datasets are named")
        .with_hint("--format json, or holdall extract, which writes a file for each")
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let output = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = args.format.or_else(|| output.and_then(ExportFormat::for_path));
    if args.as_stored && format != Some(ExportFormat::Npy) {
        return Err(Failure::usage("cat: --as-stored is for --format npy"));
    }
    if args.all && format.is_some_and(|format| format != ExportFormat::Text) {
        return Err(Failure::usage("cat: --all is for --format text: the other forms have every value"));
    }
    let options = args.open.options(console.limits, console.formats);
    let NamedAddresses { all, are_several } = expand_all(&args.files, &options, Folders::Opened);
    if are_several && format == Some(ExportFormat::Csv) {
        return Err(Failure { subject: Some("cat".to_owned()), error: one_table() });
    }
    let mut printer = Printer { args, output, format, are_several, target: None, is_first: true };
    for NamedAddress { address: Address { file, .. }, .. } in &all {
        if let Some(path) = output {
            refuse_source(file, path).on(shown(file))?;
        }
        format.map_or(Ok(()), |format| printer.refuse_terminal(format, console)).on(shown(file))?;
    }
    let mut before: Option<PathBuf> = None;
    for NamedAddress { address, unreadable } in all {
        let printed = match unreadable {
            Some(failure) => Err(failure),
            None => printer.print(&address, console),
        };
        match printed {
            // A target is complete or not there.
            Err(failure) if failure.subject.is_some() && are_several && output.is_none() => {
                console.fail(&failure.after_file(before.as_deref(), &address.file));
            }
            other => other?,
        }
        before = Some(address.file);
    }
    printer.commit()?;
    Ok(Outcome::Yes)
}

/// Datasets on their way to standard output or to a file.
struct Printer<'a> {
    args: &'a Args,
    output: Option<&'a Path>,
    /// The form that is asked for, by word or by extension.
    format: Option<ExportFormat>,
    /// True for several addresses, and for a pattern of them.
    are_several: bool,
    /// The file of `output`, from the first dataset on.
    target: Option<BufWriter<Named<AtomicFile>>>,
    /// True until a dataset with a heading is printed.
    is_first: bool,
}

impl Printer<'_> {
    fn refuse_terminal(&self, format: ExportFormat, console: &Console) -> container_core::Result<()> {
        let bytes = matches!(format, ExportFormat::Raw | ExportFormat::Npy);
        if bytes && self.output.is_none() && console.out.is_terminal() {
            return Err(
                Error::usage("binary output is not written to a terminal").with_hint("-o NEW, or a pipe")
            );
        }
        Ok(())
    }

    /// Prints the datasets of an address.
    fn print(&mut self, address: &Address, console: &mut Console) -> Result<()> {
        let args = self.args;
        let file = shown(&address.file);
        let options = args.open.options(console.limits, console.formats);
        let in_order = |opened: &OpenFile| {
            let stored = opened.container.dataset(0).map(|dataset| dataset.order);
            stored.map(|stored| self.format.map_or(Order::C, |format| format.order(stored)))
        };
        let opened = open_for_streaming(&address.file, Accept::ContainersAndArrays, &options, in_order)
            .on(shown(&address.file))?;
        let container = opened.container.as_ref();
        tell(&address.file, &container.notices());
        let is_exact = address.is_exact(container);
        let chosen = match is_exact {
            true => {
                let one = address.select_one(container).on(&file)?;
                tell_left_out(&address.file, &container.left_out(one.0));
                vec![one]
            }
            false => select(address, container)?,
        };
        // By the arguments alone, so that a program need not count the datasets.
        let is_labelled = !is_exact || self.are_several;
        let mut read = args.digests.apply(args.jobs.read_options(console.limits));
        if args.no_verify {
            read.digests = Digests::Ignore;
        }
        if chosen.len() > 1 && self.format == Some(ExportFormat::Csv) {
            return Err(one_table()).on(&file);
        }
        for (index, region) in &chosen {
            let dataset = container.require(*index).on(&file)?;
            let format =
                args.form(self.format, &dataset, self.output, console.out.is_for_people(), console.formats)?;
            self.refuse_terminal(format, console).on(&file)?;
            let filled = match &args.fill {
                Some(fill) => {
                    Filled::new(container, &[(*index, region.clone())], Some(fill), &read).on(&file)?
                }
                None => None,
            };
            let losses = filled.as_ref().map(Filled::losses).unwrap_or_default();
            let container = filled.as_ref().map_or(container, |filled| filled as &dyn Container);
            let as_stored = if args.as_stored { AsStored::Yes } else { AsStored::No };
            let page = (format == ExportFormat::Text && self.output.is_none() && console.out.is_for_people())
                .then(|| Page {
                    width: console.out.width(),
                    values: if args.all { Shown::All } else { Shown::Edges },
                });
            let job = Job { container, index: *index, region, format, as_stored, read, page };
            let label = is_labelled.then(|| Label::new(format, &file, address, &dataset.path, self.is_first));
            self.is_first &= label.is_none();
            let more = match self.output {
                Some(path) => {
                    let meter = ProgressReporter::new(printable(&file), ShowProgress::OnTerminal);
                    let target = self.target(path, least_len(&dataset, region, format))?;
                    meter.watch(|progress| job.write(label, progress, target)).on(&file)?
                }
                None => {
                    let bar = if console.out.is_terminal() {
                        ShowProgress::Never
                    } else {
                        ShowProgress::OnTerminal
                    };
                    let meter = ProgressReporter::new(printable(&file), bar);
                    let escapes = if format == ExportFormat::Json { Escapes::Json } else { Escapes::Text };
                    let write = |out: &mut dyn Write| {
                        meter.watch(|progress| job.write(label, progress, out)).on(&file)
                    };
                    match format {
                        ExportFormat::Text => console.out.text(escapes, write)?,
                        _ => console.out.data(escapes, write)?,
                    }
                }
            };
            let target = self.output.map_or_else(|| file.clone(), shown);
            tell_losses(&target, &[losses, more].concat());
        }
        tell(&address.file, container.uncompared().as_slice());
        Ok(())
    }

    /// The file of `output`, for `len` bytes or more.
    fn target(&mut self, path: &Path, len: u64) -> Result<&mut BufWriter<Named<AtomicFile>>> {
        let target = match self.target.take() {
            Some(target) => target,
            None => {
                let file = AtomicFile::create(path, self.args.force.overwrite()).on(shown(path))?;
                BufWriter::with_capacity(256 << 10, Named { inner: file, name: shown(path) })
            }
        };
        let room = target.get_ref().inner.require_room(len);
        room.map_err(|error| error.with_context("writing")).on(shown(path))?;
        Ok(self.target.insert(target))
    }

    /// Gives the file its name.
    fn commit(self) -> Result<()> {
        let (Some(target), Some(path)) = (self.target, self.output) else { return Ok(()) };
        let target =
            target.into_inner().map_err(|failed| Error::from(failed.into_error())).on(shown(path))?;
        target.inner.commit(Durability::Synced).on(shown(path))
    }
}

impl Args {
    /// The form that is asked for. Items are bytes that were packed, and come out as they went in; on a terminal texts are
    /// shown as such.
    fn form(
        &self,
        asked: Option<ExportFormat>,
        dataset: &Dataset,
        output: Option<&Path>,
        terminal: bool,
        formats: Formats,
    ) -> Result<ExportFormat> {
        match (asked, output) {
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
    /// The page of the text, for people.
    page: Option<Page>,
}

impl Job<'_> {
    fn write(
        &self,
        label: Option<Label>,
        progress: Progress<'_>,
        out: &mut dyn Write,
    ) -> container_core::Result<Vec<Loss>> {
        let Self { container, index, region, format, as_stored, read, page } = self;
        let export = |out: &mut dyn Write| match page {
            Some(page) => {
                export_aligned(*container, *index, region, *page, read, progress, out).map(|()| Vec::new())
            }
            None => export(*container, *index, region, *format, *as_stored, read, progress, out),
        };
        match label {
            Some(label) => label.around(out, export),
            None => export(out),
        }
    }
}
