//! Choices made from the bytes of an input.

use crate::mutate::XorShift;

/// Source of a target's choices: the input itself, so that a fuzzer that changes a byte changes one choice; or numbers that follow from it, where all
/// of the input is the file under test.
pub(crate) enum Feed<'a> {
    Bytes(&'a [u8]),
    Derived(XorShift),
}

impl<'a> Feed<'a> {
    /// Choices that take the bytes of `data` in order. Once they are used up every choice is the first.
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self::Bytes(data)
    }

    /// Choices that follow from `data` as a whole.
    pub(crate) fn derived(data: &[u8]) -> Self {
        Self::Derived(XorShift::seeded(data))
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self {
            Self::Bytes(rest) => {
                let (first, after) = rest.split_first().unwrap_or((&0, &[]));
                *rest = after;
                *first
            }
            Self::Derived(numbers) => numbers.next().to_le_bytes()[0],
        }
    }

    pub(crate) fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number below `count`, which is at most 2^16.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let number = if count <= 256 { usize::from(self.byte()) } else { self.word() as usize & 0xffff };
        number % count.max(1)
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choice: &[T]) -> T {
        choice[self.below(choice.len())]
    }

    /// Returns the number of threads to use: rarely more than one, since starting them takes longer than all else.
    pub(crate) fn threads(&mut self) -> usize {
        match self.byte() % 16 {
            1 => 2,
            2 => 3,
            _ => 1,
        }
    }

    /// True for one choice of sixteen: where something takes longer than all else does.
    pub(crate) fn rarely(&mut self) -> bool {
        self.byte() % 16 == 1
    }

    /// Exactly `len` bytes: those that come next, over and over.
    pub(crate) fn fill(&mut self, len: usize) -> Vec<u8> {
        match self {
            Self::Bytes(rest) if !rest.is_empty() => {
                let filled = rest.iter().copied().cycle().take(len).collect();
                *rest = rest.get(len..).unwrap_or_default();
                filled
            }
            _ => (0..len).map(|_| self.byte()).collect(),
        }
    }

    /// Returns the rest of the input.
    pub(crate) fn rest(&self) -> &'a [u8] {
        match self {
            Self::Bytes(rest) => rest,
            Self::Derived(_) => &[],
        }
    }
}
