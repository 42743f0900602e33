//! Bloscpack files against the Python tool of that name.

use std::cell::RefCell;

use anyhow::Result;

use crate::harness::Group;
use crate::peer::Peer;
use crate::scratch::Scratch;

/// What every group needs.
pub struct Job<'a> {
    /// Where the files go.
    pub scratch: &'a Scratch,
    /// The Python tool.
    pub peer: RefCell<Peer>,
    /// Bytes of the array.
    pub bytes: usize,
}

/// Makes groups that belong together.
pub type Groups = for<'a> fn(&'a Job<'a>) -> Result<Vec<Group<'a>>>;

/// All groups, by the word that selects them.
pub const GROUPS: &[(&str, Groups)] = &[];
