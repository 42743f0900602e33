//! Atomic commits.
//!
//! Readers read the first `index_allocated_entries` slots of the index and take a full one as it is. So the header contains the number
//! of *committed* entries, and zeroed space follows that readers ignore. A commit writes
//!
//! 1. the chunks, at the end of the file;
//! 2. the names, if there are new ones: all of them, where the header does not point;
//! 3. the entries, after the visible ones, and waits for the disk;
//! 4. the words of the header that change, in one write within the file's first sector, and waits for the disk.
//!
//! Only [`Durability::Synced`](container_core::write::Durability::Synced) waits for the disk.
//!
//! Until the last step the change is invisible to readers. The index moves to the end of the file when its room is used up.
//!
//! A kill between the third and the fourth leaves entries that no reader sees. The next writer takes them for room, and its first commit
//! overwrites all of them.
//!
//! Slots that are visible and unused, as in new files and those of the reference, are hidden by a separate header write and a sync
//! before entries go there: readers would see them one by one. [`close`] shows the room again, for the reference to append to.
//! Readers fail on an index without slots, so that of a file without entries keeps its last one visible. And they refuse an entry
//! whose frame is not below the number of visible slots, so slots stay visible where frames without chunks have used up more numbers
//! than there are entries: then the index moves instead, with each commit until the entries have caught up.

use container_core::Result;
use container_core::source::try_zeroed_vec;
use container_core::write::storage::Storage;

use super::frames::PendingEntries;
use super::{CURRENT_VERSION, Writer, copy_within};
use crate::duplicates::ShadowedEntries;
use crate::header::{Header, INDEX_ENTRY_LEN, NAMELIST_ENTRY_LEN, Version};
use crate::index::IndexBlock;

/// Alignment of a moved index, in bytes: entries straddle neither sectors of 512 bytes nor of 4096, nor pages.
const INDEX_ALIGNMENT: u64 = 4096;

/// Minimum number of entries that a moved index has room for.
const MIN_ENTRIES: u64 = 128;

/// Minimum number of bytes that a moved namelist has room for.
const MIN_NAMES: u64 = 1024;

/// Unreferenced room for names that contains a part of the list. A list only grows, so the next one starts with the same bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpareNamelist {
    at: u64,
    room: u64,
    /// Number of bytes of the list that are stored there.
    stored: usize,
}

/// Commits the frames that have ended.
pub(super) fn commit<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    let Some(ended) = writer.encode_ended() else { return Ok(()) };
    writer.write_buffer()?;
    hide_room(writer)?;
    let mut header = writer.header;
    if (Version::new(2, 0)..CURRENT_VERSION).contains(&header.gsd_version) {
        header.gsd_version = CURRENT_VERSION;
    }
    let spare = if writer.names.has_new() { place_names(writer, &mut header)? } else { writer.spare };
    let capacity = place_entries(writer, &mut header, &ended)?;
    writer.sync_storage()?;
    write_header(writer, &header)?;
    // Readers see the frames from here on.
    writer.sync_change()?;
    writer.durable_len = Some(writer.end);
    writer.storage.forget();
    writer.spare = spare;
    (writer.index_at, writer.capacity, writer.stale) = (header.index_location, capacity, 0);
    writer.names.set_stored();
    writer.forget_ended(&ended);
    Ok(())
}

/// Writes the whole namelist to unreferenced space; returns the old space if this writer reserved it: spare once the header points to
/// the new list.
pub(super) fn place_names<S: Storage>(
    writer: &mut Writer<S>,
    header: &mut Header,
) -> Result<Option<SpareNamelist>> {
    let block = writer.names.block();
    let len = block.len() as u64;
    let old = SpareNamelist {
        at: header.namelist_location,
        room: header.namelist_allocated_entries.saturating_mul(NAMELIST_ENTRY_LEN),
        stored: writer.names.stored_len(),
    };
    let spare = writer.spare.filter(|spare| spare.room >= len);
    let place = match spare {
        Some(spare) => spare,
        None => {
            let room = len.saturating_mul(2).next_power_of_two().max(MIN_NAMES);
            let at = writer.end.next_multiple_of(NAMELIST_ENTRY_LEN);
            SpareNamelist { at, room, stored: 0 }
        }
    };
    let new = block.get(place.stored..).unwrap_or_default();
    writer.storage.write_at(place.at + place.stored as u64, new)?;
    if spare.is_none() {
        writer.end = place.at + place.room;
        // The rest of the room reads as zeros.
        writer.storage.set_len(writer.end)?;
    }
    header.namelist_location = place.at;
    header.namelist_allocated_entries = place.room / NAMELIST_ENTRY_LEN;
    // Space reserved by this writer is empty otherwise. Space that it found may be shared.
    Ok(std::mem::replace(&mut writer.owns_names, true).then_some(old))
}

