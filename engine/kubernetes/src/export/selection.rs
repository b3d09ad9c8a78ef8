//! Which objects are taken: by label, kind and name.

use yaml::Value;

/// A selector of labels, as `kubectl -l` reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    label: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
}

/// A selector that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no selector of labels: write name=value, name!=value, name in (a, b), name notin (a), name or !name"
)]
pub struct SelectorError(String);

impl std::str::FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Selector, SelectorError> {
        let mut requirements = Vec::new();
        let (mut depth, mut from) = (0, 0);
        for (at, character) in text.char_indices().chain([(text.len(), ',')]) {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => {
                    let one = text[from..at].trim();
                    requirements.push(requirement(one).ok_or_else(|| SelectorError(one.to_owned()))?);
                    from = at + 1;
                }
                _ => {}
            }
        }
        if from <= text.len() {
            return Err(SelectorError(text.to_owned()));
        }
        Ok(Selector(requirements))
    }
}

fn requirement(text: &str) -> Option<Requirement> {
    let made = |label: &str, test| {
        let label = label.trim();
        let good = !label.is_empty() && !label.contains(|c: char| c.is_whitespace() || "()!=,".contains(c));
        good.then(|| Requirement { label: label.to_owned(), test })
    };
    let one = |value: &str| vec![value.trim().to_owned()];
    if let Some((label, value)) = text.split_once("!=") {
        return made(label, Test::NotIn(one(value)));
    }
    if let Some((label, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return made(label, Test::In(one(value)));
    }
    if let Some((head, list)) = text.split_once('(') {
        let list = list.strip_suffix(')')?.split(',').map(|value| value.trim().to_owned()).collect();
        let (label, word) = head.trim().rsplit_once(char::is_whitespace)?;
        return match word {
            "in" => made(label, Test::In(list)),
            "notin" => made(label, Test::NotIn(list)),
            _ => None,
        };
    }
    match text.strip_prefix('!') {
        Some(label) => made(label, Test::Absent),
        None => made(text, Test::Exists),
    }
}

impl Selector {
    fn takes(&self, object: &Value) -> bool {
        self.0.iter().all(|requirement| {
            let labels = object.pointer("/metadata/labels");
            let label = labels.and_then(|labels| labels.get(&requirement.label)).and_then(Value::as_str);
            let among = |values: &[String]| label.is_some_and(|label| values.iter().any(|one| one == label));
            match &requirement.test {
                Test::In(values) => among(values),
                Test::NotIn(values) => !among(values),
                Test::Exists => label.is_some(),
                Test::Absent => label.is_none(),
            }
        })
    }
}

/// Which objects are taken. Nothing given takes all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// By their labels.
    pub labels: Option<Selector>,
    /// Of one of these kinds, in any case, with the group if it matters (`deployment`, `route.route.openshift.io`).
    pub kinds: Vec<String>,
    /// Of one of these names; `*` stands for any text.
    pub names: Vec<String>,
}

impl Selection {
    /// Whether an object is taken.
    pub(super) fn takes(&self, object: &Value) -> bool {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let kind = text("/kind").to_lowercase();
        let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
        let is_kind = |asked: &String| {
            let asked = asked.to_lowercase();
            let (name, asked_group) = asked.split_once('.').map_or((&*asked, None), |(k, g)| (k, Some(g)));
            // Plurals, as people write them for kubectl.
            let plural = format!("{kind}s") == name
                || format!("{kind}es") == name
                || kind.strip_suffix('y').is_some_and(|stem| format!("{stem}ies") == name);
            (name == kind || plural) && asked_group.is_none_or(|asked| asked == group)
        };
        self.labels.as_ref().is_none_or(|selector| selector.takes(object))
            && (self.kinds.is_empty() || self.kinds.iter().any(is_kind))
            && (self.names.is_empty() || self.names.iter().any(|name| matches(name, text("/metadata/name"))))
    }
}

/// Whether a text is of a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Value {
        let text =
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop-db, labels: {app: shop, tier: db}}";
        yaml::load(text, &yaml::Options::kubernetes()).unwrap().unwrap().value
    }

    #[test]
    fn selectors_as_kubectl_reads_them() {
        for (text, expected) in [
            ("app=shop", true),
            ("app==shop,tier!=web", true),
            ("tier in (web, db),app", true),
            ("tier notin (db)", false),
            ("!app", false),
            ("!none", true),
            ("none=x", false),
            ("none!=x", true),
        ] {
            assert_eq!(text.parse::<Selector>().unwrap().takes(&object()), expected, "{text}");
        }
        for text in ["", "a b", "app=shop,", "x in", "x in (a", "=a", "a foo (b)"] {
            assert!(text.parse::<Selector>().is_err(), "{text}");
        }
    }

    #[test]
    fn kinds_and_names() {
        let takes = |kinds: &[&str], names: &[&str]| {
            let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
            Selection { labels: None, kinds: texts(kinds), names: texts(names) }.takes(&object())
        };
        assert!(takes(&[], &[]) && takes(&["deployment"], &[]) && takes(&["Deployments.apps"], &["shop-*"]));
        assert!(!takes(&["deployment.extensions"], &[]) && !takes(&["Pod"], &[]) && !takes(&[], &["shop"]));
        assert!(
            matches("*", "") && matches("a*b*c", "a1b2c") && !matches("a*b*c", "ac") && matches("ab", "ab")
        );
    }
}
