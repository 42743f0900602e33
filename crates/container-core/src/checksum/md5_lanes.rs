//! MD5 of several inputs at once.
//!
//! One MD5 is a chain of dependent steps, which keeps a core waiting for itself most of the time. Four independent inputs, step by
//! step in turn, take little longer than one: nearly twice the bytes per second were measured. Eight need more registers than there
//! are, and lose. Vector intrinsics do better, but as unsafe code.
//!
//! Spec: RFC 1321

/// Inputs that are digested side by side.
pub const LANES: usize = 4;

/// Bytes that MD5 takes at a time.
const BLOCK: usize = 64;

/// One word of each lane.
type Words = [u32; LANES];

/// `floor(2^32 * abs(sin(step + 1)))`
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501, //
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821, //
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8, //
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a, //
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70, //
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665, //
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1, //
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391, //
];

/// Running digests of [`LANES`] inputs.
///
/// ```
/// let mut lanes = container_core::checksum::Md5Lanes::new();
/// lanes.update([b"", b"a", b"abc", b""]);
/// lanes.update([b"", b"", b"def", b""]);
/// let digests = lanes.finish();
/// assert_eq!(digests[0][..4], [0xd4, 0x1d, 0x8c, 0xd9]);
/// assert_eq!(digests[1][..4], [0x0c, 0xc1, 0x75, 0xb9]);
/// assert_eq!(digests[2][..4], [0xe8, 0x0b, 0x50, 0x17]);
/// ```
#[derive(Clone, Debug)]
pub struct Md5Lanes {
    /// A, B, C and D.
    state: [Words; 4],
    /// Of each lane, bytes that do not fill a block yet.
    rest: [[u8; BLOCK]; LANES],
    /// Of each lane, all bytes so far.
    lens: [u64; LANES],
}

impl Default for Md5Lanes {
    fn default() -> Self {
        Self::new()
    }
}

impl Md5Lanes {
    /// Digests of nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        let state = [[0x6745_2301; LANES], [0xefcd_ab89; LANES], [0x98ba_dcfe; LANES], [0x1032_5476; LANES]];
        Self { state, rest: [[0; BLOCK]; LANES], lens: [0; LANES] }
    }

    /// Takes the next bytes of each lane; of lanes that have ended, none.
    pub fn update(&mut self, mut inputs: [&[u8]; LANES]) {
        loop {
            // Whole blocks that lanes can take together, where nothing is left over from before.
            let mut together = usize::MAX;
            let mut takes = [false; LANES];
            for ((input, len), takes) in inputs.iter().zip(&self.lens).zip(&mut takes) {
                let blocks = input.len() / BLOCK;
                if blocks > 0 && len % (BLOCK as u64) == 0 {
                    *takes = true;
                    together = together.min(blocks);
                }
            }
            if takes.iter().filter(|takes| **takes).count() > 0 && together < usize::MAX {
                let taken = together.saturating_mul(BLOCK);
                // A lane that takes none follows another, and its state is put back.
                let other =
                    inputs.iter().zip(&takes).find(|(_, takes)| **takes).map_or(&[][..], |(input, _)| input);
                let mut shown = [other; LANES];
                for ((shown, input), takes) in shown.iter_mut().zip(&mut inputs).zip(&takes) {
                    if *takes {
                        let (now, later) = input.split_at(taken);
                        (*shown, *input) = (now, later);
                    } else {
                        *shown = &shown[..taken];
                    }
                }
                self.blocks(&shown, together, &takes);
                for (len, takes) in self.lens.iter_mut().zip(&takes) {
                    if *takes {
                        *len = len.saturating_add(taken as u64);
                    }
                }
                continue;
            }
            // What is left is less than a block, or completes one.
            let mut full = [false; LANES];
            let mut moved = false;
            for (lane, input) in inputs.iter_mut().enumerate() {
                let Some(have) = usize::try_from(self.lens[lane] % BLOCK as u64).ok() else { continue };
                let (now, later) = input.split_at(input.len().min(BLOCK.saturating_sub(have)));
                let end = have.saturating_add(now.len());
                self.rest[lane][have..end].copy_from_slice(now);
                *input = later;
                self.lens[lane] = self.lens[lane].saturating_add(now.len() as u64);
                moved |= !now.is_empty();
                full[lane] = !now.is_empty() && end == BLOCK;
            }
            if !moved {
                return;
            }
            self.rests(&full);
        }
    }

    /// The digests.
    #[must_use]
    pub fn finish(mut self) -> [[u8; 16]; LANES] {
        let lens = self.lens;
        // A one, zeros, and the length in bits: one block, or two where that does not fit.
        let mut two = [false; LANES];
        for lane in 0..LANES {
            let have = usize::try_from(lens[lane] % BLOCK as u64).unwrap_or(0);
            self.rest[lane][have..].fill(0);
            self.rest[lane][have] = 0x80;
            two[lane] = have >= BLOCK.saturating_sub(8);
        }
        self.rests(&two);
        for lane in 0..LANES {
            if two[lane] {
                self.rest[lane].fill(0);
            }
            let bits = lens[lane].wrapping_mul(8).to_le_bytes();
            self.rest[lane][BLOCK.saturating_sub(8)..].copy_from_slice(&bits);
        }
        self.rests(&[true; LANES]);
        let mut digests = [[0; 16]; LANES];
        for (lane, digest) in digests.iter_mut().enumerate() {
            for (bytes, words) in digest.chunks_exact_mut(4).zip(&self.state) {
                bytes.copy_from_slice(&words[lane].to_le_bytes());
            }
        }
        digests
    }

    /// Takes what is left over of those lanes that `takes` names, a whole block of each.
    fn rests(&mut self, takes: &[bool; LANES]) {
        if takes.contains(&true) {
            let rest = self.rest;
            self.blocks(&rest.each_ref().map(|bytes| &bytes[..]), 1, takes);
        }
    }

    /// Takes `count` blocks of each lane; the state of lanes that `takes` does not name stays.
    fn blocks(&mut self, inputs: &[&[u8]; LANES], count: usize, takes: &[bool; LANES]) {
        let before = self.state;
        compress(&mut self.state, inputs, count);
        for (now, before) in self.state.iter_mut().zip(&before) {
            for lane in 0..LANES {
                if !takes[lane] {
                    now[lane] = before[lane];
                }
            }
        }
    }
}

