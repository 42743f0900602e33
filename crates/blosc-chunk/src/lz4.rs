//! LZ4 blocks, fast on shuffled data.
