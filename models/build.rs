//! Tells the linker about libtorch where `torch-sys` cannot: what a build script
//! says of linking goes for its own package's executables only. Used by
//! `cyvasse-train` too.

use std::path::Path;

fn main() {
    // The folder that torch-sys links against, as its build script tells it.
    let Ok(folder) = std::env::var("DEP_TCH_LIBTORCH_LIB") else {
        return;
    };
    // So that executables start without `LD_LIBRARY_PATH`.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    // Nothing calls libtorch_cuda by name: it announces itself when it is
    // loaded. Without this the linker drops it, and the card goes unused with no
    // word said.
    println!("cargo:rerun-if-changed={folder}");
    if Path::new(&folder).join("libtorch_cuda.so").exists() {
        println!("cargo:rustc-link-arg=-Wl,--no-as-needed,-ltorch_cuda,--as-needed");
    }
}
