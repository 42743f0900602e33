//! Choosing the inputs that are committed: the fewest that reach the most, and those that are run first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use super::LONGEST;

/// Most inputs of a target, so that all of them are a part of a smoke run.
const MAX_INPUTS: usize = 60;

/// Result of libFuzzer for an input after a merge.
#[derive(Debug, Default, PartialEq, Eq)]
struct Input {
    path: PathBuf,
    len: usize,
    /// Numbers for the edges and the counts of edges that it reaches.
    features: Vec<u32>,
}

/// Writes the best inputs of a merge into `folder`, in place of those that are there; how many, and their bytes.
///
/// `record` is the control file of a merge for a set cover, which has the features of each input; names in it are relative to `root`.
pub(super) fn choose(record: &str, root: &Path, folder: &Path) -> Result<(usize, usize)> {
    let inputs = parse(record).context("libFuzzer's record of its merge has another form")?;
    let chosen = best(&inputs, MAX_INPUTS);
    let mut contents = Vec::new();
    for input in chosen {
        let mut bytes = fs::read(root.join(&input.path)).with_context(|| input.path.display().to_string())?;
        // Of a longer one libFuzzer took the first bytes alone.
        bytes.truncate(LONGEST);
        contents.push(bytes);
    }
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for bytes in &contents {
        let digest = Sha256::digest(bytes);
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        fs::write(folder.join(name), bytes)?;
    }
    Ok((contents.len(), contents.iter().map(Vec::len).sum()))
}

/// The inputs that were run to their end.
fn parse(record: &str) -> Option<Vec<Input>> {
    let mut lines = record.lines();
    let count: usize = lines.next()?.parse().ok()?;
    let _in_the_first_folder: usize = lines.next()?.parse().ok()?;
    let mut inputs: Vec<Input> = Vec::new();
    for _ in 0..count {
        inputs.push(Input { path: PathBuf::from(lines.next()?), ..Input::default() });
    }
    for line in lines {
        let mut words = line.split(' ');
        let kind = words.next()?;
        let input = inputs.get_mut(words.next()?.parse::<usize>().ok()?)?;
        match kind {
            "STARTED" => input.len = words.next()?.parse().ok()?,
            "FT" => input.features = words.map(|word| word.parse().ok()).collect::<Option<_>>()?,
            _ => {}
        }
    }
    inputs.retain(|input| !input.features.is_empty());
    Some(inputs)
}

/// At most `most` inputs, each of which reaches most of what those before it do not; the smaller where two reach as much.
fn best(inputs: &[Input], most: usize) -> Vec<&Input> {
    let mut reached: HashSet<u32> = HashSet::new();
    let mut queue: BinaryHeap<(usize, Reverse<usize>, Reverse<usize>)> = inputs
        .iter()
        .enumerate()
        .filter(|(_, input)| input.len <= LONGEST)
        .map(|(at, input)| (input.features.len(), Reverse(input.len), Reverse(at)))
        .collect();
    let mut chosen = Vec::new();
    while chosen.len() < most
        && let Some((gain, len, Reverse(at))) = queue.pop()
    {
        let features = &inputs[at].features;
        let now = features.iter().filter(|feature| !reached.contains(*feature)).count();
        if now == 0 {
            continue;
        }
        // What was chosen since may have reached some of it: then others may reach more.
        if now < gain {
            queue.push((now, len, Reverse(at)));
            continue;
        }
        reached.extend(features);
        chosen.push(&inputs[at]);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "4\n0\nc/a\nc/b\nc/c\nc/d\nSTARTED 0 9\nFT 0 1 2 3\nCOV 0 7\nSTARTED 1 5\nFT 1 3 4\n\
                          STARTED 2 4\nFT 2 1 2 3\nSTARTED 3 1\n";

    #[test]
    fn the_fewest_that_reach_the_most_are_kept_and_of_two_alike_the_smaller() {
        let inputs = parse(RECORD).unwrap();
        // The last was started and did not end.
        assert_eq!(inputs.len(), 3);
        let names = |most| -> Vec<_> {
            best(&inputs, most).iter().map(|input| input.path.to_str().unwrap()).collect()
        };
        assert_eq!(names(60), ["c/c", "c/b"]);
        assert_eq!(names(1), ["c/c"]);
        assert_eq!(parse("2\n0\nc/a\n"), None);
    }

    #[test]
    fn chosen_inputs_take_the_place_of_the_older() {
        let root = std::env::temp_dir().join(format!("xtask-keep-{}", std::process::id()));
        let folder = root.join("kept");
        for (name, bytes) in [("c/b", &b"four"[..]), ("c/c", b"three"), ("kept/old", b"old")] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let kept = choose(RECORD, &root, &folder).unwrap();
        let mut contents: Vec<Vec<u8>> =
            fs::read_dir(&folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
        fs::remove_dir_all(&root).unwrap();
        contents.sort();
        assert_eq!(contents, [b"four".to_vec(), b"three".to_vec()]);
        assert_eq!(kept, (2, 9));
    }
}
