//! `holdall find`: addresses of the datasets that a condition fits.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use container_core::container::ReadOptions;
use container_core::format::Formats;
use container_core::source::{Access, Source, open_path};
use container_core::{Error, Limits};
use holdall::address::is_url;
use holdall::catalog::{CatalogReader, Row, Table, Want, begins_as_parquet, rows_of};
use holdall::open::is_stream;
use holdall::query::Query;
use serde_json::json;

use super::shown;
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::many_files::{Named, Share, expand, in_order};
use crate::options::{JobsArgs, OpenAnywhereArgs};
use crate::output::{Console, printable, to_stderr};

/// Print the addresses of datasets that fit a condition
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A condition is comparisons (== != < <= > >=) joined by and, or, not (& | ~) and parentheses. On the left is a name: a pointer into the metadata of the file, \
or path, dataset, format, dtype, shape[0], ndim, codec, bytes, stored, file_bytes, modified, verdict. `/format` and 'format' in quotes are metadata. On the right is a \
value: a number, a date (2026-01-31, 2026-01-31T12:00Z), or text, in quotes where it has blanks or signs: dtype == '<f4'. `exists NAME` asks whether there is a value; \
where there is none no comparison holds, != neither. The page docs/many-files.md has the rules.

Each line is the address of a dataset, FILE::PATH; of a file without datasets FILE; with -l each file once. A file may be a catalogue, which `holdall catalog` \
writes: it answers for its files, which are not opened.

Exit codes, as of grep: 0 something fits, 1 nothing does, 2 some file could not be read.

Examples:
  holdall find 'roman/meta/exposure/start_time >= 2026-01-01' /data/archive
  holdall find 'format == gsd and bytes > 1GB' archive.parquet
  holdall find 'dtype == float32 and shape[0] > 100' *.asdf
  holdall find -l -0 \"verdict != sound\" archive.parquet | xargs -0 holdall verify")]
pub struct Args {
    /// The condition
    #[arg(value_name = "CONDITION", allow_hyphen_values = true)]
    condition: String,

    /// Files, catalogues, or folders with all containers below
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the file alone, once
    #[arg(short = 'l', long = "files")]
    only_files: bool,

    /// End each address with a NUL: for xargs -0
    ///
    /// Instead of a line end; nothing is escaped.
    #[arg(short = '0', long, conflicts_with = "json")]
    null: bool,

    /// One JSON line for each address (holdall.find/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let query =
        Query::parse(&args.condition).map_err(|error| Failure { subject: Some("find".to_owned()), error })?;
    let mut table = Table::default();
    query.pointers().iter().for_each(|pointer| table.add(pointer));
    let mut search = Search { args, query: &query, table: &table, formats: console.formats, found: 0 };
    // A catalogue without the column has been answered by an error.
    let mut is_in_vain = false;
    // Catalogues and files stay in their order.
    let mut files = Vec::new();
    for path in &args.files {
        match catalog_at(path, console.limits) {
            None => files.push(path.clone()),
            Some(catalog) => {
                search.in_files(&std::mem::take(&mut files), console)?;
                let searched = catalog.and_then(|catalog| search.in_catalog(&catalog, console));
                match searched.on(shown(path)) {
                    Err(failure) if !failure.is_closed_pipe() => {
                        is_in_vain = true;
                        console.fail(&failure);
                    }
                    other => other?,
                }
            }
        }
    }
    search.in_files(&files, console)?;
    if let Some((name, question)) = query.misspelt().filter(|_| search.found == 0 && !is_in_vain) {
        to_stderr(&format!("note: no file has metadata {}: {question}", printable(name)));
    }
    Ok(Outcome::yes_if(search.found > 0))
}

/// The catalogue at a path; `None` for other files.
fn catalog_at(path: &Path, limits: Limits) -> Option<container_core::Result<CatalogReader>> {
    if is_stream(path) || is_url(path) || !path.is_file() {
        return None;
    }
    let source = open_path(path, Access::Positioned, &limits).ok()?;
    let mut head = [0; 4];
    source.read_into(0, &mut head).ok()?;
    begins_as_parquet(&head).then(|| CatalogReader::open(source, &limits))
}

struct Search<'a> {
    args: &'a Args,
    query: &'a Query,
    table: &'a Table,
    formats: Formats,
    found: u64,
}

