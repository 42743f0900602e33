//! Results as tables, for the terminal and for docs/benchmarks.md.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::harness::{Claim, Measured, Times, Unit};
use crate::summary;

/// On what the results were measured.
pub struct Setting {
    machine: String,
    versions: String,
    data: String,
    rounds: usize,
}

impl Setting {
    /// Asks the machine and the compiler; `peers` are the versions of the others, `data` is what is measured.
    #[must_use]
    pub fn new(peers: &str, data: String, rounds: usize) -> Self {
        let rustc = Command::new("rustc").arg("--version").output().ok();
        let rustc =
            rustc.map_or_else(String::new, |output| String::from_utf8_lossy(&output.stdout).into_owned());
        let rustc = rustc.split(" (").next().unwrap_or_default().trim().to_owned();
        Self { machine: machine(), versions: format!("{rustc}, {peers}"), data, rounds }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}. {}, {} rounds.", self.machine, self.versions, self.data, self.rounds)
    }
}

/// Returns the reason why results on this machine, now, differ from those on another day; `None` where there is none.
#[must_use]
pub fn warning(size: usize) -> Option<String> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free: usize = value(&meminfo, "MemFree")?.trim_end_matches(" kB").parse().ok()?;
    // The array in several processes, and several files of it.
    let needed = size * 8;
    (free / 1024 < needed).then(|| {
        format!(
            "only {} MiB of memory are free, {needed} are needed: the kernel will take them from its file cache while the clock \
             runs, in small pieces. Free the cache for results that can be compared (echo 3 >/proc/sys/vm/drop_caches).",
            free / 1024
        )
    })
}

/// The text after `key` and a colon.
fn value(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// "AMD EPYC, 2 threads, 23 GiB, Linux 6.18", as far as the system tells.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu =
        value(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = value(&read("/proc/meminfo"), "MemTotal")
        .and_then(|total| total.trim_end_matches(" kB").parse::<u64>().ok())
        .map_or_else(String::new, |kib| format!(", {} GiB", (kib + (1 << 19)) >> 20));
    let release = read("/proc/sys/kernel/osrelease");
    let release: Vec<&str> = release.split('.').take(2).collect();
    format!("{cpu}, {threads} threads{memory}, {} {}", std::env::consts::OS, release.join("."))
}

/// One group as a Markdown table with its claims below.
#[must_use]
pub fn markdown(measured: &Measured) -> String {
    let width = measured.times.iter().map(|times| times.name.chars().count()).max().unwrap_or(0);
    let unit = match measured.unit {
        Unit::Rate(_) => "GB/s".to_owned(),
        Unit::Time => "µs".to_owned(),
        Unit::Items(_, item) => format!("10³ {item}s/s"),
        Unit::Each(_, item) => format!("ns/{item}"),
    };
    let mut text = format!("### {}\n\n| {:width$} | best {unit} | median {unit} |\n", measured.title, "");
    text += &format!("|-{}-|---:|---:|\n", "-".repeat(width));
    for times in &measured.times {
        let shown = |seconds: f64| match measured.unit {
            Unit::Rate(bytes) => format!("{:.2}", bytes as f64 / seconds / 1e9),
            Unit::Time => format!("{:.1}", seconds * 1e6),
            Unit::Items(count, _) => digits(count as f64 / seconds / 1e3),
            Unit::Each(count, _) => digits(seconds * 1e9 / count as f64),
        };
        text += &format!("| {:width$} | {} | {} |\n", times.name, shown(times.best()), shown(times.median()));
    }
    if !measured.claims.is_empty() {
        text += "\n| | best | median | goal |\n|---|---:|---:|---|\n";
    }
    for claim in &measured.claims {
        text += &line(claim, measured.unit, &measured.times);
    }
    text
}

/// Three digits that count, or all before the point.
fn digits(number: f64) -> String {
    let decimals = if number < 1.0 {
        3
    } else if number < 10.0 {
        2
    } else {
        usize::from(number < 100.0)
    };
    format!("{number:.decimals$}")
}

fn line(claim: &Claim, unit: Unit, times: &[Times]) -> String {
    let find = |name: &str| times.iter().find(|times| times.name == name);
    match claim {
        Claim::Speed(of, to, goal) => {
            let (Some(fast), Some(slow)) = (find(of), find(to)) else {
                return format!("| {of} against {to} | ? | ? | |\n");
            };
            let (best, median) = (slow.best() / fast.best(), slow.median() / fast.median());
            let goal = goal.map_or_else(String::new, |goal| {
                format!("≥ {goal} ×: {}", verdict(best >= goal, median >= goal))
            });
            format!("| {of} against {to} | {best:.2} × | {median:.2} × | {goal} |\n")
        }
        Claim::AtMost(of, most) => {
            let Some(times) = find(of) else { return format!("| {of} | ? | ? | |\n") };
            let each = if let Unit::Each(count, _) = unit { count as f64 } else { 1.0 };
            let (best, median) = (times.best() * 1e6 / each, times.median() * 1e6 / each);
            let verdict = verdict(best < *most, median < *most);
            let decimals = if *most < 1.0 { 3 } else { 1 };
            format!("| {of} | {best:.decimals$} µs | {median:.decimals$} µs | < {most} µs: {verdict} |\n")
        }
    }
}

/// The median decides; a goal that only the best round meets was missed in the others.
fn verdict(best: bool, median: bool) -> &'static str {
    match (best, median) {
        (_, true) => "met",
        (true, false) => "by the best only",
        (false, false) => "**missed**",
    }
}

