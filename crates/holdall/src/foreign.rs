//! Files of other programs: formats that holdall does not open, named by their signatures.
//!
//! A container inside such a file belongs to it, and a repair that takes one out loses the others. Errors name the format
//! and the program that opens it instead.

use std::path::Path;

mod fits_extensions;
mod texts;

use container_core::format::Probe;
use container_core::source::Source;
use container_core::{Error, Result};

/// A format that holdall does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The kind of file, with its article.
    pub(crate) what: &'static str,
    /// The next step for such a file.
    hint: &'static str,
}

const HDF5: Foreign = Foreign {
    what: "an HDF5 file",
    hint: "h5py reads it (after `import hdf5plugin`, chunks of Blosc2 too); holdall converts what numpy.save writes of it",
};
const NETCDF: Foreign = Foreign {
    what: "a netCDF file",
    hint: "xarray or scipy.io.netcdf_file reads it; holdall converts what numpy.save writes of it",
};
const FITS: Foreign = Foreign {
    what: "a FITS file",
    hint: "astropy.io.fits reads it; holdall converts what numpy.save writes of it",
};
const ASDF_IN_FITS: Foreign = Foreign {
    what: "a FITS file with ASDF in its extension ASDF, as of JWST",
    hint: "jwst.datamodels.open('FILE') reads it, or asdf.fits_embed of asdf 2; the ASDF file alone is \
           astropy.io.fits.open('FILE')['ASDF'].data.tobytes()",
};
const ZIP: Foreign = Foreign { what: "a zip archive", hint: "unzip FILE, and then holdall on its members" };
const NPZ: Foreign = Foreign {
    what: "an .npz file, a zip archive of numpy's arrays",
    hint: "unzip FILE, and then holdall convert on its .npy members",
};
const ZARR_ZIP: Foreign = Foreign {
    what: "a zip archive of a Zarr store",
    hint: "zarr.open reads it; holdall converts what numpy.save writes of it",
};
const ZARR: Foreign = Foreign {
    what: "a Zarr directory",
    hint: "zarr.open reads it; holdall converts what numpy.save writes of it",
};
const TAR: Foreign = Foreign { what: "a tar archive", hint: "tar -xf FILE, and then holdall on its members" };
const PICKLE: Foreign = Foreign {
    what: "a pickle of Python",
    hint: "loading a pickle runs its code, so holdall does not open it; Python's pickle.load does, for files that you trust",
};
const GZIP: Foreign =
    Foreign { what: "a gzip file", hint: "gzip -dc FILE > NEW, and then holdall on the result" };
const BZIP2: Foreign =
    Foreign { what: "a bzip2 file", hint: "bzip2 -dc FILE > NEW, and then holdall on the result" };
const XZ: Foreign = Foreign { what: "an xz file", hint: "xz -dc FILE > NEW, and then holdall on the result" };
const ZSTD: Foreign =
    Foreign { what: "a Zstandard file", hint: "zstd -dc FILE > NEW, and then holdall on the result" };
const LZ4: Foreign =
    Foreign { what: "an LZ4 file", hint: "lz4 -dc FILE > NEW, and then holdall on the result" };
const SEVEN_ZIP: Foreign =
    Foreign { what: "a 7z archive", hint: "7z x FILE, and then holdall on its members" };

const PNG: Foreign = Foreign { what: "a PNG picture", hint: PICTURE };
const JPEG: Foreign = Foreign { what: "a JPEG picture", hint: PICTURE };
const GIF: Foreign = Foreign { what: "a GIF picture", hint: PICTURE };
const TIFF: Foreign = Foreign {
    what: "a TIFF file",
    hint: "tifffile.imread reads it; holdall converts what numpy.save writes of it",
};
/// Next step for pictures.
const PICTURE: &str =
    "imageio.v3.imread or PIL.Image.open reads it; holdall converts what numpy.save writes of it";
