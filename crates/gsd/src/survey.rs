//! What datasets a file has, found in one pass over the index: which names stack, and where the chunks of the others are.

use container_core::{ErrorKind, Result};

use crate::Type;
use crate::file::File;
use crate::frames::Frames;
use crate::gather::{Fallback, Stack};
use crate::hoomd::schema::{self, Inherit};
use crate::index::IndexEntry;
use crate::rank::SHAPE_SUFFIX;

/// Entries between two counts.
const STRIDE: usize = 64;

/// A name that stacks.
#[derive(Clone, Debug)]
pub(crate) struct Stacked {
    pub(crate) id: u16,
    pub(crate) chunk_type: Type,
    pub(crate) n: u64,
    pub(crate) m: u32,
    /// Shape in each frame.
    pub(crate) item: Vec<u64>,
    /// Bytes of its chunks.
    pub(crate) stored: u64,
}

/// What a file shows.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) stacked: Vec<Stacked>,
    /// By id: whether the chunks of a name are listed one by one.
    single: Vec<bool>,
    /// Entries of such names before every 64th entry.
    before: Vec<u64>,
    singles: usize,
    entries: usize,
}

#[derive(Clone, Copy, Default)]
struct Facts {
    first: Option<IndexEntry>,
    uniform: bool,
    count: u64,
    last: u64,
    twice: bool,
    bytes: u64,
}

impl Survey {
    pub(crate) fn new(file: &File, fallback: Fallback) -> Result<Self> {
        let names = file.names().len();
        let mut facts = vec![Facts::default(); names];
        for entry in file.index().iter() {
            let Some(fact) = facts.get_mut(usize::from(entry.id)) else { continue };
            match fact.first {
                None => *fact = Facts { first: Some(entry), uniform: true, ..*fact },
                Some(first) => {
                    fact.uniform &=
                        (first.type_code, first.n, first.m) == (entry.type_code, entry.n, entry.m);
                    fact.twice |= fact.last == entry.frame;
                }
            }
            fact.count += 1;
            fact.last = entry.frame;
            fact.bytes = fact.bytes.saturating_add(entry.size().unwrap_or(0));
        }
        let mut survey =
            Self { stacked: vec![], single: vec![false; names], before: vec![], singles: 0, entries: 0 };
        let shape_of = |id: usize| {
            let name = file.names().get(u16::try_from(id).ok()?)?;
            file.names().id(&format!("{name}{SHAPE_SUFFIX}"))
        };
        let hidden: Vec<u16> = (0..names).filter_map(shape_of).collect();
        for (id, fact) in (0_u16..).zip(&facts) {
            let Some(first) = fact.first else { continue };
            if hidden.contains(&id) {
                continue;
            }
            let stacks = fact.uniform
                && !fact.twice
                && first.chunk_type().is_some()
                && (fact.count == file.nframes() || inherits(file, id, fallback)?);
            let item = if stacks { item_shape(file, id, &first)? } else { None };
            match (item, first.chunk_type()) {
                (Some(item), Some(chunk_type)) => survey.stacked.push(Stacked {
                    id,
                    chunk_type,
                    n: first.n,
                    m: first.m,
                    item,
                    stored: fact.bytes,
                }),
                _ => {
                    if let Some(single) = survey.single.get_mut(usize::from(id)) {
                        *single = true;
                    }
                }
            }
        }
        survey.count(file);
        Ok(survey)
    }

    fn count(&mut self, file: &File) {
        let mut singles = 0;
        for (at, entry) in file.index().iter().enumerate() {
            if at.is_multiple_of(STRIDE) {
                self.before.push(singles);
            }
            singles += u64::from(self.is_single(entry.id));
        }
        self.entries = file.index().len();
        self.singles = usize::try_from(singles).unwrap_or(usize::MAX);
    }

    fn is_single(&self, id: u16) -> bool {
        self.single.get(usize::from(id)).copied().unwrap_or(false)
    }

    /// Datasets of a plain listing.
    pub(crate) fn listed(&self) -> usize {
        self.stacked.len() + self.singles
    }

