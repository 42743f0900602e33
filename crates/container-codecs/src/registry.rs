//! The codecs of a build.

use container_core::codec::Codecs;

/// The codecs that this build of the crate has and that go by one name in all formats: `zlib`, `bzp2`, `zstd`, `lz4`.
#[must_use]
pub fn built_in() -> Codecs {
    #[allow(unused_mut)]
    let mut codecs = Codecs::none();
    #[cfg(feature = "zlib")]
    codecs.register(crate::zlib::Zlib);
    #[cfg(feature = "bzip2")]
    codecs.register(crate::bzip2::Bzip2);
    #[cfg(feature = "zstd")]
    codecs.register(crate::zstd::Zstd);
    #[cfg(feature = "lz4")]
    codecs.register(crate::lz4::Lz4);
    codecs
}