const PDF: Foreign = Foreign { what: "a PDF document", hint: "a viewer of PDF opens it; it has no arrays" };
const PARQUET: Foreign = Foreign {
    what: "a Parquet table",
    hint: "pyarrow.parquet, polars or DuckDB reads it; a catalogue of holdall is searched by holdall find",
};
const ARROW: Foreign = Foreign { what: "an Arrow file", hint: "pyarrow.feather or polars reads it" };
const MATLAB: Foreign = Foreign {
    what: "a MATLAB file",
    hint: "scipy.io.loadmat reads it; holdall converts what numpy.save writes of it",
};
const HDF4: Foreign =
    Foreign { what: "an HDF4 file", hint: "pyhdf reads it; holdall converts what numpy.save writes of it" };
const CDF: Foreign = Foreign {
    what: "a CDF file of NASA",
    hint: "cdflib reads it; holdall converts what numpy.save writes of it",
};
const SQLITE: Foreign = Foreign { what: "an SQLite database", hint: "sqlite3 FILE opens it" };

/// Signature of HDF5. Spec: HDF5 File Format Specification 3.0, II.A "Format Signature and Superblock".
const HDF5_MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// HDF5 files may begin with a block of the user's, of 512 bytes or a power of two times that.
const MAX_USER_BLOCK: u64 = 1 << 20;

/// Signatures that files begin with.
const MAGICS: &[(&[u8], Foreign)] = &[
    (HDF5_MAGIC, HDF5),
    (b"CDF\x01", NETCDF),
    (b"CDF\x02", NETCDF),
    (b"CDF\x05", NETCDF),
    (b"SIMPLE  =", FITS),
    (b"\x1f\x8b\x08", GZIP),
    (b"BZh", BZIP2),
    (b"\xfd7zXZ\0", XZ),
    (b"\x28\xb5\x2f\xfd", ZSTD),
    (b"\x04\x22\x4d\x18", LZ4),
    (b"7z\xbc\xaf\x27\x1c", SEVEN_ZIP),
    (b"PK\x05\x06", ZIP),
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"II*\0", TIFF),
    (b"MM\0*", TIFF),
    (b"%PDF-", PDF),
    (b"PAR1", PARQUET),
    (b"ARROW1\0\0", ARROW),
    (b"MATLAB 5.0 MAT-file", MATLAB),
    (b"\x0e\x03\x13\x01", HDF4),
    (b"\xcd\xf3\x00\x01", CDF),
    (b"SQLite format 3\0", SQLITE),
];

impl Foreign {
    /// The format of a file by its first bytes, or of a directory by the files in it.
    pub(crate) fn of_probe(probe: &Probe<'_>) -> Option<Self> {
        match probe.directory {
            Some(directory) => is_zarr(directory).then_some(ZARR),
            None => Self::of_head(probe.head),
        }
    }

    fn of_head(head: &[u8]) -> Option<Self> {
        let begins = |(magic, _): &&(&[u8], Self)| head.starts_with(magic);
        if let Some((_, foreign)) = MAGICS.iter().find(begins) {
            return Some(*foreign);
        }
        if head.starts_with(b"PK\x03\x04") {
            return Some(of_zip(head));
        }
        if is_tar(head) {
            return Some(TAR);
        }
        is_pickle(head).then_some(PICKLE)
    }

    /// The format of a file by bytes that are not its first: HDF5 after a user block, zip after a program.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn of_source(source: &dyn Source) -> Result<Option<Self>> {
        let len = HDF5_MAGIC.len() as u64;
        let places = std::iter::successors(Some(512_u64), |at| at.checked_mul(2));
        for at in places.take_while(|at| *at <= MAX_USER_BLOCK && at + len <= source.len()) {
            if *source.read(at..at + len)? == *HDF5_MAGIC {
                return Ok(Some(HDF5));
            }
        }
        Ok(ends_as_zip(source)?.then_some(ZIP))
    }

    /// A FITS file with an ASDF extension.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn of_fits(source: &dyn Source) -> Result<Option<Self>> {
        Ok(fits_extensions::has(source, "ASDF")?.then_some(ASDF_IN_FITS))
    }

    /// The kind of a text, by its first bytes: for files in which no container was found, since texts may precede one.
    pub(crate) fn of_text(head: &[u8]) -> Option<Self> {
        texts::kind(head)
    }

    /// The error, with the name of the format and a hint.
    pub(crate) fn explain(self, error: Error) -> Error {
        error.with_context(format!("this is {}", self.what)).with_hint(self.hint)
    }
}

