use super::*;

/// Bytes that do not repeat soon.
fn noise(len: usize, seed: usize) -> Vec<u8> {
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

/// Returns the levels of this machine, plain code last. A machine without vectors only tests plain code.
fn levels() -> [Level; 3] {
    [Level::best(), Level::second_best(), Level::PLAIN]
}

/// Numbers of elements around those that a step of any kernel takes.
fn counts() -> Vec<usize> {
    if cfg!(miri) {
        return vec![0, 1, 7, 16, 33];
    }
    let near = |middle: usize| middle - 1..=middle + 1;
    let around = [32, 64, 96, 128, 256].map(near).into_iter().flatten();
    (0..20).chain(around).chain([200, 517]).collect()
}

/// Widths of all kernels, and some that are rare.
fn widths() -> Vec<usize> {
    if cfg!(miri) { vec![1, 2, 3, 4, 8, 17] } else { (1..=64).chain([100, 255, 256]).collect() }
}

#[test]
fn every_level_matches_the_definition_of_shuffle() {
    for width in widths() {
        for count in counts() {
            let src = noise(width * count, width);
            // Gaps between planes, which must stay as they are.
            let stride = count + 3;
            let planes_len = if count == 0 { 0 } else { (width - 1) * stride + count };
            let mut expected = vec![0xee; planes_len];
            for (i, element) in src.chunks_exact(width).enumerate() {
                for (j, byte) in element.iter().enumerate() {
                    expected[j * stride + i] = *byte;
                }
            }
            for level in levels() {
                let mut planes = vec![0xee; planes_len];
                shuffle_planes(level, width, &src, &mut planes, stride);
                assert!(planes == expected, "{level:?}, width {width}, {count} elements");
                let mut back = vec![0xee; src.len()];
                unshuffle_planes(level, width, &planes, stride, &mut back);
                assert!(back == src, "back: {level:?}, width {width}, {count} elements");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn shuffle_is_independent_of_buffer_alignment() {
    for width in [2, 3, 4, 8, 12, 16, 24, 32, 40] {
        for count in [255, 256, 320, 512, 517] {
            let src = noise(width * count, width);
            let mut expected = vec![0; src.len()];
            shuffle_planes(Level::PLAIN, width, &src, &mut expected, count);
            for level in levels() {
                for start in [0, 1, 2, 8, 16, 31, 32, 48, 63] {
                    let mut room = vec![0xee; start + src.len() + 1];
                    shuffle(level, width, &src, &mut room[start..start + src.len()]);
                    assert!(room[start..start + src.len()] == expected, "{level:?} {width} {count} {start}");
                    unshuffle(level, width, &expected, &mut room[start..start + src.len()]);
                    assert!(room[start..start + src.len()] == src, "back: {level:?} {width} {count} {start}");
                    assert!(
                        room[..start].iter().all(|byte| *byte == 0xee) && room[start + src.len()] == 0xee
                    );
                }
            }
        }
    }
}

#[test]
fn every_level_transposes_bits() {
    for len in if cfg!(miri) { vec![0, 7, 8, 33] } else { (0..300).chain([511, 512, 513, 1000]).collect() } {
        let src = noise(len, len);
        let mut expected = src.clone();
        for (to, from) in expected.chunks_exact_mut(8).zip(src.chunks_exact(8)) {
            to.fill(0);
            for (byte, bit) in (0..8).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
                to[bit] |= (from[byte] >> bit & 1) << byte;
            }
        }
        for level in levels() {
            let mut bytes = src.clone();
            transpose_bits(level, &mut bytes);
            assert!(bytes == expected, "{level:?}, {len} bytes");
            transpose_bits(level, &mut bytes);
            assert!(bytes == src, "its own inverse: {level:?}, {len} bytes");
        }
    }
}

#[test]
#[should_panic(expected = "planes that fit")]
fn planes_that_overlap_are_refused() {
    shuffle_planes(Level::best(), 4, &[0; 400], &mut [0; 400], 99);
}

#[test]
#[should_panic(expected = "planes that fit")]
fn a_last_plane_that_is_too_short_is_refused() {
    unshuffle_planes(Level::best(), 4, &[0; 399], 100, &mut [0; 400]);
}

#[test]
#[should_panic(expected = "whole elements")]
fn part_of_an_element_is_refused() {
    shuffle_planes(Level::best(), 4, &[0; 401], &mut [0; 500], 100);
}

/// Elements that are left to plain code cost a multiple: less than a step where loads end with the last element, and less than two where
/// they reach beyond narrow ones.
#[test]
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn vectors_take_all_whole_steps() {
    type Kernel = unsafe fn(usize, &[u8], &mut [u8], usize) -> usize;
    type Inverse = unsafe fn(usize, &[u8], usize, &mut [u8]) -> usize;
    let all: [(Level, usize, Kernel, Inverse); 2] = [
        (Level(Instructions::Avx2), 32, crate::simd::avx2::shuffle, crate::simd::avx2::unshuffle),
        (Level(Instructions::Avx512), 64, crate::simd::avx512::shuffle, crate::simd::avx512::unshuffle),
    ];
    for (level, step, shuffle, unshuffle) in all.into_iter().filter(|(level, ..)| levels().contains(level)) {
        for width in widths() {
            for count in (0..=3 * step).filter(|count| count % step < 3 || count % step > step - 3) {
                let src = noise(width * count, width);
                let mut dst = vec![0; src.len()];
                // SAFETY: the level is one of those of this machine.
                let (done, undone) = unsafe {
                    (shuffle(width, &src, &mut dst, count), unshuffle(width, &src, count, &mut dst))
                };
                let whole = count / step * step;
                let least = match width {
                    1 => 0,
                    2 | 4 | 8 | 16.. => whole,
                    _ => whole.saturating_sub(step),
                };
                let case = format!("{level:?}, width {width}, {count} elements");
                assert!((least..=whole).contains(&done) && done % step == 0, "{case}: {done}");
                assert!((least..=whole).contains(&undone) && undone % step == 0, "back: {case}: {undone}");
            }
        }
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn vectors_transpose_and_sum_whole_registers() {
    for len in (0..200).filter(|len| len % 8 < 2) {
        let mut bytes = noise(len, len);
        if levels().contains(&Level(Instructions::Avx2)) {
            // SAFETY: this machine has the instructions.
            assert_eq!(unsafe { crate::simd::avx2::transpose_bits(&mut bytes) }, len / 8 * 8);
            // SAFETY: as above.
            assert_eq!(unsafe { crate::simd::avx2::scan::<2, true>(&mut bytes) }, len / 32 * 32);
        }
        if levels().contains(&Level(Instructions::Avx512)) {
            // SAFETY: this machine has the instructions.
            assert_eq!(unsafe { crate::simd::avx512::transpose_bits(&mut bytes) }, len / 64 * 64);
        }
    }
}
