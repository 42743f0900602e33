//! Names of chunks and their ids, as a writer needs them.

use container_core::{Error, Result};

use crate::name_ids::NameMap;
use crate::namelist::{MAX_NAMES, NameList};

/// Names by id, those of the file first.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    /// The used part of the namelist, with names that are not in the file yet.
    block: Vec<u8>,
    names: Vec<Box<[u8]>>,
    ids: NameMap,
    /// For each name the frame of its last chunk, plus one; 0 for none.
    seen: Vec<u64>,
    /// Names in the file, and their bytes in the block.
    stored: usize,
    stored_len: usize,
    slots: Slots,
    /// Ids in the order of the previous frame: the next name is likely to be the next of these.
    before: Vec<u16>,
    /// Ids of the frame that has not ended, in the order of writing.
    current: Vec<u16>,
}

/// Layout of names in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Slots {
    /// One after the other with a NUL between.
    #[default]
    Packed,
    /// In 64 bytes each: file layer 1.0.
    Fixed,
}

impl NameTable {
    pub(super) fn new(names: &NameList, slots: Slots) -> Self {
        let mut table = Self { slots, ..Self::default() };
        for id in (0..=u16::MAX).take(names.len()) {
            if let Some(name) = names.bytes(id) {
                table.push(name);
            }
        }
        table.set_stored();
        table
    }

    /// Adds a name of any content, with the next id.
    pub(super) fn push(&mut self, name: &[u8]) {
        let id = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        self.block.extend_from_slice(name);
        match self.slots {
            Slots::Packed => self.block.push(0),
            Slots::Fixed => self.block.resize(self.block.len().next_multiple_of(64), 0),
        }
        self.names.push(name.into());
        self.seen.push(0);
        self.ids.entry(name.into()).or_insert(id);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }

    /// The block to be written, without spare room.
    pub(super) fn block(&self) -> &[u8] {
        &self.block
    }

    /// Bytes of the block that are in the file.
    pub(super) const fn stored_len(&self) -> usize {
        self.stored_len
    }

    pub(super) const fn slots(&self) -> Slots {
        self.slots
    }

    pub(super) fn has_new(&self) -> bool {
        self.stored < self.names.len()
    }

    /// All names are in the file.
    pub(super) fn set_stored(&mut self) {
        (self.stored, self.stored_len) = (self.names.len(), self.block.len());
    }

    /// The id of a name of the file.
    pub(super) fn find(&self, name: &str) -> Option<u16> {
        self.ids.get(name.as_bytes()).copied()
    }

    /// The id of a name for a chunk of `frame`, new if need be.
    ///
    /// # Errors
    /// `Usage` for names that cannot be stored, one too many, and one that the frame has already. Nothing has changed then.
    pub(super) fn take(&mut self, name: &str, frame: u64) -> Result<u16> {
        let next = self.before.get(self.current.len()).copied();
        let likely =
            next.filter(|id| self.names.get(usize::from(*id)).is_some_and(|one| **one == *name.as_bytes()));
        let id = match likely.or_else(|| self.find(name)) {
            Some(id) => id,
            None => self.add(name)?,
        };
        if let Some(seen) = self.seen.get_mut(usize::from(id)) {
            if *seen == frame + 1 {
                return Err(Error::usage(format!("frame {frame} has a chunk {name:?} already")));
            }
            *seen = frame + 1;
        }
        self.current.push(id);
        Ok(id)
    }

    fn add(&mut self, name: &str) -> Result<u16> {
        if name.is_empty() || name.contains('\0') {
            let problem = format!("the chunk name {name:?} is empty or contains a NUL");
            return Err(Error::usage(problem));
        }
        if self.slots == Slots::Fixed && name.len() > 63 {
            let problem = format!("the chunk name {name:?} has {} bytes, a 1.0 file takes 63", name.len());
            return Err(Error::usage(problem).with_hint("upgrade the file"));
        }
        match u16::try_from(self.names.len()) {
            Ok(id) if self.names.len() < MAX_NAMES => {
                self.push(name.as_bytes());
                Ok(id)
            }
            _ => Err(Error::usage(format!("a file has at most {MAX_NAMES} chunk names"))),
        }
    }

    /// The frame has ended.
    pub(super) fn end_frame(&mut self) {
        std::mem::swap(&mut self.before, &mut self.current);
        self.current.clear();
    }

    /// The frame is given up.
    pub(super) fn discard_frame(&mut self) {
        for id in self.current.drain(..) {
            if let Some(seen) = self.seen.get_mut(usize::from(id)) {
                *seen = 0;
            }
        }
    }
}
