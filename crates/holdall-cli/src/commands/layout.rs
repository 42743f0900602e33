//! `holdall layout`: prints the purpose of every byte of a file.

use std::ffi::OsString;

use container_core::container::{Segment, Visibility};
use holdall::json;
use holdall::open::Accept;

use super::{chosen, no_selection, open, shown};
use crate::errors::{ErrorContext, Outcome, Result};
use crate::options::{OpenAnywhereArgs, OpenFileArgs, address};
use crate::output::Console;

/// Show the physical map of a file: every byte range and what it is for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ranges are half-open and follow each other without gaps from 0 to the size of the file. Columns: part, start, end, role, \
codec, bytes stored, bytes decoded, checksum, dataset. With FILE::PATH only that dataset's ranges are shown.

Examples:
  holdall layout scan.ra
  holdall layout --json scan.ra | jq 'select(.role == \"data\")'")]
pub struct Args {
    /// The file, or FILE::PATH for the ranges of one dataset; `-` is standard input
    #[arg(value_name = "FILE")]
    file: OsString,

    /// One JSON line for each range (holdall.layout/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    open: OpenAnywhereArgs<OpenFileArgs>,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let address = address(&args.file);
    no_selection(&address)?;
    let opened =
        open(&address.file, Accept::Containers, &args.open.options(console.limits, console.formats))?;
    let container = opened.container.as_ref();
    container.read_structure().on(shown(&address.file))?;
    let of_paths: Option<Vec<String>> = match (&address.dataset, &address.selection) {
        (None, None) => None,
        _ => Some(chosen(&address, container, Visibility::Always)?.map(|of| of.path.clone()).collect()),
    };
    let is_shown = |segment: &Segment| match &of_paths {
        None => true,
        Some(paths) => segment.dataset.as_ref().is_some_and(|path| paths.contains(path)),
    };
    if console.out.is_for_people() && !args.json {
        let mut segments = container.byte_map();
        segments.retain(is_shown);
        let heading = ["PART", "START", "END", "ROLE", "CODEC", "STORED", "DECODED", "CHECKSUM", "DATASET"];
        console.out.table(&heading, &[1, 2, 5, 6], segments.iter().map(row))?;
        return Ok(Outcome::Yes);
    }
    // Line by line: the map may be longer than the memory.
    container
        .for_each_segment(&mut |segment| {
            match is_shown(&segment) {
                false => {}
                true if args.json => console.out.json(&json::layout_json(&segment))?,
                true => console.out.row(&row(&segment))?,
            }
            Ok(())
        })
        .on(shown(&address.file))?;
    Ok(Outcome::Yes)
}

fn row(segment: &Segment) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let count = |count: Option<u64>| count.map_or_else(|| "-".into(), |count| count.to_string());
    vec![
        text(&segment.part),
        segment.range.start.to_string(),
        segment.range.end.to_string(),
        segment.role.clone(),
        text(&segment.codec),
        count(segment.stored),
        count(segment.decoded),
        text(&segment.checksum),
        text(&segment.dataset),
    ]
}
