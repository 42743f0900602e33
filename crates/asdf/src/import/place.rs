//! Where arrays stand in a new tree: paths become mappings within one another.

use container_core::{Error, Result};

use super::empty;
use crate::yaml::Yaml;

/// Keys of the root that say how a file was made.
const RESERVED: [&str; 2] = ["asdf_library", "history"];

/// Arrays by their paths.
pub(super) struct Places {
    root: Vec<(String, Branch)>,
    /// Whether `~1` and `~0` in paths stand for slash and tilde.
    escaped: bool,
}

enum Branch {
    Array(Yaml),
    Mapping(Vec<(String, Branch)>),
}

impl Places {
    pub(super) const fn new(escaped: bool) -> Self {
        Self { root: Vec::new(), escaped }
    }

    /// Puts the node of an array at a path. Where something else is in the way, the whole path is one key of the root.
    ///
    /// # Errors
    /// `Usage` for a path that is taken.
    pub(super) fn put(&mut self, path: &str, node: Yaml) -> Result<()> {
        let unescape = |step: &str| {
            if self.escaped { step.replace("~1", "/").replace("~0", "~") } else { step.to_owned() }
        };
        let steps: Vec<String> = path.split('/').map(unescape).collect();
        let taken = || Error::usage(format!("two arrays would stand at {path:?}"));
        let reserved = steps.first().is_some_and(|first| RESERVED.contains(&first.as_str()));
        if reserved {
            let problem = format!("{path:?} is a place that ASDF keeps for what wrote a file");
            return Err(Error::usage(problem).hint("convert the others one at a time: FILE::PATH"));
        }
        if let Some(entries) = room(&mut self.root, &steps) {
            let last = steps.into_iter().next_back().ok_or_else(taken)?;
            entries.push((last, Branch::Array(node)));
            return Ok(());
        }
        if self.root.iter().any(|(key, _)| key == path) {
            return Err(taken());
        }
        self.root.push((path.to_owned(), Branch::Array(node)));
        Ok(())
    }

    pub(super) fn into_tree(self) -> Yaml {
        tree(self.root)
    }
}

/// The mapping that the last step is to be added to, with those above it; `None` where an array or the step itself is there.
fn room<'e>(
    mut entries: &'e mut Vec<(String, Branch)>,
    steps: &[String],
) -> Option<&'e mut Vec<(String, Branch)>> {
    let (last, above) = steps.split_last()?;
    for step in above {
        let at = match entries.iter().position(|(key, _)| key == step) {
            Some(at) => at,
            None => {
                entries.push((step.clone(), Branch::Mapping(Vec::new())));
                entries.len().checked_sub(1)?
            }
        };
        entries = match entries.get_mut(at) {
            Some((_, Branch::Mapping(inner))) => inner,
            _ => return None,
        };
    }
    entries.iter().all(|(key, _)| key != last).then_some(entries)
}

fn tree(entries: Vec<(String, Branch)>) -> Yaml {
    if entries.is_empty() {
        return empty();
    }
    Yaml::mapping(entries.into_iter().map(|(key, branch)| match branch {
        Branch::Array(node) => (key, node),
        Branch::Mapping(inner) => (key, tree(inner)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(tree: &Yaml) -> Vec<String> {
        let Yaml::Mapping(pairs, _) = tree else { return Vec::new() };
        let text = |key: &Yaml| match key {
            Yaml::Text(text, _) => text.clone(),
            other => format!("{other:?}"),
        };
        pairs.iter().map(|(key, _)| text(key)).collect()
    }

    #[test]
    fn paths_become_mappings_unless_something_is_in_the_way() {
        let mut places = Places::new(false);
        for path in ["a/b", "a/c/d", "a/c", "x", "x/y", "a~1z"] {
            places.put(path, Yaml::Null).unwrap();
        }
        assert!(places.put("x", Yaml::Null).is_err());
        assert_eq!(keys(&places.into_tree()), ["a", "a/c", "x", "x/y", "a~1z"]);
    }

    #[test]
    fn escapes_of_our_own_paths_are_undone() {
        let mut places = Places::new(true);
        places.put("a~1b/c~0d", Yaml::Null).unwrap();
        let tree = places.into_tree();
        assert_eq!(keys(&tree), ["a/b"]);
        let Yaml::Mapping(pairs, _) = &tree else { panic!() };
        assert_eq!(keys(&pairs[0].1), ["c~d"]);
        for path in ["history/x", "asdf_library"] {
            assert!(Places::new(true).put(path, Yaml::Null).is_err());
        }
    }
}
