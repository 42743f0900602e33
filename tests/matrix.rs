//! Every sound fixture to every format and back: values, types, shapes, order and metadata are what they were, but for the losses that the
//! conversions told. The table in `docs/converting.md` is what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::format::Format;
use container_core::interchange::{NAME, is_equivalent, remove_key};
use container_core::report::Loss;
use container_core::write::Durability;
use container_core::{ErrorKind, Value};
use holdall::address::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};
use holdall::diff::{DiffOptions, diff};
use holdall::formats::by_name;
use holdall::open::{Accept, open_with};
use holdall::views::fill_missing::Filled;

use crate::manifest::{all_fixtures, testdata};

const FORMATS: [&str; 6] = ["asdf", "bloscpack", "blosc2", "gsd", "rawarray", "npy"];

/// Bytes of values that pass; larger files are for other tests.
const MAX_VALUE_BYTES: u64 = 1 << 20;

/// Whose values `diff` does not compare after the way back, and why. `--verify` compares them on both ways all the same.
const EXCEPTIONS: [(&str, &str); 1] = [(
    "asdf/ok/tree_alias_bomb.asdf",
    "a comparison of two files of ASDF writes aliases out, of which its limit allows fewer",
)];

fn is_compared(case: &Case) -> bool {
    !EXCEPTIONS.iter().any(|(name, _)| *name == case.name)
}

/// A folder in memory where the system has one: thousands of small files are slow on a disk.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.expect("a folder")
}

/// Cells of the table, each with its entries.
type Cells = BTreeMap<(&'static str, &'static str), BTreeSet<String>>;

struct Case {
    format: &'static Format,
    path: PathBuf,
    name: String,
}

#[derive(Default)]
struct Outcome {
    cells: Cells,
    failures: Vec<String>,
    /// Conversions there, and back again.
    there: usize,
    back: usize,
}

fn address(path: &Path, dataset: Option<String>) -> Address {
    Address { file: path.to_owned(), dataset, selection: None }
}

fn run(source: &Address, target: &Path, verify: ReadBack) -> container_core::Result<ConvertOutcome> {
    let options = ConvertOptions { verify, durability: Durability::Cached, ..ConvertOptions::default() };
    convert(source, target, &options)
}

/// Losses, or why there is no target: in a few words, and in full.
fn losses(result: container_core::Result<ConvertOutcome>) -> Result<Vec<Loss>, (String, Option<String>)> {
    match result {
        Ok(ConvertOutcome::Done(done)) => Ok(done.losses),
        Ok(ConvertOutcome::Differs(differences)) => Err((String::new(), Some(format!("{differences:?}")))),
        Err(error) => match error.kind() {
            ErrorKind::Unsupported(_) => Err(("types that it lacks: refused".to_owned(), None)),
            ErrorKind::Usage(what) if what.contains("dimensions") => {
                Err(("more axes than it has: refused".to_owned(), None))
            }
            ErrorKind::Usage(what) if what.starts_with("an axis of") => {
                Err(("axes of 2^63 and more: refused".to_owned(), None))
            }
            ErrorKind::Usage(what) if what.contains("two datasets") => {
                Err(("datasets of the same name: one at a time".to_owned(), None))
            }
            _ => Err((String::new(), Some(error.to_string()))),
        },
    }
}

/// The kind of a loss.
fn kind(loss: &Loss) -> String {
    let what = loss.what.as_str();
    let begins = |words: &[&str]| words.iter().any(|word| what.starts_with(word));
    if begins(&["mask"]) {
        "masks".to_owned()
    } else if begins(&["metadata", "tree", "user metadata", "metalayers", "trailer", "application", "unit "])
    {
        "metadata".to_owned()
    } else if begins(&["attributes of the group", "the schema of the table"]) {
        "schemas and attributes of stores".to_owned()
    } else if what.contains("deleted in the table") {
        "deleted rows of tables".to_owned()
    } else if begins(&["a column that is not decoded"]) {
        "columns that are not decoded".to_owned()
    } else if begins(&["what the proxy never fetched"]) {
        "what a proxy never fetched".to_owned()
    } else if begins(&["stored again", "the frames that stored"]) || what.contains("no chunk is stored after")
    {
        "which frames stored chunks".to_owned()
    } else if begins(&["padding"]) {
        "padding and titles of records".to_owned()
    } else if begins(&["the type", "bfloat16", "numpy has no type"]) {
        "types that it lacks become bytes".to_owned()
    } else if what.contains("bytes after the") {
        "bytes after the end".to_owned()
    } else {
        what.to_owned()
    }
}

fn is_of_type(loss: &Loss) -> bool {
    ["the type", "bfloat16", "numpy has no type", "padding"].iter().any(|word| loss.what.starts_with(word))
}

