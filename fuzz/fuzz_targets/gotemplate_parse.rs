//! Any text parses or is refused, in every profile, and what parses can be reported on.
#![no_main]

use gotemplate::{Program, profile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for profile in [&profile::TEXT, &profile::HELM] {
        match Program::parse("t", text, profile) {
            Ok(program) => drop(program.report("t")),
            Err(error) => assert!(!error.to_go_string().is_empty()),
        }
    }
});
