//! Blosc2 arrays on a server.

use blosc2_frame::b2nd::{NdOptions, write_array};
use container_core::Limits;
use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::region::Region;

use super::Remote;
use crate::counted::Holes;

/// Numbers that no codec makes shorter.
fn noise(count: usize) -> Vec<u64> {
    let mut seed = 1_u64;
    let numbers = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed ^ (seed >> 33)
    });
    numbers.take(count).collect()
}

/// Bytes of the file of an array.
fn file(array: &Array<'_>, options: &NdOptions) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    write_array(&path, array, options).unwrap();
    std::fs::read(&path).unwrap()
}

fn remote(bytes: Vec<u8>) -> Remote {
    Remote::new(Holes::new(bytes.len() as u64, vec![(0, bytes)]))
}

fn values(array: &Array<'_>) -> Vec<u8> {
    array.bytes(Order::C, &Limits::default()).unwrap().into_owned()
}

/// Reads a part of the file of `array`, compares it, and returns the requests, rounds and bytes.
fn cost(remote: &mut Remote, array: &Array<'_>, selection: &str) -> holdall_remote::Traffic {
    let opened = remote.open();
    remote.cost();
    let region = Region::parse(selection, array.shape()).unwrap();
    let read = opened.container.read(0, &region, &ReadOptions::default()).unwrap();
    assert!(values(&read) == values(&array.clone().select(&region).unwrap()), "{selection}");
    remote.cost()
}

#[test]
fn chunks_of_a_slice_are_fetched_in_one_round() {
    // 64 chunks of 256 KiB.
    let numbers = noise(128 * 128 * 128);
    let array = Array::from_elements(&numbers, &[128, 128, 128]).unwrap();
    let mut options = NdOptions::default();
    options.chunkshape = Some(vec![32, 32, 32]);
    let slice = cost(&mut remote(file(&array, &options)), &array, "25:35, 25:35, 25:35");
    assert!(slice.rounds <= 1 && slice.requests <= 8, "{slice:?}");
    // Eight chunks, and the gaps that are fetched along.
    assert!(slice.bytes <= 8 * (256 << 10) * 11 / 10, "{slice:?}");
}

#[test]
fn only_the_blocks_of_large_chunks_are_fetched() {
    // 16 chunks of a mebibyte, of 100 blocks each: stored as they are, and encoded to some 400 KB.
    let noise = noise(1440 * 1440);
    let short: Vec<u64> = noise.iter().map(|number| number & 0xff_ffff).collect();
    let mut options = NdOptions::default();
    (options.chunkshape, options.blockshape) = (Some(vec![360, 360]), Some(vec![36, 36]));
    for (numbers, block) in [(noise, 36 * 36 * 8), (short, 36 * 36 * 3 + 100)] {
        let array = Array::from_elements(&numbers, &[1440, 1440]).unwrap();
        let bytes = file(&array, &options);
        // One block, and one in each of two chunks. Two neighbours share a request.
        for (selection, blocks, requests) in
            [("400:410, 400:410", 1, 2), ("400:410, 430:440", 2, 2), ("410:420, 715:725", 2, 4)]
        {
            let slice = cost(&mut remote(bytes.clone()), &array, selection);
            assert!(slice.rounds <= 2 && slice.requests <= requests, "{selection}: {slice:?}");
            // Header and starts of the blocks of each chunk are 432 bytes.
            assert!(slice.bytes <= blocks * block * 11 / 10 + 900, "{selection}: {slice:?}");
        }
        // Most of a chunk is fetched as a whole.
        let slice = cost(&mut remote(bytes), &array, "0:300, 0:300");
        assert!(slice.rounds == 1 && slice.requests == 1, "{slice:?}");
    }
}

#[test]
fn chunks_with_digests_are_fetched_whole() {
    let numbers = noise(1440 * 360);
    let array = Array::from_elements(&numbers, &[1440, 360]).unwrap();
    let mut options = NdOptions::default();
    (options.chunkshape, options.blockshape) = (Some(vec![360, 360]), Some(vec![36, 36]));
    options.checksums = Some(container_codecs::checksum::Algorithm::Crc32);
    let slice = cost(&mut remote(file(&array, &options)), &array, "400:410, 100:110");
    assert!(slice.bytes > 360 * 360 * 8, "{slice:?}");
}
