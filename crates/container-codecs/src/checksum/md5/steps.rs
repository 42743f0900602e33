//! The 64 steps of MD5, as shared by all implementations.
//!
//! Spec: RFC 1321, 3.4

/// `floor(2^32 * abs(sin(step + 1)))`
#[rustfmt::skip]
pub(in crate::checksum) const SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

/// A, B, C and D before the first block.
pub(in crate::checksum) const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// Bytes that MD5 takes at a time.
pub(in crate::checksum) const BLOCK: usize = 64;

/// Indices of the values that the specification calls a, b, c and d in a step, which changes the first.
pub(in crate::checksum) const fn places(step: usize) -> [usize; 4] {
    let first = (64 - step) % 4;
    [first, (first + 1) % 4, (first + 2) % 4, (first + 3) % 4]
}

/// Expands `$step!(function, step, word, turn)` for each step: the name of its function in the specification, in lower case, its number, the
/// number of its word, and by how many bits it turns. All but the first are constants.
macro_rules! steps {
    ($step:ident) => {
        steps!(@round $step, f, 0, 0, 1, 7, 12, 17, 22);
        steps!(@round $step, g, 16, 1, 5, 5, 9, 14, 20);
        steps!(@round $step, h, 32, 5, 3, 4, 11, 16, 23);
        steps!(@round $step, i, 48, 0, 7, 6, 10, 15, 21);
    };
    // The word of each step of a round is `word + stride * step`.
    (@round $step:ident, $function:ident, $base:literal, $word:literal, $stride:literal, $($turn:literal),*) => {
        steps!(@four $step, $function, $base, 0, $word, $stride, $($turn),*);
        steps!(@four $step, $function, $base, 4, $word, $stride, $($turn),*);
        steps!(@four $step, $function, $base, 8, $word, $stride, $($turn),*);
        steps!(@four $step, $function, $base, 12, $word, $stride, $($turn),*);
    };
    (@four $step:ident, $function:ident, $base:literal, $at:literal, $word:literal, $stride:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        $step!($function, { $base + $at }, { ($word + $stride * $at) % 16 }, $a);
        $step!($function, { $base + $at + 1 }, { ($word + $stride * ($at + 1)) % 16 }, $b);
        $step!($function, { $base + $at + 2 }, { ($word + $stride * ($at + 2)) % 16 }, $c);
        $step!($function, { $base + $at + 3 }, { ($word + $stride * ($at + 3)) % 16 }, $d);
    };
}

pub(in crate::checksum) use steps;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the definition")]
    fn the_table_is_that_of_its_definition() {
        for (step, sine) in SINES.into_iter().enumerate() {
            let number = f64::from(u8::try_from(step + 1).unwrap());
            assert_eq!((number.sin().abs() * f64::exp2(32.0)).floor() as u32, sine, "step {step}");
        }
    }

    #[test]
    fn the_steps_are_those_of_the_specification() {
        let mut taken = Vec::new();
        macro_rules! step {
            ($function:ident, $step:expr, $word:expr, $turn:expr) => {
                taken.push((stringify!($function), $step, $word, $turn));
            };
        }
        steps!(step);
        // RFC 1321, 3.4: [abcd k s i], with i from 1 on.
        for expected in [
            ("f", 0, 0, 7),
            ("f", 15, 15, 22),
            ("g", 16, 1, 5),
            ("g", 17, 6, 9),
            ("g", 31, 12, 20),
            ("h", 32, 5, 4),
            ("h", 34, 11, 16),
            ("h", 47, 2, 23),
            ("i", 48, 0, 6),
            ("i", 50, 14, 15),
            ("i", 63, 9, 21),
        ] {
            assert_eq!(taken[expected.1], expected);
        }
        assert_eq!(taken.len(), 64);
        // [ABCD], [DABC], [CDAB], [BCDA].
        assert_eq!(
            [0, 1, 2, 3, 62].map(places),
            [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0], [2, 3, 0, 1]]
        );
    }
}