/// Datasets of a file that fit.
struct Fitting {
    path: PathBuf,
    datasets: Vec<Option<String>>,
    failure: Option<Error>,
}

impl Fitting {
    fn is_short(&self) -> bool {
        let is_limit = |error: &Error| matches!(error.kind(), container_core::ErrorKind::Limit { .. });
        self.failure.as_ref().is_some_and(is_limit)
    }
}

impl Search<'_> {
    fn in_files(&mut self, named: &[PathBuf], console: &mut Console) -> Result<()> {
        if named.is_empty() {
            return Ok(());
        }
        let files = expand(named, &self.args.open.options(console.limits, self.formats));
        let limits = console.limits;
        let look = Look { args: self.args, query: self.query, table: self.table, formats: self.formats };
        let is_short = |made: &Result<Fitting, &Failure>| made.as_ref().is_ok_and(Fitting::is_short);
        let jobs = self.args.jobs.count();
        in_order(
            &files,
            jobs,
            limits,
            |file, share| look.at(file, share),
            is_short,
            |made| {
                let fitting = match made {
                    Ok(fitting) => fitting,
                    Err(failure) => {
                        console.fail(failure);
                        return Ok(());
                    }
                };
                for dataset in &fitting.datasets {
                    self.show(&fitting.path, dataset.as_deref(), console)?;
                    if self.args.only_files {
                        break;
                    }
                }
                if let Some(error) = fitting.failure {
                    console.fail(&Failure { subject: Some(shown(&fitting.path)), error });
                }
                Ok(())
            },
        )
    }

    fn in_catalog(&mut self, catalog: &CatalogReader, console: &mut Console) -> container_core::Result<()> {
        let binding = self.query.bind(catalog)?;
        let mut shown_files = HashSet::new();
        for row in catalog.rows() {
            let row = row?;
            if !self.query.fits_bound(&row, &binding) {
                continue;
            }
            if self.args.only_files && !shown_files.insert(row.path.clone()) {
                continue;
            }
            let shown = self.show(Path::new(&row.path), row.dataset.as_deref(), console);
            shown.map_err(|failure| failure.error)?;
        }
        Ok(())
    }

    /// Prints an address.
    fn show(&mut self, path: &Path, dataset: Option<&str>, console: &mut Console) -> Result<()> {
        self.found += 1;
        let dataset = dataset.filter(|_| !self.args.only_files);
        let name = shown(path);
        let address = match dataset {
            Some(dataset) => format!("{name}::{dataset}"),
            None => name.clone(),
        };
        if self.args.json {
            let line =
                json!({ "schema": "holdall.find/1", "address": address, "path": name, "dataset": dataset });
            return Ok(console.out.json(&line)?);
        }
        if !self.args.null {
            return Ok(console.out.row(&[address])?);
        }
        // The bytes of the name, which may be no text.
        let bytes = if is_url(path) { name.as_bytes() } else { path.as_os_str().as_encoded_bytes() };
        let rest = dataset.map(|dataset| format!("::{dataset}")).unwrap_or_default();
        Ok(console.out.write_all(&[bytes, rest.as_bytes(), b"\0"].concat())?)
    }
}

/// The work on one file.
struct Look<'a> {
    args: &'a Args,
    query: &'a Query,
    table: &'a Table,
    formats: Formats,
}

impl Look<'_> {
    fn at<'f>(&self, file: &'f Named, share: &Share<'_>) -> Result<Fitting, &'f Failure> {
        if let Some(failure) = &file.unreadable {
            return Err(failure);
        }
        let (path, query) = (&file.path, self.query);
        let options = self.args.open.options(share.limits, self.formats);
        let want =
            Want { verdict: query.uses("verdict") || query.uses("message"), head: query.uses("head_sha256") };
        let read = ReadOptions::default().with_limits(share.limits);
        let described = rows_of(path, self.table, want, &options, &read);
        // Where the verdict is asked for, it is an answer that a file cannot be read.
        let failure = described.error.filter(|_| !want.verdict || !path.exists());
        let fits = described.rows.into_iter().filter(|row: &Row| failure.is_none() && query.fits(row));
        Ok(Fitting { path: path.clone(), datasets: fits.map(|row| row.dataset).collect(), failure })
    }
}
