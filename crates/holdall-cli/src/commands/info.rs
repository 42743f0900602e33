//! `holdall info`: one screen about each file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;

use container_core::container::{Container, Dataset, Visibility};
use container_core::{ErrorKind, Value};
use holdall::address::typed;
use holdall::json;
use holdall::open::{Accept, OpenFile};

use super::{chosen, no_selection, open, shown};
use crate::errors::{Failure, Outcome, Result};
use crate::format_value;
use crate::many_files::{Folders, NamedAddress, expand_all, in_order, summary};
use crate::options::{JobsArgs, OpenAnywhereArgs};
use crate::output::{Console, ERROR, STRONG, human_bytes, printable};

/// Show what a file is: format, version, size, datasets, codecs, completeness
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A truncated file that can still be read is no failure: it is shown as truncated, with exit code 0. A folder that cannot be listed is told as a file that \
cannot be read, on standard error, and the exit code is 2.

Examples:
  holdall info scan.ra
  holdall info -j 8 /data/archive
  holdall info --json *.ra | jq 'select(.complete | not) | .path'")]
pub struct Args {
    /// Files, folders with all containers below, or FILE::PATH; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,

    /// One JSON line for each file (holdall.info/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

/// Information about one file.
enum Told<'a> {
    /// A folder that cannot be listed, or a file that cannot be read.
    Unreadable(&'a Failure),
    Json(Vec<serde_json::Value>),
    Rows(Vec<Rows>),
}

/// Names and values, the path first.
type Rows = Vec<(String, String)>;

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let formats = console.formats;
    let files = expand_all(&args.files, &args.open.options(console.limits, formats), Folders::Searched).all;
    let for_people = console.out.is_for_people();
    let (mut shown_before, mut failed) = (false, 0);
    in_order(
        &files,
        args.jobs.count(),
        console.limits,
        |file, share| -> Result<Told<'_>> {
            if let Some(failure) = &file.unreadable {
                return Ok(Told::Unreadable(failure));
            }
            let options = args.open.options(share.limits, formats);
            let opened = open(&file.address.file, Accept::Containers, &options)?;
            look(file, &opened, args.json, for_people)
        },
        |told| told.as_ref().is_err_and(|failure| matches!(failure.error.kind(), ErrorKind::Limit { .. })),
        |told| {
            match told {
                Err(failure) => {
                    failed += 1;
                    console.fail(&failure);
                }
                Ok(Told::Unreadable(failure)) => {
                    failed += 1;
                    console.fail(failure);
                }
                Ok(Told::Json(lines)) => lines.iter().try_for_each(|line| console.out.json(line))?,
                Ok(Told::Rows(all)) => {
                    for rows in all {
                        if std::mem::replace(&mut shown_before, true) {
                            writeln!(console.out)?;
                        }
                        show(&rows, console)?;
                    }
                }
            }
            Ok(())
        },
    )?;
    if !args.json {
        console.out.flush()?;
        summary(files.len(), &[("shown", files.len() - failed), ("unreadable", failed)]);
    }
    Ok(Outcome::Yes)
}

/// Describes a file, or each dataset that an address names in it.
fn look<'a>(named: &NamedAddress, opened: &OpenFile, as_json: bool, for_people: bool) -> Result<Told<'a>> {
    let (address, container) = (&named.address, opened.container.as_ref());
    let (path, title) = (shown(&address.file), opened.format.title);
    no_selection(address)?;
    if address.dataset.is_none() {
        return Ok(match as_json {
            true => Told::Json(vec![json::info_json(&path, container)]),
            false => Told::Rows(vec![rows(&path, title, container, for_people)]),
        });
    }
    let datasets = chosen(address, container, Visibility::Always)?;
    Ok(match as_json {
        true => Told::Json(
            datasets
                .map(|dataset| {
                    let mut line = json::info_json(&path, container);
                    line["dataset"] = json::ls_json(&dataset);
                    line
                })
                .collect(),
        ),
        false => {
            Told::Rows(datasets.map(|dataset| dataset_rows(&path, title, &dataset, for_people)).collect())
        }
    })
}

