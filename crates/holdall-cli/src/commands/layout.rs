//! `holdall layout`: what every byte of a file is for.

use std::ffi::OsString;

use container_core::container::Segment;
use holdall::json;
use holdall::open::Accept;

use super::{indices, no_selection, open};
use crate::errors::{Outcome, Result};
use crate::options::{OpenArgs, address};
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
    open: OpenArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let address = address(&args.file);
    no_selection(&address)?;
    let opened = open(&address.file, Accept::Containers, &args.open.options(console.limits))?;
    let container = opened.container.as_ref();
    let mut segments = container.layout();
    if address.dataset.is_some() || address.selection.is_some() {
        let chosen = indices(&address, container, container_core::container::Listed::Always)?;
        let paths: Vec<&str> = chosen
            .iter()
            .filter_map(|index| container.datasets().get(*index))
            .map(|of| of.path.as_str())
            .collect();
        segments.retain(|segment| segment.dataset.as_deref().is_some_and(|path| paths.contains(&path)));
    }
    if args.json {
        segments.iter().try_for_each(|segment| console.out.json(&json::layout_json(segment)))?;
        return Ok(Outcome::Yes);
    }
    let heading = ["PART", "START", "END", "ROLE", "CODEC", "STORED", "DECODED", "CHECKSUM", "DATASET"];
    console.out.table(&heading, &[1, 2, 5, 6], segments.iter().map(row))?;
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
