//! Markdown as HTML that runs under a strict policy: no style in it, no script, and no HTML of its own.

use std::collections::BTreeMap;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A text as HTML.
#[derive(Debug)]
pub struct Rendered {
    /// The first heading, as plain text.
    pub title: String,
    /// The anchor and the title of each section, as plain text.
    pub sections: Vec<(String, String)>,
    pub html: String,
}

/// Renders a text. `resolve` gives the address of a file that the text links to; a link to a file without one becomes plain text.
pub fn render(text: &str, resolve: impl Fn(&str) -> Option<&'static str>) -> Rendered {
    let events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let (mut title, mut sections, mut anchors) = (String::new(), vec![], Anchors::default());
    let (mut rendered, mut is_dropped) = (Vec::with_capacity(events.len()), false);
    for (n, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let heading = heading_text(&events[n + 1..]);
                let anchor = anchors.add(&heading);
                match level {
                    HeadingLevel::H1 if title.is_empty() => title = heading,
                    HeadingLevel::H2 => sections.push((anchor.clone(), heading)),
                    _ => {}
                }
                rendered.push(Event::Start(Tag::Heading {
                    level: *level,
                    id: Some(anchor.into()),
                    classes: vec![],
                    attrs: vec![],
                }));
            }
            // Alignments would be styles, which the policy forbids. A box around a wide table lets it scroll alone.
            Event::Start(Tag::Table(_)) => {
                rendered.push(Event::Html("<div class=\"wide\">".into()));
                rendered.push(Event::Start(Tag::Table(vec![])));
            }
            Event::End(TagEnd::Table) => {
                rendered.extend([event.clone(), Event::Html("</div>\n".into())]);
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => match address(dest_url, &resolve) {
                Some(dest_url) => rendered.push(Event::Start(Tag::Link {
                    link_type: *link_type,
                    dest_url,
                    title: title.clone(),
                    id: id.clone(),
                })),
                None => is_dropped = true,
            },
            Event::End(TagEnd::Link) if is_dropped => is_dropped = false,
            // Comments are for the tests of the documents.
            Event::Html(_) => {}
            Event::InlineHtml(text) => rendered.push(Event::Text(text.clone())),
            other => rendered.push(other.clone()),
        }
    }
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, rendered.into_iter());
    Rendered { title, sections, html: out }
}

/// Where a link leads: within the page, to another page, or to another site.
fn address<'a>(link: &CowStr<'a>, resolve: &impl Fn(&str) -> Option<&'static str>) -> Option<CowStr<'a>> {
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.clone());
    }
    let (file, anchor) = match link.find('#') {
        Some(at) => link.split_at(at),
        None => (&**link, ""),
    };
    Some(format!("{}{anchor}", resolve(file)?).into())
}

/// The words of a heading: `events` are those after its start.
fn heading_text(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let words = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        _ => None,
    });
    words.collect()
}

/// The anchors of a page, each unique, made as repository sites make them.
#[derive(Default)]
struct Anchors(BTreeMap<String, u32>);

impl Anchors {
    fn add(&mut self, heading: &str) -> String {
        let letters = heading.to_lowercase();
        let kept = letters.chars().filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let before = self.0.entry(anchor.clone()).or_default();
        *before += 1;
        if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(file: &str) -> Option<&'static str> {
        (file == "rules.md").then_some("rules")
    }

    #[test]
    fn a_text_becomes_html_without_styles_and_html_of_its_own() {
        let text =
            "# A `b`, c\n\n## Two\n\n## Two\n\n| a | b |\n| --: | --- |\n| 1 | 2 |\n\n<!-- hidden -->\n\nx <b>y</b>\n";
        let rendered = render(text, resolve);
        assert_eq!(rendered.title, "A b, c");
        assert_eq!(rendered.sections, [("two".to_owned(), "Two".to_owned()), ("two-1".to_owned(), "Two".to_owned())]);
        assert!(rendered.html.starts_with("<h1 id=\"a-b-c\">"), "{}", rendered.html);
        assert!(!rendered.html.contains("style") && !rendered.html.contains("hidden"), "{}", rendered.html);
        assert!(rendered.html.contains("&lt;b&gt;y") && rendered.html.contains("<div class=\"wide\"><table>"));
    }

    #[test]
    fn links_lead_to_pages_and_become_text_where_there_is_none() {
        for (text, html) in [
            ("[a](rules.md#r1)", "<a href=\"rules#r1\">a</a>"),
            ("[a](#b)", "<a href=\"#b\">a</a>"),
            ("[a](https://a.example/)", "<a href=\"https://a.example/\">a</a>"),
            ("[a *b*](design/a.md) c", "a <em>b</em> c"),
        ] {
            assert_eq!(render(text, resolve).html, format!("<p>{html}</p>\n"));
        }
    }
}
