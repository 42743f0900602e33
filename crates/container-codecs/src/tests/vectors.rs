//! Encoded data from other implementations, and their contents.
//!
//! Made by Python 3.13 with zlib 1.2.13, bz2 (bzip2 1.0.8), python-zstandard 0.25.0 (zstd 1.5.7) and
//! python-lz4 4.4.5 (LZ4 1.9.4); `made_by` is the expression.

/// One encoding made elsewhere.
pub(super) struct Vector {
    pub(super) codec: &'static str,
    pub(super) made_by: &'static str,
    pub(super) data: Data,
    pub(super) hex: &'static str,
}

/// Decoded data of a [`Vector`], under the name that its expression uses.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "each codec's vectors use some of them")]
pub(super) enum Data {
    /// `b""`
    Empty,
    /// `b"holdall " * 12 + bytes(range(0, 256, 5))`
    Mixed,
    /// `bytes(1000)`
    Thousand,
    /// `b"abc" * 100`
    Abc,
    /// `bytes(8 << 20)`
    Zeros,
}

impl Data {
    pub(super) fn bytes(self) -> Vec<u8> {
        match self {
            Self::Empty => Vec::new(),
            Self::Mixed => b"holdall ".repeat(12).into_iter().chain((0..=255).step_by(5)).collect(),
            Self::Thousand => vec![0; 1000],
            Self::Abc => b"abc".repeat(100),
            Self::Zeros => vec![0; 8 << 20],
        }
    }
}

impl Vector {
    pub(super) fn encoded(&self) -> Vec<u8> {
        unhex(self.hex)
    }
}

/// The bytes that `hex` spells.
pub(super) fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|c| u8::try_from(c.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The vectors of the codecs in this build.
pub(super) fn all() -> Vec<&'static Vector> {
    let groups: &[&[Vector]] = &[
        #[cfg(feature = "zlib")]
        ZLIB,
        #[cfg(feature = "bzip2")]
        BZIP2,
        #[cfg(feature = "zstd")]
        ZSTD,
        #[cfg(feature = "lz4")]
        LZ4,
        #[cfg(feature = "lz4")]
        LZ4_FRAMES,
        #[cfg(feature = "xz")]
        XZ,
    ];
    groups.iter().copied().flatten().collect()
}

#[cfg(feature = "zlib")]
const ZLIB: &[Vector] = &[
    Vector {
        codec: "zlib",
        made_by: "zlib.compress(MIXED)",
        data: Data::Mixed,
        hex: "789ccbc8cf4949ccc951c8a011cdc0cac52f2229a7aca16b646ee3e8e61d101a159f9299575c51dbd4de3371dae\
              c054b57addfb273dfe113672f5dbff3f0d9eb0f5f7ffd0700f93b3de7",
    },
    Vector {
        codec: "zlib",
        made_by: "zlib.compress(MIXED, 0)",
        data: Data::Mixed,
        hex: "78010194006bff686f6c64616c6c20686f6c64616c6c20686f6c64616c6c20686f6c64616c6c20686f6c64616c6\
              c20686f6c64616c6c20686f6c64616c6c20686f6c64616c6c20686f6c64616c6c20686f6c64616c6c20686f6c64\
              616c6c20686f6c64616c6c2000050a0f14191e23282d32373c41464b50555a5f64696e73787d82878c91969ba0a\
              5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5fafff93b3de7",
    },
    Vector {
        codec: "zlib",
        made_by: "zlib.compressobj(wbits=9): its header declares a window of 512 bytes",
        data: Data::Mixed,
        hex: "1895cbc8cf4949ccc951c8a011cdc0cac52f2229a7aca16b646ee3e8e61d101a159f9299575c51dbd4de3371dae\
              c054b57addfb273dfe113672f5dbff3f0d9eb0f5f7ffd0700f93b3de7",
    },
    Vector {
        codec: "zlib",
        made_by: "zlib.compressobj(strategy=zlib.Z_FIXED)",
        data: Data::Mixed,
        hex: "7801cbc8cf4949ccc951c8a011cdc0cac52f2229a7aca16b646ee3e8e61d101a159f9299575c51dbd4de3371dae\
              c054b57addfb273dfe113672f5dbff3f0d9eb0f5f7ffd0700f93b3de7",
    },
    Vector {
        codec: "zlib",
        made_by: "zlib.compressobj(), flushed with Z_FULL_FLUSH after 50 bytes",
        data: Data::Mixed,
        hex: "789ccac8cf4949ccc951c8209a06000000ffffcb4949ccc951c8c8cf218a6660e5e217919453d6d03532b77174f\
              30e088d8a4fc9cc2baea86d6aef99386df682a5abd66fd9b9eff089b397aedf79f8ecf587afbffe0300f93b3de7",
    },
    Vector { codec: "zlib", made_by: "zlib.compress(EMPTY)", data: Data::Empty, hex: "789c030000000001" },
];

