//! Items to pack into a container: the lines of a text, whole files, or arrays.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use arrays::Arrays;

use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions, Segment,
    Visibility,
};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{ITEM, ITEM_NAME, ItemKind};
use container_core::region::Region;
use container_core::report::{BlockCounts, Report};
use container_core::source::{Source, read_stream};
use container_core::{Error, Limits, Progress, Result, Value};

use crate::lines::Lines;
use crate::open::is_stream;
use crate::pack::raw_source;

mod arrays;

/// Source of items.
#[derive(Clone, Copy, Debug)]
pub enum ItemSource<'a> {
    /// The lines of a text, each without its line feed; `-` is standard input.
    Lines(&'a Path),
    /// Files, each with its name.
    Files(&'a [PathBuf]),
    /// Arrays of one axis and of one type: addresses of datasets. With a type, files of unknown formats are elements of it.
    Arrays(&'a [PathBuf], Option<&'a DType>),
}

/// Items, opened.
pub(crate) struct Items {
    from: From,
    pub(crate) kind: ItemKind,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) others: Vec<Value>,
    limits: Limits,
    /// The items as datasets, if they are used as a container.
    datasets: Vec<Dataset>,
}

enum From {
    Lines(Box<dyn Source>, Lines),
    Files(Vec<PathBuf>),
    Arrays(Box<Arrays>),
}

impl Items {
    /// Finds the lines, or the names of the files. A file is opened when its turn comes.
    ///
    /// # Errors
    /// `Io`; `Usage` for files whose names cannot be kept or are the same, and for directories; `Limit`.
    pub(crate) fn open(source: ItemSource<'_>, options: &OpenOptions) -> Result<Self> {
        let limits = options.limits;
        let (from, kind, names, others) = match source {
            ItemSource::Lines(path) => {
                let text = raw_source(path, options)?;
                let lines = Lines::find(&text, &limits)?;
                let (kind, others) = (lines.kind, lines.notes());
                (From::Lines(text, lines), kind, None, others)
            }
            ItemSource::Files(paths) => {
                (From::Files(paths.to_vec()), ItemKind::Bytes, Some(names(paths)?), Vec::new())
            }
            ItemSource::Arrays(paths, dtype) => {
                let (arrays, names) = Arrays::find(paths, dtype, options)?;
                (From::Arrays(Box::new(arrays)), ItemKind::Numbers, Some(names), Vec::new())
            }
        };
        Ok(Self { from, kind, names, others, limits, datasets: Vec::new() })
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        match &self.from {
            From::Lines(_, lines) => lines.ranges.len(),
            From::Files(paths) => paths.len(),
            From::Arrays(arrays) => arrays.len(),
        }
    }

    /// The type of the elements of the items, where they have one.
    pub(crate) fn dtype(&self) -> Option<&DType> {
        match &self.from {
            From::Arrays(arrays) => Some(&arrays.dtype),
            From::Lines(..) | From::Files(_) => None,
        }
    }

    /// The bytes of an item.
    ///
    /// # Errors
    /// `Usage` where the number is out of range; `Io`; `Limit` for a file over the limit on memory.
    pub(crate) fn get(&self, index: usize) -> Result<Cow<'_, [u8]>> {
        let missing = || Error::usage(format!("no item {index}"));
        match &self.from {
            From::Lines(text, lines) => text.read(lines.ranges.get(index).ok_or_else(missing)?.clone()),
            From::Files(paths) => {
                let path = paths.get(index).ok_or_else(missing)?;
                let read = || read_stream(&mut File::open(path)?, &self.limits);
                read().map(Cow::Owned).map_err(|error| error.with_subject(path.display().to_string()))
            }
            From::Arrays(arrays) => arrays.get(index).map(Cow::Owned),
        }
    }

    /// The elements of an item, counted without reading it.
    fn len_of(&self, index: usize) -> Result<u64> {
        match &self.from {
            From::Lines(_, lines) => Ok(lines.ranges.get(index).map_or(0, |range| range.end - range.start)),
            From::Files(paths) => {
                let Some(path) = paths.get(index) else { return Ok(0) };
                let metadata = path.metadata();
                let named = |error| Error::from(error).with_subject(path.display().to_string());
                metadata.map(|metadata| metadata.len()).map_err(named)
            }
            From::Arrays(arrays) => Ok(arrays.len_of(index)),
        }
    }

    /// The items as datasets `items/0`, `items/1`, ….
    ///
    /// # Errors
    /// `Io` where the length of a file cannot be determined.
    pub(crate) fn into_container(mut self) -> Result<Self> {
        let word = self.kind.word();
        let dtype = self.dtype().cloned().unwrap_or_else(|| DType::native(Kind::Uint, 1));
        let itemsize = dtype.itemsize() as u64;
        self.datasets = (0..self.len())
            .map(|index| {
                let len = self.len_of(index)?;
                let name = self.names.as_ref().and_then(|names| names.get(index));
                let item = (ITEM.to_owned(), Value::from(word));
                let name = name.map(|name| (ITEM_NAME.to_owned(), Value::from(name.as_str())));
                Ok(Dataset {
                    path: format!("items/{index}"),
                    dtype: dtype.clone(),
                    shape: vec![len],
                    order: Order::C,
                    chunks: None,
                    codec: "none".into(),
                    stored: len.saturating_mul(itemsize),
                    logical: len.saturating_mul(itemsize),
                    attributes: std::iter::once(item).chain(name).collect(),
                    visibility: Visibility::Always,
                })
            })
            .collect::<Result<_>>()?;
        Ok(self)
    }

    /// Every item, whole.
    pub(crate) fn all(&self) -> Vec<(usize, Region)> {
        let whole = |(index, dataset): (usize, &Dataset)| (index, Region::whole(&dataset.shape));
        self.datasets.iter().enumerate().map(whole).collect()
    }
}