/// The metadata that are compared: not the path of the one dataset, which a file of several tells otherwise, and not the number of all
/// chunks of a file from which one name was taken.
fn carried(container: &dyn Container, path: &Address, is_of_one: bool) -> Value {
    let selection = path.select(container).expect("a selection");
    let tree = remove_key(container.export_metadata(&selection).expect("metadata"), NAME);
    match tree.get("gsd").cloned() {
        Some(own) => {
            let of_others: &[&str] =
                if is_of_one { &["chunks", "names", "frames", "stored"] } else { &["chunks", "names"] };
            let own = of_others.iter().fold(own, |own, key| remove_key(own, key));
            let Value::Map(mut entries) = remove_key(tree, "gsd") else { unreachable!("a map") };
            entries.push(("gsd".to_owned(), own));
            Value::Map(entries)
        }
        None => tree,
    }
}

fn one(case: &Case, to: &'static Format, folder: &Path, outcome: &mut Outcome) {
    let source =
        open_with(&case.path, Accept::ContainersAndArrays, &OpenOptions::default()).expect("a sound fixture");
    let listed = source.container.listed_count();
    let holds_many = ["asdf", "gsd"].contains(&to.name);
    if listed == 0 && !holds_many {
        return;
    }
    let first =
        (listed > 1 && !holds_many).then(|| source.container.dataset(0).expect("a dataset").path.clone());
    let from = address(&case.path, first);
    let cell = outcome.cells.entry((case.format.title, to.title)).or_default();
    let fail = |what: String| format!("{} to {}: {what}", case.name, to.name);
    let there = folder.join(format!("a.{}", to.extensions[0]));
    let back = folder.join(format!("b.{}", case.format.extensions[0]));
    for path in [&there, &back] {
        _ = std::fs::remove_file(path);
    }
    let mut lost = match losses(run(&from, &there, ReadBack::Yes)) {
        Ok(lost) => lost,
        Err((refused, failure)) => {
            cell.extend(Some(refused).filter(|refused| !refused.is_empty()));
            outcome.failures.extend(failure.map(fail));
            return;
        }
    };
    cell.extend(lost.iter().map(kind));
    outcome.there += 1;
    let again = match losses(run(&address(&there, None), &back, ReadBack::Yes)) {
        Ok(again) => again,
        // Several datasets do not go into a file of one.
        Err((_, Some(failure))) if failure.contains("the target holds one array") => return,
        // Nothing does not either.
        Err((_, Some(failure))) if failure.contains("no dataset to convert") => return,
        Err((_, None)) => return,
        Err((_, Some(failure))) => return outcome.failures.push(fail(format!("and back: {failure}"))),
    };
    lost.extend(again);
    outcome.back += 1;
    let last = open_with(&back, Accept::ContainersAndArrays, &OpenOptions::default()).expect("a target");
    // Aliases in a tree make others of the one array.
    let alone = from.dataset.clone().filter(|path| last.container.find(path).is_some());
    let whole = address(&back, alone);
    let select = |file: &dyn Container, at: &Address| at.select(file).expect("a selection");
    if !lost.iter().any(is_of_type) && is_compared(case) {
        let ignored = ["/*".to_owned()];
        let options = DiffOptions { ignore: &ignored, ..DiffOptions::default() };
        let (a, b) = (select(&*source.container, &from), select(&*last.container, &whole));
        // What is missing has been filled on the way, and a mask that is a number comes back.
        let filled =
            |container, chosen| Filled::new(container, chosen, None, &ReadOptions::default()).expect("masks");
        let (filled_a, filled_b) = (filled(&*source.container, &a), filled(&*last.container, &b));
        let seen_a = filled_a.as_ref().map_or(&*source.container, |filled| filled as &dyn Container);
        let seen_b = filled_b.as_ref().map_or(&*last.container, |filled| filled as &dyn Container);
        match diff(seen_a, &a, seen_b, &b, &options) {
            // Metadata are compared below.
            Ok(found) if found.iter().all(|one| one.dataset.is_none()) => {}
            other => outcome.failures.push(fail(format!("values: {other:?}"))),
        }
        let orders = |file: &dyn Container, chosen: &[(usize, _)]| -> Vec<_> {
            chosen.iter().filter_map(|(index, _)| file.dataset(*index)).map(|dataset| dataset.order).collect()
        };
        let keeps_order = to.order.is_none() && case.format.order.is_none();
        if keeps_order && orders(&*source.container, &a) != orders(&*last.container, &b) {
            outcome.failures.push(fail("order of the axes".to_owned()));
        }
    }
    let is_of_one = from.dataset.is_some();
    let before = carried(&*source.container, &from, is_of_one);
    let mut after = carried(&*last.container, &whole, is_of_one);
    if before.get("rawarray").is_none() {
        after = remove_key(after, "rawarray");
    }
    if to.name != "npy"
        && !lost.iter().any(|loss| kind(loss) == "metadata")
        && !is_equivalent(&before, &after)
    {
        outcome.failures.push(fail(format!("metadata: {before:?}\n    and {after:?}")));
    }
}

