//! The rules of all dialects together, with those of the kinds the façade itself looks at.

use schema::{Rule, Severity};

/// The tables of every dialect. Ids are unique over all of them.
pub static RULES: &[&[Rule]] = &[OWN, engine_kubernetes::RULES, engine_dm::RULES];

pub(crate) static UNREADABLE: Rule = Rule {
    id: "metadata-unreadable",
    severity: Severity::Error,
    why: "What describes the template cannot be read, so it can be neither found nor processed.",
    fix: "Mend the file at the place named.",
    withholds: false,
};

static OWN: &[Rule] = &[Rule {
    id: "metadata-unreadable",
    severity: Severity::Error,
    why: "What describes the template cannot be read, so it can be neither found nor processed.",
    fix: "Mend the file at the place named.",
    withholds: false,
}];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_texts_are_whole() {
        let mut ids = HashSet::new();
        for rule in RULES.iter().copied().flatten() {
            assert!(ids.insert(rule.id), "{} is used twice", rule.id);
            assert!(rule.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", rule.id);
            assert!(rule.why.ends_with('.') && rule.fix.ends_with('.'), "{}", rule.id);
        }
        assert_eq!(OWN[0], UNREADABLE);
    }
}
