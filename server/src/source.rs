//! A file's lines as HTML, with what a reader of templates looks for marked: the holes, keys, comments.
//!
//! It marks words, it does not parse: a file that is broken is shown as well as one that is not. Everything is
//! escaped.

use crate::ui::escape;

/// Longest line that is looked at closely; a longer one is data.
const LONGEST: usize = 2_000;

/// What opens a hole, and what closes it.
type Hole = (&'static str, &'static str);

/// Holes of every notation; of two that begin alike the longer one counts.
const HOLES: [Hole; 4] = [("${{", "}}"), ("${", "}"), ("{{", "}}"), ("{%", "%}")];

/// The hole of the Kubernetes proposal. In a file of another notation it is what Kubernetes fills in when a pod starts.
const PROPOSED: Hole = ("$(", ")");

/// The lines of a file.
pub(crate) fn lines(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let keyed = matches!(extension, "yaml" | "yml" | "jinja" | "schema" | "tpl");
    let holed = keyed || matches!(extension, "json" | "txt");
    let proposed = !HOLES.iter().any(|(open, _)| text.contains(open));
    let holes = HOLES.iter().chain(proposed.then_some(&PROPOSED)).copied().collect::<Vec<_>>();
    let line = |line: &str| match () {
        () if line.len() > LONGEST || !holed => escape(line),
        () if keyed => with_keys(line, &holes),
        () => with_holes(line, &holes),
    };
    text.lines().map(line).collect()
}

/// A line of YAML, or of a template that makes YAML.
fn with_keys(line: &str, holes: &[Hole]) -> String {
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    if body.starts_with('#') {
        return format!("{indent}<span class=\"c\">{}</span>", escape(body));
    }
    let dashes = body.len() - body.trim_start_matches(['-', ' ']).len();
    let is_list = body.starts_with("- ");
    let (lead, rest) = body.split_at(if is_list { dashes } else { 0 });
    let key_end = rest.find(':').filter(|end| {
        let key = &rest[..*end];
        let plain = !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/$\"'".contains(&byte));
        let after = rest[end + 1..].chars().next();
        plain && after.is_none_or(|after| after == ' ')
    });
    match key_end {
        Some(end) => format!(
            "{indent}{}<span class=\"k\">{}</span><span class=\"p\">:</span>{}",
            escape(lead),
            escape(&rest[..end]),
            with_comment(&rest[end + 1..], holes)
        ),
        None => format!("{indent}{}{}", escape(lead), with_comment(rest, holes)),
    }
}

/// Text up to a comment, and the comment. A `#` within quotes or a word is none.
fn with_comment(text: &str, holes: &[Hole]) -> String {
    match text.find(" #").filter(|at| !text[..*at].contains(['"', '\''])) {
        Some(at) => {
            format!("{}<span class=\"c\">{}</span>", with_holes(&text[..at], holes), escape(&text[at..]))
        }
        None => with_holes(text, holes),
    }
}

fn with_holes(text: &str, holes: &[Hole]) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while !rest.is_empty() {
        let next = holes.iter().filter_map(|(open, close)| Some((rest.find(open)?, *open, *close)));
        let first = next.min_by_key(|(at, open, _)| (*at, std::cmp::Reverse(open.len())));
        let Some((at, open, close)) = first else { break };
        let Some(length) = rest[at + open.len()..].find(close) else { break };
        let end = at + open.len() + length + close.len();
        out.push_str(&escape(&rest[..at]));
        out.push_str("<b class=\"ref\">");
        out.push_str(&escape(&rest[at..end]));
        out.push_str("</b>");
        rest = &rest[end..];
    }
    out.push_str(&escape(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_keys_and_comments_are_marked() {
        for (path, line, expected) in [
            (
                "a.yaml",
                "  name: ${NAME}-x # why",
                "  <span class=\"k\">name</span><span class=\"p\">:</span> <b class=\"ref\">${NAME}</b>-x<span class=\"c\"> # why</span>",
            ),
            ("a.yaml", "- kind: Pod", "- <span class=\"k\">kind</span><span class=\"p\">:</span> Pod"),
            ("a.yaml", "# all of it: x", "<span class=\"c\"># all of it: x</span>"),
            ("a.yaml", "  ${{PORT}}", "  <b class=\"ref\">${{PORT}}</b>"),
            (
                "a.jinja",
                "x: {{ a }}{% if b %}",
                "<span class=\"k\">x</span><span class=\"p\">:</span> <b class=\"ref\">{{ a }}</b><b class=\"ref\">{% if b %}</b>",
            ),
            (
                "a.yaml",
                "url: http://x:80",
                "<span class=\"k\">url</span><span class=\"p\">:</span> http://x:80",
            ),
            ("a.json", "{\"a\": \"${B}\"}", "{&quot;a&quot;: &quot;<b class=\"ref\">${B}</b>&quot;}"),
            ("a.yaml", "open ${NAME", "open ${NAME"),
            ("a.md", "${NAME}", "${NAME}"),
            ("a.yaml", "- $(NAME)", "- <b class=\"ref\">$(NAME)</b>"),
            ("a.yaml", "- $(NAME) ${X}", "- $(NAME) <b class=\"ref\">${X}</b>"),
        ] {
            assert_eq!(lines(path, line), [expected], "{line}");
        }
    }

    #[test]
    fn nothing_comes_through_that_is_not_text() {
        for line in
            ["<b>: x", "a: <script>", "# <img>", "${<script>}", "- <i>: 1", "x: y #<s>", "'<': \"<u> # <s>\""]
        {
            let html = lines("a.yaml", line).concat();
            let bare = html
                .replace("<span class=\"k\">", "")
                .replace("<span class=\"p\">", "")
                .replace("<span class=\"c\">", "")
                .replace("<b class=\"ref\">", "")
                .replace("</span>", "")
                .replace("</b>", "");
            assert!(!bare.contains('<'), "{line} became {html}");
        }
    }
}
