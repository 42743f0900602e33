//! Next steps for names of new files whose format is not shown, or not written.

use std::path::Path;

/// The next step for a file of an extension that `convert` does not write; `None` for unknown ones. `NAME` is the file.
const STEPS: &[(&[&str], &str)] = &[
    (
        &["csv", "txt", "json", "bin", "text", "raw"],
        "holdall cat SOURCE -o NAME, which writes values as text, CSV, JSON or plain bytes",
    ),
    (&["tsv", "dat", "ascii"], "holdall cat SOURCE > NAME, which writes values as text"),
    (&["npz"], "holdall extract SOURCE -o DIR, which writes a .npy file for each dataset"),
    (&["png", "svg"], "holdall plot SOURCE -o NAME"),
    (&["jpg", "jpeg", "gif", "tif", "tiff", "pdf", "bmp", "webp"], "holdall plot SOURCE -o NEW.png, or .svg"),
    (&["yaml", "yml"], "holdall meta SOURCE --yaml > NAME, the metadata of ASDF files"),
    (
        &["h5", "hdf5", "hdf", "he5", "nc", "nc4", "cdf"],
        "h5py in Python: h5py.File('NAME', 'w')['data'] = holdall.open('SOURCE')['PATH'][...]",
    ),
    (&["mat"], "scipy in Python: scipy.io.savemat('NAME', {'data': holdall.open('SOURCE')['PATH'][...]})"),
    (
        &["parquet", "feather", "arrow", "xlsx"],
        "holdall cat SOURCE -o NEW.csv, which programs for tables read (holdall catalog writes one Parquet table about many files)",
    ),
    (
        &["gz", "bz2", "xz", "zst", "lz4"],
        "a name without this ending: compression is within the formats, as --codec zstd:5",
    ),
    (&["zip", "tar", "tgz", "7z"], "a file for each source; an archive is made of them afterwards"),
];

/// The next step for a file of this name, with its name in it.
pub(crate) fn step(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let (_, step) = STEPS.iter().find(|(extensions, _)| extensions.contains(&&*extension))?;
    Some(step.replace("NAME", &path.display().to_string()))
}
