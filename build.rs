//! Tells the linker to make the program smaller: the places that are adjusted at load stand in their short form, and of
//! functions that are the same one is kept.

fn main() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // A linker that does not know it ignores it.
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        if is("CARGO_CFG_TARGET_ARCH", "x86_64") && is("PROFILE", "release") && !is_linker_chosen() {
            println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
}

/// Whether somebody chose another linker than the one that comes with Rust, which may not know how to do this.
fn is_linker_chosen() -> bool {
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    std::env::var_os("RUSTC_LINKER").is_some() || flags.contains("link")
}
