//! The small parts pages are made of: icons, badges, times, numbers, commands to copy.
//!
//! Each returns HTML that is safe as it stands; whatever comes from outside is escaped here. A state is always an
//! icon and a word, never a colour alone.

use std::fmt::Write;

use askama::filters::Safe;
use schema::{Kind, Severity};
use wire::Health;
use wire::history::Standing;

use crate::assets;
use crate::time::Moment;

type Html = Safe<String>;

/// Text as HTML text or the value of an attribute in double quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A sentence in which backquotes mark what is to be read letter by letter, as our messages write it.
pub(crate) fn sentence(text: &str) -> Html {
    let mut out = String::with_capacity(text.len() + 32);
    let mut pieces = text.split('`').peekable();
    let mut code = false;
    while let Some(piece) = pieces.next() {
        // A backquote without its fellow is a backquote.
        let closed = pieces.peek().is_some();
        match (code, closed) {
            (true, true) => {
                let _ = write!(out, "<code>{}</code>", escape(piece));
            }
            (true, false) => {
                let _ = write!(out, "`{}", escape(piece));
            }
            (false, _) => out.push_str(&escape(piece)),
        }
        code = !code;
    }
    Safe(out)
}

/// The same, beginning with a capital as sentences do, unless a name stands there.
pub(crate) fn capitalised(text: &str) -> Html {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => sentence(&first.to_uppercase().chain(characters).collect::<String>()),
        None => Safe(String::new()),
    }
}

/// An icon of the sprite, for the eye only.
pub(crate) fn icon(name: &str) -> Html {
    icon_of(name, "")
}

fn icon_of(name: &str, class: &str) -> Html {
    let sprite = assets::url("icons.svg");
    Safe(format!(
        r#"<svg class="ic{class}" width="16" height="16" aria-hidden="true"><use href="{sprite}#{name}"/></svg>"#
    ))
}

/// The icon of a kind.
pub(crate) fn kind_icon(kind: &Kind) -> Html {
    icon(match kind {
        Kind::Template => "k-template",
        Kind::DmJinja | Kind::DmPython | Kind::DmConfiguration => "k-dm",
        Kind::ServiceBroker => "k-broker",
        Kind::InteroperatorPlan => "k-plan",
        Kind::Chart => "k-chart",
    })
}

