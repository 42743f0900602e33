//! `holdall stat`: numbers about numbers.

use std::ffi::OsString;
use std::io::Write;

use container_core::ErrorKind;
use container_core::container::Dataset;
use holdall::address::{Address, typed};
use holdall::open::Accept;
use holdall::stat::{Measured, Number, Stat, Summary, stat, stat_json};

use super::{open, select, shown};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::format_value;
use crate::many_files::{Folders, each_address, expand_all};
use crate::options::{DigestsArgs, JobsArgs, OpenAnywhereArgs};
use crate::output::{Console, DIM, STRONG, printable};
use crate::progress::{ProgressReporter, ShowProgress};

/// Show minimum, maximum, mean, deviation, percentiles and a histogram of values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
All but the counts is about the finite values; NaN and infinities are counted. Elements that a mask hides (ASDF) are counted as such \
and are nothing else, unless --stored is given. Complex numbers are measured by their modulus, \
strings by their length, records field by field. Minimum, maximum and sum of integers are exact, and so are percentiles, which are numpy's \
(linear interpolation; rounded down beside integers beyond 2^53, and of dates); std is that of the population (ddof=0). Data that do not fit in memory are read several times instead.

Through a pipe, a row for each: path, field, dtype, what is measured (values, modulus, dates, length), count, NaN, negative and positive \
infinities, min, max, mean, std, percentiles 1 5 25 50 75 95 99, histogram, number of masked elements; `-` where there is none.

A dataset that cannot be read is named on standard error, the others are measured, and the exit code is 2.

Examples:
  holdall stat scan.ra
  holdall stat 'scan.ra::data[0]' model.gsd::particles/position
  holdall stat --json scan.ra | jq .mean")]
pub struct Args {
    /// FILE, FILE::PATH or FILE::PATH[SEL]; `-` is standard input
    ///
    /// A file alone means all its listed datasets, a group those below it, stars those that fit.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,

    /// One JSON line for each dataset or field (holdall.stat/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    digests: DigestsArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let options = args.open.options(console.limits, console.formats);
    let addresses = expand_all(&args.files, &options, Folders::Opened);
    each_address(addresses, console, |address, _, console| measure(args, address, console))?;
    Ok(Outcome::Yes)
}

fn measure(args: &Args, address: &Address, console: &mut Console) -> Result<()> {
    let name = shown(&address.file);
    let opened = open(
        &address.file,
        Accept::ContainersAndArrays,
        &args.open.options(console.limits, console.formats),
    )?;
    let container = opened.container.as_ref();
    let chosen = select(address, container)?;
    if chosen.is_empty() {
        let nothing = || container_core::Error::usage("no dataset in this file");
        return Err(holdall::verify::first_damage(container).unwrap_or_else(nothing)).on(name);
    }
    let read = args.digests.apply(args.jobs.read_options(console.limits));
    for (index, region) in chosen {
        let dataset = container.require(index).on(&name)?;
        let bar = if console.out.is_terminal() { ShowProgress::Never } else { ShowProgress::OnTerminal };
        let meter = ProgressReporter::new(printable(&name), bar);
        let stats = meter.watch(|progress| stat(container, index, &region, &read, progress));
        let stats = match stats {
            Err(error) if !matches!(error.kind(), ErrorKind::Cancelled) => {
                let error = error.in_dataset(typed(&dataset.path));
                console.fail(&Failure { subject: Some(name.clone()), error });
                continue;
            }
            stats => stats.on(&name)?,
        };
        let selection = address.selection_of(&dataset.path);
        for stat in &stats {
            if args.json {
                let mut line = stat_json(&name, &dataset.path, selection, stat);
                if let (true, Some(line)) = (container.uncompared().is_some(), line.as_object_mut()) {
                    line.insert("digest".to_owned(), "not compared".into());
                }
                console.out.json(&line)?;
            } else if console.out.is_for_people() {
                people(console, &name, &dataset, &region.shape(), selection, stat)?;
            } else {
                console.out.row(&row(&name, &dataset.path, selection, stat))?;
            }
        }
    }
    super::tell(&address.file, container.uncompared().as_slice());
    Ok(())
}

