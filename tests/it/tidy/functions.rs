//! Functions fit a screen.

use syn::{
    ImplItemFn, ItemFn, Macro,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::sources::Source;

const LINES_MAX: usize = 70;

/// The lines of functions. The lines of SQL statements do not count.
struct Lengths {
    statements: usize,
    found: Vec<(String, usize)>,
}

impl Lengths {
    fn measure(&mut self, name: String, lines: usize, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::take(&mut self.statements);
        visit(self);
        self.found.push((name, lines - self.statements));
        self.statements += before;
    }
}

fn lines(node: &impl Spanned) -> usize {
    let span = node.span();
    span.end().line - span.start().line + 1
}

impl<'ast> Visit<'ast> for Lengths {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let length = lines(&function.sig) + lines(&function.block) - 1;
        self.measure(function.sig.ident.to_string(), length, |lengths| visit::visit_item_fn(lengths, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let length = lines(&function.sig) + lines(&function.block) - 1;
        self.measure(function.sig.ident.to_string(), length, |lengths| visit::visit_impl_item_fn(lengths, function));
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        if call.path.segments.last().is_some_and(|name| name.ident.to_string().starts_with("query")) {
            self.statements += call.delimiter.span().close().end().line - call.path.span().start().line;
        }
    }
}

fn lengths(source: &Source) -> Vec<(String, usize)> {
    let mut lengths = Lengths { statements: 0, found: vec![] };
    lengths.visit_file(&source.file);
    lengths.found
}

pub fn findings(sources: &[Source]) -> Vec<String> {
    let all = sources.iter().flat_map(|source| lengths(source).into_iter().map(move |found| (source, found)));
    let long = all.filter(|(_, (_, lines))| *lines > LINES_MAX);
    long.map(|(source, (name, lines))| format!("{}: {name} has {lines} lines", source.path)).collect()
}

#[test]
fn a_long_function_is_found_but_for_its_statement() {
    let body = "a();\n".repeat(80);
    let long = format!("fn f() {{\n{body}}}\nimpl A {{ fn g() {{\n{body}}} }}");
    assert_eq!(findings(&[Source::parse("src/a.rs", &long)]).len(), 2);
    let sql = format!("fn f() {{\nsqlx::query!(\"{body}\");\n}}");
    assert_eq!(lengths(&Source::parse("src/a.rs", &sql)), [("f".to_owned(), 3)]);
}
