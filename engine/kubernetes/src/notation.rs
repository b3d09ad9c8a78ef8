//! The two notations for a reference to a parameter, as one scanner.
//!
//! Sources: the Template proposal (`$(P)`, and `$((P))` for values without quotes) and OpenShift's processor
//! (`${P}`, and `${{P}}` as the whole text). Names are letters, digits and `_` in both. Anything else stays what
//! it is: a `$` in a shell script is no error.

/// Which notation a template is written in. Never both: what one leaves alone, the other would replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notation {
    /// `$(P)` and `$((P))`, of the Kubernetes proposal.
    Kubernetes,
    /// `${P}` and `${{P}}`, of OpenShift.
    OpenShift,
}

impl Notation {
    /// The word used in requests and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Notation::Kubernetes => "kubernetes",
            Notation::OpenShift => "openshift",
        }
    }

    /// The notation a word names.
    pub fn from_word(word: &str) -> Option<Notation> {
        [Notation::Kubernetes, Notation::OpenShift].into_iter().find(|notation| notation.as_str() == word)
    }

    /// How a reference to that parameter is written, for messages.
    pub fn reference(self, name: &str) -> String {
        match self {
            Notation::Kubernetes => format!("$({name})"),
            Notation::OpenShift => format!("${{{name}}}"),
        }
    }

    /// How a reference without quotes is written, for messages.
    pub fn unquoted_reference(self, name: &str) -> String {
        match self {
            Notation::Kubernetes => format!("$(({name}))"),
            Notation::OpenShift => format!("${{{{{name}}}}}"),
        }
    }
}

/// A stretch of a text: as it stands, or a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text that stays.
    Text(&'t str),
    /// A reference to the parameter `name`, written `written`.
    Reference {
        /// The whole reference as it stands.
        written: &'t str,
        /// The name in it.
        name: &'t str,
        /// Whether it is of the form that leaves the quotes out.
        unquoted: bool,
    },
}

/// Whether a text can be a parameter's name in a reference.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Cuts a text into its pieces, left to right, once: joined again they are the text.
///
/// In the proposal's notation `$$` is two characters that stay, so that `$$(P)`, the kubelet's escape, reaches the
/// kubelet. OpenShift has no escape; `escapes` (opt-in by annotation) makes `$${` there stand for `${`.
pub fn pieces(notation: Notation, text: &str, escapes: bool) -> Vec<Piece<'_>> {
    if notation == Notation::OpenShift
        && let Some(name) = text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}"))
        && is_name(name)
    {
        return vec![Piece::Reference { written: text, name, unquoted: true }];
    }
    let mut pieces = Vec::new();
    // Where the text that stays begins, and where the search goes on.
    let (mut kept, mut at) = (0, 0);
    while let Some(dollar) = text[at..].find('$').map(|found| at + found) {
        let rest = &text[dollar..];
        if notation == Notation::Kubernetes && rest.starts_with("$$") {
            at = dollar + 2;
            continue;
        }
        if notation == Notation::OpenShift && escapes && rest.starts_with("$${") {
            pieces.extend((kept < dollar).then(|| Piece::Text(&text[kept..dollar])));
            (kept, at) = (dollar + 1, dollar + 3);
            continue;
        }
        let Some((length, name, unquoted)) = reference_at(notation, rest) else {
            at = dollar + 1;
            continue;
        };
        pieces.extend((kept < dollar).then(|| Piece::Text(&text[kept..dollar])));
        pieces.push(Piece::Reference { written: &rest[..length], name, unquoted });
        (kept, at) = (dollar + length, dollar + length);
    }
    pieces.extend((kept < text.len()).then(|| Piece::Text(&text[kept..])));
    pieces
}

/// The reference a text begins with: its length, its name, and whether it leaves the quotes out.
fn reference_at(notation: Notation, text: &str) -> Option<(usize, &str, bool)> {
    let within = |open: &str, close: &str| {
        let rest = text.strip_prefix(open)?;
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        (length > 0 && rest[length..].starts_with(close)).then_some(&rest[..length])
    };
    match notation {
        Notation::OpenShift => within("${", "}").map(|name| (name.len() + 3, name, false)),
        Notation::Kubernetes => within("$((", "))")
            .map(|name| (name.len() + 5, name, true))
            .or_else(|| within("$(", ")").map(|name| (name.len() + 3, name, false))),
    }
}

/// Whether a text holds a reference that keeps its quotes, whether or not its name is declared.
pub(crate) fn has_quoted_reference(notation: Notation, text: &str) -> bool {
    pieces(notation, text, false)
        .iter()
        .any(|piece| matches!(piece, Piece::Reference { unquoted: false, .. }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(notation: Notation, text: &str) -> Vec<(&str, bool)> {
        let names = pieces(notation, text, false).into_iter().filter_map(|piece| match piece {
            Piece::Reference { name, unquoted, .. } => Some((name, unquoted)),
            Piece::Text(_) => None,
        });
        names.collect()
    }

    #[test]
    fn openshift_references() {
        let names = |text| names(Notation::OpenShift, text);
        assert_eq!(names("a${P}b${Q_1}"), [("P", false), ("Q_1", false)]);
        assert_eq!(names("${{P}}"), [("P", true)]);
        assert_eq!(names("$${P}"), [("P", false)]);
        assert_eq!(names("${a${P}"), [("P", false)]);
        for none in ["a${{P}}", " ${{P}}", "${{P}}\n", "${A-B}", "${}", "$(P)", "${ P}", "$", "${"] {
            assert!(names(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn the_proposals_references() {
        let names = |text| names(Notation::Kubernetes, text);
        assert_eq!(names("a$(P)b$((Q))"), [("P", false), ("Q", true)]);
        assert_eq!(names("$$$(P)"), [("P", false)]);
        for none in ["$$(P)", "$$((P))", "$(P", "$((P)", "$(P Q)", "${P}", "$()", "$(( P ))"] {
            assert!(names(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn the_escape_is_opt_in() {
        let escaped = pieces(Notation::OpenShift, "a$${P}${Q}", true);
        assert_eq!(escaped[..2], [Piece::Text("a"), Piece::Text("${P}")]);
        assert!(matches!(escaped[2], Piece::Reference { name: "Q", .. }));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn pieces_are_the_text(text in "[$(){}PQ_ a$é]{0,24}") {
            for notation in [Notation::Kubernetes, Notation::OpenShift] {
                let joined = pieces(notation, &text, false).into_iter().map(|piece| match piece {
                    Piece::Text(text) => text,
                    Piece::Reference { written, .. } => written,
                });
                prop_assert_eq!(joined.collect::<String>(), &*text);
            }
        }
    }
}
