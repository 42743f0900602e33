//! Addresses: `FILE`, `FILE::PATH`, `FILE::PATH[SEL]`.
//!
//! FILE ends at the first `::`; SEL is the last group of brackets, with those within it, in numpy's basic slicing. Existing names win over
//! parsing: a file that is literally called `a::b`, alone or with a dataset after it, a dataset that is literally called `x[0]`.
//!
//! FILE may be a URL, which ends at the first `::` after its host; `%3A%3A` is one of its own.
//!
//! A PATH may begin with a slash, as a JSON pointer does. A PATH that no dataset has names several: those below it, where it is a group, and those that fit it, where it has stars. `*` is any characters within
//! one name, `**` any characters, and `**/` any number of names.

mod not_found;
mod pattern;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use container_core::container::{Container, Dataset, Visibility, visible_datasets};
use container_core::region::Region;
use container_core::{Error, Result};

use not_found::{MAX_NAMED, listed, names, nothing};
use pattern::Several;

/// Maximum number of datasets beside the listed ones among which a group is looked for.
const MAX_SEARCHED: usize = 1_000_000;

/// Maximum number of further places where a file's name may end: paths of datasets and slices have `::` too.
const MAX_CUTS: usize = 64;

/// A file, perhaps a dataset in it, perhaps a part of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The file, or its URL as typed; `-` for standard input.
    pub file: PathBuf,
    /// Path of the dataset, as written before the brackets.
    pub dataset: Option<String>,
    /// The selection, without the brackets.
    pub selection: Option<String>,
}