#[cfg(feature = "bzip2")]
const BZIP2: &[Vector] = &[
    Vector {
        codec: "bzp2",
        made_by: "bz2.compress(MIXED)",
        data: Data::Mixed,
        hex: "425a6839314159265359b82c9a1f0000227fffc21084214842108421084210a4658842108421084210842108421\
              08421084210a00054520d00000d3400000000d2868462613004c4181300269899c7a064528402e9d54556ecbb0c\
              b5ddb71f0097009e78887063005e0028400908000628e49669e8a6aaecb6ebf0c72cf4d76df8e7aefcf7efc5dc9\
              14e14242e0b2687c0",
    },
    Vector {
        codec: "bzp2",
        made_by: "bz2.compress(MIXED[:99], 1) + bz2.compress(MIXED[99:], 9)",
        data: Data::Mixed,
        hex: "425a68313141592653590807f97f0000195100421040002444a00031064c4052a1309ac67a5c2c17d4de4bc5d2f\
              17e2ee48a70a120100ff2fe425a68393141592653595078e0e20000007fff800084210842108421084210842108\
              4210842108421084210842108421084210a000318034d0d1a311900d001a18510343469a0d1a068d000d1a304d3\
              6e3af0df821245196434b34f41e9a915d96dd7a70c55967a6bb6fc73d77e2fdf99f8bb9229c2848283c707100",
    },
    Vector {
        codec: "bzp2",
        made_by: "bz2.compress(EMPTY) + bz2.compress(MIXED) + bz2.compress(EMPTY)",
        data: Data::Mixed,
        hex: "425a683917724538509000000000425a6839314159265359b82c9a1f0000227fffc21084214842108421084210a\
              465884210842108421084210842108421084210a00054520d00000d3400000000d2868462613004c41813002698\
              99c7a064528402e9d54556ecbb0cb5ddb71f0097009e78887063005e0028400908000628e49669e8a6aaecb6ebf\
              0c72cf4d76df8e7aefcf7efc5dc914e14242e0b2687c0425a683917724538509000000000",
    },
    Vector {
        codec: "bzp2",
        made_by: "bz2.compress(EMPTY)",
        data: Data::Empty,
        hex: "425a683917724538509000000000",
    },
    Vector {
        codec: "bzp2",
        made_by: "bz2.compress(ZEROS)",
        data: Data::Zeros,
        hex: "425a6839314159265359a23d4b580040404080c00000040008200030cc0529a60100d8808078bb9229c2848511e\
              a5ac0",
    },
];

#[cfg(feature = "zstd")]
const ZSTD: &[Vector] = &[
    Vector {
        codec: "zstd",
        made_by: "ZstdCompressor().compress(MIXED)",
        data: Data::Mixed,
        hex: "28b52ffd2094250200c403686f6c64616c6c2000050a0f14191e23282d32373c41464b50555a5f64696e73787d8\
              2878c91969ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff0100b5a97001",
    },
    Vector {
        codec: "zstd",
        made_by: "ZstdCompressor(level=22, write_checksum=True, write_content_size=False).compress(MIXED)",
        data: Data::Mixed,
        hex: "28b52ffd04001d0200c403686f6c64616c6c2000050a0f14191e23282d32373c41464b50555a5f64696e73787d8\
              2878c91969ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff010075ba5c09e78027",
    },
    // The library's window is at most 1 GiB on 32-bit targets, where these data are unsupported.
    #[cfg(target_pointer_width = "64")]
    Vector {
        codec: "zstd",
        made_by: "a compressobj() with ZstdCompressionParameters(window_log=31): declares a window of 2 GiB",
        data: Data::Mixed,
        hex: "28b52ffd00a8250200c403686f6c64616c6c2000050a0f14191e23282d32373c41464b50555a5f64696e73787d8\
              2878c91969ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff0100b5a97001",
    },
    Vector {
        codec: "zstd",
        made_by: "two frames, of MIXED[:99] and MIXED[99:]",
        data: Data::Mixed,
        hex: "28b52ffd206395000058686f6c64616c6c2000050a0100b5a9700128b52ffd20318901000f14191e23282d32373\
              c41464b50555a5f64696e73787d82878c91969ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff",
    },
    Vector {
        codec: "zstd",
        made_by: "struct.pack('<II', 0x184D2A5F, 5) + b'notes', a skippable frame, + ZstdCompressor().compress(MIXED)",
        data: Data::Mixed,
        hex: "5f2a4d18050000006e6f74657328b52ffd2094250200c403686f6c64616c6c2000050a0f14191e23282d32373c4\
              1464b50555a5f64696e73787d82878c91969ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff0100b5a97001",
    },
    Vector {
        codec: "zstd",
        made_by: "ZstdCompressor().compress(EMPTY)",
        data: Data::Empty,
        hex: "28b52ffd2000010000",
    },
    Vector {
        codec: "zstd",
        made_by: "ZstdCompressor().compress(ZEROS)",
        data: Data::Zeros,
        hex: "28b52ffd8058000080005400001000000100fbff39c002020010000200100002001000020010000200100002001\
              0000200100002001000020010000200100002001000020010000200100002001000020010000200100002001000\
              0200100002001000020010000200100002001000020010000200100002001000020010000200100002001000020\
              0100002001000020010000200100002001000020010000200100002001000020010000200100002001000020010\
              0002001000020010000200100002001000020010000200100002001000020010000200100002001000020010000\
              2001000020010000200100002001000020010000200100002001000020010000200100002001000020010000300\
              1000",
    },
];

