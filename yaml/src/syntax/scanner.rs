//! The scanner: characters become tokens. Indentation becomes start and end tokens here, and a key without `?` is
//! recognised when its `:` comes, by putting a key token in front of what was already scanned.

use std::{borrow::Cow, collections::VecDeque};

use super::{
    Dialect, Mark, Problem, SyntaxError,
    cursor::Cursor,
    token::{Token, TokenKind},
};
use crate::options::Rules;

/// How many characters a key without `?` may have.
const SIMPLE_KEY: u32 = 1024;

/// How long the prefix of a `%TAG` directive may be, in bytes: a limit of ours, for every tag repeats it.
const TAG_PREFIX: usize = 1024;

#[derive(Debug)]
pub(super) struct Scanner<'text> {
    pub(super) cursor: Cursor<'text>,
    pub(super) dialect: Dialect,
    tokens: VecDeque<Token<'text>>,
    /// The first token in the queue is known to be the next.
    ready: bool,
    /// Tokens taken so far: the number of the first in the queue.
    taken: usize,
    /// The column of the innermost block collection, -1 outside any.
    pub(super) indent: i64,
    indents: Vec<i64>,
    pub(super) flow_level: usize,
    /// A key without `?` may begin here.
    pub(super) simple_key_allowed: bool,
    /// Where such a key began, for each level of flow collections.
    simple_keys: Vec<Option<SimpleKey>>,
    ended: bool,
}

#[derive(Clone, Copy, Debug)]
struct SimpleKey {
    /// Nothing else can stand here.
    required: bool,
    /// The number of the token it begins with.
    token: usize,
    mark: Mark,
}

impl<'text> Scanner<'text> {
    pub(super) fn new(text: &'text str, rules: Rules) -> Self {
        Self {
            cursor: Cursor::new(text),
            dialect: Dialect(rules),
            tokens: VecDeque::with_capacity(8),
            ready: false,
            taken: 0,
            indent: -1,
            indents: Vec::new(),
            flow_level: 0,
            simple_key_allowed: true,
            simple_keys: vec![None],
            ended: false,
        }
    }

