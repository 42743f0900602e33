//! Inputs that libFuzzer made and that reach what others do not: those in `seeds/`, of which `cargo xtask fuzz TARGET --keep` makes the choice.

use std::fs;
use std::path::{Path, PathBuf};

/// The inputs that are kept for a target, in the order of their names.
#[must_use]
pub fn kept(target: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder().join(target)) else {
        // A target that is new has none.
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map_while(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: PathBuf| fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    paths.into_iter().map(read).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_inputs_are_small_and_belong_to_a_target() {
        let mut bytes = 0;
        for entry in fs::read_dir(folder()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(crate::TARGETS.iter().any(|target| target.name == name), "{name} is no target");
            let inputs = kept(&name);
            assert!((1..=60).contains(&inputs.len()), "{name}: {}", inputs.len());
            assert!(inputs.iter().all(|input| input.len() <= 4096), "{name}");
            bytes += inputs.iter().map(Vec::len).sum::<usize>();
        }
        assert!(bytes <= 4 << 20, "{bytes}");
    }
}
