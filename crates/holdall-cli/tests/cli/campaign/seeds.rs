//! Seeds of mutants: the fixtures, files and folders.

use std::path::{Path, PathBuf};

use container_core::container::OpenOptions;
use holdall::open::{Accept, open_with};

use crate::support::testdata;

/// Folder of a mutant in the working folder, with whatever belongs to it.
pub const FOLDER: &str = "in";

/// Larger fixtures add little coverage and take longer.
const MAX_SEED_LEN: usize = 256 << 10;

/// A fixture.
pub struct Seed {
    /// Below `testdata`.
    pub name: String,
    /// The bytes that are changed.
    pub bytes: Vec<u8>,
    /// Positions of fields, as far as the layout has them.
    pub fields: Vec<usize>,
    /// The fixture itself, and of a folder, the file in it that is changed.
    path: PathBuf,
    part: Option<PathBuf>,
}

impl Seed {
    /// Writes a mutant of this seed below the working folder; returns the path for the command.
    pub fn put(&self, folder: &Path, mutant: &[u8]) -> PathBuf {
        let at = folder.join(FOLDER);
        std::fs::create_dir_all(&at).unwrap();
        let Some(part) = &self.part else {
            let file = at.join(self.path.file_name().unwrap());
            std::fs::write(&file, mutant).unwrap();
            return file;
        };
        let target = at.join(self.path.file_name().unwrap());
        copy(&self.path, &target);
        std::fs::write(target.join(part), mutant).unwrap();
        match part.extension().is_some_and(|extension| extension == "asdf") {
            true => target.join(part),
            false => target,
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), &to).unwrap()),
        }
    }
}

/// The seeds of each format.
pub struct Seeds(Vec<(String, Vec<Seed>)>);

impl Seeds {
    /// The format whose turn it is, and its seeds.
    pub fn of_turn(&self, number: u64) -> (&str, &[Seed]) {
        let turn = usize::try_from(number % self.0.len() as u64).unwrap();
        let (format, seeds) = &self.0[turn];
        (format, seeds)
    }
}

/// Every fixture of every format.
pub fn all() -> Seeds {
    let formats = ["asdf", "blosc2", "bloscpack", "gsd", "rawarray"];
    Seeds(formats.map(|format| (format.to_owned(), of(format))).into())
}

fn of(format: &str) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for folder in ["ok", "odd", "bad"] {
        for path in files(&testdata().join(format).join(folder)) {
            let name = format!("{format}/{folder}/{}", path.file_name().unwrap().to_string_lossy());
            if path.is_dir() {
                for part in files(&path).into_iter().filter(|part| part.is_file()) {
                    let part = part.file_name().unwrap().into();
                    push(&mut seeds, &name, &path, Some(part));
                }
            } else {
                push(&mut seeds, &name, &path, None);
            }
        }
    }
    assert!(seeds.len() > 20, "few fixtures of {format}");
    seeds
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn push(seeds: &mut Vec<Seed>, name: &str, path: &Path, part: Option<PathBuf>) {
    let file = part.as_ref().map_or_else(|| path.to_owned(), |part| path.join(part));
    let bytes = std::fs::read(&file).unwrap();
    if bytes.len() <= MAX_SEED_LEN {
        let fields = fields(&file, bytes.len());
        seeds.push(Seed { name: name.to_owned(), bytes, fields, path: path.to_owned(), part });
    }
}

/// Both ends of every range that the layout has, but for the data.
fn fields(file: &Path, len: usize) -> Vec<usize> {
    let mut fields = Vec::new();
    if let Ok(opened) = open_with(file, Accept::Containers, &OpenOptions::default()) {
        let _ = opened.container.for_each_segment(&mut |segment| {
            fields
                .extend([segment.range.start, segment.range.end].map(|at| usize::try_from(at).unwrap_or(0)));
            Ok(())
        });
    }
    fields.retain(|&at| at < len);
    fields
}
