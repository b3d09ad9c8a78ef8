//! Going through the text character by character, knowing the line and the column.

use crate::position::{Position, saturating_u32};

/// A place in the text; lines and columns from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) offset: usize,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Mark {
    pub(crate) fn position(self) -> Position {
        Position {
            line: self.line.saturating_add(1),
            column: self.column.saturating_add(1),
            offset: self.offset,
        }
    }
}

/// The text and a place in it.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'text> {
    pub(super) text: &'text str,
    pub(super) mark: Mark,
}

impl<'text> Cursor<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        let mut cursor = Self { text, mark: Mark::default() };
        if text.starts_with('\u{FEFF}') {
            cursor.mark.offset = '\u{FEFF}'.len_utf8();
        }
        cursor
    }

    /// The byte `ahead` of the place; 0, which no text has, past the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.mark.offset + ahead).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'text [u8] {
        &self.text.as_bytes()[self.mark.offset..]
    }

    pub(super) fn at_end(&self) -> bool {
        self.mark.offset >= self.text.len()
    }

    /// The length in bytes of the line break at a place, 0 if there is none.
    pub(super) fn break_length(&self, ahead: usize) -> usize {
        match self.peek(ahead) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.peek(ahead + 1) == b'\n'),
            0xC2 if self.peek(ahead + 1) == 0x85 => 2,
            0xE2 if self.peek(ahead + 1) == 0x80 && matches!(self.peek(ahead + 2), 0xA8 | 0xA9) => 3,
            _ => 0,
        }
    }

    pub(super) fn is_break(&self) -> bool {
        self.break_length(0) > 0
    }

    pub(super) fn is_break_or_end(&self) -> bool {
        self.is_break() || self.at_end()
    }

    pub(super) fn is_blank(&self) -> bool {
        matches!(self.peek(0), b' ' | b'\t')
    }

    /// A blank, a line break or the end, at a place ahead.
    pub(super) fn is_blank_or_end(&self, ahead: usize) -> bool {
        match self.peek(ahead) {
            0 | b' ' | b'\t' | b'\n' | b'\r' => true,
            0xC2 | 0xE2 => self.break_length(ahead) > 0,
            _ => false,
        }
    }

    /// Goes past characters of one byte.
    pub(super) fn skip_ascii(&mut self, count: usize) {
        self.mark.offset += count;
        self.mark.column = self.mark.column.saturating_add(saturating_u32(count));
    }

    /// Goes past the character at hand.
    pub(super) fn skip(&mut self) {
        self.mark.offset += match self.peek(0) {
            0..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
        };
        self.mark.column = self.mark.column.saturating_add(1);
    }

    /// Goes past a line break and says what it stands for: `\n`, or a line or paragraph separator as it is.
    pub(super) fn skip_break(&mut self) -> &'static str {
        let length = self.break_length(0);
        let stands_for = match (length, self.peek(2)) {
            (3, 0xA8) => "\u{2028}",
            (3, _) => "\u{2029}",
            _ => "\n",
        };
        self.mark.offset += length;
        self.mark.column = 0;
        self.mark.line = self.mark.line.saturating_add(1);
        stands_for
    }

    /// Goes to the end of the line.
    pub(super) fn skip_to_break(&mut self) {
        let rest = self.rest();
        let mut length = 0;
        let mut continuation_bytes = 0;
        while let Some(&byte) = rest.get(length) {
            match byte {
                b'\n' | b'\r' => break,
                0xC2 | 0xE2 if self.break_length(length) > 0 => break,
                0x80..=0xBF => continuation_bytes += 1,
                _ => {}
            }
            length += 1;
        }
        self.skip_ascii(length);
        self.mark.column = self.mark.column.saturating_sub(continuation_bytes);
    }

    /// `---` or `...` at the start of a line, followed by a blank or nothing.
    pub(super) fn is_document_marker(&self, marker: &[u8; 3]) -> bool {
        self.mark.column == 0 && self.rest().starts_with(marker) && self.is_blank_or_end(3)
    }

    pub(super) fn is_any_document_marker(&self) -> bool {
        self.mark.column == 0
            && matches!(self.peek(0), b'-' | b'.')
            && (self.is_document_marker(b"---") || self.is_document_marker(b"..."))
    }

    /// Letters, digits, `-` and `_` from here on.
    pub(super) fn take_word(&mut self) -> &'text str {
        let length = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            .count();
        let start = self.mark.offset;
        self.skip_ascii(length);
        &self.text[start..start + length]
    }
}
