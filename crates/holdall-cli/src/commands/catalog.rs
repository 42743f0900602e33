//! `holdall catalog`: a table with a row for each dataset of many files.

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use container_core::container::ReadOptions;
use container_core::format::Formats;
use container_core::source::{Access, open_path};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Limits};
use holdall::address::is_url;
use holdall::catalog::{
    CatalogReader, CatalogWriter, Described, Previous, PreviousRows, Row, Stamp, Table, Want, rows_of,
    unreadable_row,
};
use holdall::open::is_stream;
use holdall::verify::VerifyStatus;

use super::shown;
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::many_files::{Named, Share, expand, in_order};
use crate::options::{ForceArgs, JobsArgs, OpenAnywhereArgs, local_path};
use crate::output::{Console, Named as NamedWriter, printable, to_stderr};

/// Write a Parquet table with a row for each dataset of many files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each row has the file, the dataset, its shape, type, chunks, codec and sizes, length and time of the file, a digest of its first 4096 bytes, the verdict of \
a quick check, and a column of text for each --meta. A file without datasets, or that cannot be read, has a row as well. Values are not read. \
The page docs/many-files.md has the columns, and how DuckDB, Polars and pandas read them.

A catalogue that is there already is brought up to date: files whose length and time are the same are not read again, and those that are gone have no rows any more. With other \
--meta, other options about reading or another version of holdall all files are read. -f reads all files in any case, and replaces a file that is no catalogue. The new catalogue takes \
the place of the old one when it is complete.

Exit codes: 0 it is written, whatever the verdicts are; 2 it is not, or a file that is named is not there.

Examples:
  holdall catalog /data/archive -o archive.parquet
  holdall catalog /data/archive -o archive.parquet --meta roman/meta/exposure/start_time --meta roman/meta/instrument/name
  holdall catalog run-*.gsd -o runs.parquet -j 4")]
pub struct Args {
    /// Files, and folders, of which every container below has rows
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The table: new, or a catalogue to bring up to date
    #[arg(short, long, required = true, value_name = "CATALOG", value_parser = local_path())]
    output: PathBuf,

    /// Column with the value at this JSON pointer
    ///
    /// Of the metadata of each file. May be given several times.
    #[arg(long, value_name = "PTR")]
    meta: Vec<String>,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

/// The rows of one file.
enum Made {
    /// Those of the earlier catalogue.
    Kept,
    Read(Described),
}

/// Numbers of files and rows.
#[derive(Default)]
struct Counts {
    read: usize,
    kept: usize,
    not_sound: usize,
    rows: usize,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let name = shown(&args.output);
    if args.files.iter().chain([&args.output]).any(|path| is_stream(path)) {
        return Err(Failure::usage("catalog: standard input and output cannot be read again"));
    }
    let extension = args.output.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if OTHER_TABLES.iter().any(|other| extension.eq_ignore_ascii_case(other)) {
        let problem = format!("a catalogue is a Parquet table, not .{extension}");
        let hint = format!("-o {}", shown(&args.output.with_extension("parquet")));
        return Err(Error::usage(problem)
            .with_hint(format!("{hint}; DuckDB, polars or pandas make other tables of it")))
        .on(&name);
    }
    let mut table = Table { pointers: Vec::new(), options: args.options_text() };
    args.meta.iter().for_each(|pointer| table.add(pointer));
    let earlier = args.earlier(console.limits).on(&name)?;
    let previous = earlier.as_ref().map(|earlier| Previous::of(earlier, &table));
    let previous = previous.transpose().map_err(damaged).on(&name)?.flatten();
    if earlier.is_some() && previous.is_none() {
        let why = "made with other columns, options or by another version: every file is read";
        to_stderr(&format!("holdall: {}: {why}", printable(&name)));
    }
    let kept = earlier.as_ref().zip(previous.as_ref()).map(|(earlier, previous)| previous.rows(earlier));
    if args.output.exists() && !args.are_there(console) {
        to_stderr(&format!("holdall: {}: left as it was", printable(&name)));
        return Ok(Outcome::CouldNot);
    }
    let overwrite = if earlier.is_some() { Overwrite::Replace } else { args.force.overwrite() };
    let target = AtomicFile::create(&args.output, overwrite).on(&name)?;
    let target = NamedWriter { inner: target, name: name.clone() };
    let mut writer = CatalogWriter::new(BufWriter::with_capacity(256 << 10, target), &table).on(&name)?;
    let work = Work { args, table: &table, formats: console.formats, previous: previous.as_ref() };
    let counts = work.write_rows(kept, &mut writer, console)?;
    let target = writer.finish().on(&name)?.into_inner().map_err(|failed| Error::from(failed.into_error()));
    target.on(&name)?.inner.commit(Durability::Synced).on(&name)?;
    to_stderr(&counts.line(&printable(&name)));
    Ok(Outcome::Yes)
}

/// Extensions of tables that a catalogue is not.
const OTHER_TABLES: [&str; 9] = ["csv", "tsv", "txt", "json", "ndjson", "xlsx", "db", "sqlite", "feather"];

/// The error of an earlier catalogue.
fn damaged(error: Error) -> Error {
    error.with_context("the catalogue that is there").with_hint("another -o, or -f to replace it")
}

impl Args {
    /// The options on which rows depend.
    fn options_text(&self) -> String {
        let mut options = self.open.path().clone();
        // The same bytes, by position or mapped.
        options.file.source.positioned = false;
        format!("{options:?}")
    }

