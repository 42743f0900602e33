//! Blosc's filters, against what their descriptions say, byte by byte and bit by bit.

use blosc_chunk::filters::{
    bitshuffle, bitshuffle_blosc1, bitunshuffle, bitunshuffle_blosc1, bytedelta_buggy_decode,
    bytedelta_decode, bytedelta_encode, delta_decode, delta_encode, int_trunc, ndcell_decode, ndcell_encode,
    shuffle, trunc_prec, unshuffle,
};

use crate::feed::Feed;

/// Whatever kernel is taken, the bytes are those of the model; nothing is written elsewhere.
pub fn blosc_filters(data: &[u8]) {
    let mut feed = Feed::new(data);
    let width = match feed.below(4) {
        0 => feed.below(1 << 10),
        1 => feed.below(65),
        _ => feed.one_of(&[1, 2, 3, 4, 8, 12, 16, 24, 32, 64]),
    };
    let len = match feed.below(4) {
        0 => feed.below(40),
        1 => feed.below(64) * 16 * width.clamp(1, 64),
        2 => feed.below(600) * width.clamp(1, 64),
        _ => feed.below(1 << 14),
    };
    // Any alignment.
    let shift = feed.below(33);
    let bytes = feed.fill(len + shift);
    let src = &bytes[shift..];
    let w = width.max(1);
    check(shuffled(w, src), |dst| shuffle(width, src, dst));
    check(src.to_vec(), |dst| unshuffle(width, &shuffled(w, src), dst));
    let bits = bitshuffled(w, src);
    check(bits.clone(), |dst| bitshuffle(width, src, dst));
    check(src.to_vec(), |dst| bitunshuffle(width, &bits, dst));
    let whole = (len / w).is_multiple_of(8);
    let old = if whole { bits } else { src.to_vec() };
    check(old.clone(), |dst| bitshuffle_blosc1(width, src, dst));
    check(src.to_vec(), |dst| bitunshuffle_blosc1(width, &old, dst));
    // Any bytes are what some block became.
    check(src.to_vec(), |dst| bitshuffle(width, &made(len, |dst| bitunshuffle(width, src, dst)), dst));
    differences(width, src, &mut feed);
    cut(width, src, feed.byte().cast_signed());
    cells(src, &mut feed);
}

/// Runs `filter` over room in the midst of other bytes, twice.
fn check(expected: Vec<u8>, filter: impl Fn(&mut [u8])) {
    for fill in [0xa5, 0x5a] {
        let mut room = vec![fill; expected.len() + 66];
        let end = expected.len() + 33;
        filter(&mut room[33..end]);
        assert!(room[33..end] == expected, "{:?} is to be {expected:?}", &room[33..end]);
        assert!(room[..33].iter().chain(&room[end..]).all(|byte| *byte == fill));
    }
}

fn made(len: usize, filter: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut dst = vec![0; len];
    filter(&mut dst);
    dst
}

fn shuffled(width: usize, src: &[u8]) -> Vec<u8> {
    let count = src.len() / width;
    let mut dst = src.to_vec();
    for byte in 0..width {
        for element in 0..count {
            dst[byte * count + element] = src[element * width + byte];
        }
    }
    dst
}

fn bitshuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
    let count = src.len() / typesize / 8 * 8;
    let mut dst = src.to_vec();
    dst[..count * typesize].fill(0);
    for element in 0..count {
        for bit in 0..typesize * 8 {
            let is_set = src[element * typesize + bit / 8] >> (bit % 8) & 1;
            dst[bit * (count / 8) + element / 8] |= is_set << (element % 8);
        }
    }
    dst
}

fn differences(width: usize, src: &[u8], feed: &mut Feed<'_>) {
    let streams = if feed.flag() { width } else { feed.below(20) };
    let part = src.len() / streams.max(1);
    let first = |at: usize, every: usize| at.checked_rem(every) == Some(0);
    let model = |reset: usize| {
        let end = part * streams.max(1);
        let mut dst = src.to_vec();
        for at in (0..end).filter(|at| !first(*at, part) && at % part != reset) {
            dst[at] = src[at].wrapping_sub(src[at - 1]);
        }
        dst
    };
    check(model(0), |dst| bytedelta_encode(streams, src, dst));
    check(src.to_vec(), |dst| {
        dst.copy_from_slice(&model(0));
        bytedelta_decode(streams, dst);
    });
    check(src.to_vec(), |dst| {
        dst.copy_from_slice(&model(part / 16 * 16));
        bytedelta_buggy_decode(streams, dst);
    });
    let word = match width.max(1) {
        width @ (1 | 2 | 4 | 8) => width,
        width if width.is_multiple_of(8) => 8,
        _ => 1,
    };
    let end = src.len() / word * word;
    let mut first = src.to_vec();
    for at in word..end {
        first[at] ^= src[at - word];
    }
    check(first.clone(), |dst| delta_encode(width, None, src, dst));
    check(src.to_vec(), |dst| {
        dst.copy_from_slice(&first);
        delta_decode(width, None, dst);
    });
    let longer = feed.below(9);
    let reference = feed.fill(src.len() + longer);
    let mut other = src.to_vec();
    for at in 0..end {
        other[at] ^= reference[at];
    }
    check(other.clone(), |dst| delta_encode(width, Some(&reference), src, dst));
    check(src.to_vec(), |dst| {
        dst.copy_from_slice(&other);
        delta_decode(width, Some(&reference), dst);
    });
}

/// Filters that clear low bits.
fn cut(width: usize, src: &[u8], bits: i8) {
    for (is_float, most) in [(true, [0, 0, 23, 52]), (false, [8, 16, 32, 64])] {
        let index = [1, 2, 4, 8].iter().position(|size| *size == width);
        let most = index.map_or(0, |index| most[index]);
        let cleared = if bits >= 0 { most - i32::from(bits) } else { -i32::from(bits) };
        let fits = most > 0 && i32::from(bits).abs() <= most && cleared < most;
        let filter = if is_float { trunc_prec } else { int_trunc };
        let mut dst = vec![0xa5; src.len()];
        let result = filter(bits, width, src, &mut dst);
        assert_eq!(result.is_ok(), fits, "{bits} bits of {width} bytes: {result:?}");
        if !fits {
            continue;
        }
        let mut expected = src.to_vec();
        for word in expected.chunks_exact_mut(width) {
            for bit in 0..cleared as usize {
                word[bit / 8] &= !(1 << (bit % 8));
            }
        }
        assert!(dst == expected, "{bits} bits of {width} bytes");
    }
}

/// A permutation, and its inverse.
fn cells(src: &[u8], feed: &mut Feed<'_>) {
    let shape: Vec<usize> = (0..1 + feed.below(4)).map(|_| 1 + feed.below(9)).collect();
    let (typesize, cell) = (1 + feed.below(9), feed.byte() >> feed.below(8));
    let len = shape.iter().product::<usize>() * typesize;
    let mut dst = vec![0; src.len()];
    let result = ndcell_encode(cell, &shape, typesize, src, &mut dst);
    if result.is_err() {
        assert!(cell == 0 || len != src.len(), "{result:?}");
    }
    let src: Vec<u8> = src.iter().copied().cycle().take(len).collect();
    if src.len() == len && cell > 0 {
        let mut dst = vec![0; len];
        ndcell_encode(cell, &shape, typesize, &src, &mut dst).expect("they fit");
        check(src, |back| ndcell_decode(cell, &shape, typesize, &dst, back).expect("they fit"));
    }
}
