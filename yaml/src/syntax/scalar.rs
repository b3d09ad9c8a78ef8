//! Scanning scalars: plain, quoted and block text, with lines folded as each style has it.

use std::borrow::Cow;

use super::{
    Mark, Problem,
    scanner::Scanner,
    token::{Token, TokenKind},
};

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarStyle {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// The line breaks between two lines of text: the first, and those of the empty lines after it.
#[derive(Debug, Default)]
struct Breaks {
    first: Option<&'static str>,
    others: String,
}

impl Breaks {
    fn clear(&mut self) {
        self.first = None;
        self.others.clear();
    }

    /// Writes them folded: a `\n` alone is a space, before empty lines it is nothing.
    fn fold_into(&mut self, text: &mut String) {
        match self.first {
            Some("\n") if self.others.is_empty() => text.push(' '),
            Some("\n") | None => text.push_str(&self.others),
            Some(separator) => {
                text.push_str(separator);
                text.push_str(&self.others);
            }
        }
        self.clear();
    }
}

impl<'text> Scanner<'text> {
    pub(super) fn scan_plain_scalar(&mut self) -> Result<Token<'text>, Problem> {
        let start = self.cursor.mark;
        let mut end = start;
        let least_column = self.indent + 1;
        let tabs = self.dialect.takes_tabs();
        // As long as the scalar is one stretch of the text it is borrowed: then `owned` is none.
        let mut owned: Option<String> = None;
        let mut breaks = Breaks::default();
        let mut after_break = false;
        let mut blanks = start.offset..start.offset;
        loop {
            if self.cursor.is_any_document_marker() || self.cursor.peek(0) == b'#' {
                break;
            }
            let run_start = self.cursor.mark.offset;
            self.skip_plain_run();
            let run_end = self.cursor.mark.offset;
            if run_end > run_start {
                if after_break {
                    let text =
                        owned.get_or_insert_with(|| self.cursor.text[start.offset..end.offset].to_owned());
                    breaks.fold_into(text);
                    after_break = false;
                } else if let Some(text) = &mut owned {
                    text.push_str(&self.cursor.text[blanks.clone()]);
                }
                if let Some(text) = &mut owned {
                    text.push_str(&self.cursor.text[run_start..run_end]);
                }
                end = self.cursor.mark;
            }
            let goes_on = if tabs { self.cursor.is_blank() } else { self.cursor.peek(0) == b' ' };
            if !(goes_on || self.cursor.is_break()) {
                break;
            }
            blanks.start = self.cursor.mark.offset;
            blanks.end = blanks.start;
            loop {
                match self.cursor.peek(0) {
                    b' ' => self.cursor.skip_ascii(1),
                    b'\t' if tabs => {
                        if after_break && i64::from(self.cursor.mark.column) < least_column {
                            let context = Some(("while scanning a plain scalar", start));
                            return Err(
                                self.error("found a tab character that violates indentation", context)
                            );
                        }
                        self.cursor.skip_ascii(1);
                    }
                    _ if self.cursor.is_break() => {
                        let line_break = self.cursor.skip_break();
                        if after_break {
                            breaks.others.push_str(line_break);
                        } else {
                            breaks.first = Some(line_break);
                            after_break = true;
                        }
                        continue;
                    }
                    _ => break,
                }
                if !after_break {
                    blanks.end = self.cursor.mark.offset;
                }
            }
            if self.flow_level == 0 && i64::from(self.cursor.mark.column) < least_column {
                break;
            }
        }
        if after_break {
            self.simple_key_allowed = true;
        }
        let text =
            owned.map_or_else(|| Cow::Borrowed(&self.cursor.text[start.offset..end.offset]), Cow::Owned);
        Ok(Token { kind: TokenKind::Scalar { text, style: ScalarStyle::Plain }, start, end })
    }

    /// Goes past what belongs to a plain scalar without a blank.
    fn skip_plain_run(&mut self) {
        let in_flow = self.flow_level > 0;
        let rest = self.cursor.rest();
        let mut length = 0;
        let mut continuation_bytes = 0;
        while let Some(&byte) = rest.get(length) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => break,
                b':' => {
                    if self.cursor.is_blank_or_end(length + 1) {
                        break;
                    }
                    let next = rest.get(length + 1).copied().unwrap_or(0);
                    if in_flow
                        && self.dialect.ends_at_colon_before_flow_indicator()
                        && matches!(next, b',' | b'[' | b']' | b'{' | b'}')
                    {
                        break;
                    }
                }
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if in_flow => break,
                0xC2 | 0xE2 if self.cursor.break_length(length) > 0 => break,
                0x80..=0xBF => continuation_bytes += 1,
                _ => {}
            }
            length += 1;
        }
        self.cursor.skip_ascii(length);
        self.cursor.mark.column = self.cursor.mark.column.saturating_sub(continuation_bytes);
    }

    pub(super) fn scan_quoted_scalar(&mut self, single: bool) -> Result<Token<'text>, Problem> {
        const WHAT: &str = "while scanning a quoted scalar";
        let quote = if single { b'\'' } else { b'"' };
        let start = self.cursor.mark;
        self.cursor.skip_ascii(1);
        let content = self.cursor.mark.offset;
        let mut owned: Option<String> = None;
        let mut breaks = Breaks::default();
        loop {
            if self.cursor.is_any_document_marker() {
                return Err(self.error("found unexpected document indicator", Some((WHAT, start))));
            }
            if self.cursor.at_end() {
                return Err(self.error("found unexpected end of stream", Some((WHAT, start))));
            }
            let mut after_break = false;
            while !self.cursor.is_blank_or_end(0) {
                let byte = self.cursor.peek(0);
                if single && byte == b'\'' && self.cursor.peek(1) == b'\'' {
                    let text = self.own(&mut owned, content);
                    text.push('\'');
                    self.cursor.skip_ascii(2);
                } else if byte == quote {
                    break;
                } else if !single && byte == b'\\' {
                    if self.cursor.break_length(1) > 0 {
                        self.own(&mut owned, content);
                        self.cursor.skip_ascii(1);
                        self.cursor.skip_break();
                        after_break = true;
                        break;
                    }
                    let character = self.scan_escape(start, &mut owned, content)?;
                    self.own(&mut owned, content).push(character);
                } else {
                    let from = self.cursor.mark.offset;
                    self.cursor.skip();
                    if let Some(text) = &mut owned {
                        text.push_str(&self.cursor.text[from..self.cursor.mark.offset]);
                    }
                }
            }
            if self.cursor.peek(0) == quote {
                break;
            }
            let blanks = self.cursor.mark.offset;
            let mut blanks_end = blanks;
            loop {
                if self.cursor.is_blank() {
                    self.cursor.skip_ascii(1);
                    if !after_break {
                        blanks_end = self.cursor.mark.offset;
                    }
                } else if self.cursor.is_break() {
                    if after_break {
                        breaks.others.push_str(self.cursor.skip_break());
                    } else {
                        if owned.is_none() {
                            owned = Some(self.cursor.text[content..blanks].to_owned());
                        }
                        breaks.first = Some(self.cursor.skip_break());
                        after_break = true;
                    }
                    // PyYAML looks for document markers at the start of every line.
                    if self.dialect.is_python() && self.cursor.is_any_document_marker() {
                        return Err(self.error("found unexpected document indicator", Some((WHAT, start))));
                    }
                } else {
                    break;
                }
            }
            if let Some(text) = &mut owned {
                if after_break {
                    breaks.fold_into(text);
                } else {
                    text.push_str(&self.cursor.text[blanks..blanks_end]);
                }
            }
        }
        let text = owned
            .map_or_else(|| Cow::Borrowed(&self.cursor.text[content..self.cursor.mark.offset]), Cow::Owned);
        self.cursor.skip_ascii(1);
        let style = if single { ScalarStyle::SingleQuoted } else { ScalarStyle::DoubleQuoted };
        Ok(Token { kind: TokenKind::Scalar { text, style }, start, end: self.cursor.mark })
    }

    /// The text read so far, which from here on is no longer that of the document.
    fn own<'owned>(&self, owned: &'owned mut Option<String>, content: usize) -> &'owned mut String {
        owned.get_or_insert_with(|| self.cursor.text[content..self.cursor.mark.offset].to_owned())
    }

    /// The character a backslash sequence stands for.
    fn scan_escape(
        &mut self,
        start: Mark,
        owned: &mut Option<String>,
        content: usize,
    ) -> Result<char, Problem> {
        const WHAT: &str = "while parsing a quoted scalar";
        self.own(owned, content);
        let python = self.dialect.is_python();
        let digits = match self.cursor.peek(1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            byte => {
                let character = match byte {
                    b'0' => '\0',
                    b'a' => '\x07',
                    b'b' => '\x08',
                    b't' | b'\t' => '\t',
                    b'n' => '\n',
                    b'v' => '\x0B',
                    b'f' => '\x0C',
                    b'r' => '\r',
                    b'e' => '\x1B',
                    b' ' => ' ',
                    b'"' => '"',
                    b'\\' => '\\',
                    b'\'' if !python => '\'',
                    b'/' if python => '/',
                    b'N' => '\u{85}',
                    b'_' => '\u{A0}',
                    b'L' => '\u{2028}',
                    b'P' => '\u{2029}',
                    _ => return Err(self.error("found unknown escape character", Some((WHAT, start)))),
                };
                self.cursor.skip_ascii(2);
                return Ok(character);
            }
        };
        self.cursor.skip_ascii(2);
        let mut code = 0_u32;
        for ahead in 0..digits {
            let digit = char::from(self.cursor.peek(ahead)).to_digit(16);
            let digit = digit
                .ok_or_else(|| self.error("did not find expected hexdecimal number", Some((WHAT, start))))?;
            code = code << 4 | digit;
        }
        let character = char::from_u32(code)
            .ok_or_else(|| self.error("found invalid Unicode character escape code", Some((WHAT, start))))?;
        self.cursor.skip_ascii(digits);
        Ok(character)
    }

    pub(super) fn scan_block_scalar(&mut self, literal: bool) -> Result<Token<'text>, Problem> {
        const WHAT: &str = "while scanning a block scalar";
        let start = self.cursor.mark;
        self.cursor.skip_ascii(1);
        let (chomping, increment) = self.scan_block_header(start)?;
        if self.cursor.peek(0) == b'#' && self.dialect.is_python() {
            return Err(self.error("did not find expected comment or line break", Some((WHAT, start))));
        }
        let skips = |byte: u8, tabs: bool| byte == b' ' || (tabs && byte == b'\t');
        while skips(self.cursor.peek(0), self.dialect.takes_tabs()) {
            self.cursor.skip_ascii(1);
        }
        if self.cursor.peek(0) == b'#' {
            self.cursor.skip_to_break();
        }
        if !self.cursor.is_break_or_end() {
            return Err(self.error("did not find expected comment or line break", Some((WHAT, start))));
        }
        if self.cursor.is_break() {
            self.cursor.skip_break();
        }
        let mut indent = if increment > 0 { self.indent.max(0) + increment } else { 0 };
        let mut text = String::new();
        let mut line_break = "";
        let mut breaks = String::new();
        let mut end = self.cursor.mark;
        self.scan_block_breaks(&mut indent, &mut breaks, start, &mut end)?;
        let mut begins_blank = false;
        while i64::from(self.cursor.mark.column) == indent && !self.cursor.at_end() {
            let blank = self.cursor.is_blank();
            if !literal && !begins_blank && !blank && line_break == "\n" {
                if breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(line_break);
            }
            text.push_str(&breaks);
            breaks.clear();
            begins_blank = blank;
            let line = self.cursor.mark.offset;
            self.cursor.skip_to_break();
            text.push_str(&self.cursor.text[line..self.cursor.mark.offset]);
            line_break = if self.cursor.is_break() { self.cursor.skip_break() } else { "" };
            self.scan_block_breaks(&mut indent, &mut breaks, start, &mut end)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(line_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&breaks);
        }
        let style = if literal { ScalarStyle::Literal } else { ScalarStyle::Folded };
        Ok(Token { kind: TokenKind::Scalar { text: Cow::Owned(text), style }, start, end })
    }

    /// The indicators after `|` and `>`: `+` or `-`, and a digit for the indentation, in any order.
    fn scan_block_header(&mut self, start: Mark) -> Result<(Chomping, i64), Problem> {
        let mut chomping = None;
        let mut increment = None;
        loop {
            match self.cursor.peek(0) {
                b'+' if chomping.is_none() => chomping = Some(Chomping::Keep),
                b'-' if chomping.is_none() => chomping = Some(Chomping::Strip),
                b'0' if increment.is_none() => {
                    let context = Some(("while scanning a block scalar", start));
                    return Err(self.error("found an indentation indicator equal to 0", context));
                }
                digit @ b'1'..=b'9' if increment.is_none() => increment = Some(i64::from(digit - b'0')),
                _ => return Ok((chomping.unwrap_or(Chomping::Clip), increment.unwrap_or(0))),
            }
            self.cursor.skip_ascii(1);
        }
    }

    /// Goes past indentation and empty lines, and finds out the indentation if it is not known (0).
    fn scan_block_breaks(
        &mut self,
        indent: &mut i64,
        breaks: &mut String,
        start: Mark,
        end: &mut Mark,
    ) -> Result<(), Problem> {
        *end = self.cursor.mark;
        let mut widest = 0;
        loop {
            let inside = |column: u32, indent: i64| indent == 0 || i64::from(column) < indent;
            while inside(self.cursor.mark.column, *indent) && self.cursor.peek(0) == b' ' {
                self.cursor.skip_ascii(1);
            }
            widest = widest.max(i64::from(self.cursor.mark.column));
            if self.dialect.refuses_tabs_as_indentation()
                && inside(self.cursor.mark.column, *indent)
                && self.cursor.peek(0) == b'\t'
            {
                let context = Some(("while scanning a block scalar", start));
                return Err(
                    self.error("found a tab character where an indentation space is expected", context)
                );
            }
            if !self.cursor.is_break() {
                break;
            }
            breaks.push_str(self.cursor.skip_break());
            *end = self.cursor.mark;
        }
        if *indent == 0 {
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}

/// What becomes of the line breaks at the end of a block scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}
