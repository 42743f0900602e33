//! Errors for addresses that name no dataset: the nearest names, or the reason.

use container_core::container::{Container, all_datasets};
use container_core::dtype::DType;
use container_core::region::Region;
use container_core::{Error, Value};

use super::pattern::Several;
use super::{Address, MAX_SEARCHED, find, last_group, place, pointer, typed};
use crate::nearest::{did_you_mean, nearest};
use crate::verify::first_damage;

/// Paths that a message lists before it only counts.
const MAX_LISTED: usize = 8;

/// The same, where one of them has to be named.
pub(super) const MAX_NAMED: usize = 20;

impl Address {
    /// The error for a path that no dataset has.
    pub(super) fn not_found(&self, path: &str, container: &dyn Container, several: &Several) -> Error {
        if container.dataset_count() == 0 {
            return nothing(container);
        }
        if let Some(error) = self.bad_selection(path, container).or_else(|| hidden(container)) {
            return error;
        }
        let is_meant = |own: &String| typed(own) == typed(path.trim_start_matches('/'));
        if let Some((_, error)) = container.unlisted().find(|(own, _)| is_meant(own)) {
            return error;
        }
        let error = if several.is_pattern() {
            Error::absent(format!("no dataset fits {path:?}"))
        } else if container.may_lack_datasets() {
            Error::absent(format!("no chunk {path:?}"))
        } else {
            Error::usage(format!("no dataset {path:?}"))
        };
        let hint = match several.is_pattern() {
            true => None,
            false => frames_end(path, container)
                .or_else(|| field(path, container))
                .or_else(|| metadata(path, container))
                .or_else(|| suggestion(path, container)),
        };
        error.with_hint(hint.unwrap_or_else(|| format!("one of: {}", names(container))))
    }

    /// The error for brackets after a dataset's path that are not a selection: `data[0][1:]`, `data[-1][x==1]`, `data[x>3].sum()`. Where
    /// the dataset may be absent, any path counts: an invalid address is not a question for an absent part.
    fn bad_selection(&self, path: &str, container: &dyn Container) -> Option<Error> {
        let is_dataset = |path: &str| container.may_lack_datasets() || find(path, container).is_some();
        // Lists and conditions are not selections in any spelling.
        let bad = |group: &str| Region::check_syntax(group).err();
        let several = || {
            let problem =
                "a selection is one group of brackets after the path, with a number or a slice for each axis";
            Error::usage(problem).with_hint("FILE::PATH[0, 1:]")
        };
        let mut groups: Vec<&str> = self.selection.as_deref().into_iter().collect();
        let mut rest = path;
        while let Some((before, group)) = last_group(rest) {
            groups.push(group);
            rest = before;
            if find(rest, container).is_some() {
                break;
            }
        }
        match groups[..] {
            [] => {}
            [only] if rest == path && is_dataset(rest) && !rest.contains(['[', ']']) => return bad(only),
            _ if rest != path && is_dataset(rest) => {
                return Some(groups.into_iter().find_map(bad).unwrap_or_else(several));
            }
            _ => {}
        }
        // An unclosed bracket, or text after the brackets.
        let mut opened = rest.match_indices(['[', ']']).filter_map(|(at, _)| rest.split_at_checked(at));
        let (_, text) = opened.find(|(before, _)| is_dataset(before))?;
        let group = text.trim_start_matches(['[', ']']);
        let inside = group.split_once(']').map_or(group, |(inside, _)| inside);
        Some(bad(inside).unwrap_or_else(several))
    }
}

/// The hint for a frame beyond the last one: `frames/100/position` of a file with ten.
fn frames_end(path: &str, container: &dyn Container) -> Option<String> {
    // Numbers of frames in paths are from the start; indices of the stacked dataset may be from the end.
    if let Some((from_end, name)) = of_last(path)
        && from_end.parse::<u64>().is_ok()
        && find(name, container).is_some()
    {
        return Some(format!("'FILE::{name}[-{from_end}]': frames/N counts from 0"));
    }
    let number = |path: &str| {
        path.trim_start_matches('/').strip_prefix("frames/")?.split('/').next()?.parse::<u64>().ok()
    };
    let wanted = number(path)?;
    let last = container.dataset(container.dataset_count().checked_sub(1)?)?;
    let last = number(&last.path)?;
    (wanted > last).then(|| format!("frames/0 to frames/{last}: those that the file has chunks of"))
}

/// The number from the end and the name of `frames/-1/particles/position`.
fn of_last(path: &str) -> Option<(&str, &str)> {
    path.trim_start_matches('/').strip_prefix("frames/-")?.split_once('/')
}

/// The hint for a field of records that is taken for a dataset: `data/x`, `data.x`, or `x` alone.
fn field(path: &str, container: &dyn Container) -> Option<String> {
    let fields = |index: usize| -> Option<(String, Vec<String>)> {
        let dataset = container.dataset(index)?;
        let DType::Record(record) = &dataset.dtype else { return None };
        let fields = record.fields.iter().map(|field| field.name.clone());
        Some((typed(&dataset.path).to_owned(), fields.collect()))
    };
    let of_whole = |(before, name): (&str, &str)| Some((fields(find(before, container)?)?, name.to_owned()));
    let cut = path.rsplit_once(['/', '.']).and_then(of_whole);
    let alone = || (container.listed_count() == 1).then(|| Some((fields(0)?, path.to_owned()))).flatten();
    let ((dataset, fields), name) = cut.or_else(alone)?;
    if fields.contains(&name) {
        return Some(format!(
            "FILE::{dataset}: {name} is a field of its records (cat --format csv has a column for each)"
        ));
    }
    let near = nearest(&name, &fields);
    let near = near.first()?;
    Some(format!("did you mean the field {near} of FILE::{dataset}? cat --format csv has a column for each"))
}

