//! Disks on which PostgreSQL is measured: that of this machine, and one whose flushes are slower.

use std::{io, path::Path, process::Command};

/// The duration of a flush to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// The disk of this machine, as fast as it is.
    AsIs,
    /// A millisecond longer: virtual machines often flush in microseconds, and real disks do not.
    Slow,
}

impl Disk {
    /// Lines of shell that make flushes of a program take so long. A library for that is compiled into a folder.
    pub fn preload(self, folder: &Path) -> io::Result<String> {
        if self == Self::AsIs {
            return Ok(String::new());
        }
        let library = folder.join("slow_flush.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/moves/slow_flush.c");
        let status = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(source)
            .arg("-ldl")
            .status()?;
        if status.success() {
            Ok(format!("LD_PRELOAD='{}'\nexport LD_PRELOAD\n", library.display()))
        } else {
            Err(io::Error::other("cc: slow_flush.c did not compile"))
        }
    }
}