    /// Whether every argument is there; reports those that are not. A mistyped folder must not take the rows of its files.
    fn are_there(&self, console: &mut Console) -> bool {
        let mut are_there = true;
        for path in &self.files {
            if let Some(error) = gone(path) {
                console.fail(&Failure { subject: Some(shown(path)), error: error.into() });
                are_there = false;
            }
        }
        are_there
    }

    /// The catalogue that is there, unless all files are to be read.
    fn earlier(&self, limits: Limits) -> container_core::Result<Option<CatalogReader>> {
        if self.force.force || self.output.symlink_metadata().is_err() {
            return Ok(None);
        }
        // It is replaced while it is open.
        let source = open_path(&self.output, Access::Positioned, &limits)?;
        CatalogReader::open(source, &limits).map(Some).map_err(damaged)
    }
}

impl Counts {
    fn line(&self, name: &str) -> String {
        let mut line =
            format!("{name}: {} rows, {} files read, {} as before", self.rows, self.read, self.kept);
        if self.not_sound > 0 {
            line.push_str(&format!(", {} not sound", self.not_sound));
        }
        line
    }

    /// Counts a file by its first row.
    fn add_verdict(&mut self, row: Option<&Row>) {
        let verdict = row.and_then(|row| row.verdict.as_deref());
        self.not_sound += usize::from(verdict != Some(VerifyStatus::Sound.name()));
    }
}

struct Work<'a> {
    args: &'a Args,
    table: &'a Table,
    formats: Formats,
    previous: Option<&'a Previous>,
}

impl Work<'_> {
    fn write_rows<W: Write + Send>(
        &self,
        mut kept: Option<PreviousRows<'_>>,
        writer: &mut CatalogWriter<W>,
        console: &mut Console,
    ) -> Result<Counts> {
        let name = shown(&self.args.output);
        let mut files = expand(&self.args.files, &self.args.open.options(console.limits, self.formats));
        // A file that several arguments name has its rows once.
        let mut seen = HashSet::with_capacity(files.len());
        files.retain(|file| seen.insert(file.path.clone()));
        drop(seen);
        let (mut counts, limits) = (Counts::default(), console.limits);
        let report = |(file, made): (&Named, Made)| {
            let described = match (made, &mut kept) {
                (Made::Read(described), _) => described,
                (Made::Kept, kept) => {
                    if self.keep(&file.path, kept.as_mut(), writer, &mut counts).map_err(damaged).on(&name)? {
                        return Ok(());
                    }
                    // The order of the arguments has changed.
                    self.read(&file.path, limits)
                }
            };
            if let Some(error) = described.error
                && gone(&file.path).is_some()
            {
                console.fail(&Failure { subject: Some(shown(&file.path)), error });
                return Ok(());
            }
            counts.read += 1;
            counts.rows += described.rows.len();
            counts.add_verdict(described.rows.first());
            described.rows.into_iter().try_for_each(|row| writer.push(row)).on(&name)
        };
        let rows = |file, share: &Share<'_>| (file, self.rows(file, share.limits));
        let is_short = |(_, made): &(&Named, Made)| matches!(made, Made::Read(read) if read.is_short());
        in_order(&files, self.args.jobs.count(), limits, rows, is_short, report)?;
        Ok(counts)
    }

    /// Writes the rows that the earlier catalogue has of a file; `false` where it has passed them.
    fn keep<W: Write + Send>(
        &self,
        path: &Path,
        kept: Option<&mut PreviousRows<'_>>,
        writer: &mut CatalogWriter<W>,
        counts: &mut Counts,
    ) -> container_core::Result<bool> {
        let (Some(kept), Some(path)) = (kept, path.to_str()) else { return Ok(false) };
        let mut is_first = true;
        let is_there = kept.take(path, |row| {
            if std::mem::take(&mut is_first) {
                counts.add_verdict(Some(&row));
            }
            counts.rows += 1;
            writer.push(row)
        })?;
        counts.kept += usize::from(is_there);
        Ok(is_there)
    }

    fn rows(&self, file: &Named, limits: Limits) -> Made {
        if let Some(failure) = &file.unreadable {
            let rows = vec![unreadable_row(&file.path, self.table, &failure.error)];
            return Made::Read(Described { rows, error: None });
        }
        // A name that is not text is not the one of its row.
        let is_current =
            |path| self.previous.is_some_and(|previous| previous.is_current(path, Stamp::of(&file.path)));
        match file.path.to_str() {
            Some(path) if is_current(path) => Made::Kept,
            _ => Made::Read(self.read(&file.path, limits)),
        }
    }

    fn read(&self, path: &Path, limits: Limits) -> Described {
        let options = self.args.open.options(limits, self.formats);
        let want = Want { verdict: true, head: true };
        rows_of(path, self.table, want, &options, &ReadOptions::default().with_limits(limits))
    }
}

/// The error of a path at which there is no file, nor a link to a missing one.
fn gone(path: &Path) -> Option<std::io::Error> {
    let error = if is_url(path) { None } else { path.symlink_metadata().err() };
    error.filter(|error| error.kind() == std::io::ErrorKind::NotFound)
}
