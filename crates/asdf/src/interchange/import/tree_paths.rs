//! Places arrays in a new tree: paths become nested mappings.

use container_core::json_pointer::unescape;
use container_core::{Error, Result};

use crate::interchange::metadata::{HISTORY, LIBRARY};
use crate::yaml::Yaml;

/// Builder of a tree to which arrays are added by their paths.
pub(super) struct TreeBuilder {
    root: Vec<(Yaml, Yaml)>,
}

impl TreeBuilder {
    /// Creates a builder that starts from the existing pairs of the root.
    pub(super) const fn new(root: Vec<(Yaml, Yaml)>) -> Self {
        Self { root }
    }

    /// Puts the node of an array at a path; `escaped` where `~1` and `~0` in it mean slash and tilde. Where another node is in the way, the whole
    /// path is one key of the root.
    ///
    /// # Errors
    /// `Usage` for a path that is taken.
    pub(super) fn insert(&mut self, path: &str, escaped: bool, node: Yaml) -> Result<()> {
        let meant = |step: &str| if escaped { unescape(step).into_owned() } else { step.to_owned() };
        let steps: Vec<String> = path.split('/').map(meant).collect();
        let taken = || Error::usage(format!("two arrays have the path {path:?}"));
        let reserved = steps.first().is_some_and(|first| [LIBRARY, HISTORY].contains(&first.as_str()));
        if reserved {
            let problem = format!("{path:?} is reserved for the software and the history of an ASDF file");
            return Err(Error::usage(problem).with_hint("convert the others one at a time: FILE::PATH"));
        }
        if let Some(entries) = parent_entries(&mut self.root, &steps) {
            let last = steps.into_iter().next_back().ok_or_else(taken)?;
            entries.push((Yaml::text(last), node));
            return Ok(());
        }
        if self.root.iter().any(|(key, _)| is_text(key, path)) {
            return Err(taken());
        }
        self.root.push((Yaml::text(path), node));
        Ok(())
    }

    pub(super) fn into_tree(self) -> Yaml {
        Yaml::Mapping(self.root, None)
    }
}

/// Paths in an order in which all find a place: first those that are a prefix of others, short ones before long ones, so that no mapping is made at
/// the path of an array.
pub(super) fn insertion_order<'p>(paths: &[&'p str]) -> Vec<&'p str> {
    let mut sorted = paths.to_vec();
    sorted.sort_unstable();
    let leads_on = |path: &str| {
        let below = format!("{path}/");
        let at = sorted.partition_point(|other| *other < below.as_str());
        sorted.get(at).is_some_and(|other| other.starts_with(&below))
    };
    let (mut first, others): (Vec<&str>, Vec<&str>) = paths.iter().copied().partition(|path| leads_on(path));
    first.sort_by_key(|path| path.matches('/').count());
    first.extend(others);
    first
}

/// The mapping that the last step is to be added to, with its ancestors; `None` where an array or the step itself is there.
fn parent_entries<'e>(
    mut entries: &'e mut Vec<(Yaml, Yaml)>,
    steps: &[String],
) -> Option<&'e mut Vec<(Yaml, Yaml)>> {
    let (last, above) = steps.split_last()?;
    for step in above {
        let at = match entries.iter().position(|(key, _)| is_text(key, step)) {
            Some(at) => at,
            None => {
                entries.push((Yaml::text(step), Yaml::Mapping(Vec::new(), None)));
                entries.len().checked_sub(1)?
            }
        };
        entries = match entries.get_mut(at) {
            Some((_, Yaml::Mapping(inner, _))) => inner,
            _ => return None,
        };
    }
    entries.iter().all(|(key, _)| !is_text(key, last)).then_some(entries)
}

fn is_text(key: &Yaml, text: &str) -> bool {
    matches!(key, Yaml::Text(key, _) if key == text)
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
        let mut places = TreeBuilder::new(Vec::new());
        for path in ["a/b", "a/c/d", "a/c", "x", "x/y", "a~1z"] {
            places.insert(path, false, Yaml::Null).unwrap();
        }
        assert!(places.insert("x", false, Yaml::Null).is_err());
        assert_eq!(keys(&places.into_tree()), ["a", "a/c", "x", "x/y", "a~1z"]);
    }

    /// A name of another format may be a prefix of another name; their order does not matter.
    #[test]
    fn insertion_order_puts_path_prefixes_first() {
        for paths in [["x", "a/b/c", "a/b", "a", "a/d", "ab/c"], ["a/d", "x", "a", "ab/c", "a/b", "a/b/c"]] {
            let mut places = TreeBuilder::new(Vec::new());
            for path in insertion_order(&paths) {
                places.insert(path, false, Yaml::Null).unwrap();
            }
            let mut keys = keys(&places.into_tree());
            keys.sort();
            assert_eq!(keys, ["a", "a/b", "a/b/c", "a/d", "ab", "x"]);
        }
        // Without a conflict, the order stays.
        assert_eq!(insertion_order(&["b/c", "a", "b/a", "ab"]), ["b/c", "a", "b/a", "ab"]);
    }

    #[test]
    fn escapes_of_our_own_paths_are_undone() {
        let mut places = TreeBuilder::new(Vec::new());
        places.insert("a~1b/c~0d", true, Yaml::Null).unwrap();
        let tree = places.into_tree();
        assert_eq!(keys(&tree), ["a/b"]);
        let Yaml::Mapping(pairs, _) = &tree else { panic!() };
        assert_eq!(keys(&pairs[0].1), ["c~d"]);
        for path in ["history/x", "asdf_library"] {
            assert!(TreeBuilder::new(Vec::new()).insert(path, true, Yaml::Null).is_err());
        }
    }

    #[test]
    fn arrays_join_the_mappings_that_are_there() {
        let mut places =
            TreeBuilder::new(vec![(Yaml::text("a"), Yaml::mapping([("unit", Yaml::text("m"))]))]);
        places.insert("a/data", true, Yaml::Null).unwrap();
        let Yaml::Mapping(pairs, _) = places.into_tree() else { panic!() };
        assert_eq!(keys(&pairs[0].1), ["unit", "data"]);
    }
}