impl Address {
    /// All of a file.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: path.into(), dataset: None, selection: None }
    }

    /// Parses an address. Checks the file system for files that have `::` in their names.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_os(OsStr::new(text))
    }

    /// As [`Address::parse`], for names that may not be Unicode: the file may be named in any bytes, the rest is text.
    #[must_use]
    pub fn parse_os(typed: &OsStr) -> Self {
        let whole = || Self::file(typed);
        let is_url = is_url(Path::new(typed));
        let mut cuts = cuts(typed, if is_url { authority_end(typed) } else { 0 });
        let Some(first) = cuts.next() else { return whole() };
        let exists = |path: &Path| !is_url && path.symlink_metadata().is_ok();
        if exists(Path::new(typed)) {
            return whole();
        }
        let later: Vec<_> = cuts.take(MAX_CUTS).collect();
        let (file, rest) = later.into_iter().rev().find(|(file, _)| exists(file)).unwrap_or(first);
        let (dataset, selection) = match last_group(rest) {
            Some((dataset, selection)) => (dataset, Some(selection.to_owned())),
            None => (rest, None),
        };
        let dataset = (!dataset.is_empty()).then(|| dataset.to_owned());
        Self { file, dataset, selection }
    }

    /// As [`Address::parse_os`], for the bytes of a list. `None` where the machine cannot have files of such a name.
    #[must_use]
    pub fn parse_bytes(typed: &[u8]) -> Option<Self> {
        named(typed).map(|typed| Self::parse_os(typed.as_os_str()))
    }

    /// The datasets that the address selects, by their index, each with its region: all listed ones where the address is the file alone, those of a
    /// group or a pattern where its path is one. With one listed dataset its path may be left out.
    ///
    /// # Errors
    /// `Usage` for a path that does not exist, `Absent` where the format has frames that may lack it, and for a pattern that fits nothing. `Usage`
    /// for a selection that fits no dataset or is ambiguous, listing the datasets. `Malformed` where damage leaves no dataset; and as
    /// [`Region::parse`].
    pub fn select(&self, container: &dyn Container) -> Result<Vec<(usize, Region)>> {
        self.select_among(container, Visibility::Always)
    }

    /// As [`Address::select`], for what takes one dataset.
    ///
    /// # Errors
    /// As [`Address::select`]; `Usage` for several, listing them.
    pub fn select_one(&self, container: &dyn Container) -> Result<(usize, Region)> {
        let mut chosen = self.select(container)?;
        match (chosen.pop(), chosen.len()) {
            (Some(one), 0) => Ok(one),
            (None, _) => Err(nothing(container)),
            (Some(last), before) => {
                let count = before.saturating_add(1);
                let problem = match &self.dataset {
                    Some(path) => format!("{path} names {count} datasets"),
                    None => format!("the file has {count} datasets"),
                };
                chosen.push(last);
                let names = listed(container, chosen.iter().map(|(index, _)| *index), MAX_NAMED);
                Err(Error::usage(problem).with_hint(format!("FILE::PATH with one of: {names}")))
            }
        }
    }

    /// The selection, without the brackets, that the address has for a dataset that it names: none where the brackets are part of the path.
    #[must_use]
    pub fn selection_of(&self, path: &str) -> Option<&str> {
        let is_literal =
            self.literal().is_some_and(|literal| literal == path || literal.strip_prefix('/') == Some(path));
        self.selection.as_deref().filter(|_| !is_literal)
    }

    /// True where the path, if there is one, is that of a dataset: not of a group, nor a pattern.
    #[must_use]
    pub fn is_exact(&self, container: &dyn Container) -> bool {
        let is_dataset = |path: &str| find(path, container).is_some();
        self.dataset.as_deref().is_none_or(is_dataset) || self.literal().is_some_and(|path| is_dataset(&path))
    }

    /// As [`Address::select`]; of a group or a pattern, those that a listing of this visibility shows.
    fn select_among(&self, container: &dyn Container, most: Visibility) -> Result<Vec<(usize, Region)>> {
        if let Some(literal) = self.literal()
            && let Some(index) = find(&literal, container)
        {
            return Ok(vec![whole((index, container.require(index)?))]);
        }
        let index = match (&self.dataset, &self.selection) {
            (None, None) => return Ok(visible_datasets(container).map(whole).collect()),
            (None, Some(_)) => match container.listed_count() {
                1 => 0,
                0 => return Err(nothing(container)),
                several => {
                    let problem = format!("the selection fits any of {several} datasets");
                    return Err(Error::usage(problem).with_hint(format!("name one: {}", names(container))));
                }
            },
            (Some(path), _) => match find(path, container) {
                Some(index) => index,
                None => return self.several(path, container, most),
            },
        };
        let dataset = container.require(index)?;
        Ok(vec![self.region_of(index, &dataset)?])
    }

    /// The datasets of a group or a pattern: the listed ones, or where none of those is meant, the others.
    fn several(
        &self,
        path: &str,
        container: &dyn Container,
        most: Visibility,
    ) -> Result<Vec<(usize, Region)>> {
        let several = Several::parse(path);
        let bare = path.strip_prefix('/').map(Several::parse);
        let among = |several: &Several, range: std::ops::Range<usize>| -> Result<Vec<_>> {
            let datasets = range.filter_map(|index| Some((index, container.dataset(index)?)));
            let meant = datasets.filter(|(_, dataset)| several.has(&dataset.path));
            meant.map(|(index, dataset)| self.region_of(index, &dataset)).collect()
        };
        let (listed, all) = (container.listed_count(), container.dataset_count());
        let mut found = among(&several, 0..listed)?;
        let several = match bare {
            // A path that begins with a slash may be meant as a JSON pointer.
            Some(bare) if found.is_empty() => {
                found = among(&bare, 0..listed)?;
                bare
            }
            _ => several,
        };
        // A name that is wrong is not looked for among a billion parts; a pattern asks for that.
        let is_worth = several.is_pattern() || all.saturating_sub(listed) <= MAX_SEARCHED;
        if found.is_empty() && is_worth || most == Visibility::Recursive {
            found.extend(among(&several, listed..all)?);
        }
        if !found.is_empty() {
            return Ok(found);
        }
        Err(self.not_found(path, container, &several))
    }

    fn region_of(&self, index: usize, dataset: &Dataset) -> Result<(usize, Region)> {
        Ok(match &self.selection {
            None => (index, Region::whole(&dataset.shape)),
            Some(selection) => {
                let region = Region::parse(selection, &dataset.shape);
                (index, region.map_err(|error| error.in_dataset(typed(&dataset.path)))?)
            }
        })
    }

    /// The index of the dataset of this very path, as a library takes it.
    ///
    /// # Errors
    /// As [`Address::select`].
    pub(crate) fn find_path(path: &str, container: &dyn Container) -> Result<usize> {
        find(path, container).ok_or_else(|| {
            let address = Self { file: PathBuf::new(), dataset: Some(path.to_owned()), selection: None };
            address.not_found(path, container, &Several::parse(path))
        })
    }

    /// The selected datasets, made one after the other: where the address is the file alone, the listed ones, or all.
    ///
    /// # Errors
    /// As [`Address::select`].
    pub fn datasets<'c>(
        &self,
        container: &'c dyn Container,
        most: Visibility,
    ) -> Result<impl Iterator<Item = Cow<'c, Dataset>> + use<'c>> {
        Ok(self.indices(container, most)?.filter_map(|index| container.dataset(index)))
    }

    /// The indices of [`Address::datasets`].
    ///
    /// # Errors
    /// As [`Address::select`].
    pub fn indices(
        &self,
        container: &dyn Container,
        most: Visibility,
    ) -> Result<impl Iterator<Item = usize> + use<>> {
        let (named, count) = match (&self.dataset, &self.selection, most) {
            (None, None, Visibility::Always) => (Vec::new(), container.listed_count()),
            (None, None, Visibility::Recursive) => (Vec::new(), container.dataset_count()),
            _ => (self.select_among(container, most)?, 0),
        };
        Ok(named.into_iter().map(|(index, _)| index).chain(0..count))
    }

    /// Everything after the `::`, unparsed.
    fn literal(&self) -> Option<String> {
        let path = self.dataset.as_deref().unwrap_or_default();
        self.selection.as_ref().map(|selection| format!("{path}[{selection}]"))
    }
}