/// One step in all lanes: `a = b + rotate(a + f + word + sine)`.
macro_rules! step {
    ($function:expr, $a:ident, $b:ident, $c:ident, $d:ident, $words:ident[$word:expr], $turn:expr, $step:expr) => {
        for lane in 0..LANES {
            let function: fn(u32, u32, u32) -> u32 = $function;
            $a[lane] = $a[lane]
                .wrapping_add(function($b[lane], $c[lane], $d[lane]))
                .wrapping_add($words[$word][lane])
                .wrapping_add(SINES[$step])
                .rotate_left($turn)
                .wrapping_add($b[lane]);
        }
    };
}

/// Sixteen steps that share a function: the word of each is `first + stride * step`.
macro_rules! round {
    ($function:expr, $a:ident, $b:ident, $c:ident, $d:ident, $words:ident, [$($turn:expr),*], $first:expr, $stride:expr, $base:expr) => {
        round!(@four $function, $a, $b, $c, $d, $words, [$($turn),*], $first, $stride, $base, 0);
        round!(@four $function, $a, $b, $c, $d, $words, [$($turn),*], $first, $stride, $base, 4);
        round!(@four $function, $a, $b, $c, $d, $words, [$($turn),*], $first, $stride, $base, 8);
        round!(@four $function, $a, $b, $c, $d, $words, [$($turn),*], $first, $stride, $base, 12);
    };
    (@four $function:expr, $a:ident, $b:ident, $c:ident, $d:ident, $words:ident, [$s0:expr, $s1:expr, $s2:expr, $s3:expr], $first:expr, $stride:expr, $base:expr, $at:expr) => {
        step!($function, $a, $b, $c, $d, $words[($first + $stride * $at) % 16], $s0, $base + $at);
        step!($function, $d, $a, $b, $c, $words[($first + $stride * ($at + 1)) % 16], $s1, $base + $at + 1);
        step!($function, $c, $d, $a, $b, $words[($first + $stride * ($at + 2)) % 16], $s2, $base + $at + 2);
        step!($function, $b, $c, $d, $a, $words[($first + $stride * ($at + 3)) % 16], $s3, $base + $at + 3);
    };
}