    /// All datasets.
    pub(crate) fn total(&self) -> usize {
        self.stacked.len() + self.entries
    }

    /// The entry of the dataset at `index`, behind the stacked ones.
    pub(crate) fn entry(&self, file: &File, index: usize) -> Option<IndexEntry> {
        let place = index.checked_sub(self.stacked.len())?;
        let (single, rank) = match place.checked_sub(self.singles) {
            None => (true, place),
            Some(rank) => (false, rank),
        };
        let before = |block: usize| {
            let singles = usize::try_from(*self.before.get(block)?).ok()?;
            Some(if single { singles } else { block * STRIDE - singles })
        };
        let (mut low, mut high) = (0, self.before.len());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if before(middle)? <= rank { low = middle } else { high = middle }
        }
        let mut left = rank - before(low)?;
        let index = file.index();
        (low * STRIDE..index.len()).filter_map(|at| index.get(at)).find(|entry| {
            let hit = self.is_single(entry.id) == single;
            let found = hit && left == 0;
            left = left.saturating_sub(usize::from(hit));
            found
        })
    }

    /// The dataset index of the chunk called `name` in `frame`.
    pub(crate) fn find(&self, file: &File, frame: u64, name: &str) -> Option<usize> {
        let id = file.names().id(name)?;
        let index = file.index();
        let at = file.frame_entries(frame).find(|at| index.get(*at).is_some_and(|entry| entry.id == id))?;
        let block = at / STRIDE;
        let singles = usize::try_from(*self.before.get(block)?).ok()?;
        let within = (block * STRIDE..at).filter_map(|at| index.get(at));
        let singles = singles + within.filter(|entry| self.is_single(entry.id)).count();
        Some(if self.is_single(id) {
            self.stacked.len() + singles
        } else {
            self.stacked.len() + self.singles + at - singles
        })
    }
}

/// `None` for what is wrong with the file; errors of the source are not the file's.
fn told<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::Missing(_) | ErrorKind::Io(_)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether what is not stored comes from frame 0 or a default, in the shape of what is stored.
fn inherits(file: &File, id: u16, fallback: Fallback) -> Result<bool> {
    if !fallback.applies(file) {
        return Ok(false);
    }
    let Some(name) = file.names().get(id) else { return Ok(false) };
    if schema::inherits(&name) == Inherit::Never {
        return Ok(false);
    }
    Ok(told(Stack::new(file, &name, &Frames::all(file), fallback))?.is_some())
}

/// Shape in each frame, with what `<name>/shape` says; `None` where frames differ in it.
fn item_shape(file: &File, id: u16, entry: &IndexEntry) -> Result<Option<Vec<u64>>> {
    let Some(name) = file.names().get(id) else { return Ok(None) };
    let beside = format!("{name}{SHAPE_SUFFIX}");
    if entry.m != 1 || file.names().id(&beside).is_none() {
        return Ok(Some(entry.shape()));
    }
    let Some(stack) = told(Stack::new(file, &beside, &Frames::all(file), Fallback::Stored))? else {
        return Ok(None);
    };
    let (_, rank, columns) = stack.extent();
    if stack.chunk_type() != Type::Uint64 || columns != 1 || rank > 64 {
        return Ok(Some(entry.shape()));
    }
    let Some(all) = told(stack.read(&crate::gather::Rows::All, 1))? else { return Ok(None) };
    let all = told(all.elements::<u64>(container_core::dtype::Order::C, &file.options().limits))?;
    let (Some(all), Ok(rank)) = (all, usize::try_from(rank)) else { return Ok(None) };
    let Some(shape) = all.get(..rank).map(<[u64]>::to_vec) else { return Ok(None) };
    let same = rank == 0 || all.chunks_exact(rank).all(|other| other == shape);
    let product = container_core::region::element_count(shape.iter().copied());
    if product != Some(entry.n) {
        return Ok(Some(entry.shape()));
    }
    Ok(same.then_some(shape))
}
