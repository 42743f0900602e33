//! Bit writer, lowest bit first, as RFC 1951 section 3.1.1 packs them.

/// Appends bits to bytes: up to 56 of them between two calls of [`Bits::flush`].
pub(super) struct Bits<'a> {
    out: &'a mut Vec<u8>,
    /// Position in `out` of the bits that are held.
    at: usize,
    held: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    /// Starts at the end of `out`.
    pub(super) const fn new(out: &'a mut Vec<u8>) -> Self {
        let at = out.len();
        Self { out, at, held: 0, count: 0 }
    }

    /// Reserves space for `bits` more, and for the bytes that [`Bits::flush`] writes past them.
    pub(super) fn reserve(&mut self, bits: u64) {
        let bytes = usize::try_from(bits / 8).unwrap_or(usize::MAX);
        self.out.resize(self.at.saturating_add(bytes).saturating_add(24), 0);
    }

    /// Adds the low `count` bits of `bits`; the others must be 0.
    #[inline(always)]
    pub(super) const fn put(&mut self, bits: u64, count: u32) {
        self.held |= bits << self.count;
        self.count += count;
    }

    /// Brings whole bytes out, so that 56 more have room.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        self.out[self.at..self.at + 8].copy_from_slice(&self.held.to_le_bytes());
        self.at += (self.count >> 3) as usize;
        self.held >>= self.count & !7;
        self.count &= 7;
    }

    /// Ends the byte that is begun, if any.
    pub(super) fn align(&mut self) {
        self.count = self.count.next_multiple_of(8);
        self.flush();
    }

    /// Adds whole bytes, where none is begun.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Pads the last byte, and truncates `out` to the written bytes.
    pub(super) fn finish(mut self) {
        self.align();
        self.out.truncate(self.at);
    }
}