fn place(file: &str, dataset: &str, selection: Option<&str>) -> String {
    let selection = selection.map(|selection| format!("[{selection}]")).unwrap_or_default();
    format!("{file}::{}{selection}", typed(dataset))
}

/// Everything on one line.
fn row(file: &str, dataset: &str, selection: Option<&str>, stat: &Stat) -> Vec<String> {
    let mut row = vec![
        place(file, dataset, selection),
        stat.field.clone().unwrap_or_else(|| "-".into()),
        stat.dtype.to_string(),
        stat.of.name().to_owned(),
    ];
    let counts = [stat.count, stat.nan, stat.negative_infinity, stat.positive_infinity];
    row.extend(counts.map(|count| count.to_string()));
    match &stat.summary {
        None => row.extend(std::iter::repeat_n("-".to_owned(), 12)),
        Some(found) => {
            row.extend([stat.text_of(found.min), stat.text_of(found.max)]);
            row.extend([mean(stat, found), stat.text_of(Number::Float(found.std))]);
            row.extend(found.percentiles.map(|value| stat.text_of(value)));
            row.push(found.histogram.sparkline());
        }
    }
    row.push(stat.masked.to_string());
    row
}

fn mean(stat: &Stat, found: &Summary) -> String {
    match stat.of {
        Measured::Dates => "-".into(),
        _ => stat.text_of(Number::Float(found.mean)),
    }
}

/// A few lines.
fn people(
    console: &mut Console,
    file: &str,
    dataset: &Dataset,
    shape: &[u64],
    selection: Option<&str>,
    stat: &Stat,
) -> Result<()> {
    let paint = console.out.paint;
    let place = printable(&place(file, &dataset.path, selection)).into_owned();
    let field = stat.field.as_deref().map(|field| format!(" {}", printable(field))).unwrap_or_default();
    let kind = printable(&format!("{} {}", stat.dtype, format_value::shape(shape))).into_owned();
    writeln!(console.out, "{}{field}  {}", paint.with(STRONG, &place), paint.with(DIM, &kind))?;
    let mut line = format!("  count {}", stat.count);
    let nan = if stat.of == Measured::Dates { "NaT" } else { "NaN" };
    for (name, count) in [
        (nan, stat.nan),
        ("-inf", stat.negative_infinity),
        ("+inf", stat.positive_infinity),
        ("empty", stat.empty),
        ("masked", stat.masked),
    ] {
        if count > 0 {
            line.push_str(&format!("   {name} {count}"));
        }
    }
    match stat.of {
        Measured::Modulus => line.push_str("   of the modulus:"),
        Measured::Length => line.push_str("   of the lengths:"),
        _ => {}
    }
    writeln!(console.out, "{line}")?;
    let Some(found) = &stat.summary else { return Ok(()) };
    let short = |value: Number| match value {
        Number::Float(value) => short(value),
        integer => stat.text_of(integer),
    };
    let (low, high) = (short(found.min), short(found.max));
    if stat.of == Measured::Dates {
        writeln!(console.out, "  min {low}   max {high}   std {} units", short(Number::Float(found.std)))?;
    } else {
        let (mean, std) = (short(Number::Float(found.mean)), short(Number::Float(found.std)));
        let sum = match found.sum {
            Number::Integer(sum) => format!("   sum {sum}"),
            Number::Float(_) => String::new(),
        };
        writeln!(console.out, "  min {low}   max {high}   mean {mean}   std {std}{sum}")?;
    }
    let percentiles = holdall::stat::PERCENTILES.iter().zip(found.percentiles);
    let percentiles: Vec<String> =
        percentiles.map(|(percent, value)| format!("{percent}% {}", short(value))).collect();
    writeln!(console.out, "  {}", percentiles.join("   "))?;
    writeln!(console.out, "  {low} {} {high}", found.histogram.sparkline())?;
    Ok(())
}

/// Six digits: enough to look at. JSON and pipes have all.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (1e-4..1e6).contains(&magnitude) {
        let decimals = (0..7).rev().find(|decimals| magnitude * 10_f64.powi(*decimals) < 1e6).unwrap_or(0);
        let decimals = usize::try_from(if value == 0.0 { 0 } else { decimals }).unwrap_or(0);
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits =
            if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        format!("{digits}e{exponent}")
    }
}
