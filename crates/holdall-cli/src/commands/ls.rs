//! `holdall ls`: the datasets of files.

use std::ffi::OsString;
use std::io::Write;

use container_core::Error;
use container_core::container::{Container, Dataset, Visibility};
use container_core::region::Region;
use holdall::address::{Address, typed};
use holdall::json;
use holdall::open::Accept;
use holdall::verify::first_damage;

use super::{no_selection, open, shown};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::format_value;
use crate::many_files::{Folders, each_address, expand_all};
use crate::options::OpenAnywhereArgs;
use crate::output::{Console, human_bytes, print_error};

/// List the datasets of files, one line each
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns: path, dtype, shape, order, chunks, codec, bytes stored, bytes of values. Through a pipe they are separated by \
tabs, without a heading. Of several files, and of a folder, the path is an address, FILE::PATH. PATH may be a group, or have stars: * within one name, ** \
across. A file without datasets has no lines. Datasets that cannot be listed for damage, and values that are not in the file, are reported on standard error.

Examples:
  holdall ls scan.ra
  holdall ls image.asdf::roman
  holdall ls 'run.gsd::log/*' /data/archive
  holdall ls --json scan.ra | jq -r .dtype")]
pub struct Args {
    /// Files, FILE::PATH, or folders with all containers below; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,

    /// One JSON line for each dataset (holdall.ls/1)
    #[arg(long)]
    json: bool,

    /// Also those that are parts of others
    #[arg(short = 'R', long)]
    recursive: bool,

    /// Do not send a long list on a terminal through the pager
    ///
    /// A list longer than the screen goes through the command in HOLDALL_PAGER or PAGER, if one is set; less then has LESS=FRX, unless LESS is set.
    #[arg(long)]
    no_pager: bool,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let addresses =
        expand_all(&args.files, &args.open.options(console.limits, console.formats), Folders::Searched);
    if !args.json && !args.no_pager {
        console.out.use_pager();
    }
    // A table begins with its heading.
    let mut is_first = true;
    each_address(addresses, console, |address, are_several, console| {
        list(args, address, are_several, &mut is_first, console)
    })?;
    Ok(Outcome::Yes)
}

fn list(
    args: &Args,
    address: &Address,
    are_several: bool,
    is_first: &mut bool,
    console: &mut Console,
) -> Result<()> {
    no_selection(address)?;
    let opened =
        open(&address.file, Accept::Containers, &args.open.options(console.limits, console.formats))?;
    let container = opened.container.as_ref();
    let is_whole = address.dataset.is_none();
    let may_be_damaged = is_whole && container.listed_count() == 0 && container.may_hide_datasets();
    if may_be_damaged {
        let file = shown(&address.file);
        // An unreadable tree leaves that open.
        container.meta().on(&file)?;
        if let Some(error) = first_damage(container) {
            print_error(&Failure { subject: Some(file), error: error.with_context("no dataset is listed") });
        }
    }
    let most = if args.recursive { Visibility::Recursive } else { Visibility::Always };
    let mut absent = if is_whole && !may_be_damaged { unlisted(address, container) } else { Vec::new() };
    let indices = address.indices(container, most).on(shown(&address.file))?;
    let mut chosen = indices.filter_map(|index| {
        let dataset = container.dataset(index)?;
        absent.extend(absence(address, container, index, &dataset));
        Some(dataset)
    });
    if args.json {
        let file = shown(&address.file);
        chosen.try_for_each(|dataset| {
            let mut line = json::ls_json(&dataset);
            line["file"] = file.as_str().into();
            console.out.json(&line)
        })?;
        return tell(&absent, console);
    }
    let for_people = console.out.is_for_people();
    let heading = ["PATH", "DTYPE", "SHAPE", "ORDER", "CHUNKS", "CODEC", "STORED", "VALUES"];
    let file = are_several.then(|| shown(&address.file));
    let rows = chosen.map(|dataset| row(file.as_deref(), &dataset, for_people));
    let heading = if std::mem::take(is_first) { &heading[..] } else { &[] };
    console.out.table(heading, &[6, 7], rows)?;
    tell(&absent, console)
}

/// Maximum number of datasets outside of the list that are reported one by one.
const MAX_UNLISTED: usize = 8;

/// The reasons why datasets are not listed.
fn unlisted(address: &Address, container: &dyn Container) -> Vec<Failure> {
    let mut all = container.unlisted();
    let mut errors: Vec<Error> = all.by_ref().take(MAX_UNLISTED).map(|(_, error)| error).collect();
    let more = all.count();
    if more > 0 {
        let problem = format!("{more} more datasets cannot be read");
        errors.push(Error::unsupported(problem).with_hint("holdall verify FILE"));
    }
    errors.into_iter().map(|error| Failure { subject: Some(shown(&address.file)), error }).collect()
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
fn tell(absent: &[Failure], console: &mut Console) -> Result<()> {
    console.out.flush()?;
    absent.iter().for_each(print_error);
    Ok(())
}

/// A row of the table, with the file in the path where there are several.
fn row(file: Option<&str>, dataset: &Dataset, for_people: bool) -> Vec<String> {
    let path = typed(&dataset.path);
    let bytes = |count: u64| if for_people { human_bytes(count) } else { count.to_string() };
    vec![
        file.map_or_else(|| path.to_owned(), |file| format!("{file}::{path}")),
        dataset.dtype.to_string(),
        format_value::shape(&dataset.shape),
        dataset.order.letter().to_owned(),
        dataset.chunks.as_ref().map_or_else(|| "-".to_owned(), |chunks| format_value::shape(chunks)),
        dataset.codec.clone(),
        bytes(dataset.stored),
        bytes(dataset.logical),
    ]
}
