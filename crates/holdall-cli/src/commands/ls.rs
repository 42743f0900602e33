//! `holdall ls`: the datasets of a file.

use std::ffi::OsString;
use std::io::Write;

use container_core::container::{Container, Dataset, Visibility};
use container_core::region::Region;
use holdall::address::{Address, typed};
use holdall::json;
use holdall::open::Accept;
use holdall::verify::first_damage;

use super::{no_selection, open, shown};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::format_value;
use crate::options::{OpenAnywhereArgs, address};
use crate::output::{Console, human_bytes, print_error};

/// List the datasets of a file, one line each
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns: path, dtype, shape, order, chunks, codec, bytes stored, bytes of values. Through a pipe they are separated by \
tabs, without a heading. A file without datasets has no lines; where damage may hide some, or values are not in the file, standard error tells.

Examples:
  holdall ls scan.ra
  holdall ls --json scan.ra | jq -r .dtype")]
pub struct Args {
    /// The file, or FILE::PATH for one dataset; `-` is standard input
    #[arg(value_name = "FILE")]
    file: OsString,

    /// One JSON line for each dataset (holdall.ls/1)
    #[arg(long)]
    json: bool,

    /// Also those that are parts of others
    #[arg(short = 'R', long)]
    recursive: bool,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let address = address(&args.file);
    no_selection(&address)?;
    let opened =
        open(&address.file, Accept::Containers, &args.open.options(console.limits, console.formats))?;
    let container = opened.container.as_ref();
    if address.dataset.is_none() && container.listed_count() == 0 && container.may_hide_datasets() {
        let file = shown(&address.file);
        // An unreadable tree leaves that open.
        container.meta().on(&file)?;
        if let Some(error) = first_damage(container) {
            print_error(&Failure { subject: Some(file), error: error.with_context("no dataset is listed") });
        }
    }
    let most = if args.recursive { Visibility::Recursive } else { Visibility::Always };
    let mut absent = Vec::new();
    let indices = address.indices(container, most).on(shown(&address.file))?;
    let mut chosen = indices.filter_map(|index| {
        let dataset = container.dataset(index)?;
        absent.extend(absence(&address, container, index, &dataset));
        Some(dataset)
    });
    if args.json {
        chosen.try_for_each(|dataset| console.out.json(&json::ls_json(&dataset)))?;
        return tell(&absent, console);
    }
    let terminal = console.out.is_terminal();
    let heading = ["PATH", "DTYPE", "SHAPE", "ORDER", "CHUNKS", "CODEC", "STORED", "VALUES"];
    console.out.table(&heading, &[6, 7], chosen.map(|dataset| row(&dataset, terminal)))?;
    tell(&absent, console)
}

/// The reason why values of a dataset are not in the file, if any are not.
fn absence(address: &Address, container: &dyn Container, index: usize, dataset: &Dataset) -> Option<Failure> {
    let mut error = container.absence(index, &Region::whole(&dataset.shape))?;
    if container.dataset_count() > 1 {
        error = error.with_context(typed(&dataset.path).to_owned());
    }
    Some(Failure { subject: Some(shown(&address.file)), error })
}

/// Reports on standard error what the list does not show.
fn tell(absent: &[Failure], console: &mut Console) -> Result<Outcome> {
    console.out.flush()?;
    absent.iter().for_each(print_error);
    Ok(Outcome::Yes)
}

fn row(dataset: &Dataset, terminal: bool) -> Vec<String> {
    let bytes = |count: u64| if terminal { human_bytes(count) } else { count.to_string() };
    vec![
        typed(&dataset.path).to_owned(),
        dataset.dtype.to_string(),
        format_value::shape(&dataset.shape),
        dataset.order.letter().to_owned(),
        dataset.chunks.as_ref().map_or_else(|| "-".to_owned(), |chunks| format_value::shape(chunks)),
        dataset.codec.clone(),
        bytes(dataset.stored),
        bytes(dataset.logical),
    ]
}
