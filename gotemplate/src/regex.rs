//! Regular expressions as Go reads them: RE2 syntax with Go's own edges, lowered to the automata of the regex crate.
//!
//! The two languages look alike and differ in a dozen places (`\d` and `\b` are ASCII in Go, `[[a]` is a class of two
//! characters, `{` may stand for itself, `a**` is an error), so the syntax is read here and only the matching is
//! borrowed. What is matched must be UTF-8; a broken byte matches nothing.

use regex_automata::meta;
use regex_automata::util::captures::Captures;
use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

use crate::unicode;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Regex {
    inner: meta::Regex,
    names: Vec<Option<String>>,
    empty: bool,
}

/// What stops a compilation.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Go's words.
    Syntax(String),
    /// More than the budget allows.
    TooLarge,
}

/// Nesting of groups and repetitions; Go's limit.
const MAX_HEIGHT: usize = 1000;
/// Repeat counts, alone and multiplied; Go's limit.
const MAX_REPEAT: u32 = 1000;

fn error<T>(what: &str, part: &str) -> Result<T, String> {
    Err(format!("error parsing regexp: {what}: `{part}`"))
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_newline: bool,
    swap_greed: bool,
}

/// One finished piece and the largest product of repeat counts in it.
struct Piece {
    hir: Hir,
    repeats: u32,
    height: usize,
}

struct Group {
    flags: Flags,
    /// Its number, if it captures.
    capture: Option<u32>,
    alternatives: Vec<Piece>,
    pieces: Vec<Piece>,
}

struct Parser<'p> {
    whole: &'p str,
    at: usize,
    flags: Flags,
    groups: Vec<Group>,
    names: Vec<Option<String>>,
}

fn piece(hir: Hir) -> Piece {
    Piece { hir, repeats: 1, height: 1 }
}

fn class(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(low, high)| ClassUnicodeRange::new(*low, *high)))
}

fn negated(mut class: ClassUnicode, negate: bool) -> ClassUnicode {
    if negate {
        class.negate();
    }
    class
}

