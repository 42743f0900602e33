//! Tells whether the compiler has the AVX-512 and GFNI intrinsics, which are newer (1.89) than the oldest Rust that
//! this crate builds with.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_avx512)");
    if minor_version().is_some_and(|minor| minor >= 89) {
        println!("cargo::rustc-cfg=has_avx512");
    }
}

/// The `y` of the compiler's version 1.y.
fn minor_version() -> Option<u32> {
    let rustc = std::env::var_os("RUSTC")?;
    let output = Command::new(rustc).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    // "rustc 1.89.0 (29483883e 2025-08-04)"
    text.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}
