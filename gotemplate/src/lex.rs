//! Tokens of a template, with Go's positions, lines and error texts.
//!
//! Knows nothing of what the tokens mean. One pass over the text, no look-behind, no recursion.

use crate::strconv;
use crate::unicode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    // Keywords.
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Break
                | Self::Continue
                | Self::Dot
                | Self::Define
                | Self::Else
                | Self::End
                | Self::If
                | Self::Nil
                | Self::Range
                | Self::Template
                | Self::With
        )
    }
}

fn keyword(word: &str) -> Option<Kind> {
    Some(match word {
        "block" => Kind::Block,
        "break" => Kind::Break,
        "continue" => Kind::Continue,
        "define" => Kind::Define,
        "else" => Kind::Else,
        "end" => Kind::End,
        "if" => Kind::If,
        "nil" => Kind::Nil,
        "range" => Kind::Range,
        "template" => Kind::Template,
        "with" => Kind::With,
        _ => return None,
    })
}

/// A token. Its text is `source[start..end]`, except for errors, whose message the lexer keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) line: usize,
}

pub(crate) struct Lexer<'s> {
    source: &'s str,
    left: &'s str,
    right: &'s str,
    pos: usize,
    start: usize,
    at_eof: bool,
    paren_depth: usize,
    line: usize,
    start_line: usize,
    inside_action: bool,
    /// Set once an error was found; everything after it is the same error.
    pub(crate) error: Option<String>,
    break_ok: bool,
    continue_ok: bool,
}

const TRIM_MARKER: usize = 2;

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_space_byte(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\r' | b'\n')
}

fn is_alphanumeric(c: char) -> bool {
    c == '_'
        || c.is_ascii_alphanumeric()
        || (!c.is_ascii() && (unicode::is_letter(c) || unicode::is_digit(c)))
}

fn has_left_trim_marker(text: &[u8]) -> bool {
    text.len() >= 2 && text[0] == b'-' && is_space_byte(text[1])
}

fn has_right_trim_marker(text: &[u8]) -> bool {
    text.len() >= 2 && is_space_byte(text[0]) && text[1] == b'-'
}

/// Where a short text begins. Building a searcher for each look-up would cost more than it saves.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    use bstr::ByteSlice;
    let (first, tail) = wanted.split_first()?;
    let mut from = 0;
    loop {
        let at = from + text[from..].find_byte(*first)?;
        if text[at + 1..].starts_with(tail) {
            return Some(at);
        }
        from = at + 1;
    }
}

fn newlines(text: &str) -> usize {
    bytecount(text.as_bytes())
}

