//! What soaks found, kept as rows of the table in `benches/README.md`.

use std::process::Command;

use anyhow::Context;

use crate::programs;
use crate::terminal::grouped;

/// Before this line on the page a new row goes.
const END: &str = "<!-- end of soaks -->";

/// One run of one soak.
pub(crate) struct Run {
    /// What was compared.
    pub(crate) soak: &'static str,
    pub(crate) seed: u64,
    pub(crate) cases: u64,
    /// Differences of a kind that is known and named, by kind.
    pub(crate) explained: Vec<(String, u64)>,
    pub(crate) unexplained: u64,
}

impl Run {
    fn explained(&self) -> String {
        if self.explained.is_empty() {
            return "0".to_owned();
        }
        let parts = self.explained.iter().map(|(why, count)| format!("{} ({why})", grouped(*count)));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Adds the run to the page.
    pub(crate) fn keep(&self) -> anyhow::Result<()> {
        let page = programs::workspace().join("benches/README.md");
        let text = std::fs::read_to_string(&page).with_context(|| format!("{}", page.display()))?;
        let (before, after) =
            text.split_once(END).with_context(|| format!("{} has no line {END}", page.display()))?;
        let row = format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            output("date", &["-u", "+%-d %B %Y"]),
            output("git", &["rev-parse", "--short=12", "HEAD"]),
            self.soak,
            self.seed,
            grouped(self.cases),
            self.explained(),
            grouped(self.unexplained),
        );
        std::fs::write(&page, format!("{before}{row}{END}{after}"))
            .with_context(|| format!("{} cannot be written", page.display()))
    }
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(programs::workspace()).output();
    output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