/// Takes `count` blocks of each of `inputs`, which are as long or longer.
fn compress(state: &mut [Words; 4], inputs: &[&[u8]; LANES], count: usize) {
    let [mut a, mut b, mut c, mut d] = *state;
    let inputs = inputs.map(|input| input.as_chunks::<BLOCK>().0);
    for number in 0..count {
        let mut words = [[0; LANES]; 16];
        for (lane, input) in inputs.iter().enumerate() {
            for (word, bytes) in words.iter_mut().zip(input[number].as_chunks::<4>().0) {
                word[lane] = u32::from_le_bytes(*bytes);
            }
        }
        let before = [a, b, c, d];
        round!(|x, y, z| z ^ (x & (y ^ z)), a, b, c, d, words, [7, 12, 17, 22], 0, 1, 0);
        round!(|x, y, z| y ^ (z & (x ^ y)), a, b, c, d, words, [5, 9, 14, 20], 1, 5, 16);
        round!(|x, y, z| x ^ y ^ z, a, b, c, d, words, [4, 11, 16, 23], 5, 3, 32);
        round!(|x, y, z| y ^ (x | !z), a, b, c, d, words, [6, 10, 15, 21], 0, 7, 48);
        for lane in 0..LANES {
            a[lane] = a[lane].wrapping_add(before[0][lane]);
            b[lane] = b[lane].wrapping_add(before[1][lane]);
            c[lane] = c[lane].wrapping_add(before[2][lane]);
            d[lane] = d[lane].wrapping_add(before[3][lane]);
        }
    }
    *state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::Algorithm;

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
        let made = md5_many(&inputs.map(str::as_bytes));
        for (made, digest) in made.iter().zip(digests) {
            assert_eq!(made.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), digest);
        }
    }

    /// The digests of any number of inputs, side by side as far as there are lanes.
    fn md5_many(inputs: &[&[u8]]) -> Vec<[u8; 16]> {
        let group = |group: &[&[u8]]| {
            let mut lanes = Md5Lanes::new();
            lanes.update(std::array::from_fn(|lane| group.get(lane).copied().unwrap_or_default()));
            lanes.finish().into_iter().take(group.len()).collect::<Vec<_>>()
        };
        inputs.chunks(LANES).flat_map(group).collect()
    }

    fn bytes(len: usize, seed: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 31 + seed * 7 + at / 251).to_le_bytes()[0]).collect()
    }

    #[test]
    fn every_length_and_number_of_inputs_has_the_digest_of_one() {
        let inputs: Vec<Vec<u8>> = (0..150).map(|len| bytes(len, len)).collect();
        for count in [0, 1, 2, 3, 4, 5, 150] {
            let inputs: Vec<&[u8]> = inputs[150 - count..].iter().map(Vec::as_slice).collect();
            let made = md5_many(&inputs);
            assert_eq!(made.len(), count);
            for (input, made) in inputs.iter().zip(made) {
                assert_eq!(Algorithm::Md5.digest(input).as_bytes(), made, "{} bytes", input.len());
            }
        }
    }

    #[test]
    fn inputs_in_pieces_of_any_length_are_the_same_inputs() {
        let inputs: [Vec<u8>; LANES] = std::array::from_fn(|lane| bytes(lane * 1000 + 500, lane));
        for piece in [1, 63, 64, 65, 130, 5000] {
            let mut lanes = Md5Lanes::new();
            let mut at = [0; LANES];
            let mut round = 0;
            while at.iter().zip(&inputs).any(|(at, input)| *at < input.len()) {
                lanes.update(std::array::from_fn(|lane| {
                    // Each lane at its own pace.
                    let len = (piece + (lane + round) % 3 * 17).min(inputs[lane].len() - at[lane]);
                    at[lane] += len;
                    &inputs[lane][at[lane] - len..at[lane]]
                }));
                round += 1;
            }
            for (input, made) in inputs.iter().zip(lanes.finish()) {
                assert_eq!(Algorithm::Md5.digest(input).as_bytes(), made, "pieces of {piece}");
            }
        }
    }
}
