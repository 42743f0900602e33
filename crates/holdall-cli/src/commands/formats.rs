//! `holdall formats`: the support for each format and version.

use container_core::format::{Format, Level, Support};
use holdall::formats::{ARRAY_FILES, TARGETS, containers};
use holdall::json;

use crate::errors::{Outcome, Result};
use crate::output::Console;

/// Show which formats and versions are read, written, verified and repaired
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns: format, version, read, write, verify, repair, file name extensions of targets.

Examples:
  holdall formats
  holdall formats --json | jq -r .title")]
pub struct Args {
    /// One JSON line for each format (holdall.formats/1)
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let mut every =
        containers(console.formats).chain(ARRAY_FILES.iter().copied()).chain(TARGETS.iter().copied());
    if args.json {
        every.try_for_each(|format| console.out.json(&json::format_json(format)))?;
        return Ok(Outcome::Yes);
    }
    let heading = ["FORMAT", "VERSION", "READ", "WRITE", "VERIFY", "REPAIR", "EXTENSIONS"];
    let rows = every.flat_map(|format| format.support.iter().map(move |support| row(format, support)));
    console.out.table(&heading, &[], rows)?;
    Ok(Outcome::Yes)
}

fn row(format: &Format, support: &Support) -> Vec<String> {
    let levels = [support.read, support.write, support.verify, support.repair].map(word);
    let extensions: Vec<String> = format.extensions.iter().map(|name| format!(".{name}")).collect();
    let mut row = vec![format.title.to_owned(), support.version.to_owned()];
    row.extend(levels.map(str::to_owned));
    row.push(extensions.join(" "));
    row
}

const fn word(level: Level) -> &'static str {
    match level {
        Level::Yes => "yes",
        Level::Partly => "partly",
        Level::No => "no",
    }
}
