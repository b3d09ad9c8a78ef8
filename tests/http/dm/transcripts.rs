//! The transcripts in `docs/clients.md`: run in order, and compared with what stands there.

use std::process::Output;

use crate::kit::{Server, workspace};

/// What the page's server serves.
pub(super) const REGISTRY: &[&str] = &["--registry", "github.com/acme/templates=examples/registry"];

/// The commands of the page that are meant, each with what it says, in order.
///
/// # Panics
/// When there are hardly any.
pub(super) fn of_page(is_meant: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(workspace().join("docs/clients.md")).unwrap();
    let blocks = page.split("```console\n").skip(1).filter_map(|block| block.split("```").next());
    let commands = blocks.filter_map(|block| block.strip_prefix("$ dm ")?.split_once('\n'));
    let commands = commands.filter(|(command, _)| is_meant(command));
    let all = commands.map(|(command, says)| (command.to_owned(), says.to_owned())).collect::<Vec<_>>();
    assert!(all.len() >= 5, "only {} transcripts were found", all.len());
    all
}

/// Runs commands against a server, without what they are piped into.
pub(super) fn replay(server: &Server, commands: &[(String, String)], run: impl Fn(&[&str]) -> Output) {
    for (command, expected) in commands {
        let own =
            command.split(" | ").next().unwrap_or_default().replace("http://127.0.0.1:8080", server.url());
        let output = run(&own.split_whitespace().collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        let text = alike(&text.replace(server.url(), "http://127.0.0.1:8080"));
        assert_eq!(text.trim_end(), expected.trim_end(), "$ dm {command}");
    }
}

/// A text without what is another each time: times, and numbers of manifests.
fn alike(text: &str) -> String {
    let patterns = [
        (r"manifest-\d{10,}", "manifest-…"),
        (r#""?20\d\d-\d\d-\d\dT[0-9:.]+Z"?"#, "…"),
        (r"(?m)^20\d\d/\d\d/\d\d \d\d:\d\d:\d\d ", "… "),
    ];
    patterns.iter().fold(text.to_owned(), |text, (pattern, shown)| {
        let pattern = regex::Regex::new(pattern).expect("the patterns are ours");
        pattern.replace_all(&text, *shown).into_owned()
    })
}
