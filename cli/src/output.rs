//! What people read on a terminal: findings with code frames, tables, errors with hints. Colours on a terminal
//! only, and never alone.

use std::fmt::Display;
use std::io::Write;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use schema::finding::{Finding, Severity};
use schema::processing::Problem;

/// Prints a line to standard output; a closed pipe ends the program quietly, as in any pipeline.
pub(crate) fn line(text: impl Display) {
    print(format_args!("{text}\n"));
}

/// Prints text as it is.
pub(crate) fn print(text: impl Display) {
    let mut out = anstream::stdout().lock();
    if write!(out, "{text}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Prints a line to standard error.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Prints a question to standard error; the answer goes behind it.
pub(crate) fn prompt(text: impl Display) {
    let mut out = anstream::stderr().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

const fn colour(severity: Severity) -> Style {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info => AnsiColor::Blue,
    };
    colour.on_default().bold()
}

/// Prints an error with its causes, one a line; a cause that the line above says already is left out.
pub(crate) fn error(error: &anyhow::Error) {
    let style = colour(Severity::Error);
    let mut said = error.to_string();
    note(format_args!("{style}error:{style:#} {said}"));
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) {
            note(format_args!("  because {cause}"));
            said = cause;
        }
    }
}

/// A finding as people read it: where, what, the line itself if there is one, and what to do.
pub(crate) fn finding(finding: &Finding, source: Option<&str>) -> String {
    let place = finding.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    let path = if finding.path.is_empty() { "." } else { &finding.path };
    let said = Said {
        severity: finding.severity,
        rule: Some(&finding.rule),
        message: &finding.message,
        help: Some(&finding.fix),
    };
    let frame = finding.place.zip(source).and_then(|(place, source)| frame(&said, path, place, source));
    if let Some(frame) = frame {
        return format!("{frame}\n");
    }
    let style = colour(finding.severity);
    let severity = finding.severity.as_str();
    let rule = &finding.rule;
    let fix = &finding.fix;
    let message = &finding.message;
    format!(
        "{style}{severity}[{rule}]{style:#}{BOLD}: {message}{BOLD:#}\n {DIM}-->{DIM:#} {path}{place}\n {DIM}={DIM:#} help: {fix}\n"
    )
}

/// What is said with a code frame.
struct Said<'s> {
    severity: Severity,
    rule: Option<&'s str>,
    message: &'s str,
    help: Option<&'s str>,
}

fn frame(said: &Said<'_>, path: &str, place: schema::Place, source: &str) -> Option<String> {
    let start =
        source.split_inclusive('\n').take(place.line.checked_sub(1)? as usize).map(str::len).sum::<usize>();
    let line = source.get(start..)?.lines().next()?;
    let column =
        line.char_indices().nth(place.column.checked_sub(1)? as usize).map_or(line.len(), |(at, _)| at);
    let word = line[column..]
        .find([' ', ':', ',', '}', ']'])
        .filter(|end| *end > 0)
        .unwrap_or(line.len() - column)
        .max(1);
    let end = (start + column + word).min(source.len());
    let level = match said.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let snippet = Snippet::source(source)
        .path(path)
        .annotation(AnnotationKind::Primary.span(start + column..end.max(start + column)));
    let title = level.primary_title(said.message);
    let title = match said.rule {
        Some(rule) => title.id(rule),
        None => title,
    };
    let mut group = title.element(snippet);
    if let Some(help) = said.help {
        group = group.element(Level::HELP.message(help));
    }
    Some(Renderer::styled().render(&[group]))
}

/// A health in its colour and its word.
pub(crate) fn health(health: wire::Health) -> String {
    let colour = match health {
        wire::Health::Healthy => AnsiColor::Green,
        wire::Health::Warnings => AnsiColor::Yellow,
        wire::Health::Errors => AnsiColor::Red,
    };
    let style = colour.on_default();
    format!("{style}{}{style:#}", health.as_str())
}

/// A severity in its colour and its word.
pub(crate) fn severity(severity: Severity) -> String {
    let style = colour(severity);
    format!("{style}{}{style:#}", severity.as_str())
}

/// A title and what goes on behind it, in one line.
pub(crate) fn titled(title: Option<&str>, description: Option<&str>) -> String {
    let said = title.into_iter().chain(description).collect::<Vec<_>>().join(": ");
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text, with `…` for the rest.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut = text.chars().take(most.saturating_sub(1)).collect::<String>();
    format!("{}…", cut.trim_end())
}

/// Some of many names.
pub(crate) fn several(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    match names.len() {
        0 => "none".to_owned(),
        1..=SHOWN => names.join(", "),
        more => format!("{} and {} more", names[..SHOWN].join(", "), more - SHOWN),
    }
}

/// How many columns there are to write into; `None` where nobody looks and lines may be as long as they are.
/// `COLUMNS` goes first, as for other programs.
fn columns() -> Option<usize> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    let here = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    asked.or_else(here).filter(|columns| *columns > 0)
}

/// A text in lines that fit the terminal, or in lines of a page's width.
pub(crate) fn wrapped(text: &str) -> String {
    let most = columns().unwrap_or(100).clamp(20, 100);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a last line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= most {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

/// Rows in aligned columns, as wide as the terminal: the last column is not padded, and cut where there is no room.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    /// What the last column has at the least.
    const LEAST: usize = 12;
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].len()]).max().unwrap_or(0)
    };
    let widths = (0..header.len()).map(width).collect::<Vec<_>>();
    let before = widths.iter().take(widths.len().saturating_sub(1)).map(|width| width + 2).sum::<usize>();
    let room = columns().map_or(usize::MAX, |columns| columns.saturating_sub(before).max(LEAST));
    let write = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.enumerate().map(|(column, cell)| match column + 1 == widths.len() {
            true => shortened(cell, room),
            false => format!("{cell}{}", " ".repeat(widths[column].saturating_sub(cell.chars().count()) + 2)),
        });
        padded.collect::<String>().trim_end().to_owned()
    };
    let mut out = format!("{DIM}{}{DIM:#}\n", write(&mut header.iter().copied()));
    for row in rows {
        out.push_str(&write(&mut row.iter().map(String::as_str)));
        out.push('\n');
    }
    out
}

/// `1 error`, `2 errors`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// A problem of processing, as people read it: where there is a source, with the line itself.
pub(crate) fn problem(problem: &Problem, source: Option<&str>) -> String {
    let Problem { severity, message, file, line, column, pointer, hint } = problem;
    let file = file.as_deref().unwrap_or_default();
    let pointer = pointer.as_ref().filter(|pointer| !pointer.is_empty());
    let pointer = pointer.map(|pointer| format!(" ({pointer})")).unwrap_or_default();
    let place = line.map(|line| schema::Place { line, column: column.unwrap_or(1) });
    if let Some((place, source)) = place.zip(source) {
        let said = Said { severity: *severity, rule: None, message, help: hint.as_deref() };
        if let Some(frame) = frame(&said, file, place, source) {
            return frame;
        }
    }
    let style = colour(*severity);
    let severity = severity.as_str();
    let mut out = format!("{style}{severity}{style:#}{BOLD}: {message}{BOLD:#}\n");
    let place = place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    if !file.is_empty() || !pointer.is_empty() {
        out.push_str(&format!(" {DIM}-->{DIM:#} {file}{place}{pointer}\n"));
    }
    if let Some(hint) = hint {
        out.push_str(&format!(" {DIM}={DIM:#} help: {hint}\n"));
    }
    out.trim_end().to_owned()
}
