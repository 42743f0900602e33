//! Names that stack, found in one pass over the index that keeps statistics of each name, not of each chunk.

use container_core::Result;
use container_core::container::{Dataset, Visibility};
use container_core::dtype::Order;

use crate::ChunkType;
use crate::chunk_shape::SHAPE_SUFFIX;
use crate::file::File;
use crate::frames::Frames;
use crate::hoomd::schema::{self, Inherit};
use crate::index::IndexEntry;
use crate::metadata::METADATA;
use crate::stacked::{Defaults, StackedChunks};

/// Common properties of the chunks of one name.
#[derive(Clone, Debug)]
pub(crate) struct StackableName {
    /// Its chunk of the lowest frame.
    pub(crate) first: IndexEntry,
    /// Frames that have one; of several in a frame the one that a search finds counts.
    pub(crate) frames: u64,
    /// Bytes of all of them.
    pub(crate) stored: u64,
    /// True while all have one type and shape.
    pub(crate) alike: bool,
    /// Form in which they are listed.
    pub(crate) view: Listing,
}

/// The datasets that list the chunks of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// As one array whose first axis is the frames; the shape of a chunk.
    Stacked(Vec<u64>),
    /// Frame by frame.
    Apart,
    /// Frame by frame, but only in a recursive listing: metadata.
    Aside,
    /// Not listed: the shape of other chunks.
    Hidden,
}

/// Facts of every name, by id; `None` for names without a chunk.
pub(crate) struct NameStats {
    pub(crate) names: Vec<Option<StackableName>>,
    /// Ids of the chunks that hold the shapes of those of an id.
    pub(crate) shapes: Vec<Option<u16>>,
    /// Source of the values of chunks that a frame lacks.
    pub(crate) defaults: Defaults,
    /// Frames that have a chunk.
    pub(crate) inhabited: u64,
}

impl NameStats {
    pub(crate) fn new(file: &File, defaults: Defaults) -> Result<Self> {
        // Dropped entries may belong to any frame, so a frame that lacks a chunk may have had one.
        let defaults = if file.layout().dropped_entries() > 0 { Defaults::StoredOnly } else { defaults };
        let mut name_stats = Self {
            names: vec![None; file.names().len()],
            shapes: vec![None; file.names().len()],
            defaults,
            inhabited: 0,
        };
        name_stats.collect(file);
        name_stats.find_shapes(file);
        for id in 0..name_stats.names.len() {
            let view = name_stats.view(file, id)?;
            if let Some(name) = &mut name_stats.names[id] {
                name.view = view;
            }
        }
        Ok(name_stats)
    }

    pub(crate) fn get(&self, id: u16) -> Option<&StackableName> {
        self.names.get(usize::from(id))?.as_ref()
    }

    fn collect(&mut self, file: &File) {
        let mut last = None;
        for (_, entry) in file.found_entries() {
            let Some(place) = self.names.get_mut(usize::from(entry.id)) else { continue };
            if last != Some(entry.frame) {
                self.inhabited += 1;
                last = Some(entry.frame);
            }
            let size = entry.size().unwrap_or(0);
            match place {
                Some(name) => {
                    let of = |entry: &IndexEntry| (entry.type_code, entry.n, entry.m);
                    name.alike &= of(&entry) == of(&name.first);
                    name.frames += 1;
                    name.stored = name.stored.saturating_add(size);
                }
                None => {
                    *place = Some(StackableName {
                        first: entry,
                        frames: 1,
                        stored: size,
                        alike: entry.size().is_some(),
                        view: Listing::Apart,
                    });
                }
            }
        }
    }