fn show(rows: &[(String, String)], console: &mut Console) -> Result<()> {
    if !console.out.is_for_people() {
        for (name, value) in rows {
            console.out.row(&[name, value])?;
        }
        return Ok(());
    }
    let paint = console.out.paint;
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (number, (name, value)) in rows.iter().enumerate() {
        let value = printable(value);
        if number == 0 {
            writeln!(console.out, "{}", paint.with(STRONG, &value))?;
            continue;
        }
        let value = if value == TRUNCATED { paint.with(ERROR, &value) } else { value };
        writeln!(console.out, "  {:width$}  {value}", printable(name))?;
    }
    Ok(())
}

const TRUNCATED: &str = "no, the file ends early";

fn dataset_rows(path: &str, title: &str, dataset: &Dataset, for_people: bool) -> Rows {
    let mut rows = vec![
        ("path".to_owned(), format!("{path}::{}", typed(&dataset.path))),
        ("format".to_owned(), title.to_owned()),
        ("dtype".to_owned(), dataset.dtype.to_string()),
        ("shape".to_owned(), format_value::shape(&dataset.shape)),
        ("order".to_owned(), dataset.order.letter().to_owned()),
        ("codec".to_owned(), dataset.codec.clone()),
        ("stored".to_owned(), size(dataset.stored, for_people)),
        ("values".to_owned(), size(dataset.logical, for_people)),
    ];
    if let Some(chunks) = &dataset.chunks {
        rows.insert(5, ("chunks".to_owned(), format_value::shape(chunks)));
    }
    dataset.attributes.iter().for_each(|(name, value)| push_detail(name, value, &mut rows));
    rows
}

/// A number of bytes, for people with a larger unit too.
fn size(bytes: u64, for_people: bool) -> String {
    match for_people && bytes >= 1024 {
        true => format!("{} ({bytes} bytes)", human_bytes(bytes)),
        false => format!("{bytes} bytes"),
    }
}

fn rows(path: &str, title: &str, container: &dyn Container, for_people: bool) -> Rows {
    let about = container.about();
    let words = |words: BTreeSet<String>| match words.is_empty() {
        true => "none".into(),
        false => words.into_iter().collect::<Vec<_>>().join(", "),
    };
    let datasets = match (container.listed_count(), container.dataset(0)) {
        (1, Some(one)) => format!("1: {} {} {}", one.path, one.dtype, format_value::shape(&one.shape)),
        (several, _) => several.to_string(),
    };
    let mut rows = vec![
        ("path".to_owned(), path.to_owned()),
        ("format".to_owned(), title.to_owned()),
        ("version".to_owned(), about.version.clone().unwrap_or_else(|| "none".into())),
        ("size".to_owned(), size(about.size, for_people)),
        ("complete".to_owned(), if about.complete { "yes" } else { TRUNCATED }.to_owned()),
        ("datasets".to_owned(), datasets),
    ];
    if let Some(codecs) = container.codecs() {
        rows.push(("codecs".to_owned(), words(codecs)));
        rows.push(("checksums".to_owned(), words(container.checksums())));
    }
    about.details.iter().for_each(|(name, value)| push_detail(name, value, &mut rows));
    rows
}

/// One row, or a row for each entry of a map that is too long for one.
fn push_detail(name: &str, value: &Value, rows: &mut Vec<(String, String)>) {
    const MAX_ROW_LEN: usize = 100;
    let line = format_value::one_line(value, MAX_ROW_LEN);
    match value {
        // JSON has the key all the same.
        Value::Null => {}
        Value::Map(entries) if line.ends_with('…') && entries.len() <= MAX_ROW_LEN => {
            let entries = entries
                .iter()
                .map(|(key, value)| (format!("{name}.{key}"), format_value::one_line(value, MAX_ROW_LEN)));
            rows.extend(entries);
        }
        _ => rows.push((name.to_owned(), line)),
    }
}
