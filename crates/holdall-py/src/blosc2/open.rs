//! An open Blosc2 frame: read, or changed.

use std::path::Path;

use container_core::array::Array;
use container_core::dtype::DType;
use container_core::region::Region;
use container_core::write::{AtomicFile, Overwrite};
use holdall::blosc2_frame::b2nd::{
    Fill, Geometry, NAME, NdArray, NdEditor, NdOptions, OLD_NAME, write_filled,
};
use holdall::blosc2_frame::{
    EditOptions, Editor, Frame, FrameOptions, Header, Metalayers, OpenOptions, RESERVED_NAMES, Writer,
};
use holdall::{Error, ErrorKind, Limits, Result, Stop};

/// The name of the index file in the directory of a sparse frame.
const INDEX: &str = "chunks.b2frame";

/// A frame in one of its states.
pub(super) enum Open {
    Reading(Box<Reading>),
    Frame(Box<Editor>),
    Array(Box<NdEditor>),
    Closed,
}

/// A frame that is read.
pub(super) struct Reading {
    pub(super) frame: Frame,
    /// Type and shapes, where it is an array.
    array: Option<(DType, Geometry)>,
}

/// Contents of a new frame.
pub(super) enum New {
    /// An array, and the one element of which it is full; none for zeros.
    Array { dtype: DType, shape: Vec<u64>, fill: Option<Vec<u8>>, options: NdOptions },
    /// Chunks to come.
    Frame(FrameOptions),
}

impl Open {
    /// Opens a frame for reading. `None` for what is no frame: stores, and other files.
    ///
    /// # Errors
    /// Those of `Frame::open_with` and `NdArray::from_frame`.
    pub(super) fn read(path: &Path, options: &OpenOptions) -> Result<Option<Self>> {
        let is_store = path.is_dir() && !path.join(INDEX).is_file();
        let frame = match Frame::open_with(path, options) {
            Err(error) if matches!(error.kind(), ErrorKind::WrongFormat { .. }) => return Ok(None),
            Err(_) if is_store => return Ok(None),
            other => other?,
        };
        if frame.metalayers().get("b2embed").is_some() {
            return Ok(None);
        }
        if !has_shape(frame.metalayers()) {
            return Ok(Some(Self::Reading(Box::new(Reading { frame, array: None }))));
        }
        let array = NdArray::from_frame(frame)?;
        let shape = (array.dtype().clone(), array.geometry().clone());
        let reading = Reading { array: Some(shape), frame: array.into_frame() };
        Ok(Some(Self::Reading(Box::new(reading))))
    }

    /// Opens a frame for changes. What is no frame was refused by [`Open::read`].
    ///
    /// # Errors
    /// Those of `Editor::open`.
    pub(super) fn edit(path: &Path, options: &EditOptions) -> Result<Self> {
        Self::of(Editor::open(path, options)?, &options.limits)
    }

    /// Makes a frame that appears at `path` with the first commit.
    ///
    /// # Errors
    /// `Usage` where something is there that may not be replaced, and for options that contradict each other; `Io`.
    pub(super) fn create(path: &Path, overwrite: Overwrite, new: &New, edit: &EditOptions) -> Result<Self> {
        let mut file = AtomicFile::create(path, overwrite)?;
        match new {
            New::Array { dtype, shape, fill, options } => {
                let fill = fill.as_deref().map_or(Fill::Zeros, Fill::Value);
                write_filled(&mut file, dtype, shape, fill, options)?;
            }
            New::Frame(options) => Writer::new(&mut file, options.clone())?.finish()?,
        }
        Self::of(Editor::place_on_commit(file, edit)?, &edit.limits)
    }

    fn of(editor: Editor, limits: &Limits) -> Result<Self> {
        if has_shape(editor.metalayers()) {
            return NdEditor::from_editor(editor, limits).map(|array| Self::Array(Box::new(array)));
        }
        Ok(Self::Frame(Box::new(editor)))
    }

    pub(super) fn header(&self) -> Result<&Header> {
        match self {
            Self::Reading(reading) => Ok(reading.frame.header()),
            Self::Frame(_) | Self::Array(_) => Ok(self.editor()?.header()),
            Self::Closed => Err(closed()),
        }
    }

    pub(super) fn metalayers(&self) -> Result<&Metalayers> {
        match self {
            Self::Reading(reading) => Ok(reading.frame.metalayers()),
            Self::Frame(_) | Self::Array(_) => Ok(self.editor()?.metalayers()),
            Self::Closed => Err(closed()),
        }
    }

    pub(super) fn chunk_count(&self) -> Result<u64> {
        match self {
            Self::Reading(reading) => Ok(reading.frame.chunk_count()),
            Self::Frame(_) | Self::Array(_) => Ok(self.editor()?.chunk_count()),
            Self::Closed => Err(closed()),
        }
    }

    pub(super) fn data_len(&self) -> Result<u64> {
        match self {
            Self::Reading(reading) => Ok(reading.frame.data_len()),
            Self::Frame(_) | Self::Array(_) => Ok(self.editor()?.data_len()),
            Self::Closed => Err(closed()),
        }
    }

