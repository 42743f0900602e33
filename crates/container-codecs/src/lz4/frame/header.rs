//! Headers of an LZ4 frame and of its blocks.

use std::hash::Hasher as _;
use std::ops::Range;

use twox_hash::XxHash32;

use container_core::source::STOP_LEN;
use container_core::{Result, Stop};

/// The number 0x184D2204, little-endian.
pub(super) const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// The sixteen numbers that begin frames of users' own data differ in their lowest digit.
const SKIPPABLE: u32 = 0x184D_2A50;

/// A frame descriptor.
pub(super) struct Frame {
    /// Offset of the first block.
    pub(super) blocks_at: usize,
    /// Most decoded bytes of a block.
    pub(super) block_max: usize,
    /// Whether blocks are independent of earlier ones.
    pub(super) independent: bool,
    /// Whether each block is followed by a checksum.
    block_checksums: bool,
    /// Decoded bytes of the frame.
    pub(super) content_len: Option<u64>,
    /// Whether a checksum of them follows the end mark.
    pub(super) content_checksum: bool,
    /// Whether a dictionary is named.
    pub(super) has_dictionary: bool,
}

/// Position of a block.
pub(super) struct StoredBlock {
    /// Its bytes.
    pub(super) data: Range<usize>,
    /// Whether they are the data themselves.
    pub(super) is_plain: bool,
    checksum: Option<u32>,
    /// Offset of the next block.
    pub(super) next: usize,
}

impl Frame {
    /// The frame that begins at `at`.
    pub(super) fn parse(src: &[u8], at: usize) -> Result<Self, String> {
        let cut = || format!("the encoded data end inside a frame header, at byte {}", src.len());
        let bytes = src.get(at..).unwrap_or_default();
        let Some(rest) = bytes.strip_prefix(&MAGIC) else {
            return Err(format!("no frame begins at byte {at}"));
        };
        let (flags, sizes) = match rest {
            [flags, sizes, ..] => (*flags, *sizes),
            _ => return Err(cut()),
        };
        if flags >> 6 != 1 || flags & 2 != 0 || sizes & 0x8f != 0 {
            return Err(format!("a frame header of another version, at byte {at}"));
        }
        let block_max = match sizes >> 4 {
            4 => 64 << 10,
            5 => 256 << 10,
            6 => 1 << 20,
            7 => 4 << 20,
            code => return Err(format!("unknown block size code {code}, at byte {at}")),
        };
        let has_content_len = flags & 8 != 0;
        let has_dictionary = flags & 1 != 0;
        let content_len = has_content_len.then(|| rest.get(2..10)).flatten();
        let len = match (has_content_len, has_dictionary) {
            (false, false) => 2_usize,
            (false, true) => 6,
            (true, false) => 10,
            (true, true) => 14,
        };
        let (descriptor, stored) = rest.split_at_checked(len).ok_or_else(cut)?;
        let stored = stored.first().ok_or_else(cut)?;
        let computed = checksum(descriptor).to_le_bytes();
        if computed.get(1) != Some(stored) {
            return Err(format!("the checksum of a frame header differs, at byte {at}"));
        }
        Ok(Self {
            blocks_at: at.saturating_add(len).saturating_add(5),
            block_max,
            independent: flags & 0x20 != 0,
            block_checksums: flags & 0x10 != 0,
            content_len: content_len.and_then(|len| Some(u64::from_le_bytes(len.try_into().ok()?))),
            content_checksum: flags & 4 != 0,
            has_dictionary,
        })
    }

    /// The block at `at`; `None` for the end mark.
    pub(super) fn block(&self, src: &[u8], at: usize) -> Result<Option<StoredBlock>, String> {
        let cut = || format!("the encoded data end inside a frame, at byte {}", src.len());
        let size = word(src, at).ok_or_else(cut)?;
        if size == 0 {
            return Ok(None);
        }
        let is_plain = size >> 31 != 0;
        let len = usize::try_from(size & 0x7fff_ffff).unwrap_or(usize::MAX);
        if len > self.block_max {
            return Err(format!(
                "a block of {len} bytes (expected at most {}), at byte {at}",
                self.block_max
            ));
        }
        let start = at.saturating_add(4);
        let end = start.saturating_add(len);
        if end > src.len() {
            return Err(cut());
        }
        let (checksum, next) = if self.block_checksums {
            (Some(word(src, end).ok_or_else(cut)?), end.saturating_add(4))
        } else {
            (None, end)
        };
        Ok(Some(StoredBlock { data: start..end, is_plain, checksum, next }))
    }
}

impl StoredBlock {
    /// Compares the checksum, if there is one.
    pub(super) fn check(&self, src: &[u8]) -> Result<(), String> {
        let bytes = src.get(self.data.clone()).unwrap_or_default();
        match self.checksum {
            Some(stored) if checksum(bytes) != stored => {
                Err(format!("the checksum of a block differs, at byte {}", self.data.start))
            }
            _ => Ok(()),
        }
    }
}

/// The end of the skippable frame at `at`, if there is one.
pub(super) fn skippable(src: &[u8], at: usize) -> Result<Option<usize>, String> {
    if word(src, at).is_none_or(|magic| magic & !15 != SKIPPABLE) {
        return Ok(None);
    }
    let len = word(src, at.saturating_add(4)).and_then(|len| usize::try_from(len).ok());
    let end = len.map(|len| at.saturating_add(8).saturating_add(len)).filter(|end| *end <= src.len());
    end.map(Some).ok_or_else(|| format!("a skippable frame reaches past the end, from byte {at}"))
}

/// The little-endian word at `at`.
pub(super) fn word(src: &[u8], at: usize) -> Option<u32> {
    let bytes = src.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// The checksum of frames: xxHash of 32 bits, seed 0.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}

/// The same, until `stop` is requested.
pub(super) fn checksum_until(bytes: &[u8], stop: Stop) -> Result<u32> {
    let mut running = XxHash32::with_seed(0);
    for piece in bytes.chunks(STOP_LEN) {
        stop.check()?;
        running.write(piece);
    }
    Ok(running.finish_32())
}
