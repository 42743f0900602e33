//! Limits on the memory and dimensions that a file may demand.

use std::sync::OnceLock;

use crate::{Error, Result, Stop};

/// Absolute bounds on the work that a file can cause, and a request to stop it. The bounds are never ratios: 64 MiB of zeros is a legal 79-byte bzip2
/// stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of bytes that one operation may allocate on the demand of a file.
    pub memory: u64,
    /// Most dimensions of an array.
    pub ndims: u64,
    /// A request to stop a running operation with the error `Cancelled`. Loops over data check it about every millisecond of work, apart
    /// from a codec's own call for one block of bzip2 or one chunk of LZ4.
    pub stop: Stop,
}

impl Default for Limits {
    /// Three quarters of this machine's memory (physical, cgroup or address-space limit, whichever is smallest; 3 GiB where it is not
    /// queried, which is everywhere but on Linux), on 32 bits of 2 GiB at most; 64 dimensions; without a request to stop.
    fn default() -> Self {
        Self { memory: machine_memory() / 4 * 3, ndims: 64, stop: Stop::never() }
    }
}

impl Limits {
    /// The same limits with another bound on memory, in bytes.
    #[must_use]
    pub const fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// The same limits with the request `stop`.
    #[must_use]
    pub const fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Checks an allocation before it is made, and gives its size as an index.
    ///
    /// # Errors
    /// `Limit` when `bytes` is over [`Limits::memory`] or cannot be addressed.
    pub fn allocate(&self, bytes: u64) -> Result<usize> {
        // isize::MAX is the most that any Rust allocation can hold.
        match usize::try_from(bytes) {
            Ok(len) if bytes <= self.memory && isize::try_from(len).is_ok() => Ok(len),
            _ => Err(Error::limit("memory in bytes", bytes, self.memory)),
        }
    }
}

/// The smallest of physical memory, cgroup limit and address-space limit; found once.
fn machine_memory() -> u64 {
    static MEMORY: OnceLock<u64> = OnceLock::new();
    *MEMORY.get_or_init(|| {
        // Miri cannot query the machine's memory.
        let asked = !cfg!(miri);
        let found = if asked { [physical_memory(), cgroup_memory(), address_space()] } else { [None; 3] };
        // 4 GiB where the memory is not queried: macOS, Windows.
        let machine = found.into_iter().flatten().min().unwrap_or(4 << 30);
        // On 32 bits, the maximum of one allocation. A higher limit would end the process at the allocation.
        machine.min(isize::MAX as u64)
    })
}

#[cfg(target_os = "linux")]
fn physical_memory() -> Option<u64> {
    let info = rustix::system::sysinfo();
    let unit = u64::from(info.mem_unit).max(1);
    #[allow(clippy::useless_conversion)]
    let total = u64::try_from(info.totalram).ok()?;
    total.checked_mul(unit)
}

#[cfg(not(target_os = "linux"))]
fn physical_memory() -> Option<u64> {
    None
}

#[cfg(unix)]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

/// The limit of the control group this process is in, or of any above it (version 2, then version 1).
fn cgroup_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut smallest = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (root, file) = match parts.next()? {
            "" => ("/sys/fs/cgroup", "memory.max"),
            controllers if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = std::path::Path::new(parts.next()?.trim_start_matches('/'));
        for group in group.ancestors() {
            let path = std::path::Path::new(root).join(group).join(file);
            // "max" means no limit, and does not parse.
            let limit = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
            smallest = [smallest, limit].into_iter().flatten().min();
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn an_allocation_over_the_limit_is_refused() {
        let limits = Limits::default().with_memory(100);
        assert_eq!(limits.allocate(100).unwrap(), 100);
        let error = limits.allocate(101).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { asked: 101, allowed: 100, .. }));
        assert!(Limits::default().with_memory(u64::MAX).allocate(u64::MAX).is_err());
    }

    #[test]
    fn the_default_is_within_this_machine() {
        let memory = Limits::default().memory;
        assert!(memory > 1 << 20, "{memory}");
        assert!(memory <= isize::MAX as u64, "{memory}");
    }
}
