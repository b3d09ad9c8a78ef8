//! Any bytes as `registry.yaml`. What must hold is what CI holds it to.

#![no_main]

#[path = "../../schema/tests/laws/mod.rs"]
#[expect(dead_code, reason = "each target uses the law of its name")]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| laws::registry_file(bytes));
