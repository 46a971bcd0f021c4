//! The progress bar of a long command, shown on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

use super::failure::Failure;

/// A bar of this length, followed by the position and `template` in the syntax of indicatif.
pub fn bar(length: u64, template: &str) -> Result<ProgressBar, Failure> {
    let style = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}} {template}")).map_err(Failure::new)?;
    Ok(ProgressBar::new(length).with_style(style))
}
