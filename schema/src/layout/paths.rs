//! Names and paths in trees: which are safe to serve, and why the others are not.

/// Longest name of one entry, in bytes: the limit of common file systems, to which archives are unpacked.
const LONGEST_NAME: usize = 255;

/// Joins with `/`; the root is empty.
pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Why a file or directory name cannot be served, or `None` if it can. Beyond what breaks paths, this refuses what
/// other systems read as something else: `.git` in its disguises (attack: a checkout overwrites hooks),
/// invisible and bidirectional characters (attack: names that look alike), names that are not UTF-8.
pub fn unsafe_name(name: &[u8]) -> Option<&'static str> {
    let Ok(text) = std::str::from_utf8(name) else { return Some("is not UTF-8") };
    let folded = text.trim_end_matches([' ', '.']).to_ascii_lowercase();
    match () {
        () if text.is_empty() => Some("is empty"),
        () if text.len() > LONGEST_NAME => Some("is longer than 255 bytes"),
        () if text == "." || text == ".." => Some("means another directory"),
        () if text.contains(['/', '\\']) => Some("contains a path separator"),
        () if text.chars().any(char::is_control) => Some("contains a control character"),
        () if text.chars().any(invisible) => Some("contains an invisible or bidirectional character"),
        () if folded == ".git" || folded.starts_with("git~") => Some("is reserved by Git"),
        () => None,
    }
}

fn invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    )
}

/// Whether a relative path is safe to look up: every segment is.
pub fn safe_path(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|segment| unsafe_name(segment.as_bytes()).is_none())
}
