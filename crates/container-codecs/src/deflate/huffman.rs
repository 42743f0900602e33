//! Huffman codes of limited length (RFC 1951 section 3.2.2).

/// Symbols of the largest alphabet, literals and lengths.
pub(super) const MAX_ALPHABET: usize = 288;

/// Finds the lengths of the codes, at most `longest`, for symbols that occur `counts` times; 0 where one does not. At least two symbols get a
/// code, so that codes are always complete: RFC 1951 allows one code alone in some places, and not every decoder does.
pub(super) fn lengths(counts: &[u32], longest: usize, lens: &mut [u8]) {
    lens.fill(0);
    // Sorted by count, then by symbol.
    let mut sorted = [0_u64; MAX_ALPHABET];
    let mut used = 0;
    for (symbol, count) in (0_u64..).zip(counts).filter(|(_, count)| **count > 0) {
        sorted[used] = u64::from(*count) << 16 | symbol;
        used += 1;
    }
    if used < 2 {
        let there = if used == 1 { (sorted[0] & 0xffff) as usize } else { 0 };
        lens[there] = 1;
        lens[usize::from(there == 0)] = 1;
        return;
    }
    let sorted = &mut sorted[..used];
    sorted.sort_unstable();
    let per_len = limited(&depths(sorted), longest);
    // The rarest get the longest.
    let mut at = sorted.iter();
    for len in (1..=longest).rev() {
        for entry in at.by_ref().take(per_len[len] as usize) {
            lens[(entry & 0xffff) as usize] = len as u8;
        }
    }
}

/// Number of leaves of a Huffman tree at each depth; those deeper than 31 count as 31.
fn depths(sorted: &[u64]) -> [u32; 32] {
    let used = sorted.len();
    // Inner nodes come out in the order of their counts, so the two smallest nodes are always at the front of the two queues.
    let mut inner = [0_u64; MAX_ALPHABET];
    let mut parents = [0_u16; 2 * MAX_ALPHABET];
    let (mut leaf, mut joined) = (0, 0);
    for made in 0..used - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let is_leaf = leaf < used && (joined == made || sorted[leaf] >> 16 <= inner[joined]);
            if is_leaf {
                sum += sorted[leaf] >> 16;
                parents[leaf] = made as u16;
                leaf += 1;
            } else {
                sum += inner[joined];
                parents[MAX_ALPHABET + joined] = made as u16;
                joined += 1;
            }
        }
        inner[made] = sum;
    }
    let mut depth = [0_u8; MAX_ALPHABET];
    for node in (0..used - 2).rev() {
        depth[node] = (depth[parents[MAX_ALPHABET + node] as usize] + 1).min(30);
    }
    let mut count = [0; 32];
    for parent in &parents[..used] {
        count[usize::from(depth[usize::from(*parent)]) + 1] += 1;
    }
    count
}

/// Makes codes longer than `longest` shorter, and others longer until there is room for all: the code is complete again.
fn limited(per_len: &[u32; 32], longest: usize) -> [u32; 32] {
    let mut per_len = *per_len;
    let over: u32 = per_len[longest + 1..].iter().sum();
    if over == 0 {
        return per_len;
    }
    per_len[longest + 1..].fill(0);
    per_len[longest] += over;
    let taken = |per_len: &[u32; 32]| -> u64 {
        (1..=longest).map(|len| u64::from(per_len[len]) << (longest - len)).sum()
    };
    let room = 1_u64 << longest;
    // Each step gives the leaf of some inner place a sibling from the deepest.
    while taken(&per_len) > room {
        let Some(len) = (1..longest).rev().find(|len| per_len[*len] > 0) else { break };
        per_len[len] -= 1;
        per_len[len + 1] += 1;
    }
    // Excess code space is taken back, the largest pieces first. The deepest leaves always fit one level higher while there is room.
    while taken(&per_len) < room {
        for len in 2..=longest {
            while per_len[len] > 0 && taken(&per_len) + (1 << (longest - len)) <= room {
                per_len[len] -= 1;
                per_len[len - 1] += 1;
            }
        }
    }
    per_len
}

/// The codes that follow from lengths: the bits in the order in which they are written, and above them, from bit 16 on, how many.
pub(super) fn codes(lens: &[u8], codes: &mut [u32]) {
    let mut per_len = [0_u32; 16];
    for len in lens.iter().filter(|len| **len > 0) {
        per_len[usize::from(*len)] += 1;
    }
    let mut next = [0_u32; 16];
    for len in 1..16 {
        next[len] = (next[len - 1] + per_len[len - 1]) << 1;
    }
    for (len, code) in lens.iter().zip(codes) {
        *code = 0;
        if *len > 0 {
            let this = &mut next[usize::from(*len)];
            *code = this.reverse_bits() >> (32 - u32::from(*len)) | u32::from(*len) << 16;
            *this += 1;
        }
    }
}
