//! Go's `unicode` package, as far as templates need it: classes by general category, case, printability.

use unicode_properties::{GeneralCategory as Category, UnicodeGeneralCategory};

fn category(c: char) -> Category {
    c.general_category()
}

/// Categories L*.
pub(crate) fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(
        category(c),
        Category::UppercaseLetter
            | Category::LowercaseLetter
            | Category::TitlecaseLetter
            | Category::ModifierLetter
            | Category::OtherLetter
    )
}

/// Category Nd.
pub(crate) fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { category(c) == Category::DecimalNumber }
}

/// Categories N*.
pub(crate) fn is_number(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    matches!(category(c), Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber)
}

/// Categories P*.
pub(crate) fn is_punct(c: char) -> bool {
    matches!(
        category(c),
        Category::ConnectorPunctuation
            | Category::DashPunctuation
            | Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation
            | Category::OtherPunctuation
    )
}

/// Category Lu.
pub(crate) fn is_upper(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_uppercase() } else { category(c) == Category::UppercaseLetter }
}

/// Category Ll.
pub(crate) fn is_lower(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_lowercase() } else { category(c) == Category::LowercaseLetter }
}

/// Category Lt.
pub(crate) fn is_title(c: char) -> bool {
    !c.is_ascii() && category(c) == Category::TitlecaseLetter
}

/// The Unicode property White_Space, as `unicode.IsSpace`.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// What `%q` leaves as it is: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(crate) fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    !matches!(
        category(c),
        Category::Control
            | Category::Format
            | Category::Surrogate
            | Category::PrivateUse
            | Category::Unassigned
            | Category::SpaceSeparator
            | Category::LineSeparator
            | Category::ParagraphSeparator
    )
}

/// One character to one character, unlike Rust's full mapping.
pub(crate) fn to_upper(c: char) -> char {
    single(c.to_uppercase(), c)
}

/// One character to one character.
pub(crate) fn to_lower(c: char) -> char {
    // Go maps U+0130 to a plain i; the full mapping adds a combining dot.
    if c == '\u{130}' {
        return 'i';
    }
    single(c.to_lowercase(), c)
}

/// Title case: differs from upper case for the four digraphs and Georgian only.
pub(crate) fn to_title(c: char) -> char {
    match c {
        '\u{1C4}'..='\u{1C6}' => '\u{1C5}',
        '\u{1C7}'..='\u{1C9}' => '\u{1C8}',
        '\u{1CA}'..='\u{1CC}' => '\u{1CB}',
        '\u{1F1}'..='\u{1F3}' => '\u{1F2}',
        '\u{10D0}'..='\u{10FA}' | '\u{10FD}'..='\u{10FF}' => c,
        c => to_upper(c),
    }
}

fn single(mut mapped: impl Iterator<Item = char>, original: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(c), None) => c,
        _ => original,
    }
}

/// The characters of possibly broken UTF-8: each byte that is part of no character counts as U+FFFD, as Go decodes.
/// The second part of an item is the number of bytes it stands for.
pub(crate) fn runes(bytes: &[u8]) -> impl Iterator<Item = (char, usize)> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (c, size) = decode(rest)?;
        rest = &rest[size..];
        Some((c, size))
    })
}

/// The first character; an invalid one is U+FFFD of one byte.
pub(crate) fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((char::from(first), 1));
    }
    let width = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return Some(('\u{FFFD}', 1)),
    };
    let valid = bytes
        .get(..width)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .and_then(|text| text.chars().next());
    Some(valid.map_or(('\u{FFFD}', 1), |c| (c, width)))
}

/// Go's `strings.Map`-like walk: maps each character, broken bytes become U+FFFD.
pub(crate) fn map(bytes: &[u8], mut change: impl FnMut(char) -> char) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (c, _) in runes(bytes) {
        push(&mut out, change(c));
    }
    out
}

/// Appends a character as UTF-8.
pub(crate) fn push(out: &mut Vec<u8>, c: char) {
    let mut buffer = [0; 4];
    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
}
