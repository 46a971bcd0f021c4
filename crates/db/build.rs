//! The migrations are part of the binary: a new one is a reason to build it anew.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