/// Writes the encoded entries after the visible slots; returns the capacity of the index.
fn place_entries<S: Storage>(
    writer: &mut Writer<S>,
    header: &mut Header,
    ended: &PendingEntries,
) -> Result<u64> {
    let single = if writer.has_duplicates { Some(single_entries(writer)?) } else { None };
    if let Some(single) = &single {
        writer.used = single.len() as u64 / INDEX_ENTRY_LEN;
    }
    let used = writer.used + ended.count;
    let least = used.max(ended.last_frame + 1);
    let mut capacity = writer.capacity;
    if let Some(single) = single {
        capacity = place_index(writer, header, least, &single)?;
        writer.has_duplicates = false;
    } else if hidden_slots(writer) < least {
        capacity = move_index(writer, header, least)?;
    } else {
        header.index_location = writer.index_at;
    }
    let at = header.index_location + INDEX_ENTRY_LEN * writer.used;
    if header.index_location == writer.index_at {
        // Entries of an interrupted commit are cleared before the room may become visible.
        let len = usize::try_from(INDEX_ENTRY_LEN * writer.stale).unwrap_or(usize::MAX);
        writer.scratch.resize(writer.scratch.len().max(len), 0);
    }
    writer.storage.write_at(at, &writer.scratch)?;
    // Frames without chunks make all of the room visible, so that there is some for more of them.
    header.index_allocated_entries = if used > ended.last_frame { used } else { capacity };
    Ok(capacity)
}

/// The used entries without those that the reference does not find, because their frame has another chunk of the name.
fn single_entries<S: Storage>(writer: &Writer<S>) -> Result<Vec<u8>> {
    let mut bytes: Vec<u8> = try_zeroed_vec(INDEX_ENTRY_LEN * writer.used, &writer.options.limits)?;
    writer.storage.read_at(writer.index_at, &mut bytes)?;
    let index = IndexBlock::new(&bytes, writer.header.byte_order);
    let hidden = ShadowedEntries::of(index, false, writer.committed, writer.names.iter().count());
    let kept = bytes.as_chunks::<32>().0.iter().enumerate().filter(|(at, _)| !hidden.contains(*at));
    Ok(kept.flat_map(|(_, entry)| *entry).collect())
}

/// Number of entries that the index can have without another visible one.
fn hidden_slots<S: Storage>(writer: &Writer<S>) -> u64 {
    let (at, visible) = (writer.header.index_location, writer.header.index_allocated_entries);
    if at == writer.index_at && visible == writer.used {
        writer.capacity
    } else if writer.used == 0 && visible == 1 {
        // The last slot of the room is the visible one.
        at.saturating_sub(writer.index_at) / INDEX_ENTRY_LEN
    } else {
        writer.used
    }
}

/// Hides visible unused slots, where the file stays readable without them.
fn hide_room<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    let mut header = writer.header;
    if writer.used == 0 {
        let last = writer.capacity.saturating_sub(1);
        (header.index_location, header.index_allocated_entries) =
            (writer.index_at + INDEX_ENTRY_LEN * last, 1);
    } else if writer.used >= writer.committed {
        header.index_allocated_entries = writer.used;
    }
    if header != writer.header {
        sync_room(writer)?;
        // Both headers refer to the same entries.
        let durable = writer.durable_len;
        write_header(writer, &header)?;
        writer.sync_storage()?;
        writer.durable_len = durable;
    }
    Ok(())
}

/// Syncs newly allocated space before the header points to it.
fn sync_room<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    if writer.is_room_synced { Ok(()) } else { writer.sync_storage() }
}

/// Shows the room of the index. It is zero, so that is the same file to readers, and a power cut may undo it.
pub(super) fn close<S: Storage>(writer: &mut Writer<S>) -> Result<()> {
    // With entries of an interrupted commit in the space, this writer has not committed, and the space stays hidden.
    if writer.used > 0 && writer.stale == 0 {
        let header = Header { index_allocated_entries: writer.capacity, ..writer.header };
        sync_room(writer)?;
        write_header(writer, &header)?;
    }
    Ok(())
}

/// Copies the used entries to the end of the file, followed by reserved space.
fn move_index<S: Storage>(writer: &mut Writer<S>, header: &mut Header, visible: u64) -> Result<u64> {
    let used = writer.index_at..writer.index_at + INDEX_ENTRY_LEN * writer.used;
    let capacity = make_room(writer, header, visible)?;
    copy_within(&mut writer.storage, used, header.index_location, &writer.options.limits)?;
    Ok(capacity)
}

/// Writes an index to the end of the file, followed by reserved space; returns the number of reserved slots.
pub(super) fn place_index<S: Storage>(
    writer: &mut Writer<S>,
    header: &mut Header,
    visible: u64,
    index: &[u8],
) -> Result<u64> {
    let capacity = make_room(writer, header, visible)?;
    writer.storage.write_at(header.index_location, index)?;
    Ok(capacity)
}

/// Makes room for an index at the end of the file, all zero.
fn make_room<S: Storage>(writer: &mut Writer<S>, header: &mut Header, visible: u64) -> Result<u64> {
    let capacity = visible.saturating_mul(2).next_power_of_two().max(MIN_ENTRIES);
    let at = writer.end.next_multiple_of(INDEX_ALIGNMENT);
    writer.end = at + INDEX_ENTRY_LEN * capacity;
    writer.storage.set_len(writer.end)?;
    header.index_location = at;
    Ok(capacity)
}

/// Writes what differs between the header and the one in the file, in one write.
pub(super) fn write_header<S: Storage>(writer: &mut Writer<S>, header: &Header) -> Result<()> {
    let (old, new) = (writer.header.to_bytes(), header.to_bytes());
    writer.durable_len = None;
    let differs = |at: &usize| old.get(*at) != new.get(*at);
    if let Some((first, last)) = (0..new.len()).find(differs).zip((0..new.len()).rev().find(differs)) {
        // Whole words, so that a torn write does not tear a word.
        let (start, end) = (first / 8 * 8, (last + 1).next_multiple_of(8));
        writer.storage.write_at(start as u64, new.get(start..end).unwrap_or_default())?;
    }
    writer.header = *header;
    Ok(())
}
