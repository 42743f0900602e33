//! Bytes put in or taken out in the header.

use container_core::dtype::ByteOrder;

use super::build::*;
use crate::header::Version;

/// Files of every kind, and their frames.
fn samples() -> Vec<(Builder, Vec<Frame>)> {
    let mut all = vec![sample(5, 4, 5), sample(50, 4, 9)];
    for (version, order) in [
        (Version::new(2, 1), ByteOrder::Big),
        (Version::new(1, 0), ByteOrder::Little),
        (Version::new(0, 3), ByteOrder::Big),
    ] {
        let mut builder = Builder::new("hoomd", version, order);
        for frame in 0..50 {
            builder.hoomd_frame(10 * frame, 5);
        }
        builder.flush();
        let whole = frames(&builder.file).unwrap();
        all.push((builder, whole));
    }
    all
}

fn assert_mended(file: &[u8], whole: &[Frame], what: &str) {
    let (new, report) = repaired(file).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(new == whole && report.lost.is_empty() && !report.guessed.is_empty(), "{what}: {report:?}");
    for item in report.kept.iter().chain(&report.guessed) {
        let range = item.range.clone().unwrap();
        assert!(range.start <= range.end && range.end <= file.len() as u64, "{what}: {report:?}");
    }
}

#[test]
fn what_is_behind_bytes_put_in_in_the_header_is_read_where_it_lies() {
    for (kind, (builder, whole)) in samples().into_iter().enumerate() {
        for at in [8, 13, 20, 30, 39, 40, 47, 48, 49, 54, 89, 112, 118, 125, 176, 200, 255, 256] {
            for more in [&b"x"[..], b"\r\n", b"inserted", &[0; 32]] {
                let file = [&builder.file[..at], more, &builder.file[at..]].concat();
                assert_mended(&file, &whole, &format!("{kind}, {more:?} at {at}"));
            }
        }
    }
}

#[test]
fn what_is_behind_bytes_taken_out_of_the_header_is_read_where_it_lies() {
    for (kind, (builder, whole)) in samples().into_iter().enumerate() {
        for at in [55, 60, 100, 120, 170, 177, 200, 250] {
            for fewer in [1, 5] {
                let file = [&builder.file[..at], &builder.file[at + fewer..]].concat();
                assert_mended(&file, &whole, &format!("{kind}, {fewer} at {at}"));
            }
        }
    }
}
