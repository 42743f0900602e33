//! Changing the metadata of a file: it is written anew, its chunks copied, so that a crash leaves the old file or the new one.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::MetadataChanges;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result, Value};

use super::ExistingFile;
use crate::header::{Header, Options};
use crate::items::item_type::ItemType;
use crate::metadata::{MetadataOptions, encode_section, to_python_json};
use crate::stored_chunk::stored_range;
use crate::writer::{Head, OrderedOutput};

/// Changes the metadata of the file at `path` with `change`. A file without metadata starts with an empty map. The
/// section of version 3 keeps its length where the new text fits into it.
///
/// # Errors
/// `Usage` for old versions, and where `change` touches what describes the array or the items; those of `change`; the
/// first error of a damaged file; `Io`. The file is then unchanged.
pub fn set_metadata(
    path: impl AsRef<Path>,
    open: &OpenOptions,
    durability: Durability,
    change: impl FnOnce(Value) -> Result<Value>,
) -> Result<()> {
    let old = ExistingFile::open(path.as_ref(), open)?;
    let variable = old.layout.header().dialect.is_variable_length();
    if !variable {
        old.expect_version_3()?;
    }
    let before = old.layout.tree().cloned().unwrap_or(Value::Map(Vec::new()));
    let after = change(before.clone())?;
    if after == before {
        return Ok(());
    }
    old.check_description(&before, &after)?;
    if variable { old.rewrite_items(after, durability) } else { old.rewrite_array(&after, durability) }
}

/// Applies changes to the metadata.
pub(crate) fn change_metadata(path: &Path, changes: &MetadataChanges<'_>) -> Result<Vec<String>> {
    set_metadata(path, changes.open, changes.durability, |tree| changes.apply(tree, None))
        .map(|()| Vec::new())
}

impl ExistingFile {
    /// Refuses a change of entries that describe the array or the items: they are not metadata of the user.
    fn check_description(&self, before: &Value, after: &Value) -> Result<()> {
        let keys: &[&str] = match (self.layout.numpy(), self.layout.item_type()) {
            (Some(_), _) => &["dtype", "shape", "order", "container"],
            (None, Some(ItemType::Ragged(_) | ItemType::Text | ItemType::Bytes)) => &["dtype", "shape"],
            (None, _) => &[],
        };
        match keys.iter().find(|key| before.get(key) != after.get(key)) {
            None => Ok(()),
            Some(key) => {
                let error = Error::usage(format!("{key} describes the values and cannot be changed"));
                Err(error.with_hint(
                    "holdall convert, or pack with --dtype, makes a file of another type or shape",
                ))
            }
        }
    }

    fn rewrite_array(&self, tree: &Value, durability: Durability) -> Result<()> {
        let section = match self.layout.metadata() {
            Some(_) => self.section(Some(tree))?,
            None => encode_section(to_python_json(tree)?.as_bytes(), &MetadataOptions::default())?,
        };
        let header = *self.layout.header();
        let header = Header { options: Options(header.options.0 | Options::METADATA), ..header };
        let bytes = [header.to_bytes(), section].concat();
        let head = Head { bytes, entries: header.offset_count().unwrap_or(0) };
        let mut sink = OrderedOutput::new(AtomicFile::create(&self.path, Overwrite::Replace)?, Some(&head))?;
        let chunks = self.layout.chunks();
        sink.take_over(self.storage.file(), chunks.iter().map(|entry| stored_range(header.checksum, entry)))?;
        self.replace_by(sink.finish(&head)?, durability)
    }

    fn rewrite_items(&self, tree: Value, durability: Durability) -> Result<()> {
        let entries = self.layout.chunks();
        let mut options = self.var_options(&self.own_options());
        // The entries as they are in the tree, which may have changed them.
        options.names = None;
        options.base = Some(tree);
        let head = options.head(entries.len() as u64)?;
        let mut sink = OrderedOutput::new(AtomicFile::create(&self.path, Overwrite::Replace)?, Some(&head))?;
        if let Some(first) = entries.iter().map(|entry| entry.range().start).min() {
            let starts = entries.iter().map(|entry| entry.range().start);
            sink.take_over_gaps(self.storage.file(), first..self.layout.file_len(), starts)?;
        }
        self.replace_by(sink.finish(&head)?, durability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{WriteOptions, write};
    use crate::{File, VarOptions, VarReader, VarWriter};
    use container_core::container::ReadOptions;

    fn set(path: &Path, key: &str, value: impl Into<Value>) -> Result<()> {
        let value = value.into();
        set_metadata(path, &OpenOptions::default(), Durability::Cached, |tree| {
            Ok(crate::items::writer::with_entry(&tree, key, value))
        })
    }

    #[test]
    fn metadata_change_and_chunks_stay_where_the_section_has_room() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.blp");
        let data: Vec<u8> = (0..3000_u32).flat_map(u32::to_le_bytes).collect();
        for has_metadata in [true, false] {
            let options = WriteOptions {
                chunk_size: Some(4096),
                metadata: has_metadata.then(|| Value::Map(vec![("a".into(), Value::Int(1))])),
                overwrite: Overwrite::Replace,
                ..WriteOptions::default()
            };
            write(&path, &data, &options).unwrap();
            let starts = |file: &File| file.chunks().iter().map(|it| it.range().start).collect::<Vec<_>>();
            let before = starts(&File::open(&path).unwrap());
            set(&path, "b", "short").unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(file.metadata().unwrap().get("b"), Some(&"short".into()));
            assert_eq!(starts(&file) == before, has_metadata);
            // Without enough room, the section is enlarged and the offsets move.
            let noise: String = (0..4000_u32)
                .map(|i| char::from(b'a' + (i.wrapping_mul(2_654_435_761) >> 27) as u8 % 26))
                .collect();
            set(&path, "b", noise.as_str()).unwrap();
            let file = File::open(&path).unwrap();
            assert_eq!(file.metadata().unwrap().get("b"), Some(&noise.as_str().into()));
            assert!(file.layout().faults().is_empty(), "{:?}", file.layout().faults());
            assert_eq!(file.read_range(0..data.len() as u64, &ReadOptions::default()).unwrap(), data);
        }
    }

    #[test]
    fn items_keep_their_bytes_and_their_description() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.blp");
        let options = VarOptions { reserve: 5, ..VarOptions::text() };
        let mut writer = VarWriter::create(&path, Some(2), &options).unwrap();
        writer.push("one").unwrap();
        writer.push("").unwrap();
        writer.finish().unwrap();
        set(&path, "note", vec![Value::Int(1), Value::Null]).unwrap();
        let reader = VarReader::open(&path).unwrap();
        assert_eq!((reader.text(0).unwrap(), reader.text(1).unwrap()), ("one".into(), String::new()));
        let file = File::open(&path).unwrap();
        assert_eq!(file.metadata().unwrap().pointer("/note/0"), Some(&Value::Int(1)));
        let bytes = std::fs::read(&path).unwrap();
        assert!(set(&path, "dtype", "blob").is_err() && set(&path, "shape", Value::Null).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}
