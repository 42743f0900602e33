//! Memory-mapped files, and the advice that lets the kernel use huge pages.
//!
//! The only unsafe code of the crate. A map is sound as long as no other process changes the file while it is mapped: another process that
//! truncates it makes a later access end the process with SIGBUS, and one that writes to it changes bytes under a shared borrow. That is
//! the documented condition of [`MmapSource`], as it is of every memory map; callers who cannot grant it use
//! [`FileSource`](super::FileSource).

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;

use super::{Source, check_range};
use crate::Result;

/// A memory-mapped file. Lends every range without a copy.
///
/// The file must not be truncated or rewritten in place while it is open: reading a truncated part ends the process
/// (SIGBUS on Unix). Replacing the file by rename, as this workspace's writers do, is harmless.
#[derive(Debug)]
pub struct MmapSource {
    map: Mmap,
}

impl MmapSource {
    /// Maps the regular file at `path`. [`open_path`](super::open_path) does so under [`Access::Auto`](super::Access::Auto).
    ///
    /// # Safety
    /// No process truncates the file or rewrites it in place as long as this value exists.
    ///
    /// # Errors
    /// `Io`, also for files that cannot be mapped (pipes, some special file systems).
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        map_file(&File::open(path)?)
    }

    /// Maps an open file, which may be closed afterwards.
    ///
    /// # Safety
    /// As [`MmapSource::open`].
    ///
    /// # Errors
    /// `Io`.
    pub unsafe fn new(file: &File) -> Result<Self> {
        map_file(file)
    }
}

/// Maps an open file for the sources of [`Access::Auto`](super::Access::Auto), which documents the conditions for its user.
pub(super) fn map_file(file: &File) -> Result<MmapSource> {
    // SAFETY: the map is read-only and private to the value, which hands out shared slices that do not outlive it. The condition that no
    // process truncates or rewrites the file meanwhile is documented at `Access::Auto` and the unsafe functions above.
    let map = unsafe { Mmap::map(file)? };
    Ok(MmapSource { map })
}

impl Source for MmapSource {
    fn len(&self) -> u64 {
        self.map.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        (*self.map).read_into(at, dst)
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        check_range(&range, self.len()).ok()?;
        (*self.map).lend(range)
    }
}

/// Asks the kernel to back `memory` with huge pages. Does nothing where it is small or the kernel cannot.
pub(super) fn advise_huge_pages(memory: &mut [u8]) {
    // Two huge pages: below this at most one aligned page would fit.
    const MIN_ADVISED_LEN: usize = 4 << 20;
    #[cfg(target_os = "linux")]
    if memory.len() >= MIN_ADVISED_LEN && !cfg!(miri) {
        let page = rustix::param::page_size();
        let skip = memory.as_ptr().align_offset(page);
        let Some(aligned) = memory.get_mut(skip..) else { return };
        let len = aligned.len() / page * page;
        // SAFETY: the range is whole pages inside memory that this function borrows mutably, and MADV_HUGEPAGE changes neither contents nor
        // validity, only how the kernel backs the pages. A refusal is harmless.
        let _ = unsafe {
            rustix::mm::madvise(aligned.as_mut_ptr().cast(), len, rustix::mm::Advice::LinuxHugepage)
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, MIN_ADVISED_LEN);
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_map_lends_what_the_file_holds() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"holdall").unwrap();
        let source = map_file(&file).unwrap();
        assert_eq!(source.lend(4..7), Some(&b"all"[..]));
        assert_eq!(source.lend(4..8), None);
        assert!(source.read(4..8).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn empty_file_maps_to_an_empty_source() {
        let source = map_file(&tempfile::tempfile().unwrap()).unwrap();
        assert!(source.is_empty());
        assert_eq!(source.read(0..0).unwrap().len(), 0);
    }

    #[test]
    fn advice_leaves_the_contents_alone() {
        // Under Miri the advice is not given, and large lengths take minutes.
        for len in if cfg!(miri) { [0, 1, 4096, 5000] } else { [0, 1, 4 << 20, (4 << 20) + 12345] } {
            let mut memory: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let copy = memory.clone();
            advise_huge_pages(&mut memory);
            assert!(memory == copy);
        }
    }
}
