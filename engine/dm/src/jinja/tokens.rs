//! The words of an expression, with the space before each.

/// One word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    /// What is before it: spaces and line ends.
    pub(super) space: &'t str,
    /// A name, a number, a text with its quotes, or an operator.
    pub(super) text: &'t str,
}

/// The words of the inside of a tag; nothing if a text in it does not end. Space at the end belongs to no word.
pub(super) fn tokens(inside: &str) -> Option<Vec<Token<'_>>> {
    let bytes = inside.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let from = at;
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let Some(first) = bytes.get(at) else { return Some(tokens) };
        let end = match first {
            b'"' | b'\'' => literal_close(bytes, at)?,
            b'0'..=b'9' => number_end(bytes, at),
            byte if is_word(*byte) => word_end(bytes, at),
            _ => {
                let two = bytes.get(at..at + 2);
                if matches!(two, Some(b"**" | b"//" | b"==" | b"!=" | b"<=" | b">=")) {
                    at + 2
                } else {
                    at + 1
                }
            }
        };
        tokens.push(Token { space: &inside[from..at], text: &inside[at..end] });
        at = end;
    }
}

/// One past the end of the text literal that begins at `at`; the end of all if it has none.
pub(super) fn literal_end(bytes: &[u8], at: usize) -> usize {
    literal_close(bytes, at).unwrap_or(bytes.len())
}

fn literal_close(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            byte if byte == quote => return Some(end + 1),
            _ => end += 1,
        }
    }
    None
}

/// A number: digits and letters, a dot where digits follow, a sign behind an exponent.
fn number_end(bytes: &[u8], mut at: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    while let Some(byte) = bytes.get(at) {
        let goes_on = match byte {
            b'.' => digit(at + 1),
            b'-' | b'+' => matches!(bytes[at - 1], b'e' | b'E') && digit(at + 1),
            byte => byte.is_ascii_alphanumeric() || *byte == b'_',
        };
        if !goes_on {
            break;
        }
        at += 1;
    }
    at
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).copied().is_some_and(is_word) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_their_space() {
        let texts = |inside| tokens(inside).unwrap().iter().map(|token| token.text).collect::<Vec<_>>();
        assert_eq!(
            texts("a.b[1.5:-2]\n 'x\\'' // 1e-3 é"),
            ["a", ".", "b", "[", "1.5", ":", "-", "2", "]", "'x\\''", "//", "1e-3", "é"]
        );
        assert_eq!(tokens("'a"), None);
        assert_eq!(tokens("'a\\'"), None);
        assert_eq!(tokens(" ").unwrap(), []);
    }
}
