//! `NAME=VALUE` from the command line and from files: `-p`, `--param-file`, `-l`.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{anyhow, bail};

use crate::output;

/// Pairs of a flag that may be given again.
pub(super) fn pairs(list: &[String], what: &str) -> anyhow::Result<Vec<(String, String)>> {
    list.iter()
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) if !name.is_empty() && !name.contains(char::is_whitespace) => {
                Ok((name.to_owned(), value.to_owned()))
            }
            _ => Err(anyhow!("`{pair}` is no {what}: write NAME=VALUE")),
        })
        .collect()
}

/// What files say besides the pairs given on the command line, which go before them.
pub(super) fn from_files(
    given: &mut Vec<(String, String)>,
    files: &[std::path::PathBuf],
    read: impl Fn(&Path) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<()> {
    let mut known = given.iter().map(|(name, _)| name.clone()).collect::<HashSet<_>>();
    for path in files {
        let shown = path.display();
        let Ok(text) = String::from_utf8(read(path)?) else { bail!("{shown} is not UTF-8") };
        let pairs = env_file(&text).map_err(|(line, why)| anyhow!("{shown}:{line}: {why}"))?;
        for (name, value) in pairs {
            if known.insert(name.clone()) {
                given.push((name, value));
            } else {
                output::note(format_args!(
                    "warning: parameter {name:?} is given already; the value in {shown} is not used"
                ));
            }
        }
    }
    Ok(())
}

/// The pairs of a file of environment variables: `NAME=value`, perhaps behind `export`, in quotes or not, `#` for
/// remarks. A `$` means itself. Of a name that stands twice the last counts.
fn env_file(text: &str) -> Result<Vec<(String, String)>, (usize, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let assignment = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let at = assignment.find(['=', ':']);
        let Some((name, value)) = at.map(|at| (assignment[..at].trim(), assignment[at + 1..].trim())) else {
            return Err((index + 1, format!("`{line}` is no NAME=VALUE")));
        };
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err((index + 1, format!("`{name}` is no name of a parameter")));
        }
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                // Text in quotes may go on over several lines.
                let mut inner = value[1..].to_owned();
                while closing(&inner, quote).is_none() {
                    let Some((_, more)) = lines.next() else {
                        return Err((index + 1, format!("the quote of {name} is not closed")));
                    };
                    inner.push('\n');
                    inner.push_str(more);
                }
                let end = closing(&inner, quote).unwrap_or(inner.len());
                if quote == '"' { unescaped(&inner[..end]) } else { inner[..end].to_owned() }
            }
            _ => value.split(" #").next().unwrap_or_default().trim_end().to_owned(),
        };
        match pairs.iter_mut().find(|(known, _)| known == name) {
            Some(pair) => pair.1 = value,
            None => pairs.push((name.to_owned(), value)),
        }
    }
    Ok(pairs)
}

/// Where the closing quote stands.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, character)| {
        let closes = character == quote && !escaped;
        escaped = quote == '"' && character == '\\' && !escaped;
        closes.then_some(at)
    })
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::env_file;

    #[test]
    fn files_of_variables() {
        let text = "# note\nA=1\n\nB=\"two words\\nand \\\"more\\\"\" # why\nexport C=x # why\nD='$HOME'\nE: y\nF=\"one\ntwo\"\nA=2\nG=\n";
        let pairs = env_file(text).unwrap();
        let expected = [
            ("A", "2"),
            ("B", "two words\nand \"more\""),
            ("C", "x"),
            ("D", "$HOME"),
            ("E", "y"),
            ("F", "one\ntwo"),
            ("G", ""),
        ];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(env_file("A=1\nnothing\n").unwrap_err().0, 2);
        assert!(env_file("A=\"open").is_err());
    }
}
