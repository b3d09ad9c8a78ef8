//! What styles a text allows: one pass over it, as the emitters of go-yaml and PyYAML analyse scalars.
//!
//! It must not write anything.

use super::Style;

/// What one pass over a text found out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Analysis {
    /// It has line breaks of any kind.
    pub(super) multiline: bool,
    /// It has `\n`.
    pub(super) newline: bool,
    /// It may be written plain, if it does not read as something else then.
    pub(super) plain: bool,
    /// It may be written in single quotes.
    pub(super) single_quoted: bool,
    /// It may be written as a literal block.
    pub(super) block: bool,
    /// It has spaces, where it could be folded.
    pub(super) spaces: bool,
    /// It has characters beyond ASCII, so that its columns are not its bytes.
    pub(super) ascii: bool,
    /// It has nothing that double quotes need to escape.
    pub(super) clean: bool,
}

impl Analysis {
    /// Whether go-yaml would read this key in JSON: without line breaks, and of at most `most` characters as JSON
    /// writes it.
    pub(super) fn is_readable_key(&self, key: &str, most: usize) -> bool {
        if key.contains('\u{85}') {
            return false;
        }
        // An escape takes six characters at most.
        key.len() * 6 + 2 <= most || key.chars().map(json_width).sum::<usize>() + 2 <= most
    }
}

fn json_width(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\x08' | '\x0C' => 2,
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\x1F' => 6,
        _ => 1,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    Ordinary,
    Space,
    Newline,
    CarriageReturn,
    Colon,
    Hash,
    /// `"` and `\`: ordinary, but escaped in double quotes.
    Escaped,
    /// Control characters.
    Control,
    /// Part of a character beyond ASCII.
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Ordinary; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' => Class::Space,
            b'\n' => Class::Newline,
            b'\r' => Class::CarriageReturn,
            b':' => Class::Colon,
            b'#' => Class::Hash,
            b'"' | b'\\' => Class::Escaped,
            0x00..=0x1F | 0x7F => Class::Control,
            0x80..=0xFF => Class::Wide,
            _ => Class::Ordinary,
        };
        byte += 1;
    }
    classes
};

/// What stands before the byte at hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Text,
    Space,
    Break,
}

pub(super) fn analyse(text: &str, style: Style) -> Analysis {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else {
        return Analysis {
            multiline: false,
            newline: false,
            plain: true,
            single_quoted: true,
            block: false,
            spaces: false,
            ascii: true,
            clean: true,
        };
    };
    let blank_at = |index: usize| bytes.get(index).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    let mut indicators = bytes.starts_with(b"---")
        || bytes.starts_with(b"...")
        || match first {
            b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"'
            | b'%' | b'@' | b'`' => true,
            b'?' | b'-' => blank_at(1),
            _ => false,
        };
    let (mut breaks, mut newline, mut special, mut ascii, mut clean) = (false, false, false, true, true);
    let (mut spaces, mut break_space, mut space_break) = (false, false, false);
    let mut before = Before::Text;
    let mut index = 0;
    while index < bytes.len() {
        let class = CLASSES[bytes[index] as usize];
        let width = match class {
            Class::Ordinary => {
                before = Before::Text;
                index += 1;
                continue;
            }
            Class::Space => {
                spaces = true;
                break_space |= before == Before::Break;
                before = Before::Space;
                index += 1;
                continue;
            }
            Class::Colon => {
                indicators |= blank_at(index + 1);
                before = Before::Text;
                index += 1;
                continue;
            }
            Class::Hash => {
                indicators |= index > 0 && matches!(bytes[index - 1], b' ' | b'\t' | b'\n' | b'\r');
                before = Before::Text;
                index += 1;
                continue;
            }
            Class::Escaped => {
                clean = false;
                before = Before::Text;
                index += 1;
                continue;
            }
            Class::Newline => {
                newline = true;
                1
            }
            Class::CarriageReturn => {
                special = true;
                if style == Style::PyYaml {
                    before = Before::Text;
                    index += 1;
                    continue;
                }
                1
            }
            Class::Control => {
                special = true;
                before = Before::Text;
                index += 1;
                continue;
            }
            Class::Wide => {
                ascii = false;
                let (width, is_break, printable) = wide(&bytes[index..]);
                special |= !printable || style == Style::PyYaml;
                if !is_break {
                    before = Before::Text;
                    index += width;
                    continue;
                }
                width
            }
        };
        // Only line breaks get here.
        breaks = true;
        clean = false;
        space_break |= before == Before::Space;
        before = Before::Break;
        index += width;
    }
    let leading = CLASSES[first as usize] == Class::Space || starts_with_break(bytes, style);
    let edges = leading || before != Before::Text;
    Analysis {
        multiline: breaks,
        newline,
        plain: !(edges || break_space || space_break || special || breaks || indicators),
        single_quoted: !(break_space || space_break || special),
        block: !(before == Before::Space || space_break || special),
        spaces,
        ascii,
        clean: clean && !special,
    }
}

/// Width of the character, whether it breaks lines in YAML 1.1, and whether it is printable to go-yaml, to whom
/// nothing beyond the basic plane is.
fn wide(bytes: &[u8]) -> (usize, bool, bool) {
    match *bytes {
        [0xC2, 0x85, ..] => (2, true, false),
        [0xC2, second, ..] => (2, false, second >= 0xA0),
        [0xC3..=0xDF, ..] => (2, false, true),
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => (3, true, true),
        [0xEF, 0xBB, 0xBF, ..] | [0xEF, 0xBF, 0xBE | 0xBF, ..] => (3, false, false),
        [0xE0..=0xEF, ..] => (3, false, true),
        _ => (4, false, false),
    }
}

/// The length in bytes of the line break the text begins with, or none: `\n`, next line, line and paragraph separator.
pub(super) fn break_width(bytes: &[u8]) -> Option<usize> {
    match *bytes {
        [b'\n' | b'\r', ..] => Some(1),
        [0xC2, 0x85, ..] => Some(2),
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => Some(3),
        _ => None,
    }
}

fn starts_with_break(bytes: &[u8], style: Style) -> bool {
    break_width(bytes).is_some() && !(bytes[0] == b'\r' && style == Style::PyYaml)
}
