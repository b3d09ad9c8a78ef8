//! The rules of this crate, and every rule there is.

use schema::{Rule, Severity};

/// `example.yaml` is not readable.
pub static EXAMPLE_UNREADABLE: Rule = Rule {
    id: "example-unreadable",
    severity: Severity::Error,
    why: "example.yaml is what users copy and what shows the template works, and it is not YAML",
    fix: "mend example.yaml",
    withholds: false,
};

/// `example.yaml` does not process.
pub static EXAMPLE_FAILS: Rule = Rule {
    id: "example-fails",
    severity: Severity::Error,
    why: "whoever copies the example gets this error",
    fix: "mend the example or the template",
    withholds: false,
};

/// `example.yaml` was not processed.
pub static EXAMPLE_NOT_PROCESSED: Rule = Rule {
    id: "example-not-processed",
    severity: Severity::Info,
    why: "whether the example works is not known",
    fix: "nothing; this kind of template is not processed here yet, or needs another registry",
    withholds: false,
};

/// The example comes out differently in Jinja2 itself: what serves the version processes it there from then on.
pub static RENDERED_BY_JINJA2: Rule = Rule {
    id: schema::processing::RENDERED_BY_JINJA2,
    severity: Severity::Info,
    why: "Jinja2 itself renders the example differently from what stands in its place here, so it renders this version",
    fix: "nothing; a plainer template renders faster",
    withholds: false,
};

/// The rules of this crate.
pub static ALL: &[&Rule] =
    &[&EXAMPLE_UNREADABLE, &EXAMPLE_FAILS, &EXAMPLE_NOT_PROCESSED, &RENDERED_BY_JINJA2];
