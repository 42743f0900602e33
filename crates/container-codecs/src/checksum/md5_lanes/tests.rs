use ::md5::Digest as _;
use proptest::prelude::*;

use super::*;

/// The digest that the crate md-5 computes.
fn theirs(bytes: &[u8]) -> [u8; 16] {
    ::md5::Md5::digest(bytes).into()
}

fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + seed * 7 + at / 251).to_le_bytes()[0]).collect()
}

/// The digests of inputs that are given at once.
fn many(kernel: Kernel, inputs: &[&[u8]]) -> Vec<[u8; 16]> {
    let mut lanes = Md5Lanes::with(kernel, inputs.len());
    lanes.update(inputs);
    lanes.finish()
}

/// RFC 1321, A.5.
#[test]
fn the_digests_of_the_specification() {
    let inputs = [
        "",
        "a",
        "abc",
        "message digest",
        "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
    ];
    let digests = [
        "d41d8cd98f00b204e9800998ecf8427e",
        "0cc175b9c0f1b6a831c399e269772661",
        "900150983cd24fb0d6963f7d28e17f72",
        "f96b697d7cb7938d525a2f31aaf161d0",
        "c3fcd3d76192e4007dfb496cca67e13b",
        "d174ab98d277d9f5a5611c2c9f419d9f",
        "57edf4a22be3c955ac49da2e2107b67a",
    ];
    for kernel in Kernel::all() {
        for (made, digest) in many(kernel, &inputs.map(str::as_bytes)).iter().zip(digests) {
            assert_eq!(made.map(|byte| format!("{byte:02x}")).concat(), digest, "{kernel:?}");
        }
    }
}

/// Every number of lanes in use, and one more than there are, with inputs that end at different times.
#[test]
fn every_number_of_inputs_has_the_digests_of_each_alone() {
    let (step, short, long) = if cfg!(miri) { (5, 1, 70) } else { (1, 23, 700) };
    for kernel in Kernel::all() {
        for count in (0..=2 * kernel.width() + 1).step_by(step) {
            let inputs: Vec<Vec<u8>> =
                (0..count).map(|at| bytes(at * 61 % 40 * short + long * (at % 2), at)).collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let expected: Vec<_> = inputs.iter().map(|input| theirs(input)).collect();
            assert_eq!(many(kernel, &inputs), expected, "{kernel:?}, {count} inputs");
        }
    }
}

#[test]
fn every_length_has_the_digest_of_one_alone() {
    let lens = (0..if cfg!(miri) { 70 } else { 400 }).step_by(if cfg!(miri) { 3 } else { 1 });
    let inputs: Vec<Vec<u8>> = lens.map(|len| bytes(len, len)).collect();
    for kernel in Kernel::all() {
        for group in [kernel.least(), kernel.width(), inputs.len()] {
            for inputs in inputs.chunks(group) {
                let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
                let expected: Vec<_> = inputs.iter().map(|input| theirs(input)).collect();
                assert_eq!(
                    many(kernel, &inputs),
                    expected,
                    "{kernel:?}, {group} of {} bytes",
                    inputs[0].len()
                );
            }
        }
    }
}

/// A lane that has carried into all of its bits, for long.
#[test]
fn long_inputs_have_the_digests_of_each_alone() {
    for kernel in Kernel::all() {
        let inputs: Vec<Vec<u8>> = (0..kernel.width())
            .map(|at| {
                (0..if cfg!(miri) { 200 } else { 200_000_u64 })
                    .map(|byte| (byte.wrapping_mul(0x9E37_79B9_7F4A_7C15 + at as u64) >> 43).to_le_bytes()[0])
                    .collect()
            })
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let expected: Vec<_> = inputs.iter().map(|input| theirs(input)).collect();
        assert_eq!(many(kernel, &inputs), expected, "{kernel:?}");
    }
}

#[test]
fn the_fastest_is_the_widest_and_can_be_filled() {
    assert_eq!(Kernel::all().last(), Some(Kernel::Portable));
    for kernel in Kernel::all() {
        assert!((2..=kernel.width()).contains(&kernel.least()) && kernel.width() <= MAX_LANES, "{kernel:?}");
        assert!(kernel.width() <= Md5Lanes::width());
    }
}

proptest! {
    /// Any inputs in any pieces, each at its own pace.
    #[test]
    #[cfg_attr(miri, ignore = "long data")]
    fn inputs_in_any_pieces_are_the_same_inputs(
        rounds in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..20),
            0..8,
        ),
        count in 0_usize..20,
    ) {
        let mut whole = vec![Vec::new(); count];
        for kernel in Kernel::all() {
            let mut lanes = Md5Lanes::with(kernel, count);
            whole.iter_mut().for_each(Vec::clear);
            for pieces in &rounds {
                let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
                lanes.update(&pieces);
                for (whole, piece) in whole.iter_mut().zip(&pieces) {
                    whole.extend_from_slice(piece);
                }
            }
            let expected: Vec<_> = whole.iter().map(|input| theirs(input)).collect();
            prop_assert_eq!(lanes.finish(), expected, "{:?}", kernel);
        }
    }

    /// One input alone, in any pieces.
    #[test]
    fn one_input_in_any_pieces_has_the_digest_of_the_crate(
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..12),
    ) {
        let mut running = crate::checksum::Algorithm::Md5.start();
        pieces.iter().for_each(|piece| running.update(piece));
        let made = running.finish();
        prop_assert_eq!(made.as_bytes(), theirs(&pieces.concat()));
    }
}