/// Splits a text that ends with a group of brackets into the part before the last group and its content, which may have other groups.
fn last_group(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_suffix(']')?;
    let mut open = 1_usize;
    for (at, letter) in inside.char_indices().rev() {
        match letter {
            ']' => open = open.saturating_add(1),
            '[' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return Some((inside.get(..at)?, inside.get(at.checked_add(1)?..)?));
        }
    }
    // Brackets that do not match are a matter of names.
    inside.rsplit_once('[')
}

/// Whether `path` is a URL: a scheme of two or more letters, and `://`. A file of such a name is opened as `./scheme:/…`.
#[must_use]
pub fn is_url(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let scheme = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    let starts = text.first().is_some_and(u8::is_ascii_alphabetic);
    starts && scheme > 1 && text.get(scheme..).is_some_and(|rest| rest.starts_with(b"://"))
}

/// A path or URL for messages: a URL without user, password, query and fragment, which may be secret. A key in a bucket is shown whole: `?` and `#` are
/// letters of it.
#[must_use]
pub fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let Some((scheme, rest)) = text.split_once("://").filter(|_| is_url(path)) else { return text };
    let is_key = !["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let end = rest.find(['?', '#']).filter(|_| !is_key).unwrap_or(rest.len());
    let (place, query) = rest.split_at(end);
    let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    // `abfs://CONTAINER@ACCOUNT…` has a name before the `@`.
    let is_container = scheme.to_ascii_lowercase().starts_with("abfs") && !authority.contains(':');
    let host = if is_container { authority } else { authority.rsplit('@').next().unwrap_or_default() };
    let query = if query.starts_with('?') { "?…" } else { "" };
    format!("{scheme}://{host}{path}{query}")
}

