//! Frames: their end, and when they are committed.

use container_core::write::storage::Storage;
use container_core::{Error, Result};

use super::{Commit, CommitScheme, State, Writer, commit_atomic, commit_reference};
use crate::header::Header;

impl<S: Storage> Writer<S> {
    /// Ends the frame and starts the next: `gsd_end_frame`. Commits according to the options.
    ///
    /// # Errors
    /// `Io`, which ends the writing; `Usage` after that.
    pub fn end_frame(&mut self) -> Result<()> {
        self.check_usable()?;
        self.check_reservations()?;
        self.close_reservations()?;
        self.names.end_frame();
        self.pending = 0;
        self.frame += 1;
        self.ended += 1;
        let due = match self.options.commit {
            Commit::EveryFrame => true,
            Commit::Every(frames) => self.ended >= frames.max(1),
            Commit::Manual => false,
        };
        if due { self.flush() } else { Ok(()) }
    }

    /// Gives up the chunks of the current frame. Those that are in the file already take up space there.
    ///
    /// # Errors
    /// `Usage` after an error has ended the writing, and while rows of a reserved chunk are being written.
    pub fn discard_frame(&mut self) -> Result<()> {
        self.check_usable()?;
        self.close_reservations()?;
        let kept = self.entries.len() - self.pending;
        if let Some(first) = self.entries.get(kept)
            && let Some(start) =
                u64::try_from(first.location).ok().and_then(|location| location.checked_sub(self.end))
        {
            // All of the frame is still in memory.
            self.buffer.truncate(usize::try_from(start).unwrap_or(usize::MAX));
        }
        self.entries.truncate(kept);
        self.pending = 0;
        self.names.discard_frame();
        Ok(())
    }

    /// Commits the frames that have ended: `gsd_flush`. With [`Durability::Synced`](crate::Durability::Synced) they are on the disk when it
    /// returns. The current frame stays open.
    ///
    /// # Errors
    /// `Io`, which ends the writing. In the reference's scheme `Usage` where so many frames have no chunks that no reader would open
    /// the file; the file is then unchanged.
    pub fn flush(&mut self) -> Result<()> {
        self.check_usable()?;
        if self.options.scheme == CommitScheme::Reference {
            commit_reference::check(self)?;
        }
        self.guard(|writer| match writer.options.scheme {
            CommitScheme::Atomic => commit_atomic::commit(writer),
            CommitScheme::Reference => commit_reference::flush(writer),
        })?;
        self.ended = 0;
        Ok(())
    }

    /// Waits until all written bytes are on the disk, regardless of [`Durability`](crate::Durability). Does not commit.
    ///
    /// # Errors
    /// `Io`, which ends the writing.
    pub fn sync(&mut self) -> Result<()> {
        self.guard(|writer| writer.storage.sync())
    }

    /// Commits the frames that have ended, and gives up the one that has not: `gsd_close`.
    ///
    /// # Errors
    /// `Io`; `Usage` after an error has ended the writing.
    pub fn close(mut self) -> Result<()> {
        let flushed = self.finish();
        if matches!(self.state, State::Poisoned(_)) {
            self.truncate_uncommitted();
        }
        self.state = State::Closed;
        flushed
    }

    /// Gives up all frames that are not committed, after an error of the disk as well. If the file has not been committed, truncated or
    /// upgraded since the file was opened, it is restored byte for byte, if the disk allows; else it has the length that it had after
    /// the last commit.
    pub fn abandon(mut self) {
        self.truncate_uncommitted();
        self.state = State::Closed;
    }

    /// Cuts off what was written since the last commit, where certainly no header refers to it. Bytes written meanwhile by programs that
    /// take no lock are not cut off.
    fn truncate_uncommitted(&mut self) {
        let Some(len) = self.durable_len.filter(|_| self.storage.is_written()) else { return };
        let mut header = [0; 256];
        let is_ours = self
            .storage
            .read_at(0, &mut header)
            .is_ok_and(|()| Header::parse(&header).ok() == Some(self.header));
        if is_ours && self.storage.len().is_ok_and(|now| now > len) {
            let _ = self.storage.set_len(len);
        }
    }

    fn finish(&mut self) -> Result<()> {
        // The reference leaves the data of an unended frame in the file.
        if self.options.scheme == CommitScheme::Reference {
            return self.flush();
        }
        // Rows that are being written keep their frame from being given up, but not those before it from being committed.
        let discarded = self.discard_frame();
        let before = self.committed;
        self.flush()?;
        let closed = self.guard(commit_atomic::close);
        closed.map_err(|error| if self.committed > before { error.after_change() } else { error })?;
        discarded
    }

    /// Entries of ended frames, by frame and id, as bytes in `scratch`; how many they are, and the frame of the last.
    pub(super) fn encode_ended(&mut self) -> Option<PendingEntries> {
        let count = self.entries.len() - self.pending;
        let (ended, _) = self.entries.split_at_mut(count);
        let key = |entry: &crate::IndexEntry| (entry.frame, entry.id);
        if !ended.is_sorted_by_key(key) {
            ended.sort_unstable_by_key(key);
        }
        let last_frame = ended.last()?.frame;
        self.scratch.clear();
        for entry in &*ended {
            self.scratch.extend_from_slice(&entry.to_bytes(self.header.byte_order));
        }
        Some(PendingEntries { count: count as u64, last_frame })
    }

    /// The entries that [`Writer::encode_ended`] encoded are in the file.
    pub(super) fn forget_ended(&mut self, ended: &PendingEntries) {
        let kept = self.entries.len() - self.pending;
        self.entries.drain(..kept);
        self.used += ended.count;
        self.committed = ended.last_frame + 1;
    }

    /// Refuses further rows of the frame.
    pub(super) fn close_reservations(&mut self) -> Result<()> {
        self.reservations.iter().try_for_each(|reservation| reservation.close())?;
        self.reservations.clear();
        Ok(())
    }

    fn check_reservations(&self) -> Result<()> {
        match self.reservations.iter().find_map(|reservation| reservation.missing()) {
            None => Ok(()),
            Some(rows) => Err(Error::usage(format!(
                "rows {}..{} of a reserved chunk have not been written",
                rows.start, rows.end
            ))
            .with_hint("write them, or confirm those that another process wrote")),
        }
    }
}

/// Entries that are to be committed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingEntries {
    pub(super) count: u64,
    pub(super) last_frame: u64,
}

impl<S: Storage> Drop for Writer<S> {
    fn drop(&mut self) {
        if matches!(self.state, State::Ready) {
            // `drop` cannot return the error.
            let _ = self.finish();
        }
        if matches!(self.state, State::Poisoned(_)) {
            self.truncate_uncommitted();
        }
    }
}