    /// Element type and shapes; `None` for a frame that is no array.
    pub(super) fn array(&self) -> Result<Option<(DType, Geometry)>> {
        match self {
            Self::Reading(reading) => Ok(reading.array.clone()),
            Self::Array(array) => Ok(Some((array.dtype().clone(), array.geometry().clone()))),
            Self::Frame(_) => Ok(None),
            Self::Closed => Err(closed()),
        }
    }

    /// Names of the user metadata, less those that describe the chunks.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let all: Vec<String> = match self {
            Self::Reading(reading) => reading.frame.vlmetalayer_names().map(str::to_owned).collect(),
            Self::Frame(_) | Self::Array(_) => {
                self.editor()?.vlmetalayer_names().map(str::to_owned).collect()
            }
            Self::Closed => return Err(closed()),
        };
        Ok(all.into_iter().filter(|name| !is_reserved(name)).collect())
    }

    pub(super) fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        if is_reserved(name) {
            return Ok(None);
        }
        match self {
            Self::Reading(reading) => reading.frame.vlmetalayer(name),
            Self::Frame(_) | Self::Array(_) => self.editor()?.vlmetalayer(name),
            Self::Closed => Err(closed()),
        }
    }

    pub(super) fn set_vlmetalayer(&mut self, name: &str, value: &[u8]) -> Result<()> {
        if is_reserved(name) {
            return Err(Error::usage(format!("user metadata {name:?} describe the chunks, and are not set")));
        }
        match self {
            Self::Frame(editor) => editor.set_vlmetalayer(name, value),
            Self::Array(array) => array.set_vlmetalayer(name, value),
            Self::Reading(..) => Err(read_only()),
            Self::Closed => Err(closed()),
        }
    }

    pub(super) fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        match self {
            Self::Reading(..) => Err(read_only()),
            Self::Closed => Err(closed()),
            _ if is_reserved(name) => Ok(false),
            Self::Frame(editor) => Ok(editor.remove_vlmetalayer(name)),
            Self::Array(array) => Ok(array.remove_vlmetalayer(name)),
        }
    }

    /// Whether something is to be committed.
    pub(super) fn is_changed(&self) -> bool {
        self.editor().is_ok_and(Editor::is_changed)
    }

    pub(super) fn set_stop(&mut self, stop: Stop) {
        match self {
            Self::Frame(editor) => editor.set_stop(stop),
            Self::Array(array) => array.set_stop(stop),
            Self::Reading(..) | Self::Closed => {}
        }
    }

    pub(super) fn editor(&self) -> Result<&Editor> {
        match self {
            Self::Frame(editor) => Ok(editor),
            Self::Array(array) => Ok(array.frame()),
            Self::Reading(..) => Err(read_only()),
            Self::Closed => Err(closed()),
        }
    }

    /// The editor of plain chunks, whose values are about to change.
    ///
    /// # Errors
    /// `Unsupported` where other metadata describe the chunks; `Usage` for what is read, or closed, or an array.
    pub(super) fn chunks(&mut self) -> Result<&mut Editor> {
        match self {
            Self::Frame(editor) => {
                require_plain(editor)?;
                Ok(editor)
            }
            Self::Array(_) => Err(Error::usage("the chunks of an array change with its elements")),
            Self::Reading(..) => Err(read_only()),
            Self::Closed => Err(closed()),
        }
    }

    /// The editor of an array, whose elements are about to change.
    ///
    /// # Errors
    /// As [`Open::chunks`].
    pub(super) fn elements(&mut self) -> Result<&mut NdEditor> {
        match self {
            Self::Array(array) => {
                require_plain(array.frame())?;
                Ok(array)
            }
            Self::Frame(_) => Err(Error::usage("a frame without a shape is not an array")),
            Self::Reading(..) => Err(read_only()),
            Self::Closed => Err(closed()),
        }
    }

    /// The elements of a region, uncommitted changes included.
    pub(super) fn read_elements(&self, region: &Region) -> Result<Array<'static>> {
        match self {
            Self::Array(array) => array.read(region),
            Self::Frame(_) => Err(Error::usage("a frame without a shape is not an array")),
            Self::Reading(..) => Err(Error::usage("an array that is read is read as a dataset")),
            Self::Closed => Err(closed()),
        }
    }
}

fn require_plain(editor: &Editor) -> Result<()> {
    let Some(layer) = editor.content_layer() else { return Ok(()) };
    let problem = format!("the values depend on the metadata {layer:?} and cannot be changed alone");
    Err(Error::unsupported(problem)
        .with_hint("only vlmeta are changed here; python-blosc2 changes the values"))
}

fn has_shape(metalayers: &Metalayers) -> bool {
    [NAME, OLD_NAME].iter().any(|name| metalayers.get(name).is_some())
}

fn is_reserved(name: &str) -> bool {
    RESERVED_NAMES.contains(&name)
}

fn closed() -> Error {
    Error::usage("the file is closed").with_hint("open it again")
}

fn read_only() -> Error {
    Error::usage("the file was opened for reading").with_hint("open it with mode \"r+\"")
}
