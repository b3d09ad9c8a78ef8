//! Figures as people and tools read them: a table, a line of JSON, a section of the page they are kept on.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

/// Where the kept figures begin and end on the page.
const BEGIN: &str = "<!-- figures: written by `formwork-bench all` -->";
const END: &str = "<!-- end of figures -->";

/// What one part measured.
pub(crate) struct Section {
    /// The name of the sub-command.
    pub(crate) name: &'static str,
    /// What was measured, in a sentence.
    pub(crate) about: String,
    pub(crate) header: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
    /// The figures for tools.
    pub(crate) figures: Value,
    /// What was aimed at, and whether it was reached.
    pub(crate) goals: Vec<Goal>,
}

/// Something aimed at.
pub(crate) struct Goal {
    pub(crate) aim: String,
    pub(crate) found: String,
    pub(crate) met: bool,
}

/// Prints a line; a closed pipe is no error of a bench.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Says how far it is, apart from the figures.
pub(crate) fn progress(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

impl Section {
    /// The table and the line of JSON.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        say(format_args!("\n{}: {}\n", self.name, self.about));
        for line in table(self.header, &self.rows, "  ", "") {
            say(line);
        }
        for goal in &self.goals {
            say(format_args!("{} {}: {}", if goal.met { "met   " } else { "MISSED" }, goal.aim, goal.found));
        }
        say(serde_json::to_string(&json!({ "bench": self.name, "figures": self.figures }))?);
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut out = format!("### {}\n\n{}\n\n", self.name, self.about);
        let lines = table(self.header, &self.rows, " | ", "|");
        for (number, line) in lines.iter().enumerate() {
            out.push_str(line);
            out.push('\n');
            if number == 0 {
                out.push_str(&format!("|{}\n", "---|".repeat(self.header.len())));
            }
        }
        if !self.goals.is_empty() {
            out.push_str("\n| goal | found | |\n|---|---|---|\n");
            for Goal { aim, found, met } in &self.goals {
                out.push_str(&format!("| {aim} | {found} | {} |\n", if *met { "met" } else { "**missed**" }));
            }
        }
        out
    }
}

/// Lines of aligned columns: the first to the left, the others, which are figures, to the right.
fn table(header: &[&str], rows: &[Vec<String>], between: &str, edge: &str) -> Vec<String> {
    let header = header.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let all = std::iter::once(&header).chain(rows).collect::<Vec<_>>();
    let width = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths = (0..header.len()).map(width).collect::<Vec<_>>();
    let write = |row: &&Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join(between);
        if edge.is_empty() { line.trim_end().to_owned() } else { format!("{edge} {line} {edge}") }
    };
    all.iter().map(write).collect()
}

/// Writes the sections over those the page has.
pub(crate) fn write(page: &Path, sections: &[Section]) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| format!("{} cannot be read", page.display()))?;
    let (before, rest) =
        text.split_once(BEGIN).with_context(|| format!("{} has no line {BEGIN}", page.display()))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{} has no line {END}", page.display()))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut new = format!(
        "{before}{BEGIN}\n\n## {} at commit {}\n\nA virtual machine with {cores} cores, Linux, release binary, everything on it: load generator, peers and what is measured.\n",
        output("date", &["-u", "+%-d %B %Y"]),
        output("git", &["rev-parse", "--short=12", "HEAD"]),
    );
    for section in sections {
        new.push('\n');
        new.push_str(&section.markdown());
    }
    new.push_str(&format!("\n{END}{after}"));
    std::fs::write(page, new).with_context(|| format!("{} cannot be written", page.display()))
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// A ratio as tables show it.
pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// Seconds as tables show them.
pub(crate) fn seconds(value: f64) -> String {
    format!("{value:.3} s")
}