    /// Finds the names `<name>/shape` that hold shapes: as many as there are chunks of one column, each in uint64.
    fn find_shapes(&mut self, file: &File) {
        for id in 0..self.names.len() {
            let Ok(id) = u16::try_from(id) else { break };
            let own = file.names().bytes(id).and_then(|name| name.strip_suffix(SHAPE_SUFFIX.as_bytes()));
            let base = own.and_then(|base| str::from_utf8(base).ok()).and_then(|base| file.names().id(base));
            let (Some(base), Some(shape)) = (base, self.get(id)) else { continue };
            let fits = |of: &StackableName| of.frames == shape.frames && of.first.frame == shape.first.frame;
            let is_shape = shape.first.chunk_type() == Some(ChunkType::Uint64) && shape.first.m == 1;
            if is_shape && self.get(base).is_some_and(|of| of.first.m == 1 && fits(of)) {
                self.shapes[usize::from(base)] = Some(id);
            }
        }
    }

    fn view(&self, file: &File, id: usize) -> Result<Listing> {
        let (Ok(id), Some(name)) = (u16::try_from(id), self.names.get(id).and_then(Option::as_ref)) else {
            return Ok(Listing::Apart);
        };
        if self.shapes.contains(&Some(id)) {
            return Ok(Listing::Hidden);
        }
        if file.names().bytes(id) == Some(METADATA.as_bytes()) {
            return Ok(Listing::Aside);
        }
        // For a name that is listed twice, the first of the two.
        if file.names().get(id).is_none_or(|text| file.names().id(&text) != Some(id)) {
            return Ok(Listing::Apart);
        }
        let whole = name.frames == file.nframes();
        if !name.alike || !(whole || self.fills(file, id, name)?) {
            return Ok(Listing::Apart);
        }
        Ok(match self.shapes[usize::from(id)] {
            None => Listing::Stacked(name.first.shape()),
            Some(shapes) => self.one_shape(file, name, shapes)?.map_or(Listing::Apart, Listing::Stacked),
        })
    }

    /// True where the schema fills frames without the chunk with values of the same type and shape.
    fn fills(&self, file: &File, id: u16, name: &StackableName) -> Result<bool> {
        let text = file.names().get(id).unwrap_or_default();
        if !self.defaults.applies(file) {
            return Ok(false);
        }
        let initial = name.first.frame == 0;
        let count = schema::field(&text).and_then(|field| field.container.count_chunk());
        let constant = count.and_then(|count| file.names().id(count)).is_none_or(|count| {
            self.get(count)
                .is_none_or(|count| is_number(&count.first) && count.frames == 1 && count.first.frame == 0)
        });
        match schema::inherits(&text) {
            Inherit::Never => Ok(false),
            Inherit::Always if initial => Ok(true),
            Inherit::IfSameN if initial && constant => Ok(true),
            _ => {
                let all = Frames::all(file);
                Ok(skip_file_errors(StackedChunks::like(file, &text, &all, self.defaults, &name.first))?
                    .is_some())
            }
        }
    }

    /// The shape that the chunks of a name have, where all have the same.
    fn one_shape(&self, file: &File, name: &StackableName, shapes: u16) -> Result<Option<Vec<u64>>> {
        let beside = self.get(shapes).filter(|of| of.alike && of.frames == file.nframes());
        let (Some(text), Some(beside)) = (file.names().get(shapes), beside) else { return Ok(None) };
        let stack = StackedChunks::like(file, &text, &Frames::all(file), Defaults::StoredOnly, &beside.first);
        let Some(all) = skip_file_errors(stack.and_then(|stack| stack.read(&crate::Rows::All, 1)))? else {
            return Ok(None);
        };
        let words = skip_file_errors(all.elements::<u64>(Order::C, &file.options().limits))?;
        let (Some(words), Ok(rank)) = (words, usize::try_from(beside.first.n)) else { return Ok(None) };
        if rank == 0 {
            return Ok((name.first.n == 1).then(Vec::new));
        }
        let Some(shape) = words.get(..rank) else { return Ok(None) };
        let same = words.chunks(rank).all(|other| other == shape);
        let count = container_core::region::element_count(shape.iter().copied());
        Ok((same && count == Some(name.first.n)).then(|| shape.to_vec()))
    }

