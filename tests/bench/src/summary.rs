//! Every ratio of docs/benchmarks.md in one table, docs/ratios.md: what is furthest below its goal comes first.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// The benchmarks, in the order in which they are told and run.
pub const BENCHMARKS: &[&str] = &["rawarray", "blosc", "bloscpack", "gsd", "blosc2", "asdf", "python"];

const GEOMETRIC: &str = "All data and levels: ";

/// One ratio.
#[derive(Clone, Debug, PartialEq)]
struct Ratio {
    benchmark: &'static str,
    /// The title of its table.
    what: String,
    /// Who is measured against whom.
    who: String,
    /// Speed of the first as a multiple of the second's; the best round's where it is known.
    best: Option<f64>,
    median: f64,
    /// Goal of the measurement.
    goal: Option<f64>,
}

impl Ratio {
    fn met(&self) -> Option<bool> {
        self.goal.map(|goal| self.median >= goal)
    }
}

/// The results of one benchmark: on what they were measured, and its ratios.
struct Section {
    benchmark: &'static str,
    setting: String,
    ratios: Vec<Ratio>,
}

/// Writes docs/ratios.md anew from docs/benchmarks.md.
///
/// # Errors
/// When a file cannot be read or written, or a benchmark has no results.
pub fn write_docs() -> Result<()> {
    let (source, target) = (page("benchmarks.md"), page("ratios.md"));
    let text = std::fs::read_to_string(source).context("docs/benchmarks.md")?;
    std::fs::write(target, render(&text)?).context("docs/ratios.md")
}

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// docs/ratios.md, from the text of docs/benchmarks.md.
fn render(text: &str) -> Result<String> {
    let sections = BENCHMARKS.iter().map(|name| section(text, name)).collect::<Result<Vec<_>>>()?;
    let mut page = "# Every ratio

The [benchmarks](benchmarks.md), all in one table: speeds as multiples of somebody else's, losses included. `cargo xtask bench --peers` runs all of them and writes
this page; `cargo xtask bench NAME --write-docs` brings it up to date with one. What was measured and how, and why a goal is missed, stands with each of them. Of
the two hundred combinations of codec, filter, level and data of Blosc chunks there are only the means here.

The median round decides whether a goal is met. A goal in microseconds is told as the ratio of what was allowed to what was taken.

| | measured on | goals met | missed | without a goal |
|---|---|---:|---:|---:|
"
    .to_owned();
    for Section { benchmark, setting, ratios } in &sections {
        let count = |met| ratios.iter().filter(|ratio| ratio.met() == met).count();
        let [met, missed, free] = [Some(true), Some(false), None].map(count);
        writeln!(page, "| {benchmark} | {setting} | {met} | {missed} | {free} |")?;
    }
    let mut all: Vec<&Ratio> = sections.iter().flat_map(|section| &section.ratios).collect();
    // What has no goal is held against 1: neither faster nor slower.
    let share = |ratio: &Ratio| ratio.median / ratio.goal.unwrap_or(1.0);
    all.sort_by(|a, b| a.goal.is_none().cmp(&b.goal.is_none()).then(share(a).total_cmp(&share(b))));
    for (title, met) in [("Missed", Some(false)), ("Met", Some(true)), ("Without a goal", None)] {
        writeln!(
            page,
            "\n## {title}\n\n| | what | who | best | median | goal | of the goal |\n|---|---|---|---:|---:|---:|---:|"
        )?;
        for ratio in all.iter().filter(|ratio| ratio.met() == met) {
            let times = |number: Option<f64>| number.map_or_else(String::new, |x| format!("{x:.2} ×"));
            let goal = ratio.goal.map_or_else(String::new, |goal| format!("{} ×", round(goal)));
            let of = ratio.goal.map_or_else(String::new, |_| format!("{:.0} %", share(ratio) * 100.0));
            let Ratio { benchmark, what, who, best, median, .. } = ratio;
            let (best, median) = (times(*best), times(Some(*median)));
            writeln!(page, "| {benchmark} | {what} | {who} | {best} | {median} | {goal} | {of} |")?;
        }
    }
    Ok(page)
}

