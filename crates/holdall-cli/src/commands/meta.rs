//! `holdall meta`: metadata, whole or by JSON pointer.

use std::ffi::OsString;
use std::io::{self, Write};

use container_core::{Error, Value};
use holdall::json;
use holdall::open::Accept;

use super::{open, select, shown};
use crate::errors::{On, Outcome, Result};
use crate::options::{OpenArgs, address};
use crate::output::{Console, Paint, STRONG, printable, to_stderr};
use crate::values::{MOST_DEPTH, one_line, scalar};

/// Show the metadata of a file, or what a JSON pointer finds in them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With FILE::PATH the attributes of that dataset are shown. A pointer that finds nothing is exit code 1.

Examples:
  holdall meta scan.ra
  holdall meta scan.ra /eltype
  holdall meta --json scan.ra | jq .dims")]
pub struct Args {
    /// The file, or FILE::PATH for a dataset's attributes; `-` is standard input
    #[arg(value_name = "FILE")]
    file: OsString,

    /// A JSON pointer into the metadata: /a/0/b, with ~1 for a slash in a name and ~0 for a tilde
    #[arg(value_name = "PTR", default_value = "", hide_default_value = true)]
    pointer: String,

    /// As one line of JSON
    #[arg(long, conflicts_with = "raw")]
    json: bool,

    /// A text or bytes exactly as stored, without a line end
    #[arg(long)]
    raw: bool,

    /// For formats whose metadata are YAML; there is none yet
    #[arg(long, hide = true, conflicts_with_all = ["json", "raw"])]
    yaml: bool,

    #[command(flatten)]
    open: OpenArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let address = address(&args.file);
    let file = shown(&address.file);
    if !args.pointer.is_empty() && !args.pointer.starts_with('/') {
        let problem = format!("{:?} is not a JSON pointer", args.pointer);
        return Err(Error::usage(problem).hint(format!("holdall meta {file} /{}", args.pointer))).on(file);
    }
    let opened = open(&address.file, Accept::Containers, &args.open.options(console.limits))?;
    let container = opened.container.as_ref();
    if args.yaml {
        let problem = format!("{} has no YAML metadata (it has --json and --raw)", opened.format.title);
        return Err(Error::usage(problem)).on(file);
    }
    let value = if address.dataset.is_some() || address.selection.is_some() {
        let chosen = select(&address, container)?;
        let datasets = chosen.iter().filter_map(|(index, _)| container.dataset(*index));
        Value::Map(datasets.flat_map(|dataset| dataset.attributes.clone()).collect())
    } else {
        container.meta().on(&file)?
    };
    let Some(value) = value.pointer(&args.pointer) else {
        to_stderr(&format!("holdall: {}: nothing at {}", printable(&file), printable(&args.pointer)));
        return Ok(Outcome::No);
    };
    if args.json {
        console.out.json(&json::value_json(value))?;
    } else if args.raw {
        console.out.write_all(raw_bytes(value).on(file)?)?;
    } else {
        let paint = console.out.paint;
        write_block(value, 0, paint, &mut console.out)?;
    }
    Ok(Outcome::Yes)
}

fn raw_bytes(value: &Value) -> container_core::Result<&[u8]> {
    match value {
        Value::Text(text) => Ok(text.as_bytes()),
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(Error::usage("--raw takes a pointer to a text or to bytes").hint("--json")),
    }
}

/// A value as an indented list, one leaf a line.
fn write_block(value: &Value, depth: usize, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let parts: Vec<(String, &Value)> = match value {
        Value::Map(entries) if !entries.is_empty() => entries
            .iter()
            .map(|(key, value)| (format!("{}:", paint.with(STRONG, &printable(key))), value))
            .collect(),
        Value::List(items) if !items.is_empty() => items.iter().map(|item| ("-".to_owned(), item)).collect(),
        leaf => return writeln!(out, "{}", leaf_text(leaf)),
    };
    let indent = "  ".repeat(depth);
    for (label, part) in parts {
        match part {
            Value::Map(inner) if !inner.is_empty() && depth < MOST_DEPTH => {
                writeln!(out, "{indent}{label}")?;
                write_block(part, depth + 1, paint, out)?;
            }
            Value::List(inner) if !inner.is_empty() && depth < MOST_DEPTH => {
                // A list of numbers, such as a shape, reads better on one line.
                if inner.iter().all(|item| !matches!(item, Value::Map(_) | Value::List(_)))
                    && inner.len() <= 64
                {
                    writeln!(out, "{indent}{label} {}", one_line(part, usize::MAX / 8))?;
                } else {
                    writeln!(out, "{indent}{label}")?;
                    write_block(part, depth + 1, paint, out)?;
                }
            }
            leaf => writeln!(out, "{indent}{label} {}", leaf_text(leaf))?,
        }
    }
    Ok(())
}

fn leaf_text(value: &Value) -> String {
    match value {
        Value::Map(entries) if entries.is_empty() => "{}".into(),
        Value::List(items) if items.is_empty() => "[]".into(),
        leaf => scalar(leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_indented_and_short_lists_stay_on_a_line() {
        let value = Value::Map(vec![
            ("dims".into(), vec![Value::Int(3), Value::Int(4)].into()),
            ("empty".into(), Value::List(vec![])),
            ("nested".into(), vec![Value::Map(vec![("a".into(), Value::Bool(true))])].into()),
        ]);
        let mut text = Vec::new();
        write_block(&value, 0, Paint::of(&Vec::new()), &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "dims: [3, 4]\nempty: []\nnested:\n  -\n    a: true\n");
    }
}
