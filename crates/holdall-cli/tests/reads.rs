//! Reads of the command, counted by the kernel: reading a part of a file of many chunks does not read each of them.
//!
//! One test to a process: the kernel adds what an ended child has read to the counter of its parent.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::{Command, Stdio};

/// Reads beyond those for a file of few chunks.
const MAX_MORE_READS: u64 = 4;

/// Chunks of the files that are compared.
const FEW_CHUNKS: usize = 10;
const MANY_CHUNKS: usize = 8000;

const FORMATS: [&str; 2] = ["b2nd", "blp"];

/// Calls of `read` and its kin by this process and by its children that have ended; `None` where the kernel does not count.
fn reads_so_far() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/self/io").ok()?;
    told.lines().find_map(|line| line.strip_prefix("syscr: ")?.parse().ok())
}

/// Reads of one run, which has to succeed.
fn reads_of(at: &Path, args: &[&str]) -> Option<u64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdall"));
    command.current_dir(at).args(args).stdin(Stdio::null()).stdout(Stdio::null());
    let before = reads_so_far()?;
    assert!(command.status().unwrap().success(), "{args:?}");
    reads_so_far()?.checked_sub(before)
}

/// An array of so many integers.
fn npy(count: usize) -> Vec<u8> {
    let mut array = b"\x93NUMPY\x01\0\x76\0".to_vec();
    let head = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({count},), }}");
    array.extend(format!("{head:<117}\n").bytes());
    (0..count as u64).for_each(|number| array.extend((number * number).to_le_bytes()));
    array
}

#[test]
fn a_part_of_a_file_takes_as_many_reads_however_many_chunks_there_are() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for (name, chunks) in [("few", FEW_CHUNKS), ("many", MANY_CHUNKS)] {
        std::fs::write(at.join(format!("{name}.npy")), npy(2 * chunks)).unwrap();
        for format in FORMATS {
            let target = format!("{name}.{format}");
            reads_of(at, &["convert", "--codec", "none", "--chunks", "2", &format!("{name}.npy"), &target]);
        }
    }
    let mut over = Vec::new();
    for format in FORMATS {
        for args in [["ls", ""], ["info", ""], ["cat", "::[5:8]"], ["digest", "::[5:8]"], ["stat", "::[5:8]"]]
        {
            for access in [&["--positioned"][..], &[]] {
                let reads = |name: &str| {
                    let address = format!("{name}.{format}{}", args[1]);
                    reads_of(at, &[&[args[0], &address], access].concat())
                };
                let (Some(few), Some(many)) = (reads("few"), reads("many")) else { return };
                if many > few + MAX_MORE_READS {
                    over.push(format!("{format} {args:?} {access:?}: {few} and {many}"));
                }
            }
        }
    }
    assert!(over.is_empty(), "reads of {FEW_CHUNKS} and {MANY_CHUNKS} chunks: {over:#?}");
}