#[cfg(feature = "lz4")]
const LZ4: &[Vector] = &[
    Vector {
        codec: "lz4",
        made_by: "lz4.block.compress(MIXED, store_size=False)",
        data: Data::Mixed,
        hex: "8f686f6c64616c6c20080045f02500050a0f14191e23282d32373c41464b50555a5f64696e73787d82878c91969\
              ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff",
    },
    Vector {
        codec: "lz4",
        made_by: "lz4.block.compress(MIXED, mode='high_compression', compression=12, store_size=False)",
        data: Data::Mixed,
        hex: "8f686f6c64616c6c20080045f02500050a0f14191e23282d32373c41464b50555a5f64696e73787d82878c91969\
              ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff",
    },
    Vector {
        codec: "lz4",
        made_by: "lz4.block.compress(EMPTY, store_size=False)",
        data: Data::Empty,
        hex: "00",
    },
    Vector {
        codec: "lz4",
        made_by: "lz4.block.compress(bytes(1000), store_size=False)",
        data: Data::Thousand,
        hex: "1f000100ffffffd2500000000000",
    },
    Vector {
        codec: "lz4",
        made_by: "lz4.block.compress(b'abc' * 100, mode='high_compression', store_size=False)",
        data: Data::Abc,
        hex: "3f6162630300ff12506263616263",
    },
];

#[cfg(feature = "lz4")]
const LZ4_FRAMES: &[Vector] = &[
    Vector {
        codec: "lz4f",
        made_by: "lz4.frame.compress(MIXED)",
        data: Data::Mixed,
        hex: "04224d1868409400000000000000f1420000008f686f6c64616c6c20080045f02500050a0f14191e23282d32373c414\
              64b50555a5f64696e73787d82878c91969ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5faff00000000",
    },
    Vector {
        codec: "lz4f",
        made_by: "lz4.frame.compress(MIXED, content_checksum=True, block_checksum=True)",
        data: Data::Mixed,
        hex: "04224d187c40940000000000000002420000008f686f6c64616c6c20080045f02500050a0f14191e23282d32373c414\
              64b50555a5f64696e73787d82878c91969ba0a5aaafb4b9bec3c8cdd2d7dce1e6ebf0f5fafffa0bdd9200000000\
              d8452ccb",
    },
];

#[cfg(feature = "xz")]
const XZ: &[Vector] = &[
    Vector {
        codec: "xz",
        made_by: "lzma.compress(MIXED, preset=0)",
        data: Data::Mixed,
        hex: "fd377a585a000004e6d6b446020021010c0000008f98419ce0009300465d00341bc9cd8a69d88e7e71edbca11652250\
              199ac7dd38835160b5b5c96c7a4634dd4e86762ce7aa60adf00a364a25524cb7cea1b83ebb46902548f0439773a\
              a8a161b992dbee000000002e8fbb585df999ec0001629401000000399c531ab1c467fb020000000004595a",
    },
    Vector {
        codec: "xz",
        made_by: "lzma.compress(bytes(1000), check=lzma.CHECK_CRC32, preset=6)",
        data: Data::Thousand,
        hex: "fd377a585a0000016922de360200210116000000742fe5a3e003e7000b5d00006ffdffffa3b75a0d5e00000080170b0\
              6000123e807000000e2171ec73e300d8b020000000001595a",
    },
];
