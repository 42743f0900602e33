//! Options of how files are opened: the fewest that act on what a verb does.

use container_core::Limits;
use container_core::container::{Axes, Defaults, OpenOptions, Tolerance};
use container_core::dtype::DType;
use container_core::format::Formats;
use container_core::source::Access;

use super::{READING, RemoteArgs, dtype};

/// Options of how a file is opened.
pub trait Opening: clap::Args {
    /// The library's options.
    fn options(&self, limits: Limits, formats: Formats) -> OpenOptions;
}

/// Options for what a file leaves open, and for how its bytes are read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OpenSourceArgs {
    /// Codec, where a file leaves it open: lz4, leb128
    ///
    /// As RawArray does by its flag bit 1.
    #[arg(long, help_heading = READING, value_name = "CODEC")]
    pub assume_codec: Option<String>,

    /// Type of elements, where a file has none: '<f4'
    ///
    /// In numpy's words, or a list of fields: for super-chunks of Blosc2, packed bytes of Bloscpack, opaque elements.
    #[arg(long, help_heading = READING, value_name = "DTYPE", value_parser = dtype())]
    pub assume_dtype: Option<DType>,

    /// Read by position instead of mapping the file
    ///
    /// For files that others may truncate or rewrite meanwhile.
    #[arg(long, help_heading = READING)]
    pub positioned: bool,
}

impl Opening for OpenSourceArgs {
    fn options(&self, limits: Limits, formats: Formats) -> OpenOptions {
        let mut options = OpenOptions::default();
        options.limits = limits;
        options.formats = formats;
        options.access = if self.positioned { Access::Positioned } else { Access::Auto };
        options.assume_codec.clone_from(&self.assume_codec);
        options.assume_dtype.clone_from(&self.assume_dtype);
        options
    }
}

/// Option of how strictly a file is read.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct LenientArgs {
    /// Read known mistakes of known writers as meant
    #[arg(long, help_heading = READING)]
    pub lenient: bool,
}

impl Opening for LenientArgs {
    fn options(&self, limits: Limits, formats: Formats) -> OpenOptions {
        let mut options = OpenSourceArgs::default().options(limits, formats);
        options.tolerance = self.tolerance();
        options
    }
}

impl LenientArgs {
    const fn tolerance(self) -> Tolerance {
        if self.lenient { Tolerance::Lenient } else { Tolerance::Strict }
    }
}

/// Options for opening a file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OpenFileArgs {
    #[command(flatten)]
    pub lenient: LenientArgs,

    #[command(flatten)]
    pub source: OpenSourceArgs,
}

impl Opening for OpenFileArgs {
    fn options(&self, limits: Limits, formats: Formats) -> OpenOptions {
        let mut options = self.source.options(limits, formats);
        options.tolerance = self.lenient.tolerance();
        options
    }
}

/// Options for opening a file whose arrays are listed or read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct OpenArgs {
    #[command(flatten)]
    pub file: OpenFileArgs,

    /// Reverse the axes of column-major data, as C order
    ///
    /// No byte moves.
    #[arg(long, help_heading = READING)]
    pub reversed_dims: bool,

    /// Show what is stored, without defaults and masks
    ///
    /// Without the values that a schema puts in the place of absent ones (GSD's hoomd); and all of it, masked elements (ASDF) and deleted rows (tables of Blosc2) too.
    #[arg(long, help_heading = READING)]
    pub stored: bool,
}

impl Opening for OpenArgs {
    fn options(&self, limits: Limits, formats: Formats) -> OpenOptions {
        let mut options = self.file.options(limits, formats);
        options.defaults = if self.stored { Defaults::StoredOnly } else { Defaults::Apply };
        options.axes = if self.reversed_dims { Axes::Reversed } else { Axes::AsStored };
        options
    }
}

/// Options for opening a file, at a path or a URL.
#[derive(Clone, Debug, clap::Args)]
pub struct OpenAnywhereArgs<A: Opening = OpenArgs> {
    #[command(flatten)]
    path: A,

    #[command(flatten)]
    remote: RemoteArgs,
}

impl<A: Opening> OpenAnywhereArgs<A> {
    /// The options that do not concern URLs.
    pub const fn path(&self) -> &A {
        &self.path
    }

    /// The library's options.
    pub fn options(&self, limits: Limits, formats: Formats) -> OpenOptions {
        let mut options = self.path.options(limits, formats);
        options.addresses = Some(self.remote.addresses());
        options
    }
}