/// Replaces the results of benchmark `name` in docs/benchmarks.md, and their ratios in docs/ratios.md.
///
/// # Errors
/// When the file cannot be read or written, or lacks the marks between which they stand.
pub fn write_docs(name: &str, setting: &Setting, tables: &[String]) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks.md");
    let text = std::fs::read_to_string(&path).context("docs/benchmarks.md")?;
    let section = format!("{setting}\n\n{}", tables.join("\n"));
    let replaced = replace(&text, name, &section)?;
    std::fs::write(&path, replaced).context("docs/benchmarks.md")?;
    summary::write_docs()
}

fn replace(text: &str, name: &str, section: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- bench {name}: begin -->\n"), format!("<!-- bench {name}: end -->"));
    let (before, rest) = text.split_once(&begin).with_context(|| format!("no line {begin:?}"))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("no line {end:?}"))?;
    Ok(format!("{before}{begin}\n{section}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Contender, Group, Run, measure};

    fn measured(claims: Vec<Claim>) -> Measured {
        let contender = |name, seconds| Contender::new(name, move || Ok(Run { seconds, check: None }));
        let contenders = vec![contender("ours", 0.5), contender("theirs", 1.0)];
        let unit = Unit::Rate(2_000_000_000);
        measure(Group { title: "read".into(), unit, contenders, claims }, 3).unwrap()
    }

    #[test]
    fn rates_and_ratios_are_reported_with_their_goals() {
        let text = markdown(&measured(vec![
            Claim::Speed("ours", "theirs", Some(2.0)),
            Claim::Speed("theirs", "ours", Some(1.0)),
            Claim::AtMost("ours", 100.0),
        ]));
        assert!(text.contains("| ours   | 4.00 | 4.00 |"), "{text}");
        assert!(text.contains("| ours against theirs | 2.00 × | 2.00 × | ≥ 2 ×: met |"), "{text}");
        assert!(text.contains("| theirs against ours | 0.50 × | 0.50 × | ≥ 1 ×: **missed** |"), "{text}");
        assert!(text.contains("| ours | 500000.0 µs | 500000.0 µs | < 100 µs: **missed** |"), "{text}");
    }

    #[test]
    fn counted_items_are_reported_per_item() {
        let mut each = measured(vec![Claim::AtMost("ours", 0.5), Claim::AtMost("theirs", 0.5)]);
        each.unit = Unit::Each(1_000_000, "find");
        let text = markdown(&each);
        assert!(text.contains("| ours   | 500 | 500 |"), "{text}");
        assert!(text.contains("| theirs | 1.000 µs | 1.000 µs | < 0.5 µs: **missed** |"), "{text}");
        each.unit = Unit::Items(6_250, "frame");
        let text = markdown(&each);
        assert!(text.contains("best 10³ frames/s"), "{text}");
        assert!(
            text.contains("| ours   | 12.5 | 12.5 |") && text.contains("| theirs | 6.25 | 6.25 |"),
            "{text}"
        );
    }

    #[test]
    fn only_the_section_between_the_marks_is_replaced() {
        let text = "a\n<!-- bench x: begin -->\nold\n<!-- bench x: end -->\nb\n";
        let new = replace(text, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- bench x: begin -->\n\nnew\n\n<!-- bench x: end -->\nb\n");
        assert_eq!(replace(&new, "x", "new\n").unwrap(), new);
        assert!(replace(text, "y", "new").is_err());
    }
}
