//! RawArray against the released crate of that name, numpy's `.npy`, and the plain system calls that bound both.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use container_core::dtype::{Element as _, Order};
use container_core::npy;
use container_core::write::{Durability, Overwrite};
use holdall::convert::ConvertOptions;
use rawarray::{Encoding, RawArray, WriteOptions};

use crate::harness::{Group, Run};
use crate::scratch::{Scratch, numbers};
use interop::peer::Peer;

mod convert;
mod open;
mod read;
mod table;
mod verify;
mod write;

/// Input of every group.
pub struct Job<'a> {
    /// Folder of the files.
    pub scratch: &'a Scratch,
    /// The Python peer; one process for all groups, so that its turns come between the others'.
    pub numpy: RefCell<Peer>,
    /// Bytes of the array.
    pub bytes: usize,
}

/// Makes groups that belong together.
pub type Groups = for<'a> fn(&'a Job<'a>) -> Result<Vec<Group<'a>>>;

/// All groups, by the word that selects them.
pub const GROUPS: &[(&str, Groups)] = &[
    ("open", open::open),
    ("read", read::read),
    ("sum", read::mapped_sum),
    ("write", write::write),
    ("verify", verify::verify),
    ("convert", convert::convert),
    ("table", table::table),
];

/// Columns of the two-dimensional arrays.
const COLUMNS: usize = 4096;

impl Job<'_> {
    /// The array of the reading and writing groups: float64, one dimension.
    fn values(&self) -> Vec<f64> {
        numbers(self.bytes / 8)
    }

    /// [`Job::values`] as RawArray.
    fn plain_ra(&self) -> Result<PathBuf> {
        self.made("values.ra", |path| {
            Ok(RawArray::from(self.values()).write_with(path, &options(Encoding::Plain))?)
        })
    }

    /// [`Job::values`] as `.npy`.
    fn plain_npy(&self) -> Result<PathBuf> {
        let count = (self.bytes / 8) as u64;
        self.made("values.npy", |path| npy_file(path, &[count], Order::C, &self.values()))
    }

    /// Two dimensions of about the same bytes.
    fn shape(&self) -> [u64; 2] {
        [(self.bytes / 8 / COLUMNS).max(1) as u64, COLUMNS as u64]
    }

    /// The path of the file `name`, made now if it is not there.
    fn made(&self, name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let path = self.scratch.file(name);
        if !path.exists() {
            make(&path)?;
            self.scratch.settle()?;
        }
        Ok(path)
    }

    fn numpy(&self, command: &str, paths: &[&Path]) -> Result<Run> {
        Ok(self.numpy.borrow_mut().run(command, paths)?.into())
    }
}

/// A `.npy` file of `values`, which lie in `order`.
fn npy_file(path: &Path, shape: &[u64], order: Order, values: &[f64]) -> Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&npy::Header::to_bytes(&f64::dtype(), shape, order)?)?;
    for piece in values.chunks(64 << 10) {
        let bytes: Vec<u8> = piece.iter().flat_map(|value| value.to_le_bytes()).collect();
        file.write_all(&bytes)?;
    }
    Ok(())
}

fn options(encoding: Encoding) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.encoding = encoding;
    options.durability = Durability::Cached;
    options
}

fn convert_options(durability: Durability) -> ConvertOptions<'static> {
    ConvertOptions { durability, overwrite: Overwrite::Refuse, ..ConvertOptions::default() }
}