fn badge_of(class: &str, symbol: &str, text: &str) -> Html {
    Safe(format!(r#"<span class="badge {class}">{}{}</span>"#, icon(symbol).0, escape(text)))
}

/// The health of something.
pub(crate) fn health(health: &Health) -> Html {
    let look = match health {
        Health::Healthy => "ok",
        Health::Warnings => "warn",
        Health::Errors => "bad",
    };
    badge_of(look, look, health.as_str())
}

/// The health of what the page is about.
pub(crate) fn health_solid(health: &Health) -> Html {
    solid(self::health(health))
}

/// A severity, in a table.
pub(crate) fn severity_plain(severity: &Severity) -> Html {
    let (class, symbol) = match severity {
        Severity::Error => ("bad", "bad"),
        Severity::Warning => ("warn", "warn"),
        Severity::Info => ("info", "info"),
    };
    badge_of(class, symbol, severity.as_str())
}

/// The severity of a finding that stands by itself.
pub(crate) fn severity(severity: &Severity) -> Html {
    solid(severity_plain(severity))
}

/// A badge that stands out.
fn solid(badge: Html) -> Html {
    Safe(badge.0.replacen("class=\"badge ", "class=\"badge solid ", 1))
}

/// What became of a content.
pub(crate) fn standing(standing: &Standing) -> Html {
    let (class, symbol) = match standing {
        Standing::Served => ("ok", "ok"),
        Standing::Former => ("wait", "clock"),
        Standing::Held => ("warn", "warn"),
        Standing::Gone | Standing::Purged => ("wait", "ban"),
    };
    badge_of(class, symbol, standing.as_str())
}

/// The notation of a Kubernetes Template, with how it writes a hole.
pub(crate) fn dialect(name: &str) -> Html {
    Safe(match name {
        "openshift" => "OpenShift, <code>${P}</code>".to_owned(),
        "kubernetes" => "Kubernetes, <code>$(P)</code>".to_owned(),
        other => escape(other),
    })
}

/// The state of bringing a registry up to date.
pub(crate) fn sync(state: &str) -> Html {
    let (class, symbol, text) = match state {
        "ready" => ("ok", "ok", "in step"),
        "failed" => ("bad", "bad", "failing"),
        other => ("wait", "wait", other),
    };
    badge_of(class, symbol, text)
}

/// The same for the registry the page is about.
pub(crate) fn sync_solid(state: &str) -> Html {
    solid(sync(state))
}

/// A moment, relative, with the exact time beside it.
pub(crate) fn moment(at: &i64) -> Html {
    let moment = Moment::of(*at);
    let exact = moment.exact();
    Safe(format!(r#"<time datetime="{exact}" title="{exact}">{moment}</time>"#))
}

/// Whatever is counted with; templates hand it over by reference.
pub(crate) trait Count {
    /// The number.
    fn count(&self) -> u64;
}

impl Count for u64 {
    fn count(&self) -> u64 {
        *self
    }
}

impl Count for usize {
    fn count(&self) -> u64 {
        *self as u64
    }
}

impl<C: Count> Count for &C {
    fn count(&self) -> u64 {
        (*self).count()
    }
}

/// A count with its thousands apart.
pub(crate) fn number(count: impl Count) -> String {
    let digits = count.count().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count and its noun.
pub(crate) fn counted(count: impl Count, one: &str, many: &str) -> String {
    format!("{} {}", number(&count), if count.count() == 1 { one } else { many })
}

/// Bytes, as people read them.
pub(crate) fn bytes(count: &u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    match *count {
        small @ 0..1_024 => format!("{small} B"),
        middle @ 1_024..1_048_576 => format!("{:.1} KiB", middle as f64 / 1_024.0),
        large => format!("{:.1} MiB", large as f64 / 1_048_576.0),
    }
}

/// A command to copy. The prompt is drawn, so it is never copied.
pub(crate) fn command(text: &str) -> Html {
    copyable(&escape(text), " class=\"sh\"", "Copy command")
}

/// A command that is HTML already: parts of it depend on a choice on the page.
pub(crate) fn command_of(html: &str) -> Html {
    copyable(html, " class=\"sh\"", "Copy command")
}

/// Text to copy that is no command and HTML already.
pub(crate) fn copy_of(html: &str, label: &str) -> Html {
    copyable(html, "", label)
}

fn copyable(html: &str, class: &str, label: &str) -> Html {
    // Named for what it is, so that a page is the same text, and has the same entity tag, each time it is made.
    let id = &schema::Digest::of(html.as_bytes()).hex()[..12];
    Safe(format!(
        r#"<div class="cmd"><pre id="c{id}"{class}><code>{html}</code></pre><button type="button" class="btn quiet tiny" data-copy="c{id}" data-js aria-label="{label}">{}</button></div>"#,
        icon("copy").0
    ))
}

/// A bar of healths, with its numbers in its label.
pub(crate) fn health_bar(counts: &wire::registries::HealthCounts) -> Html {
    let total = (counts.healthy + counts.warnings + counts.errors).max(1);
    let label = format!(
        "{} healthy, {} with warnings, {} with errors",
        counts.healthy, counts.warnings, counts.errors
    );
    let mut bars = String::new();
    let mut x = 0.0;
    for (count, class) in [(counts.healthy, "f-ok"), (counts.warnings, "f-warn"), (counts.errors, "f-bad")] {
        #[expect(clippy::cast_precision_loss, reason = "a share in per cent for a picture")]
        let width = count as f64 * 100.0 / total as f64;
        if count > 0 {
            // A gap between neighbours, so that the parts show without colour.
            let last = x + width > 99.9;
            let shown = if last { width } else { (width - 0.6).max(0.4) };
            let _ = write!(bars, r#"<rect class="{class}" x="{x:.2}" width="{shown:.2}" height="8"/>"#);
        }
        x += width;
    }
    Safe(format!(
        r#"<svg class="health" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{label}">{bars}</svg>"#
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_read_well() {
        assert_eq!(number(7_u64), "7");
        assert_eq!(number(38_907_u64), "38,907");
        assert_eq!(number(1_000_000_usize), "1,000,000");
        assert_eq!(counted(1_usize, "file", "files"), "1 file");
        assert_eq!(bytes(&14_541), "14.2 KiB");
        assert_eq!(bytes(&512), "512 B");
    }

    #[test]
    fn backquotes_become_code() {
        assert_eq!(sentence("`a<b` has no `v1`.").0, "<code>a&lt;b</code> has no <code>v1</code>.");
        assert_eq!(sentence("one ` alone").0, "one ` alone");
        assert_eq!(sentence("plain").0, "plain");
        assert_eq!(capitalised("plain `x`").0, "Plain <code>x</code>");
        assert_eq!(capitalised("`x` is").0, "<code>x</code> is");
    }

    #[test]
    fn what_comes_from_outside_is_escaped() {
        assert!(command("</code><script>").0.contains("&lt;/code&gt;&lt;script&gt;"));
    }
}
