//! A file with some of its bytes as they were written.

use container_core::Result;
use container_core::source::Source;

/// The bytes of a source, but for some.
pub(super) struct Patched<'s> {
    source: &'s dyn Source,
    patches: Vec<(u64, Vec<u8>)>,
}

impl<'s> Patched<'s> {
    /// `patches` are places and what stands there.
    pub(super) fn new(source: &'s dyn Source, patches: Vec<(u64, Vec<u8>)>) -> Self {
        Self { source, patches }
    }
}

impl Source for Patched<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.source.read_into(at, dst)?;
        for (place, bytes) in &self.patches {
            for (byte, offset) in bytes.iter().zip(*place..) {
                let to = offset.checked_sub(at).and_then(|to| usize::try_from(to).ok());
                if let Some(to) = to.and_then(|to| dst.get_mut(to)) {
                    *to = *byte;
                }
            }
        }
        Ok(())
    }

    fn lend(&self, range: std::ops::Range<u64>) -> Option<&[u8]> {
        let is_in = |(at, bytes): &(u64, Vec<u8>)| {
            range.start < at.saturating_add(bytes.len() as u64) && *at < range.end
        };
        if self.patches.iter().any(is_in) { None } else { self.source.lend(range) }
    }
}
