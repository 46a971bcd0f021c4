//! The rendering of templates. Knows nothing of what they draw.

use askama::Template;

/// A template's text.
pub fn render(template: &impl Template) -> String {
    template.render().expect("a String accepts all text, and no template calls anything that fails")
}
