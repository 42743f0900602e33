//! Running the command, and files made by hand.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The command, in a directory, without the settings of the user who runs the tests. On another processor's behalf it is started by the
/// runner of `cargo xtask cross`.
pub fn holdall(directory: &Path) -> Command {
    let program = env!("CARGO_BIN_EXE_holdall");
    let mut command = match std::env::var_os("HOLDALL_RUNNER") {
        Some(runner) => {
            let mut command = Command::new(runner);
            command.arg(program);
            command
        }
        None => Command::new(program),
    };
    command.current_dir(directory).stdin(Stdio::null());
    for variable in
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "HOLDALL_PAGER", "HOLDALL_PRETTY", "PAGER"]
    {
        command.env_remove(variable);
    }
    command
}

/// Runs it to its end.
pub fn run<S: AsRef<OsStr>>(directory: &Path, args: &[S]) -> Run {
    Run::of(&holdall(directory).args(args).output().unwrap())
}

/// Result of a run.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Standard output, of a run that must have ended with this code.
    #[track_caller]
    pub fn expect(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.err.contains("internal error"), "{self:#?}");
        &self.out
    }
}

/// A directory with one file of every kind that a verb may be given.
///
/// `good.ra` and `good.npy` hold the same 3×2 single floats, column by column 0 to 5; `cut.ra` lacks the last five bytes.
pub fn files() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(directory.path().join(name), bytes).unwrap();
    let good = rawarray(3, 4, &[3, 2], &floats(6));
    write("good.ra", &good);
    write("cut.ra", &good[..good.len() - 5]);
    write("good.npy", &npy("<f4", true, "(3, 2)", &floats(6)));
    write("other.txt", b"neither here nor there\n");
    write("empty.ra", b"");
    std::fs::create_dir(directory.path().join("directory.ra")).unwrap();
    directory
}

/// A RawArray file: six little-endian words after the magic, then the dimensions, then the elements.
pub fn rawarray(eltype: u64, elbyte: u64, dims: &[u64], data: &[u8]) -> Vec<u8> {
    rawarray_with_flags(0, eltype, elbyte, dims, data)
}

/// The same with flag bits; `size` is the length of the data.
pub fn rawarray_with_flags(flags: u64, eltype: u64, elbyte: u64, dims: &[u64], data: &[u8]) -> Vec<u8> {
    let mut bytes = b"rawarray".to_vec();
    let words = [flags, eltype, elbyte, data.len() as u64, dims.len() as u64];
    for word in words.iter().chain(dims) {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(data);
    bytes
}

/// A version 1.0 `.npy` file, as numpy pads it.
pub fn npy(descr: &str, fortran_order: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let descr = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// 0.0, 1.0, 2.0 … as little-endian single floats.
pub fn floats(count: u16) -> Vec<u8> {
    (0..count).flat_map(|number| f32::from(number).to_le_bytes()).collect()
}

/// The names in a directory, sorted, each with its contents.
pub fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).unwrap_or_default())
        })
        .collect();
    all.sort();
    all
}

/// The RawArray fixtures of the repository, by folder.
pub fn fixtures(folder: &str) -> Vec<PathBuf> {
    fixtures_of("rawarray", folder)
}

/// The fixtures of the repository, by format and folder.
pub fn fixtures_of(format: &str, folder: &str) -> Vec<PathBuf> {
    let directory = testdata().join(format).join(folder);
    let entries = std::fs::read_dir(&directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no fixtures in {}", directory.display());
    paths
}

/// The folder of the fixtures.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}
