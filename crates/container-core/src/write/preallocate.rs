//! Room on the disk, taken before it is needed.

use std::fs::File;
use std::ops::Range;

#[cfg(unix)]
use crate::Error;
use crate::Result;

/// Has the file system allocate the blocks of `range`, so that a full disk shows at once and they are contiguous. The length of the file
/// stays.
///
/// # Errors
/// `Io` where the disk is full. File systems that cannot allocate in advance pass.
#[cfg(target_os = "linux")]
pub(super) fn take(file: &File, range: Range<u64>) -> Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;

    let len = range.end.saturating_sub(range.start);
    if len == 0 {
        return Ok(());
    }
    // A request beyond the free space may fill the disk before it fails.
    look(file, range.clone())?;
    match fallocate(file, FallocateFlags::KEEP_SIZE, range.start, len) {
        Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
            Err(Error::from(std::io::Error::from(errno)).with_range(range))
        }
        _ => Ok(()),
    }
}

/// Compares the free space of the file system with what `range` needs, without allocating.
///
/// # Errors
/// `Io` where the disk is full. File systems that do not report free space pass.
#[cfg(target_os = "linux")]
pub(super) fn look(file: &File, range: Range<u64>) -> Result<()> {
    use rustix::fs::fstatvfs;
    use rustix::io::Errno;

    check_size_limit(&range)?;
    let len = range.end.saturating_sub(range.start);
    let held = file.metadata().map_or(0, |about| std::os::linux::fs::MetadataExt::st_blocks(&about));
    let wanted = range.end.saturating_sub(held.saturating_mul(512)).min(len);
    let room = fstatvfs(file);
    // A file system of size 0 does not report free space (ramfs, some FUSE).
    if room.is_ok_and(|room| room.f_blocks > 0 && room.f_bavail.saturating_mul(room.f_frsize) < wanted) {
        return Err(Error::from(std::io::Error::from(Errno::NOSPC)).with_range(range));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn look(_file: &File, range: Range<u64>) -> Result<()> {
    check_size_limit(&range)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn take(_file: &File, range: Range<u64>) -> Result<()> {
    check_size_limit(&range)
}

/// Gives the blocks of `range` back, which then reads as zeros, where the file system can.
#[cfg(target_os = "linux")]
pub(super) fn give_back(file: &File, range: Range<u64>) {
    use rustix::fs::{FallocateFlags, fallocate};
    let len = range.end.saturating_sub(range.start);
    if len > 0 {
        // Space that cannot be released is harmless.
        let _ = fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, range.start, len);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn give_back(_file: &File, _range: Range<u64>) {}

/// Refuses a range past the file size limit of this process, where the kernel would end the process (SIGXFSZ) instead of returning an
/// error.
///
/// # Errors
/// `Io` of the kind `FileTooLarge`.
pub(super) fn check_size_limit(range: &Range<u64>) -> Result<()> {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        if limit.is_some_and(|limit| range.end > limit) {
            return Err(Error::from(std::io::Error::from(rustix::io::Errno::FBIG)).with_range(range.clone()));
        }
    }
    let _ = range;
    Ok(())
}
