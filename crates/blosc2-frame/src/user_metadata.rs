//! Changing the user metadata of a frame, in place and in one commit.

use std::path::Path;

use container_core::container::{OpenOptions, Tolerance};
use container_core::format::MetadataChanges;
use container_core::{Error, Result, Value};

use crate::content::RESERVED_NAMES;
use crate::editor::{EditOptions, Editor};
use crate::frame::Frame;
use crate::{Durability, metadata, msgpack};

/// Changes the user metadata (vlmeta) of the frame at `path` to what `change` makes of them: a map, of which those entries
/// that differ are written, as msgpack.
///
/// # Errors
/// `Usage` for entries that holdall keeps for itself, for names that are too long, and where there are too many; those of
/// `change`; `Unsupported` for stores of several frames; damage of the metadata; `Io`. The frame is then what it was.
pub fn set_user_metadata(
    path: impl AsRef<Path>,
    open: &OpenOptions,
    durability: Durability,
    change: impl FnOnce(Value) -> Result<Value>,
) -> Result<()> {
    let path = path.as_ref();
    let edit = EditOptions { limits: open.limits, variable_chunks: true, ..EditOptions::default() };
    let mut editor = Editor::open(path, &edit)?;
    let before = {
        let frame = Frame::open_with(path, &open.into())?;
        let pieces = metadata::pieces(&frame, Tolerance::Strict)?;
        let decoded = pieces.into_iter().map(|(name, bytes)| {
            let value = metadata::decode(&bytes?, &open.limits);
            Ok((name.to_owned(), value))
        });
        decoded.collect::<Result<Vec<(String, Value)>>>()?
    };
    let Value::Map(after) = change(Value::Map(before.clone()))? else {
        return Err(Error::usage("the user metadata of a frame are a map, by name"));
    };
    let find = |list: &[(String, Value)], name: &str| {
        list.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    };
    for (name, _) in before.iter().filter(|(name, _)| find(&after, name).is_none()) {
        check_not_reserved(name)?;
        editor.remove_vlmetalayer(name);
    }
    for (name, value) in after.iter().filter(|(name, value)| find(&before, name).as_ref() != Some(value)) {
        check_not_reserved(name)?;
        editor.set_vlmetalayer(name, &msgpack::from_interchange(value)?)?;
    }
    editor.commit(durability)
}

/// Key of the user metadata among those of a frame.
const VLMETA: &str = "vlmeta";

/// Applies changes to the user metadata, below `/vlmeta`.
pub(crate) fn change_metadata(path: &Path, changes: &MetadataChanges<'_>) -> Result<Vec<String>> {
    let change = |user| {
        let Value::Map(entries) = changes.apply(Value::Map(vec![(VLMETA.to_owned(), user)]), Some(VLMETA))?
        else {
            return Err(Error::usage("the metadata of a frame are a map, by name"));
        };
        if let Some((other, _)) = entries.iter().find(|(key, _)| key != VLMETA) {
            let error = Error::usage(format!("of a frame only the metadata below /{VLMETA} change"));
            return Err(error.with_hint(format!("--set /{VLMETA}/{other}=…")));
        }
        Ok(entries.into_iter().next().map_or(Value::Map(Vec::new()), |(_, user)| user))
    };
    set_user_metadata(path, changes.open, changes.durability, change).map(|()| Vec::new())
}

/// Refuses names whose values describe the chunks.
fn check_not_reserved(name: &str) -> Result<()> {
    if RESERVED_NAMES.contains(&name) {
        return Err(Error::usage(format!(
            "user metadata {name:?} describe the chunks and cannot be changed"
        )));
    }
    Ok(())
}