fn perl_class(letter: char) -> Option<ClassUnicode> {
    let base = match letter.to_ascii_lowercase() {
        'd' => class(&[('0', '9')]),
        's' => class(&[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')]),
        'w' => class(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        _ => return None,
    };
    Some(negated(base, letter.is_ascii_uppercase()))
}

fn posix_class(name: &str) -> Option<ClassUnicode> {
    Some(class(match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    }))
}

/// `\p{Name}`: categories by their one or two letters, scripts by their names.
fn unicode_class(name: &str) -> Option<ClassUnicode> {
    if name == "Any" {
        return Some(class(&[('\0', '\u{10FFFF}')]));
    }
    let well_formed = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !well_formed {
        return None;
    }
    let pattern = match name.len() {
        1 | 2 => format!("\\p{{gc={name}}}"),
        _ => format!("\\p{{Script={name}}}"),
    };
    match regex_syntax::parse(&pattern).ok()?.into_kind() {
        regex_syntax::hir::HirKind::Class(Class::Unicode(class)) => Some(class),
        regex_syntax::hir::HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(class(&[(c, c)]))
        }
        _ => None,
    }
}

fn fold(mut class: ClassUnicode, flags: Flags) -> ClassUnicode {
    if flags.fold {
        class.case_fold_simple();
    }
    class
}

fn literal(c: char, flags: Flags) -> Hir {
    if flags.fold && (unicode::is_letter(c) || !c.is_ascii()) {
        return Hir::class(Class::Unicode(fold(class(&[(c, c)]), flags)));
    }
    let mut buffer = [0; 4];
    Hir::literal(c.encode_utf8(&mut buffer).as_bytes())
}

impl<'p> Parser<'p> {
    fn rest(&self) -> &'p str {
        &self.whole[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, hir: Hir) {
        if let Some(group) = self.groups.last_mut() {
            group.pieces.push(piece(hir));
        }
    }

    fn parse(&mut self) -> Result<Hir, String> {
        self.groups.push(Group {
            flags: self.flags,
            capture: None,
            alternatives: Vec::new(),
            pieces: Vec::new(),
        });
        // Where the repetition operator before this one began, if nothing came between.
        let mut last_repeat: Option<usize> = None;
        while let Some(c) = self.peek() {
            let start = self.at;
            let before = last_repeat.take();
            match c {
                '(' => self.open()?,
                '|' => {
                    self.at += 1;
                    self.alternate();
                }
                ')' => {
                    self.at += 1;
                    self.close()?;
                }
                '^' => {
                    self.at += 1;
                    let look = if self.flags.multi_line { Look::StartLF } else { Look::Start };
                    self.push(Hir::look(look));
                }
                '$' => {
                    self.at += 1;
                    let look = if self.flags.multi_line { Look::EndLF } else { Look::End };
                    self.push(Hir::look(look));
                }
                '.' => {
                    self.at += 1;
                    let any = if self.flags.dot_newline {
                        class(&[('\0', '\u{10FFFF}')])
                    } else {
                        class(&[('\0', '\t'), ('\x0b', '\u{10FFFF}')])
                    };
                    self.push(Hir::class(Class::Unicode(any)));
                }
                '[' => {
                    let class = self.bracket()?;
                    self.push(Hir::class(Class::Unicode(class)));
                }
                '*' | '+' | '?' => {
                    self.at += 1;
                    let (min, max) = match c {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(min, max, start, before)?;
                    last_repeat = Some(start);
                }
                '{' => match counts(self.rest()) {
                    None => {
                        self.at += 1;
                        self.push(literal('{', self.flags));
                    }
                    Some((min, max, length)) => {
                        let text = &self.rest()[..length];
                        let valid = min.is_some_and(|min| min <= MAX_REPEAT)
                            && max.is_none_or(|max| {
                                max.is_some_and(|max| max <= MAX_REPEAT && Some(max) >= min)
                            });
                        if !valid {
                            return error("invalid repeat count", text);
                        }
                        self.at += length;
                        self.repeat(min.unwrap_or(0), max.flatten(), start, before)?;
                        last_repeat = Some(start);
                    }
                },
                '\\' => self.escape()?,
                c => {
                    self.at += c.len_utf8();
                    self.push(literal(c, self.flags));
                }
            }
        }
        if self.groups.len() > 1 {
            return error("missing closing )", self.whole);
        }
        match self.groups.pop() {
            Some(group) => Ok(finish(group).hir),
            None => error("missing closing )", self.whole),
        }
    }

    fn open(&mut self) -> Result<(), String> {
        if self.groups.len() >= MAX_HEIGHT {
            return error("expression nests too deeply", self.whole);
        }
        let outer = self.flags;
        let rest = self.rest();
        if !rest.starts_with("(?") {
            self.at += 1;
            self.names.push(None);
            let capture = u32::try_from(self.names.len() - 1).ok();
            self.groups.push(Group { flags: outer, capture, alternatives: Vec::new(), pieces: Vec::new() });
            return Ok(());
        }
        let named = rest
            .strip_prefix("(?P<")
            .map(|body| (4, body))
            .or_else(|| rest.strip_prefix("(?<").map(|body| (3, body)));
        if let Some((lead, body)) = named {
            let Some(end) = body.find('>') else { return error("invalid named capture", rest) };
            let name = &body[..end];
            let text = &rest[..=lead + end];
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return error("invalid named capture", text);
            }
            if self.names.iter().any(|known| known.as_deref() == Some(name)) {
                return error("duplicate capture group name", name);
            }
            self.at += text.len();
            self.names.push(Some(name.to_owned()));
            let capture = u32::try_from(self.names.len() - 1).ok();
            self.groups.push(Group { flags: outer, capture, alternatives: Vec::new(), pieces: Vec::new() });
            return Ok(());
        }
        let mut flags = outer;
        let mut on = true;
        let mut some = false;
        for (at, c) in rest.char_indices().skip(2) {
            match c {
                'i' => flags.fold = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_newline = on,
                'U' => flags.swap_greed = on,
                '-' if on => {
                    on = false;
                    some = false;
                    continue;
                }
                ':' | ')' if on || some => {
                    self.at += at + 1;
                    self.flags = flags;
                    if c == ':' {
                        let group = Group {
                            flags: outer,
                            capture: None,
                            alternatives: Vec::new(),
                            pieces: Vec::new(),
                        };
                        self.groups.push(group);
                    }
                    return Ok(());
                }
                c => return error("invalid or unsupported Perl syntax", &rest[..at + c.len_utf8()]),
            }
            some = true;
        }
        error("missing argument to repetition operator", "?")
            .or_else(|_: String| error("missing closing )", self.whole))
    }

    fn alternate(&mut self) {
        if let Some(group) = self.groups.last_mut() {
            let pieces = std::mem::take(&mut group.pieces);
            group.alternatives.push(concat(pieces));
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if self.groups.len() < 2 {
            return error("unexpected )", self.whole);
        }
        let Some(group) = self.groups.pop() else { return Ok(()) };
        self.flags = group.flags;
        let capture = group.capture;
        let mut inner = finish(group);
        if let Some(index) = capture {
            let name = self.names[index as usize].as_deref().map(Into::into);
            inner.hir = Hir::capture(Capture { index, name, sub: Box::new(inner.hir) });
        }
        inner.height += 1;
        if let Some(outer) = self.groups.last_mut() {
            outer.pieces.push(inner);
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        start: usize,
        before: Option<usize>,
    ) -> Result<(), String> {
        let mut greedy = !self.flags.swap_greed;
        if self.rest().starts_with('?') {
            self.at += 1;
            greedy = !greedy;
        }
        if let Some(before) = before {
            return error("invalid nested repetition operator", &self.whole[before..self.at]);
        }
        let text = &self.whole[start..self.at];
        let Some(last) = self.groups.last_mut().and_then(|group| group.pieces.pop()) else {
            return error("missing argument to repetition operator", text);
        };
        let count = max.unwrap_or(min).max(1);
        let repeats =
            last.repeats.saturating_mul(if min > 1 || max.is_some_and(|max| max > 1) { count } else { 1 });
        if repeats > MAX_REPEAT {
            return error("invalid repeat count", text);
        }
        if last.height >= MAX_HEIGHT {
            return error("expression nests too deeply", self.whole);
        }
        let hir = Hir::repetition(Repetition { min, max, greedy, sub: Box::new(last.hir) });
        if let Some(group) = self.groups.last_mut() {
            group.pieces.push(Piece { hir, repeats, height: last.height + 1 });
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let rest = self.rest();
        let Some(c) = rest[1..].chars().next() else {
            return error("trailing backslash at end of expression", "");
        };
        let look = match c {
            'A' => Some(Look::Start),
            'z' => Some(Look::End),
            'b' => Some(Look::WordAscii),
            'B' => Some(Look::WordAsciiNegate),
            'C' => return error("invalid escape sequence", "\\C"),
            _ => None,
        };
        if let Some(look) = look {
            self.at += 2;
            self.push(Hir::look(look));
            return Ok(());
        }
        if c == 'Q' {
            let body = &rest[2..];
            let end = body.find("\\E");
            for c in body[..end.unwrap_or(body.len())].chars() {
                self.push(literal(c, self.flags));
            }
            self.at += 2 + end.map_or(body.len(), |end| end + 2);
            return Ok(());
        }
        if let Some(class) = self.class_escape()? {
            self.push(Hir::class(Class::Unicode(class)));
            return Ok(());
        }
        let c = self.character_escape()?;
        self.push(literal(c, self.flags));
        Ok(())
    }

    /// `\d` and its kin, `\p{…}`; `None` when the escape is something else.
    fn class_escape(&mut self) -> Result<Option<ClassUnicode>, String> {
        let rest = self.rest();
        let Some(c) = rest[1..].chars().next() else { return Ok(None) };
        if let Some(class) = perl_class(c) {
            self.at += 2;
            return Ok(Some(fold(class, self.flags)));
        }
        if c != 'p' && c != 'P' {
            return Ok(None);
        }
        let mut negate = c == 'P';
        let Some(first) = rest[2..].chars().next() else {
            return error("invalid character class range", rest);
        };
        let (mut name, length) = if first == '{' {
            let Some(end) = rest.find('}') else { return error("invalid character class range", rest) };
            (&rest[3..end], end + 1)
        } else {
            (&rest[2..2 + first.len_utf8()], 2 + first.len_utf8())
        };
        if let Some(inner) = name.strip_prefix('^') {
            negate = !negate;
            name = inner;
        }
        let Some(class) = unicode_class(name) else {
            return error("invalid character class range", &rest[..length]);
        };
        self.at += length;
        Ok(Some(negated(fold(class, self.flags), negate)))
    }

    /// An escape that stands for one character.
    fn character_escape(&mut self) -> Result<char, String> {
        let rest = self.rest();
        let body = &rest[1..];
        let Some(c) = body.chars().next() else {
            return error("trailing backslash at end of expression", "");
        };
        let plain = match c {
            'a' => Some('\x07'),
            'f' => Some('\x0c'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\x0b'),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c),
            _ => None,
        };
        if let Some(plain) = plain {
            self.at += 1 + c.len_utf8();
            return Ok(plain);
        }
        let octal = |text: &str| text.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        // One digit other than 0 would be a backreference, which there is none of.
        if matches!(c, '0'..='7') && (c == '0' || octal(body) > 1) {
            let count = octal(body);
            self.at += 1 + count;
            let value = u32::from_str_radix(&body[..count], 8).unwrap_or(0);
            return Ok(char::from_u32(value).unwrap_or('\u{FFFD}'));
        }
        if c == 'x' {
            if let Some(digits) = body[1..].strip_prefix('{') {
                let value = digits.find('}').map(|end| (end, u32::from_str_radix(&digits[..end], 16)));
                if let Some((end, Ok(value))) = value
                    && let Some(c) = char::from_u32(value)
                {
                    self.at += 4 + end;
                    return Ok(c);
                }
                let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
                let shown =
                    (3 + end + digits[end..].chars().next().map_or(0, char::len_utf8)).min(rest.len());
                return error("invalid escape sequence", &rest[..shown]);
            }
            if let Some(digits) =
                body.get(1..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            {
                self.at += 4;
                let value = u32::from_str_radix(digits, 16).unwrap_or(0);
                return Ok(char::from_u32(value).unwrap_or('\u{FFFD}'));
            }
            let shown: usize = rest.chars().take(4).map(char::len_utf8).sum();
            return error("invalid escape sequence", &rest[..shown]);
        }
        error("invalid escape sequence", &rest[..1 + c.len_utf8()])
    }

    /// `[…]`
    fn bracket(&mut self) -> Result<ClassUnicode, String> {
        let start = self.at;
        self.at += 1;
        let negate = self.rest().starts_with('^');
        if negate {
            self.at += 1;
        }
        let mut whole = ClassUnicode::empty();
        let mut first = true;
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else {
                return error("missing closing ]", &self.whole[start..]);
            };
            if c == ']' && !first {
                self.at += 1;
                break;
            }
            first = false;
            if let Some(name) = rest.strip_prefix("[:")
                && let Some(end) = name.find(":]")
            {
                let name = &name[..end];
                let (plain, inverted) = match name.strip_prefix('^') {
                    Some(plain) => (plain, true),
                    None => (name, false),
                };
                let Some(class) = posix_class(plain) else {
                    return error("invalid character class range", &rest[..end + 4]);
                };
                self.at += end + 4;
                whole.union(&negated(fold(class, self.flags), inverted));
                continue;
            }
            if c == '\\'
                && let Some(class) = self.class_escape()?
            {
                whole.union(&class);
                continue;
            }
            let from = self.at;
            let low = self.class_character(start)?;
            let mut high = low;
            let rest = self.rest();
            if rest.starts_with('-') && rest.len() >= 2 && !rest.starts_with("-]") {
                self.at += 1;
                high = self.class_character(start)?;
                if high < low {
                    return error("invalid character class range", &self.whole[from..self.at]);
                }
            }
            whole.union(&fold(class(&[(low, high)]), self.flags));
        }
        Ok(negated(whole, negate))
    }

    fn class_character(&mut self, start: usize) -> Result<char, String> {
        match self.peek() {
            None => error("missing closing ]", &self.whole[start..]),
            Some('\\') => self.character_escape(),
            Some(c) => {
                self.at += c.len_utf8();
                Ok(c)
            }
        }
    }
}

/// `{n}`, `{n,}`, `{n,m}` at the beginning: the counts (`None` inside when too large to read) and the length. Anything
/// else is no repetition.
fn counts(text: &str) -> Option<(Option<u32>, Option<Option<u32>>, usize)> {
    fn number(text: &str) -> Option<(Option<u32>, &str)> {
        let count = text.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 || (count > 1 && text.starts_with('0')) {
            return None;
        }
        Some((text[..count].parse().ok().filter(|value| *value < 100_000_000), &text[count..]))
    }
    let (min, rest) = number(&text[1..])?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (max, rest) = number(rest)?;
            (Some(max), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    Some((min, max, text.len() - rest.len()))
}

fn concat(pieces: Vec<Piece>) -> Piece {
    let repeats = pieces.iter().map(|piece| piece.repeats).max().unwrap_or(1);
    let height = pieces.iter().map(|piece| piece.height).max().unwrap_or(0) + 1;
    Piece { hir: Hir::concat(pieces.into_iter().map(|piece| piece.hir).collect()), repeats, height }
}

fn finish(group: Group) -> Piece {
    let mut alternatives = group.alternatives;
    alternatives.push(concat(group.pieces));
    if alternatives.len() == 1 {
        return alternatives.remove(0);
    }
    let repeats = alternatives.iter().map(|piece| piece.repeats).max().unwrap_or(1);
    let height = alternatives.iter().map(|piece| piece.height).max().unwrap_or(0) + 1;
    Piece {
        hir: Hir::alternation(alternatives.into_iter().map(|piece| piece.hir).collect()),
        repeats,
        height,
    }
}

impl Regex {
    /// Compiles an expression into at most `limit` bytes.
    pub(crate) fn new(pattern: &str, limit: usize) -> Result<Self, Refusal> {
        let mut parser =
            Parser { whole: pattern, at: 0, flags: Flags::default(), groups: Vec::new(), names: vec![None] };
        let hir = parser.parse().map_err(Refusal::Syntax)?;
        let names = parser.names;
        let config = meta::Config::new()
            .nfa_size_limit(Some(limit))
            .onepass_size_limit(Some(limit))
            .dfa_size_limit(Some(limit))
            .hybrid_cache_capacity(limit.max(1 << 16));
        let inner =
            meta::Builder::new().configure(config).build_from_hir(&hir).map_err(|_| Refusal::TooLarge)?;
        Ok(Self { inner, names, empty: pattern.is_empty() })
    }

    /// Whether it matches anywhere.
    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        self.inner.is_match(text)
    }

    /// The first match.
    pub(crate) fn find(&self, text: &[u8]) -> Option<std::ops::Range<usize>> {
        self.inner.find(text).map(|found| found.range())
    }

    /// The texts of the groups of the first match; group 0 is all of it.
    pub(crate) fn captures<'t>(&self, text: &'t [u8]) -> Option<Vec<Option<&'t [u8]>>> {
        let mut captures = self.inner.create_captures();
        self.inner.captures(text, &mut captures);
        captures.is_match().then(|| groups(&captures, text))
    }

    /// All matches, at most `count` of them; a negative count means all.
    pub(crate) fn find_all(&self, text: &[u8], count: i64) -> Vec<std::ops::Range<usize>> {
        let most = usize::try_from(count).unwrap_or(usize::MAX);
        self.inner.find_iter(text).take(most).map(|found| found.range()).collect()
    }

    /// All matches replaced; `template` may name groups as `$1` or `${name}` unless `literal`.
    pub(crate) fn replace_all(
        &self,
        text: &[u8],
        template: &[u8],
        literal: bool,
        limit: usize,
    ) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(text.len());
        let mut last = 0;
        for captures in self.inner.captures_iter(text) {
            let Some(whole) = captures.get_match() else { continue };
            out.extend_from_slice(&text[last..whole.start()]);
            if literal {
                out.extend_from_slice(template);
            } else {
                self.expand(&mut out, template, &groups(&captures, text));
            }
            last = whole.end();
            if out.len() > limit {
                return None;
            }
        }
        out.extend_from_slice(&text[last..]);
        Some(out)
    }

    fn expand(&self, out: &mut Vec<u8>, template: &[u8], groups: &[Option<&[u8]>]) {
        let mut rest = template;
        while let Some(at) = rest.iter().position(|byte| *byte == b'$') {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            if rest.get(1) == Some(&b'$') {
                out.push(b'$');
                rest = &rest[2..];
                continue;
            }
            let Some((name, length)) = group_name(rest) else {
                out.push(b'$');
                rest = &rest[1..];
                continue;
            };
            rest = &rest[length..];
            let number = if name.bytes().all(|byte| byte.is_ascii_digit()) {
                name.parse::<usize>().ok()
            } else {
                self.names.iter().position(|known| known.as_deref() == Some(name))
            };
            if let Some(text) = number.and_then(|number| groups.get(number)).copied().flatten() {
                out.extend_from_slice(text);
            }
        }
        out.extend_from_slice(rest);
    }

    /// The parts between matches, at most `count`; `None` for Go's nil.
    pub(crate) fn split<'t>(&self, text: &'t [u8], count: i64) -> Option<Vec<&'t [u8]>> {
        if count == 0 {
            return None;
        }
        if !self.empty && text.is_empty() {
            return Some(vec![text]);
        }
        let mut parts = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for found in self.find_all(text, count) {
            if count > 0 && parts.len() + 1 == usize::try_from(count).unwrap_or(usize::MAX) {
                break;
            }
            end = found.start;
            if found.end != 0 {
                parts.push(&text[begin..end]);
            }
            begin = found.end;
        }
        if end != text.len() {
            parts.push(&text[begin..]);
        }
        Some(parts)
    }
}

fn groups<'t>(captures: &Captures, text: &'t [u8]) -> Vec<Option<&'t [u8]>> {
    (0..captures.group_len()).map(|group| captures.get_group(group).map(|span| &text[span.range()])).collect()
}

/// The name after a `$`, and how long name and mark are together.
fn group_name(text: &[u8]) -> Option<(&str, usize)> {
    let braced = text.get(1) == Some(&b'{');
    let start = if braced { 2 } else { 1 };
    let body = &text[start..];
    let mut length = 0;
    while let Some((c, size)) = unicode::decode(&body[length..]) {
        if !(c == '_' || unicode::is_letter(c) || unicode::is_digit(c)) {
            break;
        }
        length += size;
    }
    if length == 0 || (braced && body.get(length) != Some(&b'}')) {
        return None;
    }
    let name = std::str::from_utf8(&body[..length]).ok()?;
    Some((name, start + length + usize::from(braced)))
}

/// `regexp.QuoteMeta`.
pub(crate) fn quote_meta(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if b"\\.+*?()|[]{}^$".contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}
