//! Objects as a page shows them: YAML with its keys and values told apart, and secrets made unreadable.

use askama::filters::Safe;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::ui::escape;

/// What stands where a secret would.
const MASK: &str = "••••••••";

/// Secrets shorter than this are not looked for within other texts: they would be found everywhere.
const SHORTEST_WITHIN: usize = 4;

/// Makes the secrets that were filled in unreadable wherever they turn up in objects, as they are and in base64.
pub(super) fn mask(objects: &mut [Value], secrets: &[String]) {
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    let forms = secrets.flat_map(|secret| [secret.clone(), STANDARD.encode(secret)]).collect::<Vec<_>>();
    if !forms.is_empty() {
        objects.iter_mut().for_each(|object| mask_value(object, &forms));
    }
}

fn mask_value(value: &mut Value, secrets: &[String]) {
    match value {
        Value::String(text) => {
            for secret in secrets {
                if text == secret {
                    MASK.clone_into(text);
                } else if secret.len() >= SHORTEST_WITHIN && text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), MASK);
                }
            }
        }
        Value::Number(number) if secrets.contains(&number.to_string()) => *value = MASK.into(),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, secrets)),
        Value::Object(map) => map.values_mut().for_each(|item| mask_value(item, secrets)),
        _ => {}
    }
}

/// YAML that our emitter wrote, as HTML.
pub(super) fn yaml(text: &str) -> Safe<String> {
    let mut html = String::with_capacity(text.len() * 2);
    // Lines of a block text are no keys and values; the block ends where the indentation does.
    let mut block: Option<usize> = None;
    for line in text.lines() {
        let indentation = line.len() - line.trim_start().len();
        if block.is_some_and(|at| indentation > at || line.trim().is_empty()) {
            html.push_str(&format!("<span class=\"s\">{}</span>\n", escape(line)));
            continue;
        }
        block = None;
        let (marks, rest) = line.split_at(dashes(line));
        html.push_str(marks);
        if line == "---" {
            html.push_str("<span class=\"p\">---</span>");
        } else if let Some((key, value)) = key_and_value(rest) {
            html.push_str(&format!(
                "<span class=\"k\">{}</span><span class=\"p\">:</span>{}",
                escape(key),
                scalar(value)
            ));
            if matches!(value.trim_start().chars().next(), Some('|' | '>')) {
                block = Some(marks.len());
            }
        } else {
            html.push_str(&scalar(rest));
        }
        html.push('\n');
    }
    Safe(html)
}

/// How long the indentation and the dashes of lists are.
fn dashes(line: &str) -> usize {
    let mut at = line.len() - line.trim_start_matches(' ').len();
    while line[at..].starts_with("- ") {
        at += 2;
    }
    at
}

/// A key and what stands behind its colon.
fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let end = if let Some(quoted) = text.strip_prefix('"') {
        quoted.find("\":").map(|at| at + 2)?
    } else if let Some(quoted) = text.strip_prefix('\'') {
        quoted.find("':").map(|at| at + 2)?
    } else {
        text.match_indices(':')
            .map(|(at, _)| at)
            .find(|at| text[at + 1..].is_empty() || text[at + 1..].starts_with(' '))?
    };
    let rest = &text[end + 1..];
    (rest.is_empty() || rest.starts_with(' ')).then_some((&text[..end], rest))
}

fn scalar(text: &str) -> String {
    let trimmed = text.trim_start();
    let class = match trimmed.chars().next() {
        Some('"' | '\'') => "s",
        Some('0'..='9' | '-') if trimmed.parse::<f64>().is_ok() => "n",
        _ if ["true", "false", "null"].contains(&trimmed) => "n",
        _ => return escape(text),
    };
    let space = &text[..text.len() - trimmed.len()];
    format!("{space}<span class=\"{class}\">{}</span>", escape(trimmed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_and_values_are_told_apart_and_nothing_is_html() {
        let html = yaml("---\na: \"<b>\"\nl:\n- x: 3\n  y: http://z\nt: |\n  k: v\n  w\nn: true\n").0;
        assert_eq!(
            html,
            "<span class=\"p\">---</span>\n<span class=\"k\">a</span><span class=\"p\">:</span> <span class=\"s\">&quot;&lt;b&gt;&quot;</span>\n\
             <span class=\"k\">l</span><span class=\"p\">:</span>\n- <span class=\"k\">x</span><span class=\"p\">:</span> <span class=\"n\">3</span>\n  \
             <span class=\"k\">y</span><span class=\"p\">:</span> http://z\n<span class=\"k\">t</span><span class=\"p\">:</span> |\n\
             <span class=\"s\">  k: v</span>\n<span class=\"s\">  w</span>\n<span class=\"k\">n</span><span class=\"p\">:</span> <span class=\"n\">true</span>\n"
        );
    }

    #[test]
    fn secrets_are_masked_in_every_form() {
        let mut objects = [
            json!({"a": "hunter2", "b": "url://u:hunter2@h", "c": STANDARD.encode("hunter2"), "d": [1234], "e": "hunt"}),
        ];
        mask(&mut objects, &["hunter2".into(), "1234".into(), String::new()]);
        assert_eq!(
            objects[0],
            json!({"a": MASK, "b": format!("url://u:{MASK}@h"), "c": MASK, "d": [MASK], "e": "hunt"})
        );
    }
}
