//! Taking a stream of documents apart by their markers, without reading them.
//!
//! For streams of rendered text, where one broken document must not hide the others, and where text is to be shown or
//! stored as it was. A line is a marker when it begins with `---` and that is its end or followed by a blank: what
//! `kubectl` and YAML itself go by. So a PEM block's `-----BEGIN CERTIFICATE-----` survives, as does `---` within a
//! line or indented. `...` ends a document the same way. It must not know values.
//!
//! ```
//! let parts: Vec<_> = yaml::split::documents("a: 1\n---\nb: 2\n").map(|part| part.text).collect();
//! assert_eq!(parts, ["a: 1\n", "b: 2\n"]);
//! ```

use crate::Position;

/// One document's text within the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'text> {
    /// The document's text, without markers. On the line of a marker (`--- # name`) what follows it belongs to the
    /// document.
    pub text: &'text str,
    /// Where that text begins in the stream.
    pub start: Position,
}

impl Part<'_> {
    /// Whether there is nothing but blanks and comments.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.lines().all(|line| {
            let line = line.trim_start_matches(['\u{FEFF}', ' ', '\t']);
            line.trim_end().is_empty() || line.starts_with('#')
        })
    }
}

/// The documents of a stream, blank ones left out.
pub fn documents(text: &str) -> impl Iterator<Item = Part<'_>> {
    parts(text).filter(|part| !part.is_blank())
}

/// Every stretch between markers, blank ones included: always at least one.
pub fn parts(text: &str) -> Parts<'_> {
    Parts { text, rest: Some(Cursor { offset: 0, line: 1, column: 1 }) }
}

/// Iterator over the [`Part`]s of a stream.
#[derive(Clone, Debug)]
pub struct Parts<'text> {
    text: &'text str,
    rest: Option<Cursor>,
}

#[derive(Clone, Copy, Debug)]
struct Cursor {
    offset: usize,
    line: u32,
    column: u32,
}

impl<'text> Iterator for Parts<'text> {
    type Item = Part<'text>;

    fn next(&mut self) -> Option<Part<'text>> {
        let Cursor { offset, line, column } = self.rest.take()?;
        let start = Position { line, column, offset };
        let mut at = offset;
        let mut line_number = line;
        // What follows a marker on its own line is not at the start of a line, so no marker can stand there.
        let mut at_line_start = column == 1;
        while at < self.text.len() {
            let line_text = line_at(&self.text[at..]);
            if let Some(after) = marker(line_text).filter(|_| at_line_start) {
                let marker_length = line_text.len() - after.len();
                self.rest = Some(if after.trim_end_matches(['\n', '\r', ' ', '\t']).is_empty() {
                    Cursor { offset: at + line_text.len(), line: line_number.saturating_add(1), column: 1 }
                } else {
                    Cursor { offset: at + marker_length, line: line_number, column: 4 }
                });
                return Some(Part { text: &self.text[offset..at], start });
            }
            at += line_text.len();
            line_number = line_number.saturating_add(1);
            at_line_start = true;
        }
        Some(Part { text: &self.text[offset..], start })
    }
}

/// The first line, with its line break.
fn line_at(text: &str) -> &str {
    text.find('\n').map_or(text, |newline| &text[..=newline])
}

/// What follows a marker on its line; none if there is no marker. A byte order mark may stand before it.
fn marker(line: &str) -> Option<&str> {
    let line = line.strip_prefix('\u{FEFF}').unwrap_or(line);
    let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."))?;
    (rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r'])).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(stream: &str) -> Vec<&str> {
        documents(stream).map(|part| part.text).collect()
    }

    #[test]
    fn only_a_line_of_its_own_is_a_marker() {
        let pem = "cert: |\n  x\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        assert_eq!(texts(pem), [pem]);
        assert_eq!(texts("a: ---\n  ---\n---b: 1\n"), ["a: ---\n  ---\n---b: 1\n"]);
    }

    #[test]
    fn what_follows_a_marker_belongs_to_its_document() {
        let parts: Vec<Part<'_>> =
            documents("--- # Source: a.yaml\nkind: A\n--- {b: 1}\n---\n# nothing\n...\nc").collect();
        let shown: Vec<_> =
            parts.iter().map(|part| (part.text, part.start.line, part.start.column)).collect();
        assert_eq!(shown, [(" # Source: a.yaml\nkind: A\n", 1, 4), (" {b: 1}\n", 3, 4), ("c", 7, 1)]);
    }

    #[test]
    fn blanks_and_byte_order_marks_are_no_document() {
        assert!(texts("").is_empty());
        assert!(texts("\u{FEFF}---\n---\r\n \t\n# x\n...\n").is_empty());
        assert_eq!(parts("").count(), 1);
        assert_eq!(texts("\u{FEFF}---\r\na: 1\r\n---\r\nb: 2"), ["a: 1\r\n", "b: 2"]);
    }
}
