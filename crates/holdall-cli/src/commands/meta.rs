//! `holdall meta`: metadata, whole or by JSON pointer.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use container_core::container::{Container, ReadOptions};
use container_core::write::Durability;
use container_core::{Error, Value};
use holdall::address::{Address, is_url, place, pointer};
use holdall::json;
use holdall::nearest::did_you_mean_place;
use holdall::open::Accept;
use holdall::set_meta::{MetaChange, Replace, set_meta};
use serde_json::json;

use super::{open, shown, tell_before, tell_left_out};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::format_value::{MAX_DEPTH, one_line, scalar};
use crate::many_files::{Folders, each_address, expand_all};
use crate::options::{OpenAnywhereArgs, OpenFileArgs, address};
use crate::output::{Console, Escapes, Out, Paint, STRONG, printable, to_stderr};

/// Show the metadata of a file, or what a JSON pointer finds in them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With FILE::PATH the attributes of that dataset are shown, or what is at that place of the metadata. PTR and PATH may begin with a slash or not. A pointer that finds nothing is exit code 1; with --unset it is 2, and nothing is changed.

JSON has no bytes, NaN and infinities, and many of its readers round integers beyond 64 bits: bytes are {\"bytes\": \"00ff\"}, \
the others text. Of keys that read the same, as 1 and \"1\" of a tree, all but the first have their number behind them: \"1 (2)\".

--set and --unset change the tree of an ASDF file in place: every other byte of it stays as it is, and no block changes. Where a longer tree does not \
fit into the padding behind it, the whole file is copied, blocks byte for byte, and the copy takes the place of the file: the disk has to have room for both, and other hard \
links stay with the old one. All take effect or \
none: first each --set, then each --unset. VALUE is YAML 1.1 in flow style: 5, 1.5, text, '[1, 2]', \
'{a: 1}', '!unit/unit-1.0.0 m'. A pointer that ends in /- appends to a list. The tag of the value that was there stays, unless VALUE has one: \
'!!str text' leaves a plain text. Mappings and arrays are replaced only with --replace. YAML 1.1 reads 017, 1:30 and yes as 15, 90 and true, which standard \
error tells; quotes make texts of them: '\"017\"'.

Of Bloscpack files they change the metadata, of Blosc2 frames the user metadata below /vlmeta, of RawArray files the trailer, below /trailer where it is an \
object. VALUE is then JSON, or text where it does not begin as JSON. Blosc2 frames change in place, by one commit; Bloscpack and RawArray files are written anew, \
data byte for byte, and the new file takes the place of the old one. What describes the values (dtype, shape) is not changed.

Of GSD files they change application, schema and schema_version, in place and in one write: texts of up to 63 bytes, and a version such as 1.4. Whether the frames \
fit a new schema is not checked: see `verify`.

Examples:
  holdall meta scan.ra
  holdall meta scan.ra /dims/0
  holdall meta scan.ra::data /eltype
  holdall meta --json scan.ra | jq .dims
  holdall meta image.asdf /roman/meta --yaml
  holdall meta image.asdf::roman/meta
  holdall meta small.asdf --inline > text.asdf
  holdall meta image.asdf --set /roman/meta/exposure=30.5 --unset /roman/meta/draft
  holdall meta scan.b2nd --set /vlmeta/exposure=30.5
  holdall meta run.gsd --set application=mine
  holdall meta scan.ra --set '/trailer/note=second run'")]
pub struct Args {
    /// Files, or FILE::PATH for attributes, and a place of the metadata at the end: a/0/b
    ///
    /// PATH may be a place of the metadata, too. In a place ~1 is a slash in a name, and ~0 a tilde; a slash at its beginning is allowed, as in a JSON pointer. The last
    /// argument is a place where no file has that name and it begins with a slash or has no dot; --pointer leaves no doubt. `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    words: Vec<OsString>,

    /// Show what is at this place in each file
    #[arg(short, long, value_name = "PTR")]
    pointer: Option<String>,

    /// As one line of JSON
    #[arg(long, conflicts_with = "raw")]
    json: bool,

    /// A text or bytes exactly as stored
    ///
    /// Without a line end; on a terminal control characters are escaped.
    #[arg(long)]
    raw: bool,

    /// As YAML, with tags and anchors (ASDF)
    ///
    /// Without a pointer the text as it is in the file.
    #[arg(long, conflicts_with_all = ["json", "raw"])]
    yaml: bool,

    /// The file as a text without blocks (ASDF)
    ///
    /// Its tree with the elements of all arrays.
    #[arg(long, conflicts_with_all = ["json", "raw", "yaml", "pointer"])]
    inline: bool,

    /// Put a value in a place, new or old
    ///
    /// ASDF, Bloscpack, Blosc2 (/vlmeta), RawArray (/trailer), GSD (application, schema). May be given several times.
    #[arg(long, value_name = "PTR=VALUE", conflicts_with_all = ["json", "raw", "yaml", "inline", "pointer"])]
    set: Vec<String>,

    /// Take out what is at a pointer
    ///
    /// Of the same formats as --set. May be given several times.
    #[arg(long, value_name = "PTR", conflicts_with_all = ["json", "raw", "yaml", "inline", "pointer"])]
    unset: Vec<String>,

    /// Let --set put a value in the place of a mapping or an array
    #[arg(long, requires = "set")]
    replace: bool,

    #[command(flatten)]
    open: OpenAnywhereArgs<OpenFileArgs>,
}

/// The arguments that are files, and the place in each.
fn files_and_place(args: &Args) -> (&[OsString], &str) {
    if let Some(place) = &args.pointer {
        return (&args.words, place);
    }
    let Some((last, files @ [_, ..])) = args.words.split_last() else { return (&args.words, "") };
    let Some(text) = last.to_str() else { return (&args.words, "") };
    let file = address(last).file;
    // A place may begin as a directory of the machine does: /run.
    let is_there = file.is_file() || (!text.starts_with('/') && file.exists());
    let is_other =
        is_there || is_url(&file) || text == "-" || text.contains("::") || text.contains(['*', '?']);
    if text.is_empty() || (!is_other && (text.starts_with('/') || !text.contains('.'))) {
        return (files, text);
    }
    (&args.words, "")
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let (files, below) = files_and_place(args);
    let changes = !args.set.is_empty() || !args.unset.is_empty();
    let addresses = expand_all(files, &args.open.options(console.limits, console.formats), Folders::Opened);
    if changes || addresses.are_several {
        let one = match (changes, args.raw, args.inline) {
            (true, ..) => "--set and --unset change",
            (_, true, _) => "--raw writes",
            (_, _, true) => "--inline writes",
            _ => "",
        };
        if changes && !below.is_empty() {
            return Err(Failure::usage(
                "meta: --set and --unset name their places themselves: no pointer is taken",
            ));
        }
        if !one.is_empty() && addresses.are_several {
            return Err(Failure::usage(format!("meta: {one} one file at a time")));
        }
    }
    if changes {
        let typed = files.first().map_or_else(|| address(OsStr::new("")), |file| address(file));
        return change(args, &typed, console);
    }
    let mut is_first = true;
    each_address(addresses, console, |address, are_several, console| {
        let heading = are_several.then(|| Heading { is_first: std::mem::take(&mut is_first) });
        let outcome = show(args, address, below, heading, console)?;
        console.note(outcome);
        Ok(())
    })?;
    Ok(Outcome::Yes)
}

/// The line above what is shown of one of several files.
struct Heading {
    is_first: bool,
}

impl Heading {
    fn write(&self, address: &Address, out: &mut Out) -> Result<()> {
        let dataset = address.dataset.as_ref().map(|path| format!("::{path}")).unwrap_or_default();
        let name = format!("{}{dataset}", shown(&address.file));
        let gap = if self.is_first { "" } else { "\n" };
        Ok(writeln!(out, "{gap}==> {} <==", printable(&name))?)
    }
}

/// Shows the metadata of one file.
fn show(
    args: &Args,
    address: &Address,
    below: &str,
    heading: Option<Heading>,
    console: &mut Console,
) -> Result<Outcome> {
    let file = shown(&address.file);
    let place_below = pointer(below);
    let is_whole = address.dataset.is_none() && address.selection.is_none();
    if args.inline && !is_whole || args.yaml && address.selection.is_some() {
        let option = if args.yaml { "--yaml" } else { "--inline" };
        let error = Error::usage(format!("{option} is for the tree of a file, not for a dataset"));
        return Err(error.with_hint(format!("holdall meta FILE {option}"))).on(file);
    }
    let opened =
        open(&address.file, Accept::Containers, &args.open.options(console.limits, console.formats))?;
    let container = opened.container.as_ref();
    if args.inline {
        let read = ReadOptions::default().with_limits(console.limits);
        let Some(text) = holdall::yaml_text::pure(container, &read).on(&file)? else {
            return Err(Error::usage(format!("{} has no tree for arrays", opened.format.title))).on(file);
        };
        console.out.text(Escapes::Text, |out| Ok(out.write_all(&text)?))?;
        return Ok(Outcome::Yes);
    }
    if args.yaml {
        let top = address.dataset.as_deref().map(pointer).unwrap_or_default();
        let pointer = format!("{top}{place_below}");
        return match holdall::yaml_text::yaml(container, &pointer).on(&file)? {
            None => {
                let problem =
                    format!("{} has no YAML metadata (it has --json and --raw)", opened.format.title);
                Err(Error::usage(problem)).on(file)
            }
            Some(None) => nothing(&file, &pointer, &container.meta().on(&file)?),
            Some(Some(text)) => {
                heading.map_or(Ok(()), |heading| heading.write(address, &mut console.out))?;
                console.out.text(Escapes::Text, |out| Ok(out.write_all(text.as_bytes())?))?;
                Ok(Outcome::Yes)
            }
        };
    }
    let Place { value, pointer } = Place::of(address, &place_below, container).on(&file)?;
    // A value shown as text may be a tree for pointers into it, as a trailer of RawArray.
    let within = match value.pointer(&pointer) {
        None if is_whole => container.logical_meta().ok(),
        _ => None,
    };
    let found = value.pointer(&pointer).or_else(|| within.as_ref()?.pointer(&pointer));
    let Some(value) = found else {
        return nothing(&file, &pointer, within.as_ref().unwrap_or(&value));
    };
    if args.json {
        let value = json::value_json(value);
        let line = match heading {
            None => value,
            Some(_) => json!({
                "schema": "holdall.meta/1", "path": file, "dataset": address.dataset, "pointer": pointer, "value": value
            }),
        };
        console.out.json(&line)?;
    } else if args.raw {
        let bytes = raw_bytes(value).on(file)?;
        console.out.data(Escapes::Text, |out| Ok(out.write_all(bytes)?))?;
    } else {
        heading.map_or(Ok(()), |heading| heading.write(address, &mut console.out))?;
        let paint = console.out.paint;
        write_block(value, 0, paint, &mut console.out)?;
    }
    Ok(Outcome::Yes)
}

/// A tree, and a place in it.
struct Place {
    value: Value,
    pointer: String,
}

impl Place {
    /// The place that an address names, and `below` it: in the attributes of a dataset, or in the metadata of the file.
    fn of(address: &Address, below: &str, container: &dyn Container) -> container_core::Result<Self> {
        if address.dataset.is_none() && address.selection.is_none() {
            return Ok(Self { value: container.meta()?, pointer: below.to_owned() });
        }
        let selected = address.select_one(container);
        let path = address.dataset.as_deref().filter(|_| address.selection.is_none());
        if let Some(path) = path
            && !address.is_exact(container)
        {
            let (value, pointer) = (container.meta()?, format!("{}{below}", pointer(path)));
            if value.pointer(&pointer).is_some() {
                return Ok(Self { value, pointer });
            }
            // An attribute after the path of its dataset.
            let mut cuts = path.rmatch_indices('/').filter_map(|(at, _)| path.split_at_checked(at));
            let attribute = cuts.find_map(|(dataset, rest)| Some((container.find(place(dataset))?, rest)));
            if let Some((index, rest)) = attribute {
                let value = Value::Map(container.require(index)?.attributes.clone());
                return Ok(Self { value, pointer: format!("{rest}{below}") });
            }
        }
        let (index, _) = selected?;
        tell_left_out(&address.file, &container.left_out(index));
        Ok(Self {
            value: Value::Map(container.require(index)?.attributes.clone()),
            pointer: below.to_owned(),
        })
    }
}

fn change(args: &Args, address: &Address, console: &Console) -> Result<Outcome> {
    let file = shown(&address.file);
    if is_url(&address.file) {
        let error = Error::usage("files at URLs are read only");
        return Err(error.with_hint("copy the file here, change the copy, and copy it back")).on(file);
    }
    if address.dataset.is_some() || address.selection.is_some() {
        let error = Error::usage("the tree of a file is changed, not that of a dataset");
        return Err(error.with_hint(format!("holdall meta {file} --set /path=value"))).on(file);
    }
    let is_pointer = |(pointer, _): &(&str, &str)| !pointer.is_empty();
    let set = |text: &String| match text.split_once('=').filter(is_pointer) {
        Some((place, value)) => {
            Ok(MetaChange::Set { pointer: pointer(place).into_owned(), value: value.to_owned() })
        }
        None => {
            let error = Error::usage(format!("--set {text:?} is not PTR=VALUE"));
            Err(error.with_hint("--set /roman/meta/exposure=30.5"))
        }
    };
    let changes: container_core::Result<Vec<MetaChange>> = args.set.iter().map(set).collect();
    let mut changes = changes.on(&file)?;
    let unset = args.unset.iter().map(|place| MetaChange::Unset { pointer: pointer(place).into_owned() });
    changes.extend(unset);
    let options = args.open.options(console.limits, console.formats);
    tell_before(&address.file, &options);
    let replace = if args.replace { Replace::Anything } else { Replace::Scalars };
    let notes = set_meta(&address.file, &changes, replace, &options, Durability::Synced).on(&file)?;
    for note in notes {
        to_stderr(&format!("holdall: {}: {}", printable(&file), printable(&note)));
    }
    Ok(Outcome::Yes)
}

fn nothing(file: &str, pointer: &str, tree: &Value) -> Result<Outcome> {
    let question = did_you_mean_place(tree, pointer);
    let question = question.map(|question| format!("\n  {}", printable(&question))).unwrap_or_default();
    to_stderr(&format!("holdall: {}: nothing at {}{question}", printable(file), printable(place(pointer))));
    Ok(Outcome::No)
}

fn raw_bytes(value: &Value) -> container_core::Result<&[u8]> {
    match value {
        Value::Text(text) => Ok(text.as_bytes()),
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(Error::usage("--raw takes a pointer to a text or to bytes").with_hint("--json")),
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
            Value::Map(inner) if !inner.is_empty() && depth < MAX_DEPTH => {
                writeln!(out, "{indent}{label}")?;
                write_block(part, depth + 1, paint, out)?;
            }
            Value::List(inner) if !inner.is_empty() && depth < MAX_DEPTH => {
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
