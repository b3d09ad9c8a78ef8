//! `formwork process` works in a process of its own too: what is harmful ends that one, with a word for the caller.

use std::time::{Duration, Instant};

use crate::kit::{formwork, run_with, workspace};

#[test]
fn a_harmful_template_ends_with_one_error_and_no_orphan() {
    for (name, values) in [
        ("endless", format!("properties: {{text: {}}}", "a".repeat(1 << 20))),
        ("gigabytes", "{}".to_owned()),
    ] {
        let started = Instant::now();
        let mut command = formwork();
        let template = format!("tests/registries/hostile/{name}/v1.0.0");
        command.current_dir(workspace()).args(["process", &template, "--values", "-"]);
        let output = run_with(command, values.as_bytes());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
        assert!(said.contains("error"), "{name}: {said}");
        // Far above the budget of two seconds: the machine may be busy. Without a limit it would take years.
        assert!(started.elapsed() < Duration::from_secs(30), "{name} took {:?}", started.elapsed());
    }
}