/// The last part of a path or of a URL's path; `None` for a path that ends with `..`, and for an address without one.
#[must_use]
pub fn file_name(path: &Path) -> Option<OsString> {
    if !is_url(path) {
        return path.file_name().map(OsStr::to_owned);
    }
    let shown = shown(path);
    let place = shown.strip_suffix("?…").unwrap_or(&shown);
    let (_, rest) = place.split_once("://")?;
    let name = rest.split('/').skip(1).last()?;
    (!name.is_empty()).then(|| name.into())
}

/// End of the host and port of a URL, which may have `::` in them (IPv6).
fn authority_end(url: &OsStr) -> usize {
    let bytes = url.as_encoded_bytes();
    let start = bytes.windows(3).position(|three| three == b"://").map_or(0, |at| at.saturating_add(3));
    let host = bytes.get(start..).unwrap_or_default();
    let len = host.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(0);
    // `http://host::data` has a dataset after the host.
    let is_literal = host.starts_with(b"[");
    let literal = || host.iter().position(|byte| *byte == b']').map_or(0, |at| at.saturating_add(1));
    start.saturating_add(if len == 0 && is_literal { literal() } else { len })
}

/// The file before each `::` from byte `from` on, and the rest, where that is text.
fn cuts(typed: &OsStr, from: usize) -> impl Iterator<Item = (PathBuf, &str)> {
    let bytes = typed.as_encoded_bytes();
    let colons =
        (from..bytes.len()).filter(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(b"::")));
    colons.filter_map(|at| {
        let rest = std::str::from_utf8(bytes.get(at.checked_add(2)?..)?).ok()?;
        Some((named(bytes.get(..at)?)?, rest))
    })
}

