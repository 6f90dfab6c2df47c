//! Tells the linker to store load-time relocations in their compact form, which saves a tenth of the program's size. A
//! linker that does not know the option ignores it.

fn main() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