/// Two decimals at most.
fn round(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

fn section(text: &str, benchmark: &'static str) -> Result<Section> {
    let (begin, end) =
        (format!("<!-- bench {benchmark}: begin -->"), format!("<!-- bench {benchmark}: end -->"));
    let (_, rest) = text.split_once(&begin).with_context(|| format!("no line {begin:?}"))?;
    let (inside, _) = rest.split_once(&end).with_context(|| format!("no line {end:?}"))?;
    let setting = inside.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let setting = setting.trim_end_matches('.').to_owned();
    let (mut what, mut ratios) = (String::new(), Vec::new());
    for line in inside.lines() {
        if let Some(title) = line.strip_prefix("### ") {
            title.clone_into(&mut what);
        } else if let Some(cells) = line.strip_prefix("| ") {
            let cells: Vec<&str> = cells.trim_end_matches('|').split('|').map(str::trim).collect();
            let made = |who: String, best, median, goal| {
                let what = what.clone();
                Ratio { benchmark, what, who, best, median, goal }
            };
            ratios.extend(
                ratios_of(&what, &cells)
                    .into_iter()
                    .map(|(who, best, median, goal)| made(who, best, median, goal)),
            );
        }
    }
    ensure!(!ratios.is_empty(), "{benchmark} has no results");
    Ok(Section { benchmark, setting, ratios })
}

type Found = (String, Option<f64>, f64, Option<f64>);

/// The ratios that a line of a table tells: most lines have one or none.
fn ratios_of(title: &str, cells: &[&str]) -> Vec<Found> {
    match *cells {
        // "A against B", best, median, goal; or "A", microseconds, and the most that there may be.
        [who, best, median, goal] => {
            if let (Some(best), Some(median)) = (times(best), times(median)) {
                return vec![(who.to_owned(), Some(best), median, at_least(goal))];
            }
            let most = goal.strip_prefix("< ").and_then(first_number);
            let (Some(best), Some(median), Some(most)) = (first_number(best), first_number(median), most)
            else {
                return Vec::new();
            };
            vec![(format!("{who}, against {most} µs"), Some(most / best), most / median, Some(1.0))]
        }
        // Codec and filter; encoding and decoding against C-Blosc2, with their goals.
        [who, encode, goal, decode, decode_goal, _, _] if title.starts_with(GEOMETRIC) => {
            let sides = [("encode", encode, goal), ("decode", decode, decode_goal)];
            let ratio =
                |(side, ratio, goal)| Some((format!("{side} {who}"), None, times(ratio)?, at_least(goal)));
            sides.into_iter().filter_map(ratio).collect()
        }
        ["geometric mean", _, _, ratio, goal, _] => first_number(ratio)
            .map(|ratio| ("holdall against C-Blosc2".to_owned(), None, ratio, at_least(goal)))
            .into_iter()
            .collect(),
        ["geometric mean against C-Blosc2", encode, decode] => {
            let goal = |text: &str| text.split_once('(').and_then(|(_, goal)| at_least(goal));
            let side = |side: &str, text: &str| {
                first_number(text).map(|ratio| (format!("{side}, against C-Blosc2"), None, ratio, goal(text)))
            };
            [side("encode", encode), side("decode", decode)].into_iter().flatten().collect()
        }
        _ => Vec::new(),
    }
}

/// The number of "1.25 ×", and of nothing else.
fn times(cell: &str) -> Option<f64> {
    cell.strip_suffix(" ×")?.parse().ok()
}

/// The number of "≥ 2 ×: met".
fn at_least(cell: &str) -> Option<f64> {
    cell.strip_prefix("≥ ").and_then(first_number)
}

/// The number that a text begins with.
fn first_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(title: &str, line: &str) -> Vec<Found> {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        ratios_of(title, &cells)
    }

    #[test]
    fn every_shape_of_line_is_read() {
        let who = |text: &str| text.to_owned();
        let missed = only("Read", "| holdall against C | 1.10 × | 0.93 × | ≥ 1 ×: by the best only |");
        assert_eq!(missed, [(who("holdall against C"), Some(1.1), 0.93, Some(1.0))]);
        let free = only("Read", "| holdall against C | 1.10 × | 0.93 × |  |");
        assert_eq!(free, [(who("holdall against C"), Some(1.1), 0.93, None)]);
        let time = only("Open", "| holdall, mapped | 20.0 µs | 25.0 µs | < 100 µs: met |");
        assert_eq!(time, [(who("holdall, mapped, against 100 µs"), Some(5.0), 4.0, Some(1.0))]);
        let title = "All data and levels: geometric means against C-Blosc2, one thread";
        let line = "| lz4, shuffle | 1.00 × | ≥ 0.95: met | 1.13 × | ≥ 1: met | 0.996 × | 0.85 ×, 1.05 × |";
        let [encode, decode] = &only(title, line)[..] else { panic!("two ratios") };
        assert_eq!(*encode, (who("encode lz4, shuffle"), None, 1.0, Some(0.95)));
        assert_eq!(*decode, (who("decode lz4, shuffle"), None, 1.13, Some(1.0)));
        let items = only("Reading items", "| geometric mean | | | 3.86 | ≥ 1.7: met | |");
        assert_eq!(items, [(who("holdall against C-Blosc2"), None, 3.86, Some(1.7))]);
        let threads = only("Two", "| geometric mean against C-Blosc2 | 1.06 × | 1.22 × (≥ 1.2: met) |");
        assert_eq!(threads[0], (who("encode, against C-Blosc2"), None, 1.06, None));
        assert_eq!(threads[1], (who("decode, against C-Blosc2"), None, 1.22, Some(1.2)));
        for other in ["| holdall | 4.00 | 4.00 |", "| | best | median | goal |", "| a against b | ? | ? | |"]
        {
            assert_eq!(only("Read", other), [], "{other}");
        }
    }

    #[test]
    fn the_page_is_that_of_the_results() {
        let read = |name| std::fs::read_to_string(page(name)).unwrap();
        let rendered = render(&read("benchmarks.md")).unwrap();
        assert!(rendered == read("ratios.md"), "docs/ratios.md is old: run `cargo xtask bench ratios`");
        // Whatever is said to be missed or met in a table is in the page.
        let text = read("benchmarks.md");
        let marks = |word| {
            let tables = BENCHMARKS.iter().map(|name| {
                let (begin, end) =
                    (format!("<!-- bench {name}: begin -->"), format!("<!-- bench {name}: end -->"));
                text.split_once(&begin).unwrap().1.split_once(&end).unwrap().0.matches(word).count()
            });
            tables.sum::<usize>()
        };
        let verdicts = marks(": met") + marks(": **missed**") + marks(": by the best only");
        let told = rendered.lines().filter(|line| line.ends_with(" % |")).count();
        assert_eq!(told, verdicts);
    }
}
