//! What can be known of a template version without processing it: what a search and a page need.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

/// The facts read from a version's files. Filled by the engine, one dialect at a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// A title for people, if the template gives one.
    pub title: Option<String>,
    /// One paragraph on what it is for.
    pub description: Option<String>,
    /// Words it is tagged with.
    pub tags: Vec<String>,
    /// A link to documentation.
    pub documentation: Option<String>,
    /// A link to support.
    pub support: Option<String>,
    /// The parameters, as one JSON Schema object whatever the kind (`type: object`, `properties`, `required`;
    /// each property with title, description, default, type, enum, pattern, and `writeOnly` for secrets).
    pub parameters: serde_json::Value,
    /// Kinds of the objects it makes, as far as its text tells, sorted, without duplicates.
    pub object_kinds: Vec<String>,
    /// What is wrong with it that can be seen without processing it.
    pub findings: Vec<Finding>,
}

/// Whether a parameter of that name holds a secret, as far as names tell: one of its words is `password`, `token`,
/// `key` or the like. Words are told apart by anything that is no letter or digit, and by capitals (`apiKey`).
///
/// Where it says yes, the parameter is `writeOnly` in [`Inspection::parameters`], and forms hide what is typed.
pub fn looks_secret(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "password",
        "passwd",
        "passphrase",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "key",
        "apikey",
        "credential",
        "credentials",
        "privatekey",
        "secretkey",
    ];
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for character in name.chars() {
        let begins = !character.is_alphanumeric() || (before_is_lower && character.is_uppercase());
        if begins {
            words.push(String::new());
        }
        before_is_lower = character.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.iter().any(|word| {
        let word = word.trim_end_matches(|digit: char| digit.is_ascii_digit());
        WORDS.contains(&word) || word.ends_with("password")
    })
}

#[cfg(test)]
mod tests {
    use super::looks_secret;

    #[test]
    fn secrets_are_told_by_whole_words() {
        for secret in [
            "DB_PASSWORD",
            "password",
            "apiKey",
            "GITHUB_TOKEN",
            "ssh-key",
            "ADMINPASSWORD",
            "client.secret",
            "PASSWORD2",
        ] {
            assert!(looks_secret(secret), "{secret}");
        }
        for open in ["KEYSPACE", "USER", "PASSENGERS", "keyboard", "TOKENIZER", "monkey", ""] {
            assert!(!looks_secret(open), "{open}");
        }
    }
}