/// The text that a dataset has for an attribute.
pub(crate) fn attribute<'d>(dataset: &'d Dataset, name: &str) -> Option<&'d str> {
    dataset.attributes.iter().find_map(|(key, value)| match value {
        Value::Text(text) if key == name => Some(text.as_str()),
        _ => None,
    })
}

/// The names of items from files: their paths without the parts that leave a directory.
fn names(paths: &[PathBuf]) -> Result<Vec<String>> {
    let mut seen = std::collections::HashSet::new();
    let name = |path: &PathBuf| {
        if is_stream(path) {
            return Err(Error::usage("standard input has no name, which an item of files needs"));
        }
        if path.is_dir() {
            return Err(Error::usage("is a directory, not a file").with_subject(path.display().to_string()));
        }
        let name = path.to_str().and_then(relative_name).ok_or_else(|| cannot_be_kept(path))?;
        if !seen.insert(name.clone()) {
            return Err(Error::usage(format!("two files would be called {name}")));
        }
        Ok(name)
    };
    paths.iter().map(name).collect()
}

/// The error for a name that cannot be an item's, with the reason.
fn cannot_be_kept(path: &Path) -> Error {
    let name = path.to_string_lossy();
    let what = match name.chars().find(|c| is_odd(*c)) {
        Some(c) if c.is_control() => format!("the control character {}", c.escape_default()),
        Some(c) => format!("a '{c}'"),
        None if path.to_str().is_none() => "bytes that are not text".to_owned(),
        None => "no file name".to_owned(),
    };
    let shown: String = name
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    Error::usage(format!("the name {shown} has {what}: an item needs a name that is valid on every system"))
        .with_hint("rename the file: without ':', '\\' and control characters")
}

/// True for characters that some systems do not allow in a file's name.
fn is_odd(c: char) -> bool {
    c.is_control() || c == '\\' || c == ':'
}

/// A path that stays below the directory it is put in: without root and `..`, parts separated by slashes. `None` where no part is left, or
/// one is not a valid file name on every system.
pub(crate) fn relative_name(name: &str) -> Option<String> {
    let mut parts = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    if parts.is_empty() || parts.iter().any(|part| part.contains(is_odd)) {
        return None;
    }
    Some(parts.join("/"))
}

impl Container for Items {
    fn about(&self) -> About {
        let size = self.datasets.iter().map(|dataset| dataset.logical).sum();
        About { format: "raw", version: None, size, complete: true, details: Vec::new() }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(vec![("others".into(), self.others.clone().into())]))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, _options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = self.datasets.get(index).ok_or_else(|| Error::usage(format!("no item {index}")))?;
        Array::new(dataset.dtype.clone(), dataset.shape.clone(), Order::C, self.get(index)?)?.select(region)
    }
}

impl FileStructure for Items {
    fn blocks(&self) -> Vec<&dyn Block> {
        Vec::new()
    }

    fn byte_map(&self) -> Vec<Segment> {
        Vec::new()
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        Ok(Report::new(Vec::new(), BlockCounts::default()))
    }
}

impl Interchange for Items {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_their_directory() {
        for (name, kept) in [
            ("a.txt", Some("a.txt")),
            ("/etc/passwd", Some("etc/passwd")),
            ("../../x", Some("x")),
            ("a/./b//c", Some("a/b/c")),
            ("a/../../b", Some("b")),
            ("ü x", Some("ü x")),
            ("", None),
            (".", None),
            ("..", None),
            ("a/..", None),
            ("a\nb", None),
            ("a\0", None),
            ("..\\..\\x", None),
            ("c:x", None),
        ] {
            assert_eq!(relative_name(name).as_deref(), kept, "{name:?}");
        }
    }

    #[test]
    fn invalid_item_names_are_reported_with_the_reason() {
        for (name, why) in [
            ("./12:30.log", "12:30.log has a ':'"),
            ("a\\b", "a\\b has a '\\'"),
            ("a\tb", "a\\tb has the control character \\t"),
            ("a/..", "has no file name"),
        ] {
            let error = names(&[name.into()]).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert!(error.hint().is_some_and(|hint| hint.contains("rename")), "{error}");
        }
    }

    #[test]
    fn files_of_one_name_and_directories_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, b"x").unwrap();
        let open = |paths: &[PathBuf]| Items::open(ItemSource::Files(paths), &OpenOptions::default());
        assert!(open(&[path.clone(), path.clone()]).is_err());
        assert!(open(&[directory.path().to_owned()]).is_err());
        assert!(open(&["-".into()]).is_err());
        let items = open(&[path, directory.path().join("missing")]).unwrap();
        assert_eq!(&*items.get(0).unwrap(), b"x");
        assert!(items.get(1).unwrap_err().to_string().contains("missing"));
        assert!(items.get(2).is_err());
    }

    #[test]
    fn lines_are_datasets_too() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, b"one\n\nthree").unwrap();
        let items = Items::open(ItemSource::Lines(&path), &OpenOptions::default()).unwrap();
        let items = items.into_container().unwrap();
        let shapes: Vec<_> = items.datasets().iter().map(|dataset| dataset.shape.clone()).collect();
        assert_eq!(shapes, [[3], [0], [5]]);
        assert_eq!(items.datasets()[2].attributes, [(ITEM.to_owned(), Value::from("text"))]);
        let (index, region) = items.all().remove(2);
        let array = items.read(index, &region, &ReadOptions::default()).unwrap();
        assert_eq!(&*array.bytes(Order::C, &Limits::default()).unwrap(), b"three");
    }
}