#[cfg(unix)]
fn named(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn named(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The dataset of a path, which may be written as a JSON pointer: with a slash before it. A dataset literally called that wins.
fn find(path: &str, container: &dyn Container) -> Option<usize> {
    container.find(path).or_else(|| container.find(path.strip_prefix('/').filter(|bare| !bare.is_empty())?))
}

fn whole((index, dataset): (usize, Cow<'_, Dataset>)) -> (usize, Region) {
    (index, Region::whole(&dataset.shape))
}

/// A place in a tree as addresses spell it: a JSON pointer without its first slash, unless the place is below an empty key.
#[must_use]
pub fn place(pointer: &str) -> &str {
    let is_kept = pointer == "/" || pointer.starts_with("//");
    pointer.strip_prefix('/').filter(|_| !is_kept).unwrap_or(pointer)
}

/// The JSON pointer of a place in either spelling: with the first slash or without.
#[must_use]
pub fn pointer(place: &str) -> Cow<'_, str> {
    if place.is_empty() || place.starts_with('/') { place.into() } else { format!("/{place}").into() }
}

/// A path for use in an address: an array under an empty key of an ASDF tree has its JSON pointer, because an empty path after `::` means the
/// file alone.
#[must_use]
pub const fn typed(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::testing::Memory;
    use container_core::ErrorKind;

    fn parts(text: &str) -> (String, Option<String>, Option<String>) {
        let Address { file, dataset, selection } = Address::parse(text);
        (file.to_str().unwrap().to_owned(), dataset, selection)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn an_address_is_cut_at_the_first_colons_and_the_last_brackets() {
        assert_eq!(parts("a.ra"), ("a.ra".into(), None, None));
        assert_eq!(parts("a.ra::data"), ("a.ra".into(), some("data"), None));
        assert_eq!(parts("a.ra::data[0:3, ::-1]"), ("a.ra".into(), some("data"), some("0:3, ::-1")));
        assert_eq!(parts("a.ra::[-1]"), ("a.ra".into(), None, some("-1")));
        assert_eq!(parts("a.ra::x[1][2]"), ("a.ra".into(), some("x[1]"), some("2")));
        assert_eq!(parts("a.ra::x[0, [1,3]]"), ("a.ra".into(), some("x"), some("0, [1,3]")));
        assert_eq!(parts("a.ra::x[[0], [1]]"), ("a.ra".into(), some("x"), some("[0], [1]")));
        assert_eq!(parts("a.ra::x][0]"), ("a.ra".into(), some("x]"), some("0")));
        assert_eq!(parts("a.ra::x[0]]"), ("a.ra".into(), some("x"), some("0]")));
        assert_eq!(parts("a::b::c"), ("a".into(), some("b::c"), None));
        assert_eq!(parts("a.ra::"), ("a.ra".into(), None, None));
        assert_eq!(parts("-::[0]"), ("-".into(), None, some("0")));
        assert_eq!(parts("a[0].ra"), ("a[0].ra".into(), None, None));
        assert_eq!(parts("a.ra::data]"), ("a.ra".into(), some("data]"), None));
    }

    /// An ASDF file with this tree.
    fn tree(yaml: &str) -> Box<dyn Container> {
        let source = Box::new(format!("#ASDF 1.0.0\n%YAML 1.1\n---\n{yaml}...\n").into_bytes());
        let accept = crate::open::Accept::Containers;
        crate::open::open_source(source, None, accept, &Default::default()).unwrap().container
    }

    #[test]
    fn a_path_that_is_empty_is_shown_as_it_can_be_typed() {
        let lens = tree(
            "'': !<tag:stsci.edu:asdf/core/ndarray-1.1.0> {data: [1, 2]}\n\
             x: !<tag:stsci.edu:asdf/core/ndarray-1.1.0> {data: [3]}\n",
        );
        let select = |typed: &str| Address::parse(typed).select(&*lens).unwrap();
        assert_eq!(select("F::").len(), 2);
        let error = Address::parse("F::[0]").select(&*lens).unwrap_err();
        assert_eq!(error.hint(), Some("name one: /, x"));
        let [(index, _)] = select("F::/")[..] else { panic!("one dataset") };
        assert_eq!(lens.dataset(index).unwrap().path, "");
        assert_eq!(select("F::/[0]")[0].0, index);
    }

    #[test]
    fn paths_below_an_empty_key_are_typed_as_they_are_listed() {
        let lens = tree(
            "'':\n  '': !<tag:stsci.edu:asdf/core/ndarray-1.1.0> {data: [1, 2]}\n  \
             x: !<tag:stsci.edu:asdf/core/ndarray-1.1.0> {data: [3]}\n\
             x: !<tag:stsci.edu:asdf/core/ndarray-1.1.0> {data: [4]}\n",
        );
        let paths: Vec<String> =
            lens.datasets().iter().map(|dataset| typed(&dataset.path).to_owned()).collect();
        assert_eq!(paths, ["/", "/x", "x"]);
        for (index, path) in paths.iter().enumerate() {
            assert_eq!(Address::parse(&format!("F::{path}")).select(&*lens).unwrap()[0].0, index, "{path}");
            assert_eq!(
                Address::parse(&format!("F::/{path}")).select(&*lens).unwrap()[0].0,
                if path == "x" { 1 } else { index }
            );
        }
    }

    #[test]
    fn a_url_is_cut_after_its_host() {
        for (typed, file, dataset, selection) in [
            ("https://h/a.asdf::x[1]", "https://h/a.asdf", some("x"), some("1")),
            ("http://[::1]:80/x.asdf::data", "http://[::1]:80/x.asdf", some("data"), None),
            ("http://[::1]::data", "http://[::1]", some("data"), None),
            ("http://u:p@h:80/a//b?uri=x%3A%3Ay::d", "http://u:p@h:80/a//b?uri=x%3A%3Ay", some("d"), None),
            ("http://h/a.b2nd::[0:10, ::2]", "http://h/a.b2nd", None, some("0:10, ::2")),
            ("http://h/a", "http://h/a", None, None),
        ] {
            assert_eq!(parts(typed), (file.to_owned(), dataset, selection), "{typed}");
        }
    }

    #[test]
    fn urls_are_shown_without_what_may_be_secret() {
        for (typed, expected) in [
            ("https://user:SECRET@h:8/a@b.asdf?sig=SECRET#SECRET", "https://h:8/a@b.asdf?…"),
            ("s3://bucket/key", "s3://bucket/key"),
            ("s3://KEY:SECRET@bucket/a#b?.ra", "s3://bucket/a#b?.ra"),
            ("abfss://box@acc.dfs.core.windows.net/a", "abfss://box@acc.dfs.core.windows.net/a"),
            ("abfss://box:SECRET@acc/a", "abfss://acc/a"),
            ("https://h?k=SECRET", "https://h?…"),
            ("https://h/#SECRET", "https://h/"),
            ("a?b@c", "a?b@c"),
            ("C://x?y", "C://x?y"),
        ] {
            assert_eq!(shown(Path::new(typed)), expected);
        }
        let names = ["https://h/b/a.asdf?sig=SECRET", "https://h/", "https://h", "b/a.ra", ".."];
        let names = names.map(|typed| file_name(Path::new(typed)).map(|name| name.into_string().unwrap()));
        assert_eq!(names, [some("a.asdf"), None, None, some("a.ra"), None]);
        for typed in ["http://h/a", "HTTPS://h", "s3://b/k", "git+ssh://x", "az://c"] {
            assert!(is_url(Path::new(typed)), "{typed}");
        }
        for typed in
            ["a.asdf", "C://x", "./s3:/b", "./http://h", "://x", "1a://x", "a b://x", "dir/http://x", ""]
        {
            assert!(!is_url(Path::new(typed)), "{typed}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_may_be_named_in_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let address = Address::parse_os(OsStr::from_bytes(b"\xff.ra::data[0]"));
        assert_eq!(address.file.as_os_str().as_bytes(), b"\xff.ra");
        assert_eq!((address.dataset, address.selection), (some("data"), some("0")));
        let whole = Address::parse_os(OsStr::from_bytes(b"\xff.ra"));
        assert_eq!((whole.file.as_os_str().as_bytes(), whole.dataset), (&b"\xff.ra"[..], None));
    }

    #[test]
    fn a_file_literally_called_that_wins() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x::data[0]");
        std::fs::write(&file, b"").unwrap();
        let text = file.to_str().unwrap();
        assert_eq!(parts(text), (text.to_owned(), None, None));
        // With a dataset after it, too, and before one that is called the shorter name.
        std::fs::write(directory.path().join("x"), b"").unwrap();
        assert_eq!(parts(&format!("{text}::a::b[::2]")), (text.to_owned(), some("a::b"), some("::2")));
        let short = directory.path().join("x").to_str().unwrap().to_owned();
        assert_eq!(parts(&format!("{short}::a")), (short, some("a"), None));
    }

    fn selected(container: &Memory, rest: &str) -> Result<Vec<(usize, Vec<u64>)>> {
        let chosen = Address::parse(&format!("no-such-file::{rest}")).select(container)?;
        Ok(chosen.into_iter().map(|(index, region)| (index, region.shape())).collect())
    }

    fn two() -> Memory {
        Memory::new().with("a", "<u2", &[2, 3], &[0; 12]).with("b[0]", "|u1", &[4], &[0; 4]).with(
            "b",
            "|u1",
            &[5],
            &[0; 5],
        )
    }

    #[test]
    fn the_file_alone_means_all_that_is_listed() {
        let container = two().hidden("b");
        assert_eq!(selected(&container, "").unwrap(), [(0, vec![2, 3]), (1, vec![4])]);
        // Unlisted datasets can still be named.
        assert_eq!(selected(&container, "b").unwrap(), [(2, vec![5])]);
    }

    #[test]
    fn a_dataset_literally_called_that_wins_over_a_selection() {
        assert_eq!(selected(&two(), "b[0]").unwrap(), [(1, vec![4])]);
        assert_eq!(selected(&two(), "b[1]").unwrap(), [(2, vec![])]);
        assert_eq!(selected(&two(), "b[0][1:]").unwrap(), [(1, vec![3])]);
        assert_eq!(selected(&two(), "a[:, ::-2]").unwrap(), [(0, vec![2, 2])]);
    }

    #[test]
    fn a_path_may_be_left_out_where_there_is_only_one() {
        let one = Memory::new().with("data", "|u1", &[4], &[0; 4]);
        assert_eq!(selected(&one, "[1:3]").unwrap(), [(0, vec![2])]);
        let error = selected(&two(), "[1:3]").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)));
        assert_eq!(error.hint(), Some("name one: a, b[0], b"));
        for rest in ["[0]", "data"] {
            let error = selected(&Memory::new(), rest).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)));
            let error = selected(&Memory::new().damaged("data"), rest).unwrap_err();
            assert_eq!((error.is_damage(), error.range()), (true, Some(16..48)));
        }
        assert!(selected(&Memory::new(), "").unwrap().is_empty());
    }

    #[test]
    fn a_path_that_is_not_there_is_answered_with_those_that_are() {
        let error = selected(&two(), "c").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)));
        assert_eq!(error.hint(), Some("one of: a, b[0], b"));
        let many = (0..20).fold(Memory::new(), |many, at| many.with(&format!("d{at}"), "|u1", &[1], &[0]));
        let error = selected(&many, "c").unwrap_err();
        assert_eq!(error.hint(), Some("one of: d0, d1, d2, d3, d4, d5, d6, d7 and 12 more"));
        assert!(matches!(selected(&two(), "a[9]").unwrap_err().kind(), ErrorKind::Usage(_)));
        for (rest, what) in [
            ("a[[0, 1]]", "not a list of indices"),
            ("a[0, [1,2]]", "not a list of indices"),
            ("a[x>3]", "not a condition"),
            ("a[-1][x==1]", "not a condition"),
            ("a[x==1][0]", "not a condition"),
            ("b[[0], [1]][0]", "not a list of indices"),
            ("a[0][1:]", "one group of brackets"),
            ("a[0][mask]", "\"mask\" is not an index"),
            ("a[0].sum()", "one group of brackets"),
            ("a[0] ", "one group of brackets"),
            ("a[x>3].sum()", "not a condition"),
            ("a[0", "one group of brackets"),
            ("a]", "one group of brackets"),
            ("c[[0, 1]]", "no dataset \"c\""),
        ] {
            let error = selected(&two(), rest).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)));
            assert!(error.to_string().contains(what), "{rest}: {error}");
        }
        assert!(selected(&two(), "a[None]").unwrap_err().to_string().contains("no new axes"));
    }

    #[test]
    fn a_chunk_is_absent_only_where_the_address_can_be_read() {
        let container = two().may_lack();
        for rest in ["c", "c[0]", "c[1:, ...]", "c[]", "frames/7/c"] {
            let error = selected(&container, rest).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Absent(_)), "{rest}: {error}");
        }
        for (rest, what) in [
            ("a[-1][x==1]", "not a condition"),
            ("c[-1][x==1]", "not a condition"),
            ("c[x==1]", "not a condition"),
            ("c[x==1][0]", "not a condition"),
            ("c[[0, 1]]", "not a list of indices"),
            ("c['x']", "not the name of a field"),
            ("c[mask]", "\"mask\" is not an index"),
            ("c[1.5]", "\"1.5\" is not an index"),
            ("c[::0]", "the step is 0"),
            ("c[0, , 1]", "an index is missing"),
            ("c[1:2:3:4]", "more than two colons"),
            ("c[0, None]", "no new axes"),
            ("c[0][1]", "one group of brackets"),
            ("c[x>3].sum()", "not a condition"),
            ("c[0].T", "one group of brackets"),
            ("c[0", "one group of brackets"),
            ("c]", "one group of brackets"),
        ] {
            let error = selected(&container, rest).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{rest}: {error}");
            assert!(error.to_string().contains(what), "{rest}: {error}");
        }
    }
}