    /// The next token, left where it is.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<&Token<'text>, Problem> {
        if !self.ready {
            self.fill()?;
        }
        Ok(&self.tokens[0])
    }

    /// Takes the token that was seen last.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Token<'text>> {
        self.ready = false;
        self.taken += 1;
        self.tokens.pop_front()
    }

    #[inline(never)]
    fn fill(&mut self) -> Result<(), Problem> {
        while self.needs_more()? {
            self.fetch()?;
        }
        self.ready = true;
        Ok(())
    }

    /// The queue is empty, or its first token may yet turn out to be a key.
    fn needs_more(&mut self) -> Result<bool, Problem> {
        if self.tokens.is_empty() {
            return Ok(true);
        }
        let first = self.taken;
        let level = self.simple_keys.iter().position(|key| key.is_some_and(|key| key.token == first));
        level.map_or(Ok(false), |level| self.is_valid_key(level))
    }

    pub(super) fn error(&self, problem: &'static str, context: Option<(&'static str, Mark)>) -> Problem {
        Box::new(SyntaxError { problem, at: self.cursor.mark, context, in_scanner: true })
    }

    fn push(&mut self, kind: TokenKind<'text>, start: Mark) {
        self.tokens.push_back(Token { kind, start, end: self.cursor.mark });
    }

    fn fetch(&mut self) -> Result<(), Problem> {
        self.skip_to_token();
        self.unroll_indent(i64::from(self.cursor.mark.column));
        let start = self.cursor.mark;
        if self.cursor.at_end() {
            return self.fetch_end();
        }
        if start.column == 0 {
            if self.cursor.peek(0) == b'%' {
                return self.fetch_directive();
            }
            if self.cursor.is_document_marker(b"---") {
                return self.fetch_document_marker(TokenKind::DocumentStart);
            }
            if self.cursor.is_document_marker(b"...") {
                return self.fetch_document_marker(TokenKind::DocumentEnd);
            }
        }
        let in_flow = self.flow_level > 0;
        match self.cursor.peek(0) {
            b'[' => self.fetch_flow_start(TokenKind::FlowListStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMapStart),
            b']' => self.fetch_flow_end(TokenKind::FlowListEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMapEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.cursor.is_blank_or_end(1) => self.fetch_block_entry(),
            b'?' if in_flow || self.cursor.is_blank_or_end(1) => self.fetch_key(),
            b':' if in_flow || self.cursor.is_blank_or_end(1) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(),
            b'!' => self.fetch_tag(),
            indicator @ (b'|' | b'>') if !in_flow => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                let token = self.scan_block_scalar(indicator == b'|')?;
                self.tokens.push_back(token);
                Ok(())
            }
            quote @ (b'\'' | b'"') => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let token = self.scan_quoted_scalar(quote == b'\'')?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'\t' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                let context = Some(("while scanning for the next token", start));
                Err(self.error("found character that cannot start any token", context))
            }
            _ => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let token = self.scan_plain_scalar()?;
                self.tokens.push_back(token);
                Ok(())
            }
        }
    }

    /// Goes past blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            // A byte order mark may begin the text only; the cursor is past it already.
            let tabs = self.dialect.takes_tabs() && (self.flow_level > 0 || !self.simple_key_allowed);
            while self.cursor.peek(0) == b' ' || (tabs && self.cursor.peek(0) == b'\t') {
                self.cursor.skip_ascii(1);
            }
            if self.cursor.peek(0) == b'#' {
                self.cursor.skip_to_break();
            }
            if !self.cursor.is_break() {
                return;
            }
            self.cursor.skip_break();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    // Keys without `?`.

    fn is_valid_key(&mut self, level: usize) -> Result<bool, Problem> {
        let Some(key) = self.simple_keys[level] else { return Ok(false) };
        let here = self.cursor.mark;
        // Within one line, columns count characters.
        if key.mark.line < here.line || key.mark.column.saturating_add(SIMPLE_KEY) < here.column {
            if key.required {
                return Err(self.missing_colon(key));
            }
            self.simple_keys[level] = None;
            return Ok(false);
        }
        Ok(true)
    }

    fn missing_colon(&self, key: SimpleKey) -> Problem {
        self.error("could not find expected ':'", Some(("while scanning a simple key", key.mark)))
    }

    fn save_simple_key(&mut self) -> Result<(), Problem> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let mark = self.cursor.mark;
        let required = self.flow_level == 0 && self.indent == i64::from(mark.column);
        self.remove_simple_key()?;
        let key = SimpleKey { required, token: self.taken + self.tokens.len(), mark };
        if let Some(slot) = self.simple_keys.last_mut() {
            *slot = Some(key);
        }
        Ok(())
    }

    fn remove_simple_key(&mut self) -> Result<(), Problem> {
        match self.simple_keys.last_mut().and_then(Option::take) {
            Some(key) if key.required => Err(self.missing_colon(key)),
            _ => Ok(()),
        }
    }

    // Indentation.

    /// Opens a block collection if the column is further in; its token goes before token number `before`.
    fn roll_indent(&mut self, column: u32, before: Option<usize>, kind: TokenKind<'text>, mark: Mark) {
        if self.flow_level > 0 || self.indent >= i64::from(column) {
            return;
        }
        self.indents.push(self.indent);
        self.indent = i64::from(column);
        let token = Token { kind, start: mark, end: mark };
        match before {
            Some(number) => self.tokens.insert(number - self.taken, token),
            None => self.tokens.push_back(token),
        }
    }

    /// Closes the block collections that are further in than the column.
    fn unroll_indent(&mut self, column: i64) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    // Tokens.

    fn fetch_end(&mut self) -> Result<(), Problem> {
        if !self.ended {
            // The end stands at the start of a line of its own.
            if self.cursor.mark.column != 0 {
                self.cursor.mark.column = 0;
                self.cursor.mark.line = self.cursor.mark.line.saturating_add(1);
            }
            self.unroll_indent(-1);
            self.remove_simple_key()?;
            self.simple_key_allowed = false;
            self.ended = true;
        }
        self.push(TokenKind::StreamEnd, self.cursor.mark);
        Ok(())
    }

    fn fetch_document_marker(&mut self, kind: TokenKind<'text>) -> Result<(), Problem> {
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        self.cursor.skip_ascii(3);
        self.push(kind, start);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'text>) -> Result<(), Problem> {
        self.save_simple_key()?;
        self.simple_keys.push(None);
        self.flow_level += 1;
        self.simple_key_allowed = true;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'text>) -> Result<(), Problem> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            self.simple_keys.pop();
        }
        self.simple_key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), Problem> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry);
        Ok(())
    }

    fn push_indicator(&mut self, kind: TokenKind<'text>) {
        let start = self.cursor.mark;
        self.cursor.skip_ascii(1);
        self.push(kind, start);
    }

    fn fetch_block_entry(&mut self) -> Result<(), Problem> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.error("block sequence entries are not allowed in this context", None));
            }
            let mark = self.cursor.mark;
            self.roll_indent(mark.column, None, TokenKind::BlockListStart, mark);
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Problem> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.error("mapping keys are not allowed in this context", None));
            }
            let mark = self.cursor.mark;
            self.roll_indent(mark.column, None, TokenKind::BlockMapStart, mark);
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Problem> {
        let level = self.simple_keys.len() - 1;
        let key = if self.is_valid_key(level)? { self.simple_keys[level].take() } else { None };
        if let Some(key) = key {
            self.tokens.insert(
                key.token - self.taken,
                Token { kind: TokenKind::Key, start: key.mark, end: key.mark },
            );
            self.roll_indent(key.mark.column, Some(key.token), TokenKind::BlockMapStart, key.mark);
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return Err(self.error("mapping values are not allowed in this context", None));
                }
                let mark = self.cursor.mark;
                self.roll_indent(mark.column, None, TokenKind::BlockMapStart, mark);
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    fn fetch_anchor(&mut self) -> Result<(), Problem> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let is_alias = self.cursor.peek(0) == b'*';
        self.cursor.skip_ascii(1);
        let name = self.cursor.take_word();
        let ends = self.cursor.is_blank_or_end(0)
            || matches!(self.cursor.peek(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            let what = if is_alias { "while scanning an alias" } else { "while scanning an anchor" };
            return Err(
                self.error("did not find expected alphabetic or numeric character", Some((what, start)))
            );
        }
        self.push(if is_alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) }, start);
        Ok(())
    }

    // Tags and directives.

    fn fetch_tag(&mut self) -> Result<(), Problem> {
        const WHAT: &str = "while scanning a tag";
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let kind = if self.cursor.peek(1) == b'<' {
            self.cursor.skip_ascii(2);
            let suffix = self.scan_tag_uri("", WHAT, start)?;
            if self.cursor.peek(0) != b'>' {
                return Err(self.error("did not find the expected '>'", Some((WHAT, start))));
            }
            self.cursor.skip_ascii(1);
            TokenKind::Tag { handle: "", suffix }
        } else {
            let head = self.scan_tag_handle();
            if head.len() > 1 && head.ends_with('!') {
                TokenKind::Tag { handle: head, suffix: self.scan_tag_uri("", WHAT, start)? }
            } else {
                match self.scan_tag_uri(head, WHAT, start)? {
                    suffix if suffix.is_empty() => TokenKind::Tag { handle: "", suffix: Cow::Borrowed("!") },
                    suffix => TokenKind::Tag { handle: "!", suffix },
                }
            }
        };
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.error("did not find expected whitespace or line break", Some((WHAT, start))));
        }
        self.push(kind, start);
        Ok(())
    }

    /// `!`, `!word` or `!word!`.
    fn scan_tag_handle(&mut self) -> &'text str {
        let start = self.cursor.mark.offset;
        self.cursor.skip_ascii(1);
        self.cursor.take_word();
        if self.cursor.peek(0) == b'!' {
            self.cursor.skip_ascii(1);
        }
        &self.cursor.text[start..self.cursor.mark.offset]
    }

    /// The rest of a tag; `head` is what was taken for a handle and is none, its `!` not counted.
    fn scan_tag_uri(
        &mut self,
        head: &'text str,
        what: &'static str,
        start: Mark,
    ) -> Result<Cow<'text, str>, Problem> {
        let begin = self.cursor.mark.offset;
        let mut bytes: Option<Vec<u8>> = None;
        loop {
            match self.cursor.peek(0) {
                b'%' => {
                    let read = bytes.get_or_insert_with(|| {
                        self.cursor.text.as_bytes()[begin..self.cursor.mark.offset].to_vec()
                    });
                    let mut character = std::mem::take(read);
                    self.scan_uri_escape(&mut character, what, start)?;
                    bytes = Some(character);
                }
                byte if byte.is_ascii_alphanumeric() || b"-_;/?:@&=+$,.!~*'()[]".contains(&byte) => {
                    if let Some(bytes) = &mut bytes {
                        bytes.push(byte);
                    }
                    self.cursor.skip_ascii(1);
                }
                _ => break,
            }
        }
        let plain = &self.cursor.text[begin..self.cursor.mark.offset];
        if plain.is_empty() && head.is_empty() {
            return Err(self.error("did not find expected tag URI", Some((what, start))));
        }
        let head = head.get(1..).unwrap_or_default();
        let rest =
            match bytes {
                None => Cow::Borrowed(plain),
                Some(bytes) => Cow::Owned(String::from_utf8(bytes).map_err(|_| {
                    self.error("found an incorrect trailing UTF-8 octet", Some((what, start)))
                })?),
            };
        Ok(if head.is_empty() { rest } else { Cow::Owned([head, &rest].concat()) })
    }

    /// The octets of one character, each as `%xx`.
    fn scan_uri_escape(
        &mut self,
        bytes: &mut Vec<u8>,
        what: &'static str,
        start: Mark,
    ) -> Result<(), Problem> {
        let mut left = 0;
        loop {
            let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
            let octet = match (self.cursor.peek(0), digit(self.cursor.peek(1)), digit(self.cursor.peek(2))) {
                (b'%', Some(high), Some(low)) => high << 4 | low,
                _ => return Err(self.error("did not find URI escaped octet", Some((what, start)))),
            };
            if left == 0 {
                left = match octet {
                    0x00..=0x7F => 1,
                    0xC0..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF7 => 4,
                    _ => {
                        return Err(self.error("found an incorrect leading UTF-8 octet", Some((what, start))));
                    }
                };
            } else if octet & 0xC0 != 0x80 {
                return Err(self.error("found an incorrect trailing UTF-8 octet", Some((what, start))));
            }
            bytes.push(octet);
            self.cursor.skip_ascii(3);
            left -= 1;
            if left == 0 {
                return Ok(());
            }
        }
    }

    fn fetch_directive(&mut self) -> Result<(), Problem> {
        const WHAT: &str = "while scanning a directive";
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        self.cursor.skip_ascii(1);
        let name = self.cursor.take_word();
        if name.is_empty() {
            return Err(self.error("could not find expected directive name", Some((WHAT, start))));
        }
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.error("found unexpected non-alphabetical character", Some((WHAT, start))));
        }
        let kind = match name {
            "YAML" => {
                let what = "while scanning a %YAML directive";
                self.skip_blanks();
                let major = self.scan_version_number(what, start)?;
                if self.cursor.peek(0) != b'.' {
                    return Err(
                        self.error("did not find expected digit or '.' character", Some((what, start)))
                    );
                }
                self.cursor.skip_ascii(1);
                let minor = self.scan_version_number(what, start)?;
                if self.dialect.is_python() && !self.cursor.is_blank_or_end(0) {
                    return Err(
                        self.error("did not find expected digit or '.' character", Some((what, start)))
                    );
                }
                TokenKind::VersionDirective { major, minor }
            }
            "TAG" => self.scan_tag_directive(start)?,
            _ if self.dialect.skips_unknown_directives() => {
                self.cursor.skip_to_break();
                TokenKind::OtherDirective
            }
            _ => return Err(self.error("found unknown directive name", Some((WHAT, start)))),
        };
        let end = self.cursor.mark;
        self.skip_blanks();
        if self.cursor.peek(0) == b'#' {
            self.cursor.skip_to_break();
        }
        if !self.cursor.is_break_or_end() {
            return Err(self.error("did not find expected comment or line break", Some((WHAT, start))));
        }
        if self.cursor.is_break() {
            self.cursor.skip_break();
        }
        self.tokens.push_back(Token { kind, start, end });
        Ok(())
    }

    fn skip_blanks(&mut self) {
        while self.cursor.is_blank() {
            self.cursor.skip_ascii(1);
        }
    }

    fn scan_version_number(&mut self, what: &'static str, start: Mark) -> Result<u32, Problem> {
        let digits = self.cursor.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        match digits {
            0 => Err(self.error("did not find expected version number", Some((what, start)))),
            1 | 2 => {
                let number = self.cursor.rest()[..digits]
                    .iter()
                    .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
                self.cursor.skip_ascii(digits);
                Ok(number)
            }
            _ => Err(self.error("found extremely long version number", Some((what, start)))),
        }
    }

    fn scan_tag_directive(&mut self, start: Mark) -> Result<TokenKind<'text>, Problem> {
        const WHAT: &str = "while scanning a %TAG directive";
        self.skip_blanks();
        if self.cursor.peek(0) != b'!' {
            return Err(self.error("did not find expected '!'", Some((WHAT, start))));
        }
        let handle = self.scan_tag_handle();
        if handle != "!" && !handle.ends_with('!') {
            return Err(self.error("did not find expected '!'", Some((WHAT, start))));
        }
        if !self.cursor.is_blank() {
            return Err(self.error("did not find expected whitespace", Some((WHAT, start))));
        }
        self.skip_blanks();
        let prefix = self.scan_tag_uri("", WHAT, start)?;
        if prefix.len() > TAG_PREFIX {
            return Err(self.error("found extremely long tag prefix", Some((WHAT, start))));
        }
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.error("did not find expected whitespace or line break", Some((WHAT, start))));
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }
}
