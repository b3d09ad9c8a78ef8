//! Files of a version that only explain it: what it makes does not follow from them.
//!
//! A settled version may get such files anew without becoming another version, so the line is drawn to the safe
//! side. A file counts if its name says what it is *and* nothing else in the version could be reading it: a Jinja
//! template may include `notes.md`, a chart may print its README. Kubernetes Templates read no files at all; in
//! every other kind a file whose name stands anywhere in one that is no documentation is part of the template.
//!
//! This module must not know what is done with the answer.

use crate::kind::Kind;

/// Names before the first dot, in lower case.
const NAMES: [&str; 6] = ["readme", "license", "licence", "copying", "changelog", "notice"];
/// What may follow the dot of such a name.
const TEXTS: [&str; 5] = ["md", "markdown", "txt", "rst", "adoc"];
/// Whatever they are called.
const ALWAYS: [&str; 10] = ["md", "markdown", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico"];

/// Documents looked for in other files, and bytes of those; above either, nothing counts as documentation.
const MOST_DOCUMENTS: usize = 64;
const MOST_BYTES: usize = 4 << 20;

/// Whether a path is named as documentation: `README*`, `LICENSE`, `CHANGELOG`, `*.md`, images.
pub fn is_named(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let (stem, extension) = name.split_once('.').unwrap_or((&name, ""));
    let last = name.rsplit_once('.').map_or("", |(_, last)| last);
    ALWAYS.contains(&last)
        || (NAMES.iter().any(|known| stem == *known || (*known == "readme" && stem.starts_with(known)))
            && (extension.is_empty() || TEXTS.contains(&extension)))
}

/// Which of the files of a version, given as path and bytes, are documentation; in their order.
pub fn of<'a>(kind: Kind, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<bool> {
    let files = files.into_iter().collect::<Vec<_>>();
    let named = files.iter().map(|(path, _)| is_named(path)).collect::<Vec<_>>();
    if kind == Kind::Template {
        return named;
    }
    let others = files.iter().zip(&named).filter(|(_, named)| !**named).map(|((_, bytes), _)| *bytes);
    let size = others.clone().map(<[u8]>::len).sum::<usize>();
    if named.iter().filter(|named| **named).count() > MOST_DOCUMENTS || size > MOST_BYTES {
        return vec![false; files.len()];
    }
    let others = others.map(|bytes| String::from_utf8_lossy(bytes).to_lowercase()).collect::<Vec<_>>();
    let is_read = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let pattern = name.rsplit_once('.').map(|(_, extension)| format!("*.{extension}"));
        others.iter().any(|text| {
            text.contains(&name)
                || pattern.as_ref().is_some_and(|pattern| text.contains(pattern))
                || text.contains(".glob")
        })
    };
    files.iter().zip(named).map(|((path, _), named)| named && !is_read(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_explains() {
        for path in
            ["README.md", "readme", "docs/Use.MD", "LICENSE", "CHANGELOG.txt", "logo.svg", "README_de.md"]
        {
            assert!(is_named(path), "{path}");
        }
        for path in
            ["redis.yaml", "example.yaml", "readme.jinja", "license.py", "notes.txt", "md", "values.md.yaml"]
        {
            assert!(!is_named(path), "{path}");
        }
    }

    #[test]
    fn what_the_template_may_read_is_part_of_it() {
        let of =
            |kind, template: &str| of(kind, [("x.jinja", template.as_bytes()), ("README.md", &b"x"[..])]);
        assert_eq!(of(Kind::DmJinja, "resources: []"), [false, true]);
        assert_eq!(of(Kind::DmJinja, "{% include 'README.md' %}"), [false, false]);
        assert_eq!(of(Kind::Chart, "{{ .Files.Glob \"*.md\" }}"), [false, false]);
        assert_eq!(of(Kind::Template, "# see README.md"), [false, true], "it cannot read files");
    }
}