    /// The shape of one chunk as it is listed: that of the chunk `<name>/shape` beside it, where there is one.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn shape_of(&self, file: &File, entry: &IndexEntry) -> Result<Vec<u64>> {
        let shapes = self.shapes.get(usize::from(entry.id)).copied().flatten();
        let beside = shapes.and_then(|shapes| file.find_id(entry.frame, shapes));
        // A shape has at most this many axes.
        let beside = beside.filter(|beside| beside.n <= file.options().limits.ndims && beside.m == 1);
        let Some(beside) = beside.filter(|_| entry.m == 1) else { return Ok(entry.shape()) };
        let shape = skip_file_errors(file.read_elements::<u64>(&beside))?.map(std::borrow::Cow::into_owned);
        let fits =
            |shape: &Vec<u64>| container_core::region::element_count(shape.iter().copied()) == Some(entry.n);
        Ok(shape.filter(fits).unwrap_or_else(|| entry.shape()))
    }

    /// The shape of one chunk in a list, which has no place for errors: reading the chunk gives them.
    pub(crate) fn listed_shape(&self, file: &File, entry: &IndexEntry) -> Vec<u64> {
        self.shape_of(file, entry).unwrap_or_else(|_| entry.shape())
    }

    /// The dataset of a name that stacks.
    pub(crate) fn stacked(&self, file: &File, id: u16) -> Option<Dataset> {
        let name = self.get(id)?;
        let Listing::Stacked(shape) = &name.view else { return None };
        let chunk_type = name.first.chunk_type()?;
        let full: Vec<u64> = [file.nframes()].into_iter().chain(shape.iter().copied()).collect();
        let dtype = chunk_type.dtype(file.header().byte_order);
        Some(Dataset {
            path: file.names().get(id)?.into_owned(),
            logical: container_core::array::byte_len(&dtype, &full).unwrap_or(u64::MAX),
            dtype,
            chunks: Some([1].into_iter().chain(shape.iter().copied()).collect()),
            shape: full,
            order: Order::C,
            codec: "none".to_owned(),
            stored: name.stored,
            attributes: attributes(chunk_type),
            visibility: Visibility::Always,
        })
    }

    /// The dataset of one chunk.
    pub(crate) fn single(&self, file: &File, entry: &IndexEntry) -> Option<Dataset> {
        let name = file.names().get(entry.id)?;
        let apart = self.get(entry.id).is_some_and(|name| name.view == Listing::Apart);
        // A chunk with further damage counts as empty; reading it reports the fault.
        let chunk_type = entry.chunk_type().unwrap_or(ChunkType::Uint8);
        let size = entry.size().unwrap_or(0);
        Some(Dataset {
            path: format!("frames/{}/{name}", entry.frame),
            dtype: chunk_type.dtype(file.header().byte_order),
            shape: if entry.size().is_some() { self.listed_shape(file, entry) } else { vec![0] },
            order: Order::C,
            chunks: None,
            codec: "none".to_owned(),
            stored: size,
            logical: size,
            attributes: attributes(chunk_type),
            visibility: if apart { Visibility::Always } else { Visibility::Recursive },
        })
    }
}

/// True for a chunk of one integer.
fn is_number(entry: &IndexEntry) -> bool {
    let real = [ChunkType::Float, ChunkType::Double, ChunkType::Character];
    entry.n == 1 && entry.m == 1 && entry.chunk_type().is_some_and(|found| !real.contains(&found))
}

/// `None` for faults of the file; errors of the source are returned.
pub(crate) fn skip_file_errors<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_transient() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the attributes that the element type does not contain.
pub(crate) fn attributes(chunk_type: ChunkType) -> Vec<(String, container_core::Value)> {
    match chunk_type {
        ChunkType::Character => vec![("type".to_owned(), ChunkType::Character.name().into())],
        _ => Vec::new(),
    }
}
