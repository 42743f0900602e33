//! Formats of picture files, by the extension of their names.

use std::path::Path;

use container_core::{Error, Limits};
use holdall::open::is_stream;
use holdall_plot::{Scene, pdf, png, raster, svg};

/// Format of a picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFile {
    Png,
    Svg,
    Pdf,
}

impl PictureFile {
    /// The format by the extension of a path; PNG for standard output.
    ///
    /// # Errors
    /// `Usage` for other extensions.
    pub fn of(path: &Path) -> container_core::Result<Self> {
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        match end.as_deref() {
            Some("png") => Ok(Self::Png),
            Some("svg") => Ok(Self::Svg),
            Some("pdf") => Ok(Self::Pdf),
            None if is_stream(path) => Ok(Self::Png),
            _ => Err(Error::usage("unknown extension of a picture (expected .png, .svg or .pdf)")
                .with_hint("-o NEW.png")
                .with_subject(super::shown(path))),
        }
    }

    /// The bytes of the file, with the command that makes it.
    ///
    /// # Errors
    /// `Limit` for a picture over the limits.
    pub fn bytes(self, scene: &Scene, recipe: &str, limits: &Limits) -> container_core::Result<Vec<u8>> {
        match self {
            Self::Png => png(&raster(scene, limits)?, scene.dpi, Some(recipe)),
            Self::Svg => Ok(svg(scene, Some(recipe))?.into_bytes()),
            Self::Pdf => pdf(scene, Some(recipe), limits),
        }
    }
}
