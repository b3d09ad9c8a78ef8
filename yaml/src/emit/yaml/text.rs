//! Text: choosing a style for it, and writing it in that style.

use std::borrow::Cow;

use super::{
    super::{EmitError, Style, scalar::Analysis, scalar::break_width},
    Context, Emitter, INDENT,
};
use crate::resolve::{go_must_quote, python_must_quote};

/// A line break to YAML 1.1, a character to JSON.
const NEXT_LINE: char = '\u{85}';
/// Where lines are folded.
const WIDTH: usize = 80;
/// The longest key, in bytes, that is written `key: value` rather than `? key`.
const SIMPLE_KEY: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScalarStyle {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

impl Emitter<'_> {
    /// Whether go-yaml's reader would see the end of a document in this text, as it does after a next line.
    pub(super) fn refuse_markers(&mut self, text: &str) {
        if self.strict && self.style == Style::Kubernetes && text.contains(NEXT_LINE) {
            let is_marker = |line: &str| {
                let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
                rest.is_some_and(|rest| rest.starts_with([' ', NEXT_LINE]))
            };
            if text.match_indices(NEXT_LINE).any(|(at, next_line)| is_marker(&text[at + next_line.len()..])) {
                self.refuse(EmitError::Character(NEXT_LINE));
            }
        }
    }

    /// Marshal hands its text through go-yaml's reader, to which a next line (U+0085) within quotes is a line break
    /// to fold.
    pub(super) fn as_read_back<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.strict || self.style != Style::Kubernetes || !text.contains(NEXT_LINE) {
            return Cow::Borrowed(text);
        }
        let mut folded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(NEXT_LINE) {
            folded.push_str(rest[..at].trim_end_matches(' '));
            let after = rest[at..].trim_start_matches([' ', NEXT_LINE]);
            let breaks = rest[at..rest.len() - after.len()].matches(NEXT_LINE).count();
            if breaks == 1 {
                folded.push(' ');
            } else {
                folded.extend(std::iter::repeat_n('\n', breaks - 1));
            }
            rest = after;
        }
        folded.push_str(rest);
        Cow::Owned(folded)
    }

    pub(super) fn write_text(&mut self, text: &str, analysis: &Analysis, context: Context) {
        if self.strict && !(analysis.ascii && analysis.clean) {
            self.refuse_unreadable(text);
        }
        let outer = self.indent;
        self.indent = Some(self.indent_more(INDENT));
        let split = context != Context::SimpleKey;
        match self.scalar_style(text, analysis, context) {
            ScalarStyle::Plain => self.write_plain(text, analysis, split, context),
            ScalarStyle::SingleQuoted => self.write_single_quoted(text, analysis, split),
            ScalarStyle::DoubleQuoted => {
                self.write_indicator("\"", true, false, false);
                if analysis.clean && analysis.ascii && !(split && self.may_fold(text, analysis)) {
                    self.push(text, true);
                } else if self.style == Style::PyYaml {
                    self.write_double_quoted_as_python(text, split);
                } else {
                    self.write_double_quoted_as_go(text, split);
                }
                self.write_indicator("\"", false, false, false);
            }
            ScalarStyle::Literal => self.write_literal(text),
        }
        self.indent = outer;
    }

    fn scalar_style(&self, text: &str, analysis: &Analysis, context: Context) -> ScalarStyle {
        let simple_key = context == Context::SimpleKey;
        match self.style {
            Style::Kubernetes => {
                if analysis.newline {
                    if analysis.block && !simple_key {
                        ScalarStyle::Literal
                    } else {
                        ScalarStyle::DoubleQuoted
                    }
                } else if go_must_quote(text) || (simple_key && analysis.multiline) {
                    ScalarStyle::DoubleQuoted
                } else if analysis.plain {
                    ScalarStyle::Plain
                } else if analysis.single_quoted {
                    ScalarStyle::SingleQuoted
                } else {
                    ScalarStyle::DoubleQuoted
                }
            }
            Style::PyYaml => {
                let in_line = !(simple_key && (text.is_empty() || analysis.multiline));
                if in_line && analysis.plain && !python_must_quote(text) {
                    ScalarStyle::Plain
                } else if analysis.single_quoted && !(simple_key && analysis.multiline) {
                    ScalarStyle::SingleQuoted
                } else {
                    ScalarStyle::DoubleQuoted
                }
            }
        }
    }

    pub(super) fn is_simple_key(&self, key: &str, analysis: &Analysis) -> bool {
        match self.style {
            Style::Kubernetes => !analysis.multiline && key.len() <= SIMPLE_KEY,
            // PyYAML counts characters, and the tag `!!str` it does not write.
            Style::PyYaml => {
                !analysis.multiline && !key.is_empty() && key.chars().count() + "!!str".len() < SIMPLE_KEY
            }
        }
    }

    /// What go-yaml's reader, which Marshal passes everything through, would not read back from JSON.
    fn refuse_unreadable(&mut self, text: &str) {
        let unreadable = |character: &char| matches!(character, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
        if let Some(character) = text.chars().find(unreadable) {
            self.refuse(EmitError::Character(character));
        }
    }

    fn push(&mut self, text: &str, ascii: bool) {
        self.text.push_str(text);
        self.column += if ascii { text.len() } else { text.chars().count() };
    }

    /// Whether the text could reach beyond the width at a space. The column only counts up within it.
    fn may_fold(&self, text: &str, analysis: &Analysis) -> bool {
        analysis.spaces && self.column + text.len() > WIDTH
    }

    fn write_plain(&mut self, text: &str, analysis: &Analysis, split: bool, context: Context) {
        if !self.whitespace {
            self.text.push(' ');
            self.column += 1;
        }
        if split && self.may_fold(text, analysis) {
            self.write_folding(text, analysis.ascii);
        } else {
            self.push(text, analysis.ascii);
        }
        self.after_plain(context);
    }

    /// Writes text without line breaks, starting a new line instead of a single space beyond the width. A space at
    /// either end is never one to fold at.
    fn write_folding(&mut self, text: &str, ascii: bool) {
        let bytes = text.as_bytes();
        let mut start = 0;
        while let Some(found) = bytes[start..].iter().position(|byte| *byte == b' ') {
            let space = start + found;
            self.push(&text[start..space], ascii);
            let run = bytes[space..].iter().take_while(|byte| **byte == b' ').count();
            if run == 1 && self.column > WIDTH && space > 0 && space + 1 < bytes.len() {
                self.write_indent();
                self.indention = false;
            } else {
                self.push(&text[space..space + run], true);
            }
            start = space + run;
        }
        self.push(&text[start..], ascii);
    }

    fn write_single_quoted(&mut self, text: &str, analysis: &Analysis, split: bool) {
        self.write_indicator("'", true, false, false);
        // Each quote is written twice.
        let folds = split && analysis.spaces && self.column + 2 * text.len() > WIDTH;
        if !analysis.multiline && !folds && !text.contains('\'') {
            self.push(text, analysis.ascii);
        } else if !analysis.multiline && !folds {
            self.push(&text.replace('\'', "''"), analysis.ascii);
        } else {
            self.write_single_quoted_lines(text, analysis.ascii, folds);
        }
        self.write_indicator("'", false, false, false);
    }

    /// Text with line breaks, or to be folded; never with a carriage return or a next line. A `\n` costs an empty
    /// line, for one alone would read as a space.
    fn write_single_quoted_lines(&mut self, text: &str, ascii: bool, folds: bool) {
        let bytes = text.as_bytes();
        let mut after_break = false;
        let mut index = 0;
        while index < bytes.len() {
            if bytes[index] == b' ' {
                let run = bytes[index..].iter().take_while(|byte| **byte == b' ').count();
                if folds && run == 1 && self.column > WIDTH && index > 0 && index + 1 < bytes.len() {
                    self.write_indent();
                } else {
                    self.push(&text[index..index + run], true);
                }
                index += run;
            } else if let Some(width) = break_width(&bytes[index..]) {
                if !after_break && bytes[index] == b'\n' {
                    self.text.push('\n');
                }
                self.text.push_str(&text[index..index + width]);
                self.column = 0;
                self.whitespace |= self.style == Style::PyYaml;
                self.indention = true;
                after_break = true;
                index += width;
            } else {
                if after_break {
                    self.write_indent();
                    after_break = false;
                }
                let rest = &bytes[index..];
                let length = (1..rest.len())
                    .find(|at| matches!(rest[*at], b' ' | b'\'') || break_width(&rest[*at..]).is_some())
                    .unwrap_or(rest.len());
                if rest[0] == b'\'' {
                    self.push("'", true);
                }
                self.push(&text[index..index + length], ascii);
                self.indention = false;
                index += length;
            }
        }
        if after_break && self.style == Style::PyYaml {
            self.write_indent();
        }
    }

    fn write_double_quoted_as_go(&mut self, text: &str, split: bool) {
        // go-yaml looks for a byte order mark always at the start of the text: with one there, all is escaped.
        let escape_all = text.starts_with('\u{FEFF}');
        let bytes = text.as_bytes();
        let mut after_space = false;
        let mut index = 0;
        while let Some(character) = text[index..].chars().next() {
            let width = character.len_utf8();
            if escape_all || needs_escape(character) {
                self.write_escape(character);
                after_space = false;
            } else if character == ' ' {
                if split && !after_space && self.column > WIDTH && index > 0 && index + 1 < bytes.len() {
                    self.write_indent();
                    if bytes[index + 1] == b' ' {
                        self.push("\\", true);
                    }
                } else {
                    self.push(" ", true);
                }
                after_space = true;
            } else {
                self.text.push(character);
                self.column += 1;
                after_space = false;
            }
            index += width;
        }
    }

    fn write_double_quoted_as_python(&mut self, text: &str, split: bool) {
        let characters: Vec<char> = text.chars().collect();
        let length = characters.len();
        // Characters from `start` to `end` are yet to be written; after an escape `start` is past `end`.
        let (mut start, mut end) = (0, 0);
        while end <= length {
            let character = characters.get(end).copied();
            let plain = |character: char| matches!(character, ' '..='~') && !matches!(character, '"' | '\\');
            if !character.is_some_and(plain) {
                self.push_characters(&characters, start, end);
                start = start.max(end);
                if let Some(character) = character {
                    self.write_escape(character);
                    start = end + 1;
                }
            }
            let waiting = end.saturating_sub(start);
            // Right after an escape `start` is one past `end`, which makes the line one column shorter.
            let column = self.column + waiting - usize::from(start > end && self.column > 0);
            if split
                && end > 0
                && end + 1 < length
                && (character == Some(' ') || start >= end)
                && column > WIDTH
            {
                self.push_characters(&characters, start, end);
                self.push("\\", true);
                start = start.max(end);
                self.write_indent();
                self.whitespace = false;
                self.indention = false;
                if characters[start] == ' ' {
                    self.push("\\", true);
                }
            }
            end += 1;
        }
    }

    fn push_characters(&mut self, characters: &[char], start: usize, end: usize) {
        if let Some(waiting) = characters.get(start..end) {
            self.text.extend(waiting);
            self.column += waiting.len();
        }
    }

    fn write_escape(&mut self, character: char) {
        use std::fmt::Write as _;
        let before = self.text.len();
        let short = match character {
            '\0' => Some('0'),
            '\x07' => Some('a'),
            '\x08' => Some('b'),
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\x0B' => Some('v'),
            '\x0C' => Some('f'),
            '\r' => Some('r'),
            '\x1B' => Some('e'),
            '"' => Some('"'),
            '\\' => Some('\\'),
            '\u{85}' => Some('N'),
            '\u{A0}' => Some('_'),
            '\u{2028}' => Some('L'),
            '\u{2029}' => Some('P'),
            _ => None,
        };
        let code = u32::from(character);
        if let Some(short) = short {
            self.text.push('\\');
            self.text.push(short);
        } else if code <= 0xFF {
            write!(self.text, "\\x{code:02X}").expect("a String takes any text");
        } else if code <= 0xFFFF {
            write!(self.text, "\\u{code:04X}").expect("a String takes any text");
        } else {
            write!(self.text, "\\U{code:08X}").expect("a String takes any text");
        }
        self.column += self.text.len() - before;
    }

    fn write_literal(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.write_indicator("|", true, false, false);
        if bytes[0] == b' ' || break_width(bytes).is_some() {
            self.write_indicator("2", false, false, false);
        }
        let last = text.chars().next_back().filter(|last| is_break(*last));
        match last {
            None => self.write_indicator("-", false, false, false),
            Some(last) => {
                let before = &text[..text.len() - last.len_utf8()];
                if before.chars().next_back().is_none_or(is_break) {
                    self.write_indicator("+", false, false, false);
                }
            }
        }
        self.text.push('\n');
        self.column = 0;
        self.indention = true;
        self.whitespace = true;
        let mut index = 0;
        while index < bytes.len() {
            if let Some(width) = break_width(&bytes[index..]) {
                self.text.push_str(&text[index..index + width]);
                self.column = 0;
                self.indention = true;
                index += width;
            } else {
                self.write_indent();
                let rest = &bytes[index..];
                let length = (1..rest.len())
                    .find(|at| matches!(rest[*at], b'\n' | 0xE2) && break_width(&rest[*at..]).is_some())
                    .unwrap_or(rest.len());
                self.text.push_str(&text[index..index + length]);
                // Only whether the column is past the indentation counts from here on.
                self.column += length;
                self.indention = false;
                index += length;
            }
        }
    }
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What go-yaml escapes in double quotes: what it cannot print, line breaks, quotes and backslashes.
fn needs_escape(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x1F' | '\x7F'..='\u{9F}' | '"' | '\\' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}'..
    )
}
