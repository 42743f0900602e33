//! The crate `zarrs` reads what is converted to Zarr, in a process of its own, which `cargo xtask zarrs` builds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use interop::peer::Peer;
use serde_json::Value;

/// Types of zarr-python that are no part of the core, which zarrs 0.23 does not know.
const UNKNOWN: [&str; 3] = ["null_terminated_bytes", "raw_bytes", "struct"];

/// The program that reads with zarrs, where it is asked for.
pub(super) fn program() -> Option<PathBuf> {
    env::var_os("HOLDALL_ZARRS").map(PathBuf::from)
}

/// Has `program` read each NAME.*.zarr in `folder`, and compares it with NAME.bytes; gives how many zarrs read, and how many it refused for
/// their type.
pub(super) fn compare(program: &Path, folder: &Path) -> (usize, usize) {
    let mut peer = Peer::spawn(Command::new(program)).unwrap();
    let (mut read, mut refused) = (0, 0);
    for zarr in directories(folder) {
        let name = zarr.file_name().unwrap().to_str().unwrap();
        let metadata: Value = serde_json::from_slice(&fs::read(zarr.join("zarr.json")).unwrap()).unwrap();
        let dtype = &metadata["data_type"];
        let dtype = dtype.as_str().or(dtype["name"].as_str()).unwrap();
        let out = folder.join("zarrs.bytes");
        match peer.run("bytes", &[&zarr, &out]) {
            Ok(_) => {
                let wanted = folder.join(name.split('.').next().unwrap()).with_extension("bytes");
                assert_eq!(fs::read(&out).unwrap(), fs::read(wanted).unwrap(), "{name}");
                fs::remove_file(&out).unwrap();
                read += 1;
            }
            Err(error) if UNKNOWN.contains(&dtype) => {
                assert!(format!("{error:#}").contains("data type"), "{name}: {error:#}");
                refused += 1;
            }
            Err(error) => panic!("{name}, {dtype}: {error:#}"),
        }
    }
    (read, refused)
}

fn directories(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut zarrs: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "zarr")).collect();
    zarrs.sort();
    zarrs
}
