//! `holdall diff`: whether two files hold the same.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use container_core::Error;
use holdall::diff::{DiffOptions, Difference};
use holdall::json;
use holdall::open::Accept;
use holdall::views::named_source::NamedSource;

use super::{open, select, shown};
use crate::errors::{ErrorContext, Failure, Outcome, Result, shell_word};
use crate::options::{DigestsArgs, JobsArgs, OpenAnywhereArgs, address};
use crate::output::{Console, STRONG, printable};
use crate::progress::{ProgressReporter, ShowProgress};

/// Compare structure, metadata and values of two files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Values are compared bit by bit, whatever their byte order, unless a tolerance is given: then |A-B| <= atol + rtol*|B|, \
and NaN equals NaN. Exit codes: 0 the same, 1 they differ, 2 they could not be \
compared; a dataset that cannot be read is named on standard error, and the others are compared.

Examples:
  holdall diff a.ra b.ra
  holdall diff --rtol 1e-6 'a.ra::data[0]' b.npy
  holdall diff -q a.ra b.ra && echo same")]
pub struct Args {
    /// One file, or FILE::PATH[SEL]
    #[arg(value_name = "A")]
    a: OsString,

    /// The other
    #[arg(value_name = "B")]
    b: OsString,

    /// Relative tolerance
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = tolerance)]
    rtol: f64,

    /// Absolute tolerance
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = tolerance)]
    atol: f64,

    /// Leave out datasets or metadata of this name
    ///
    /// * and ? are wildcards. May be given several times.
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,

    /// Say nothing; the exit code tells
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,

    /// One JSON line (holdall.diff/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    digests: DigestsArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

fn tolerance(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("a tolerance is a number from 0 up".into()),
    }
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let (a, b) = (address(&args.a), address(&args.b));
    if a.file.as_os_str() == "-" && b.file.as_os_str() == "-" {
        return Err(Failure::usage("diff: only one of the two can be standard input"));
    }
    let options = args.open.options(console.limits, console.formats);
    let opened_a = open(&a.file, Accept::ContainersAndArrays, &options)?;
    let opened_b = open(&b.file, Accept::ContainersAndArrays, &options)?;
    let (file_a, file_b) = (shown(&a.file), shown(&b.file));
    let of_a = &NamedSource::new(opened_a.container.as_ref(), &*file_a);
    let of_b = &NamedSource::new(opened_b.container.as_ref(), &*file_b);
    let (chosen_a, chosen_b) = (select(&a, of_a)?, select(&b, of_b)?);
    let (name_a, name_b) = (shown(Path::new(&args.a)), shown(Path::new(&args.b)));

    let meter = ProgressReporter::new(printable(&name_a), ShowProgress::OnTerminal);
    let unreadable = RefCell::new(Vec::new());
    let differences = meter.watch(|progress| {
        let take = |path: &str, error| unreadable.borrow_mut().push((path.to_owned(), error));
        let options = DiffOptions {
            rtol: args.rtol,
            atol: args.atol,
            ignore: &args.ignore,
            read: args.digests.apply(args.jobs.read_options(console.limits)),
            unreadable: Some(&take),
            progress,
        };
        holdall::diff::diff(of_a, &chosen_a, of_b, &chosen_b, &options)
    });
    let both = format!("{file_a} and {file_b}");
    let advised = |error: Error| match error.is_damage() {
        true if error.subject().is_none() => {
            error.with_hint(format!("holdall verify {} {}", shell_word(&file_a), shell_word(&file_b)))
        }
        _ => error,
    };
    let differences = differences.map_err(advised).on(&both)?;
    let unreadable = unreadable.into_inner();
    if args.json {
        console.out.json(&json::diff_json(&name_a, &name_b, &differences, &unreadable))?;
    } else if !args.quiet {
        show(&differences, console)?;
    }
    super::tell(&a.file, opened_a.container.uncompared().as_slice());
    super::tell(&b.file, opened_b.container.uncompared().as_slice());
    for (dataset, error) in unreadable {
        console.fail(&Failure { subject: Some(both.clone()), error: advised(error).in_dataset(dataset) });
    }
    Ok(Outcome::yes_if(differences.is_empty()))
}

fn show(differences: &[Difference], console: &mut Console) -> Result<()> {
    for difference in differences {
        if !console.out.is_for_people() {
            console.out.row(&[difference.dataset.as_deref().unwrap_or("-"), &difference.what])?;
            continue;
        }
        if let Some(dataset) = &difference.dataset {
            let name = console.out.paint.with(STRONG, &printable(dataset)).into_owned();
            write!(console.out, "{name}: ")?;
        }
        writeln!(console.out, "{}", printable(&difference.what))?;
    }
    Ok(())
}