fn bytecount(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(
        source: &'s str,
        delimiters: (&'s str, &'s str),
        break_ok: bool,
        continue_ok: bool,
    ) -> Self {
        Lexer {
            source,
            left: if delimiters.0.is_empty() { "{{" } else { delimiters.0 },
            right: if delimiters.1.is_empty() { "}}" } else { delimiters.1 },
            pos: 0,
            start: 0,
            at_eof: false,
            paren_depth: 0,
            line: 1,
            start_line: 1,
            inside_action: false,
            error: None,
            break_ok,
            continue_ok,
        }
    }

    fn rest(&self) -> &'s [u8] {
        &self.source.as_bytes()[self.pos..]
    }

    fn next(&mut self) -> Option<char> {
        let Some(&byte) = self.source.as_bytes().get(self.pos) else {
            self.at_eof = true;
            return None;
        };
        if byte < 0x80 {
            self.pos += 1;
            if byte == b'\n' {
                self.line += 1;
            }
            return Some(char::from(byte));
        }
        let c = self.source[self.pos..].chars().next()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    fn backup(&mut self) {
        if self.at_eof || self.pos == 0 {
            return;
        }
        let Some(c) = self.source[..self.pos].chars().next_back() else { return };
        self.pos -= c.len_utf8();
        if c == '\n' {
            self.line -= 1;
        }
    }

    fn peek(&mut self) -> Option<char> {
        match self.source.as_bytes().get(self.pos) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            Some(_) => self.source[self.pos..].chars().next(),
            None => {
                self.at_eof = true;
                None
            }
        }
    }

    /// Goes over letters, digits and underscores, and gives what follows them.
    fn skip_word(&mut self) -> Option<char> {
        loop {
            // Nearly always all of it is ASCII.
            let rest = self.rest();
            self.pos += rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            match self.peek() {
                Some(c) if is_alphanumeric(c) => self.pos += c.len_utf8(),
                c => return c,
            }
        }
    }

    fn emit(&mut self, kind: Kind) -> Token {
        let token = Token { kind, start: self.start, end: self.pos, line: self.start_line };
        self.start = self.pos;
        self.start_line = self.line;
        token
    }

    /// Skips the pending input; counts the lines in what was skipped without `next`.
    fn ignore(&mut self) {
        self.line += newlines(&self.source[self.start..self.pos]);
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn fail(&mut self, message: String) -> Token {
        self.error.get_or_insert(message);
        Token { kind: Kind::Error, start: self.start, end: self.start, line: self.start_line }
    }

    fn accept(&mut self, valid: &str) -> bool {
        match self.next() {
            Some(c) if valid.contains(c) => true,
            _ => {
                self.backup();
                false
            }
        }
    }

    fn accept_run(&mut self, valid: &str) {
        while self.next().is_some_and(|c| valid.contains(c)) {}
        self.backup();
    }

    fn at_right_delim(&self) -> (bool, bool) {
        let rest = self.rest();
        if has_right_trim_marker(rest) && rest[TRIM_MARKER..].starts_with(self.right.as_bytes()) {
            return (true, true);
        }
        (rest.starts_with(self.right.as_bytes()), false)
    }

    pub(crate) fn next_item(&mut self) -> Token {
        if self.error.is_some() {
            return Token { kind: Kind::Error, start: self.start, end: self.start, line: self.start_line };
        }
        if self.inside_action { self.inside() } else { self.text() }
    }

    fn text(&mut self) -> Token {
        loop {
            let Some(found) = find(self.rest(), self.left.as_bytes()) else {
                self.pos = self.source.len();
                if self.pos > self.start {
                    self.line += newlines(&self.source[self.start..self.pos]);
                    return self.emit(Kind::Text);
                }
                return self.emit(Kind::Eof);
            };
            if found > 0 {
                self.pos += found;
                let mut trim = 0;
                let delim_end = self.pos + self.left.len();
                if has_left_trim_marker(&self.source.as_bytes()[delim_end..]) {
                    let text = &self.source[self.start..self.pos];
                    trim = text.len() - text.trim_end_matches(is_space).len();
                }
                self.pos -= trim;
                self.line += newlines(&self.source[self.start..self.pos]);
                let token = self.emit(Kind::Text);
                self.pos += trim;
                self.ignore();
                if token.end > token.start {
                    return token;
                }
            }
            // At the left delimiter.
            self.pos += self.left.len();
            let after_marker = if has_left_trim_marker(self.rest()) { TRIM_MARKER } else { 0 };
            if !self.rest()[after_marker..].starts_with(b"/*") {
                let token = self.emit(Kind::LeftDelim);
                self.inside_action = true;
                self.pos += after_marker;
                self.ignore();
                self.paren_depth = 0;
                return token;
            }
            self.pos += after_marker;
            self.ignore();
            // A comment: skipped whole.
            self.pos += 2;
            let Some(end) = self.source[self.pos..].find("*/") else {
                return self.fail("unclosed comment".to_owned());
            };
            self.pos += end + 2;
            let (delim, trim) = self.at_right_delim();
            if !delim {
                return self.fail("comment ends before closing delimiter".to_owned());
            }
            self.line += newlines(&self.source[self.start..self.pos]);
            self.start = self.pos;
            if trim {
                self.pos += TRIM_MARKER;
            }
            self.pos += self.right.len();
            if trim {
                self.skip_leading_space();
            }
            self.ignore();
        }
    }

    fn skip_leading_space(&mut self) {
        let rest = self.rest();
        self.pos += rest.iter().take_while(|byte| is_space_byte(**byte)).count();
    }

    fn right_delim(&mut self) -> Token {
        let (_, trim) = self.at_right_delim();
        if trim {
            self.pos += TRIM_MARKER;
            self.ignore();
        }
        self.pos += self.right.len();
        let token = self.emit(Kind::RightDelim);
        if trim {
            self.skip_leading_space();
            self.ignore();
        }
        self.inside_action = false;
        token
    }

    fn inside(&mut self) -> Token {
        let (delim, _) = self.at_right_delim();
        if delim {
            if self.paren_depth == 0 {
                return self.right_delim();
            }
            return self.fail("unclosed left paren".to_owned());
        }
        let Some(c) = self.next() else {
            return self.fail("unclosed action".to_owned());
        };
        match c {
            c if is_space(c) => {
                self.backup();
                self.space()
            }
            '=' => self.emit(Kind::Assign),
            ':' => {
                if self.next() != Some('=') {
                    return self.fail("expected :=".to_owned());
                }
                self.emit(Kind::Declare)
            }
            '|' => self.emit(Kind::Pipe),
            '"' => self.quote(),
            '`' => {
                loop {
                    match self.next() {
                        None => return self.fail("unterminated raw quoted string".to_owned()),
                        Some('`') => break,
                        Some(_) => {}
                    }
                }
                self.emit(Kind::RawString)
            }
            '$' => {
                if self.at_terminator() {
                    return self.emit(Kind::Variable);
                }
                self.field_or_variable(Kind::Variable)
            }
            '\'' => self.char_constant(),
            '.' if self.rest().first().is_some_and(|byte| !byte.is_ascii_digit()) => {
                self.field_or_variable(Kind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.backup();
                self.number()
            }
            c if is_alphanumeric(c) => {
                self.backup();
                self.identifier()
            }
            '(' => {
                self.paren_depth += 1;
                self.emit(Kind::LeftParen)
            }
            ')' => {
                if self.paren_depth == 0 {
                    return self.fail("unexpected right paren".to_owned());
                }
                self.paren_depth -= 1;
                self.emit(Kind::RightParen)
            }
            c if c.is_ascii_graphic() => self.emit(Kind::Char),
            c => self.fail(format!("unrecognized character in action: {}", strconv::unicode_point(c))),
        }
    }

    fn space(&mut self) -> Token {
        let count = self.rest().iter().take_while(|byte| is_space_byte(**byte)).count();
        self.line += newlines(&self.source[self.pos..self.pos + count]);
        self.pos += count;
        self.at_eof |= self.pos == self.source.len();
        // A trim-marked right delimiter starts with the last of these spaces.
        let last = &self.source.as_bytes()[self.pos - 1..];
        if has_right_trim_marker(last) && last[TRIM_MARKER..].starts_with(self.right.as_bytes()) {
            // Not `backup`: at the end of the text that would not move.
            self.pos -= 1;
            if self.source.as_bytes()[self.pos] == b'\n' {
                self.line -= 1;
            }
            if count == 1 {
                return self.right_delim();
            }
        }
        self.emit(Kind::Space)
    }

    fn bad_character(&mut self, c: Option<char>) -> Token {
        let text = match c {
            Some(c) => strconv::unicode_point(c),
            None => "U+FFFFFFFFFFFFFFFF".to_owned(),
        };
        self.fail(format!("bad character {text}"))
    }

    fn identifier(&mut self) -> Token {
        let c = self.skip_word();
        if !self.at_terminator() {
            return self.bad_character(c);
        }
        let word = &self.source[self.start..self.pos];
        let kind = match keyword(word) {
            Some(Kind::Break) if !self.break_ok => Kind::Identifier,
            Some(Kind::Continue) if !self.continue_ok => Kind::Identifier,
            Some(kind) => kind,
            None if word == "true" || word == "false" => Kind::Bool,
            None => Kind::Identifier,
        };
        self.emit(kind)
    }

    fn field_or_variable(&mut self, kind: Kind) -> Token {
        if self.at_terminator() {
            return self.emit(if kind == Kind::Variable { Kind::Variable } else { Kind::Dot });
        }
        let c = self.skip_word();
        if !self.at_terminator() {
            return self.bad_character(c);
        }
        self.emit(kind)
    }

    fn at_terminator(&mut self) -> bool {
        match self.peek() {
            None => true,
            Some(c) if is_space(c) || matches!(c, '.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(_) => self.rest().starts_with(self.right.as_bytes()),
        }
    }

    fn char_constant(&mut self) -> Token {
        loop {
            match self.next() {
                Some('\\') => {
                    if matches!(self.next(), None | Some('\n')) {
                        return self.fail("unterminated character constant".to_owned());
                    }
                }
                None | Some('\n') => return self.fail("unterminated character constant".to_owned()),
                Some('\'') => break,
                Some(_) => {}
            }
        }
        self.emit(Kind::CharConstant)
    }

    fn quote(&mut self) -> Token {
        loop {
            match self.next() {
                Some('\\') => {
                    if matches!(self.next(), None | Some('\n')) {
                        return self.fail("unterminated quoted string".to_owned());
                    }
                }
                None | Some('\n') => return self.fail("unterminated quoted string".to_owned()),
                Some('"') => break,
                Some(_) => {}
            }
        }
        self.emit(Kind::String)
    }

    fn bad_number(&mut self) -> Token {
        let text = strconv::quote(&self.source.as_bytes()[self.start..self.pos]);
        self.fail(format!("bad number syntax: {text}"))
    }

    fn number(&mut self) -> Token {
        if !self.scan_number() {
            return self.bad_number();
        }
        if matches!(self.peek(), Some('+' | '-')) {
            if !self.scan_number() || self.source.as_bytes()[self.pos - 1] != b'i' {
                return self.bad_number();
            }
            return self.emit(Kind::Complex);
        }
        self.emit(Kind::Number)
    }

    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        if digits.len() == 11 && self.accept("eE") {
            self.accept("+-");
            self.accept_run("0123456789_");
        }
        if digits.len() == 23 && self.accept("pP") {
            self.accept("+-");
            self.accept_run("0123456789_");
        }
        self.accept("i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }

    /// The token as an error message names it.
    pub(crate) fn describe(&self, token: Token) -> String {
        let text = &self.source[token.start..token.end];
        match token.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.error.clone().unwrap_or_default(),
            kind if kind.is_keyword() => format!("<{text}>"),
            _ if text.len() > 10 => {
                let short: String = text.chars().take(10).collect();
                format!("{}...", strconv::quote(short.as_bytes()))
            }
            _ => strconv::quote(text.as_bytes()),
        }
    }
}