/// The kind of a zip archive, by the name of its first member.
/// Spec: APPNOTE.TXT 6.3.10, 4.3.7 "Local file header".
fn of_zip(head: &[u8]) -> Foreign {
    let len = head.get(26..28).map_or(0, |len| usize::from(u16::from_le_bytes([len[0], len[1]])));
    let name = head.get(30..).map_or(&[][..], |rest| &rest[..len.min(rest.len())]);
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match last {
        b".zarray" | b".zgroup" | b".zattrs" | b".zmetadata" | b"zarr.json" => ZARR_ZIP,
        last if last.ends_with(b".npy") => NPZ,
        _ => ZIP,
    }
}

/// Whether the bytes end as a zip archive does.
/// Spec: APPNOTE.TXT 6.3.10, 4.3.16 "End of central directory record".
fn ends_as_zip(source: &dyn Source) -> Result<bool> {
    const MAGIC: &[u8] = b"PK\x05\x06";
    const LEN: usize = 22;
    let end = source.len();
    let tail = source.read(end.saturating_sub((LEN + usize::from(u16::MAX)) as u64)..end)?;
    // The record ends with the length of the comment that follows it.
    let is_record = |record: &[u8]| {
        record.starts_with(MAGIC)
            && usize::from(u16::from_le_bytes([record[LEN - 2], record[LEN - 1]])) == record.len() - LEN
    };
    Ok((0..(tail.len() + 1).saturating_sub(LEN)).any(|at| is_record(&tail[at..])))
}

/// Whether the first member's header fits its own checksum, which archives older than `ustar` have as well.
/// Spec: POSIX.1-2024, pax, "ustar Interchange Format": the sum of all bytes of the header, with blanks in its own place.
fn is_tar(head: &[u8]) -> bool {
    const LEN: usize = 512;
    let Some(header) = head.get(..LEN) else { return false };
    let digits = header[148..156].trim_ascii_start();
    let end = digits.iter().position(|byte| !(b'0'..=b'7').contains(byte)).unwrap_or(digits.len());
    if end == 0 || digits[end..].iter().any(|byte| !matches!(byte, 0 | b' ')) || header[0] == 0 {
        return false;
    }
    let stored = digits[..end].iter().fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    let sum: u32 = header[..148].iter().chain(&header[156..]).map(|byte| u32::from(*byte)).sum();
    stored == sum + 8 * u32::from(b' ')
}

/// Whether the bytes begin as a pickle of protocol 2 or later: `PROTO`, and then a frame or one of the operations with
/// which pickles of arrays, bytes, containers and instances begin.
/// Spec: `pickletools.opcodes` of `CPython`.
fn is_pickle(head: &[u8]) -> bool {
    match head {
        // Protocols 4 and 5 put data longer than three bytes into frames.
        [0x80, 4 | 5, 0x95, frame @ ..] => frame.get(..8).is_some_and(|len| len[6..] == [0, 0]),
        [0x80, 2 | 3, code, ..] => b"c}](X)CBUTK\x8a\x8c\x8e".contains(code),
        _ => false,
    }
}

/// Whether a directory is a Zarr array or group, of version 2 or 3.
fn is_zarr(directory: &Path) -> bool {
    [".zarray", ".zgroup", "zarr.json"].iter().any(|name| directory.join(name).is_file())
}

#[cfg(test)]
mod tests;