/// The hint for a path of metadata.
fn metadata(path: &str, container: &dyn Container) -> Option<String> {
    let meta = container.meta().ok()?;
    let pointer = pointer(path);
    let found = meta.pointer(&pointer)?;
    let kind = match found {
        Value::Map(_) => "a mapping of the metadata",
        Value::List(_) => "a list of the metadata",
        _ => "a value of the metadata",
    };
    Some(format!("holdall meta FILE {}: this is {kind}, not an array", place(&pointer)))
}

/// The question whether a similar path is meant: of the listed datasets, else of the others. Of a chunk within a frame, that frame's come first.
fn suggestion(path: &str, container: &dyn Container) -> Option<String> {
    let listed = container.listed_count();
    let path_of = |index: usize| container.dataset(index).map(|dataset| dataset.path.clone());
    let in_group = path.rsplit_once('/').map(|(group, last)| {
        let group = group.trim_start_matches('/');
        let names = (0..listed.min(MAX_IN_GROUP)).filter_map(path_of);
        let there = names.map(|name| format!("{group}/{name}")).filter(|name| container.find(name).is_some());
        did_you_mean(&format!("{group}/{last}"), there.collect::<Vec<_>>(), 0)
    });
    let all = || all_datasets(container).map(|(_, dataset)| dataset.into_owned().path);
    let parts = container.dataset_count().saturating_sub(listed);
    let count = shown_count(container);
    let among_listed = did_you_mean(path, (0..listed).filter_map(path_of), count);
    let among_parts =
        || (1..=MAX_SEARCHED).contains(&parts).then(|| did_you_mean(path, all(), count)).flatten();
    in_group.flatten().or(among_listed).or_else(among_parts)
}

/// Maximum number of listed names that are tried within a frame.
const MAX_IN_GROUP: usize = 1000;

/// The error for a file without datasets: damage, or it has none.
pub(super) fn nothing(container: &dyn Container) -> Error {
    first_damage(container).unwrap_or_else(|| Error::usage("no dataset in this file"))
}

/// The damage that may hide all that a plain listing would show.
fn hidden(container: &dyn Container) -> Option<Error> {
    let may_hide = container.listed_count() == 0 && container.may_hide_datasets();
    may_hide.then(|| first_damage(container)).flatten()
}

/// The paths of the listed datasets, or of all where none is listed; the first few of many.
pub(super) fn names(container: &dyn Container) -> String {
    listed(container, 0..shown_count(container), MAX_LISTED)
}

/// The number of the listed datasets, or of all where none is listed.
fn shown_count(container: &dyn Container) -> usize {
    match container.listed_count() {
        0 => container.dataset_count(),
        listed => listed,
    }
}

/// The paths of datasets, the first `most` of them, and the number of the others.
pub(super) fn listed(
    container: &dyn Container,
    indices: impl ExactSizeIterator<Item = usize>,
    most: usize,
) -> String {
    let more = indices.len().saturating_sub(most);
    let shown = indices.take(most).filter_map(|index| container.dataset(index));
    let shown: Vec<String> = shown.map(|dataset| typed(&dataset.path).to_owned()).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testing::Memory;

    fn hint(container: &Memory, path: &str) -> String {
        let error = Address::parse(&format!("no-such-file::{path}")).select(container).unwrap_err();
        error.hint().unwrap().to_owned()
    }

    #[test]
    fn similar_paths_come_before_a_list_of_all() {
        let names = ["roman/data", "roman/dq", "other/err"];
        let container = names.into_iter().fold(Memory::new(), |all, name| all.with(name, "|u1", &[1], &[0]));
        assert_eq!(hint(&container, "dat"), "did you mean roman/data? (2 others)");
        assert_eq!(hint(&container, "/roman/dta"), "did you mean roman/data? (2 others)");
        assert_eq!(hint(&container, "x/dq[0]"), "did you mean roman/dq? (2 others)");
        assert_eq!(hint(&container, "quite"), "one of: roman/data, roman/dq, other/err");
        assert_eq!(hint(&container, "roman/x*"), "one of: roman/data, roman/dq, other/err");
        // Parts that only a recursive listing shows are suggested where no listed one is near.
        let parts = container.with("parts/deep", "|u1", &[1], &[0]).hidden("parts/deep");
        assert_eq!(hint(&parts, "parts/deeep"), "did you mean parts/deep? (2 others)");
    }

    #[test]
    fn a_slash_before_a_path_changes_nothing_but_for_paths_that_have_it() {
        let container = Memory::new().with("a/b", "|u1", &[1], &[0]).with("/a/b", "|u1", &[2], &[0; 2]);
        let chosen =
            |path: &str| Address::parse(&format!("no-such-file::{path}")).select(&container).unwrap();
        assert_eq!((chosen("a/b")[0].0, chosen("/a/b")[0].0), (0, 1));
        let one = Memory::new().with("a/b", "|u1", &[3], &[0; 3]);
        for path in ["/a/b", "/a/b[1]", "/a", "/a/*", "/a/"] {
            let chosen = Address::parse(&format!("no-such-file::{path}")).select(&one).unwrap();
            assert_eq!(chosen.len(), 1, "{path}");
        }
    }
}