/// Fixtures of the containers, of those that hold the same but in other codecs and the like one, and `.npy` files of what some of them hold.
fn cases(folder: &Path) -> Vec<Case> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for fixture in all_fixtures() {
        let is_small = fixture.files.is_none() && fixture.path.starts_with("ok/");
        if !is_small || fixture.verdict != "sound" {
            continue;
        }
        let Ok(opened) = open_with(&fixture.full_path, Accept::Containers, &OpenOptions::default()) else {
            continue;
        };
        let datasets: Vec<_> = container_core::container::visible_datasets(&*opened.container).collect();
        let logical: u64 = datasets.iter().map(|(_, dataset)| dataset.logical).fold(0, u64::saturating_add);
        let held: Vec<_> = datasets
            .iter()
            .take(100)
            .map(|(_, one)| format!("{} {} {:?} {:?}", one.path, one.dtype, one.shape, one.order))
            .collect();
        let whole: Vec<_> = datasets
            .iter()
            .map(|(index, one)| (*index, container_core::region::Region::whole(&one.shape)))
            .collect();
        let metadata = opened.container.export_metadata(&whole).map(|tree| format!("{tree:?}"));
        if !seen.insert((fixture.format.clone(), held, metadata.unwrap_or_default())) {
            continue;
        }
        // An expression has no values of its own, and a proxy not all of them.
        if logical > MAX_VALUE_BYTES || fixture.path.contains("expression") || fixture.path.contains("proxy")
        {
            continue;
        }
        let is_array = fixture.format == "bloscpack" && fixture.path.starts_with("ok/np_");
        let npy = folder.join(format!("{}.npy", all.len()));
        if is_array
            && let Ok(ConvertOutcome::Done(_)) = run(&address(&fixture.full_path, None), &npy, ReadBack::No)
        {
            let format = by_name("npy").expect("a format");
            all.push(Case { format, path: npy, name: format!("{} as npy", fixture.path) });
        }
        let name = format!("{}/{}", fixture.format, fixture.path);
        all.push(Case { format: opened.format, path: fixture.full_path, name });
    }
    all
}

fn table(cells: &Cells) -> String {
    let titles: Vec<&str> = FORMATS.iter().map(|name| by_name(name).expect("a format").title).collect();
    let mut text = format!("| from \\ to | {} |\n|---{}|\n", titles.join(" | "), "|---".repeat(titles.len()));
    for from in &titles {
        let cell = |to: &&str| match cells.get(&(*from, *to)) {
            _ if from == to => "–".to_owned(),
            Some(lost) if !lost.is_empty() => lost.iter().cloned().collect::<Vec<_>>().join("; "),
            _ => "all".to_owned(),
        };
        let row: Vec<String> = titles.iter().map(cell).collect();
        text.push_str(&format!("| **{from}** | {} |\n", row.join(" | ")));
    }
    text
}

#[test]
fn every_fixture_comes_back_from_every_format() {
    let folder = scratch();
    let cases = cases(folder.path());
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Outcome::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let own = scratch();
                let mut outcome = Outcome::default();
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for to in FORMATS.map(|name| by_name(name).expect("a format")) {
                        if to.name != case.format.name {
                            one(case, to, own.path(), &mut outcome);
                        }
                    }
                }
                let mut total = total.lock().expect("no panic");
                for (cell, lost) in outcome.cells {
                    total.cells.entry(cell).or_default().extend(lost);
                }
                total.failures.extend(outcome.failures);
                total.there += outcome.there;
                total.back += outcome.back;
            });
        }
    });
    let mut total = total.into_inner().expect("no panic");
    total.failures.sort();
    assert!(
        total.failures.is_empty(),
        "{} of {}:\n{}",
        total.failures.len(),
        total.there,
        total.failures.join("\n")
    );
    assert!(total.there > 2500 && total.back > 2000, "only {} and {}", total.there, total.back);
    drift(&table(&total.cells));
}

/// The table in the documents is this one.
fn drift(table: &str) {
    const MARKS: [&str; 2] = ["<!-- table: written by a test -->\n", "<!-- end -->"];
    let path = testdata().join("../docs/converting.md");
    let text = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once(MARKS[0]).expect("a mark");
    let (committed, after) = rest.split_once(MARKS[1]).expect("a mark");
    if std::env::var("HOLDALL_GOLDENS").is_ok_and(|mode| mode == "write") {
        std::fs::write(&path, [before, MARKS[0], table, MARKS[1], after].concat()).expect("the page");
        return;
    }
    assert_eq!(
        committed, table,
        "docs/converting.md (HOLDALL_GOLDENS=write cargo test -p conformance matrix writes it anew)"
    );
}
