//! Commits that are byte-identical with those of gsd 5.0.1.

use container_core::write::storage::Storage;
use container_core::{Error, Result};

use super::{CURRENT_VERSION, Writer, copy_within};
use crate::header::{INDEX_ENTRY_LEN, NAMELIST_ENTRY_LEN};

/// Sets the version of files of layer 2 to 2.1 when they are opened for writing, at once and unsynced.
pub(super) fn set_version<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    if !writer.header.is_v1() && writer.header.gsd_version <= CURRENT_VERSION {
        writer.header.gsd_version = CURRENT_VERSION;
        write_header(writer)?;
    }
    Ok(())
}

/// Fails where the flush would make a file that no reader opens: an entry's frame has to be below the number of slots, and frames
/// without chunks use up numbers, but no slots.
pub(super) fn check<S: Storage>(writer: &Writer<S>) -> Result<()> {
    let ended = writer.entries.get(..writer.entries.len() - writer.pending).unwrap_or_default();
    let Some(last) = ended.last() else { return Ok(()) };
    let capacity = room_for(writer.capacity, writer.used + ended.len() as u64);
    if last.frame >= capacity {
        let problem = format!("frame {} with an index of {capacity} slots: readers refuse that", last.frame);
        return Err(Error::usage(problem).with_hint("Scheme::Atomic makes room for frames without chunks"));
    }
    Ok(())
}

/// The room of an index that has to hold `used` entries: doubled while that would fill it.
const fn room_for(capacity: u64, used: u64) -> u64 {
    if used <= capacity {
        return capacity;
    }
    let mut room = if capacity == 0 { 2 } else { capacity * 2 };
    while room <= used {
        room *= 2;
    }
    room
}

/// Chunks, names, sync, index, sync.
pub(super) fn flush<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    writer.write_buffer()?;
    if writer.names.has_new() {
        write_names(writer)?;
    }
    writer.sync_storage()?;
    if let Some(ended) = writer.encode_ended() {
        let used = writer.used + ended.count;
        if used > writer.capacity {
            expand_index(writer, used)?;
        }
        let at = writer.header.index_location + INDEX_ENTRY_LEN * writer.used;
        writer.storage.write_at(at, &writer.scratch)?;
        writer.sync_change()?;
        writer.forget_ended(&ended);
    }
    Ok(())
}

/// The tail of the list in place where it fits, else the whole list at the end of the file in twice the room.
fn write_names<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    let room = writer.header.namelist_allocated_entries * NAMELIST_ENTRY_LEN;
    let len = writer.names.block().len() as u64;
    if len > room {
        let mut new = room * 2;
        // The list has to grow even if the names fit exactly.
        while len >= new {
            new *= 2;
        }
        let block = padded(writer.names.block(), new);
        writer.storage.write_at(writer.end, &block)?;
        writer.sync_storage()?;
        writer.header.namelist_location = writer.end;
        writer.header.namelist_allocated_entries = new / NAMELIST_ENTRY_LEN;
        writer.end += new;
        write_header(writer)?;
    } else {
        let old = writer.names.stored_len();
        let tail = writer.names.block().get(old..).unwrap_or_default();
        let tail = padded(tail, room.saturating_sub(old as u64));
        writer.storage.write_at(writer.header.namelist_location + old as u64, &tail)?;
    }
    writer.sync_storage()?;
    writer.names.set_stored();
    Ok(())
}

/// Bytes padded with zeros to `len`, which is at most four times the length of all possible names.
pub(super) fn padded(bytes: &[u8], len: u64) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(usize::try_from(len).unwrap_or(bytes.len()).max(bytes.len()), 0);
    padded
}

/// Moves the index to the end of the file, with more room.
fn expand_index<S: Storage>(writer: &mut Writer<S>, used: u64) -> Result<()> {
    let capacity = room_for(writer.capacity, used);
    let at = writer.end;
    writer.end += INDEX_ENTRY_LEN * capacity;
    writer.storage.set_len(writer.end)?;
    let old = writer.header.index_location;
    let block = old..old + INDEX_ENTRY_LEN * writer.capacity;
    copy_within(&mut writer.storage, block, at, &writer.options.limits)?;
    writer.sync_storage()?;
    writer.header.index_location = at;
    writer.header.index_allocated_entries = capacity;
    (writer.index_at, writer.capacity) = (at, capacity);
    write_header(writer)?;
    writer.sync_storage()
}

pub(super) fn write_header<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    let header = writer.header.to_bytes();
    writer.storage.write_at(0, &header)
}
