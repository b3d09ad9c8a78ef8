//! Versions and constraints as Masterminds' semver reads them: 1.5.0 with sprig 2.22, 3.2.1 with sprig 3.2.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::context::{Context, Failure};
use crate::function::{Function, Parameter};
use crate::profile::Sprig;
use crate::regex::Regex;
use crate::strconv::{self, NumberError};
use crate::value::{Object, Signature, Value};

use super::text;

type Answer<'a> = Result<Value<'a>, Failure>;

const VERSION: &str = r"v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";
const PATTERN: &str = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";
const OPERATORS: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";

struct Patterns {
    version: Regex,
    constraint: Regex,
    range: Regex,
    find: Regex,
    valid: Regex,
}

fn patterns() -> &'static Patterns {
    static PATTERNS: OnceLock<Patterns> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        let regex =
            |pattern: String| Regex::new(&pattern, 1 << 22).expect("the patterns are constant and valid");
        Patterns {
            version: regex(format!("^{VERSION}$")),
            constraint: regex(format!(r"^\s*({OPERATORS})\s*({PATTERN})\s*$")),
            range: regex(format!(r"\s*({PATTERN})\s+-\s+({PATTERN})\s*")),
            find: regex(format!(r"({OPERATORS})\s*({PATTERN})")),
            valid: regex(format!(
                r"^(\s*({OPERATORS})\s*({PATTERN})\s*)((?:\s+|,\s*)({OPERATORS})\s*({PATTERN})\s*)*$"
            )),
        }
    })
}

/// A version. Its texts point into what it was read from.
#[derive(Clone, Copy, Debug)]
struct Version<'a> {
    parts: [u64; 3],
    pre: &'a str,
    metadata: &'a str,
    original: &'a str,
    sprig: Sprig,
    /// A value and not a pointer, as the `Inc` methods return.
    value: bool,
}

fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

impl<'a> Version<'a> {
    fn new(source: &'a str, sprig: Sprig) -> Result<Self, String> {
        let invalid = || "Invalid Semantic Version".to_owned();
        let groups = patterns().version.captures(source.as_bytes()).ok_or_else(invalid)?;
        let group = |at: usize| groups[at].map(utf8).unwrap_or_default();
        let mut parts = [0; 3];
        for (at, part) in parts.iter_mut().enumerate() {
            let digits = group(at + 1).trim_start_matches('.');
            if digits.is_empty() {
                continue;
            }
            let (number, function) = match sprig {
                Sprig::V2 => (strconv::parse_int(digits, 10).map(i64::unsigned_abs), "ParseInt"),
                Sprig::V3 => (strconv::parse_uint(digits, 10), "ParseUint"),
            };
            *part = number.map_err(|error: NumberError| {
                format!("Error parsing version segment: {}", error.text(function, digits.as_bytes()))
            })?;
        }
        let (pre, metadata) = (group(5), group(8));
        if sprig == Sprig::V3 {
            let leading = |part: &str| {
                part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit())
            };
            if pre.split('.').any(leading) {
                return Err("Version segment starts with 0".to_owned());
            }
        }
        Ok(Self { parts, pre, metadata, original: source, sprig, value: false })
    }

    fn compare(&self, other: &Version<'_>) -> Ordering {
        self.parts.cmp(&other.parts).then_with(|| match (self.pre, other.pre) {
            ("", "") => Ordering::Equal,
            ("", _) => Ordering::Greater,
            (_, "") => Ordering::Less,
            (one, other) => compare_pre(one, other),
        })
    }

    fn shown(&self) -> String {
        let [major, minor, patch] = self.parts;
        let mut out = format!("{major}.{minor}.{patch}");
        if !self.pre.is_empty() {
            out.push('-');
            out.push_str(self.pre);
        }
        if !self.metadata.is_empty() {
            out.push('+');
            out.push_str(self.metadata);
        }
        out
    }
}

fn compare_pre(one: &str, other: &str) -> Ordering {
    let (mut ones, mut others) = (one.split('.'), other.split('.'));
    loop {
        let (one, other) = match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (one, other) => (one.unwrap_or(""), other.unwrap_or("")),
        };
        if one == other {
            continue;
        }
        if one.is_empty() {
            return Ordering::Less;
        }
        if other.is_empty() {
            return Ordering::Greater;
        }
        return match (strconv::parse_uint(one, 10), strconv::parse_uint(other, 10)) {
            (Err(_), Err(_)) => one.cmp(other),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            // Equal numbers in different spellings count as less.
            (Ok(one), Ok(other)) if one > other => Ordering::Greater,
            (Ok(_), Ok(_)) => Ordering::Less,
        };
    }
}

impl<'a> Object<'a> for Version<'a> {
    fn type_name(&self) -> &str {
        if self.value { "semver.Version" } else { "*semver.Version" }
    }

    fn kind(&self) -> &'static str {
        if self.value { "struct" } else { "ptr" }
    }

    fn text(&self) -> String {
        if self.value { self.pointed_text() } else { self.shown() }
    }

    /// Of 1.5.0's only pointers have a text of their own.
    fn pointed_text(&self) -> String {
        let [major, minor, patch] = self.parts;
        match self.sprig {
            Sprig::V2 => {
                format!("{{{major} {minor} {patch} {} {} {}}}", self.pre, self.metadata, self.original)
            }
            Sprig::V3 => self.shown(),
        }
    }

    fn data(&self, context: &mut Context<'_, 'a>) -> Option<Value<'a>> {
        Some(context.arena.string(self.shown()))
    }

    fn method(&self, name: &str) -> Option<Signature> {
        let parameters: &'static [Parameter] = match name {
            "Major" | "Minor" | "Patch" | "Prerelease" | "Metadata" | "Original" | "String" | "IncMajor"
            | "IncMinor" | "IncPatch" => &[],
            "Compare" | "Equal" | "LessThan" | "GreaterThan" => &[Parameter::Version],
            _ => return None,
        };
        Some(Signature { parameters, variadic: false })
    }

    fn call(&self, name: &str, arguments: &[Value<'a>], context: &mut Context<'_, 'a>) -> Answer<'a> {
        let number = |value: u64| match context.sprig {
            Sprig::V2 => Value::int64(i64::try_from(value).unwrap_or(i64::MAX)),
            Sprig::V3 => Value::Uint(crate::value::UintType::Uint64, value),
        };
        let [major, minor, patch] = self.parts;
        Ok(match name {
            "Major" => number(major),
            "Minor" => number(minor),
            "Patch" => number(patch),
            "Prerelease" => Value::text(self.pre),
            "Metadata" => Value::text(self.metadata),
            "Original" => Value::text(self.original),
            "String" => return context.text(self.shown()),
            "IncMajor" | "IncMinor" | "IncPatch" => {
                let parts = match name {
                    "IncMajor" => [major.wrapping_add(1), 0, 0],
                    "IncMinor" => [major, minor.wrapping_add(1), 0],
                    _ if self.pre.is_empty() => [major, minor, patch.wrapping_add(1)],
                    _ => self.parts,
                };
                let mark = if self.original.starts_with('v') { "v" } else { "" };
                let original = format!("{mark}{}.{}.{}", parts[0], parts[1], parts[2]);
                let original = utf8(context.arena.bytes(original.as_bytes()));
                let sprig = context.sprig;
                context.arena.object(Version { parts, pre: "", metadata: "", original, sprig, value: true })
            }
            _ => {
                // The argument is a version too; its text says all that comparing needs.
                let other = match arguments.first() {
                    Some(Value::Object(other)) => other.text(),
                    _ => return Err(Failure::message(super::convert::NIL_TYPE)),
                };
                let other = Version::new(&other, context.sprig).map_err(Failure::Message)?;
                let order = self.compare(&other);
                match name {
                    "Compare" => Value::int(order as i64),
                    "Equal" => Value::Bool(order.is_eq()),
                    "LessThan" => Value::Bool(order.is_lt()),
                    _ => Value::Bool(order.is_gt()),
                }
            }
        })
    }
}

/// One comparison of a constraint.
struct Comparison {
    operator: String,
    parts: [u64; 3],
    pre: String,
    minor_dirty: bool,
    patch_dirty: bool,
    dirty: bool,
}

fn is_x(text: &str) -> bool {
    matches!(text, "x" | "X" | "*")
}

impl Comparison {
    fn new(source: &str, sprig: Sprig) -> Result<Self, String> {
        let improper = || format!("improper constraint: {source}");
        if source.is_empty() && sprig == Sprig::V3 {
            return Ok(Self {
                operator: String::new(),
                parts: [0; 3],
                pre: String::new(),
                minor_dirty: false,
                patch_dirty: false,
                dirty: true,
            });
        }
        let groups = patterns().constraint.captures(source.as_bytes()).ok_or_else(improper)?;
        let group = |at: usize| groups[at].map(utf8).unwrap_or_default();
        let (mut minor_dirty, mut patch_dirty, mut dirty) = (false, false, false);
        let (major, minor, patch, pre) = (group(3), group(4), group(5), group(6));
        let mut version = group(2).to_owned();
        if is_x(major) || (sprig == Sprig::V3 && major.is_empty()) {
            version = if sprig == Sprig::V3 { format!("0.0.0{pre}") } else { "0.0.0".to_owned() };
            dirty = true;
        } else if is_x(minor.trim_start_matches('.')) || minor.is_empty() {
            minor_dirty = true;
            dirty = true;
            version = format!("{major}.0.0{pre}");
        } else if is_x(patch.trim_start_matches('.')) || (sprig == Sprig::V3 && patch.is_empty()) {
            dirty = true;
            patch_dirty = true;
            version = format!("{major}{minor}.0{pre}");
        }
        let parsed = Version::new(&version, sprig).map_err(|_| "constraint Parser Error".to_owned())?;
        Ok(Self {
            operator: group(1).to_owned(),
            parts: parsed.parts,
            pre: parsed.pre.to_owned(),
            minor_dirty,
            patch_dirty,
            dirty,
        })
    }

    fn version(&self) -> Version<'_> {
        Version {
            parts: self.parts,
            pre: &self.pre,
            metadata: "",
            original: "",
            sprig: Sprig::V3,
            value: false,
        }
    }

    fn admits(&self, version: &Version<'_>, sprig: Sprig) -> bool {
        let release_only = !version.pre.is_empty() && self.pre.is_empty();
        if self.operator == "!=" {
            return self.differs(version, release_only, sprig);
        }
        if release_only {
            return false;
        }
        let order = version.compare(&self.version());
        let [major, minor, _] = version.parts;
        let [own_major, own_minor, own_patch] = self.parts;
        match self.operator.as_str() {
            "" | "=" if !self.dirty => order.is_eq(),
            "" | "=" | "~" | "~>" => self.tilde(version),
            ">" if sprig == Sprig::V2 || !self.dirty => order.is_gt(),
            ">" => match major.cmp(&own_major) {
                Ordering::Greater => true,
                Ordering::Less => false,
                Ordering::Equal if self.minor_dirty => false,
                Ordering::Equal if self.patch_dirty => minor > own_minor,
                Ordering::Equal => order.is_gt(),
            },
            "<" if sprig == Sprig::V2 && self.dirty => {
                major <= own_major && (minor <= own_minor || self.minor_dirty)
            }
            "<" => order.is_lt(),
            ">=" | "=>" => order.is_ge(),
            "<=" | "=<" if !self.dirty => order.is_le(),
            "<=" | "=<" if sprig == Sprig::V2 => {
                major <= own_major && (minor <= own_minor || self.minor_dirty)
            }
            "<=" | "=<" => {
                major < own_major || (major == own_major && (minor <= own_minor || self.minor_dirty))
            }
            "^" if order.is_lt() => false,
            "^" if sprig == Sprig::V2 => major == own_major,
            "^" => {
                if own_major > 0 || self.minor_dirty {
                    return major == own_major;
                }
                if major > 0 {
                    return false;
                }
                if own_minor > 0 || self.patch_dirty {
                    return minor == own_minor;
                }
                minor == 0 && version.parts[2] == own_patch
            }
            _ => false,
        }
    }

    fn tilde(&self, version: &Version<'_>) -> bool {
        if version.compare(&self.version()).is_lt() {
            return false;
        }
        if self.parts == [0; 3] && !self.minor_dirty && !self.patch_dirty {
            return true;
        }
        version.parts[0] == self.parts[0] && (version.parts[1] == self.parts[1] || self.minor_dirty)
    }

    fn differs(&self, version: &Version<'_>, release_only: bool, sprig: Sprig) -> bool {
        if !self.dirty {
            return version.compare(&self.version()).is_ne();
        }
        if release_only {
            return false;
        }
        if self.parts[0] != version.parts[0] {
            return true;
        }
        if self.parts[1] != version.parts[1] && !self.minor_dirty {
            return true;
        }
        if self.minor_dirty || sprig == Sprig::V2 {
            return false;
        }
        if self.parts[2] != version.parts[2] && !self.patch_dirty {
            return true;
        }
        if self.patch_dirty {
            let special = !version.pre.is_empty() || !self.pre.is_empty();
            return special && compare_pre(version.pre, &self.pre).is_ne();
        }
        version.compare(&self.version()).is_ne()
    }
}

/// `1.2 - 3.4` as a pair of comparisons.
fn rewrite_ranges(source: &str, sprig: Sprig) -> String {
    let mut out = source.to_owned();
    for range in patterns().range.find_all(source.as_bytes(), -1) {
        let whole = &source[range];
        let Some(groups) = patterns().range.captures(whole.as_bytes()) else { continue };
        let (low, high) = (groups[1].map(utf8).unwrap_or_default(), groups[11].map(utf8).unwrap_or_default());
        let tail = if sprig == Sprig::V3 { " " } else { "" };
        out = out.replacen(whole, &format!(">= {low}, <= {high}{tail}"), 1);
    }
    out
}

fn constraints(source: &str, sprig: Sprig) -> Result<Vec<Vec<Comparison>>, String> {
    let source = rewrite_ranges(source, sprig);
    source
        .split("||")
        .map(|alternative| match sprig {
            Sprig::V2 => alternative.split(',').map(|part| Comparison::new(part, sprig)).collect(),
            Sprig::V3 => {
                if !patterns().valid.is_match(alternative.as_bytes()) {
                    return Err(format!("improper constraint: {alternative}"));
                }
                let found = patterns().find.find_all(alternative.as_bytes(), -1);
                if found.is_empty() {
                    return Ok(vec![Comparison::new(alternative, sprig)?]);
                }
                found.into_iter().map(|range| Comparison::new(&alternative[range], sprig)).collect()
            }
        })
        .collect()
}

fn string<'a>(arguments: &[Value<'a>], at: usize) -> &'a str {
    utf8(text(arguments, at))
}

fn semver_compare<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    context.charge((text(arguments, 0).len() + text(arguments, 1).len()).saturating_mul(16))?;
    let constraints = constraints(string(arguments, 0), context.sprig).map_err(Failure::Message)?;
    let version = Version::new(string(arguments, 1), context.sprig).map_err(Failure::Message)?;
    let admitted = constraints
        .iter()
        .any(|alternative| alternative.iter().all(|comparison| comparison.admits(&version, context.sprig)));
    Ok(Value::Bool(admitted))
}

fn semver<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let version = Version::new(string(arguments, 0), context.sprig).map_err(Failure::Message)?;
    Ok(context.arena.object(version))
}

use Parameter::String as Text;

/// In both versions.
pub(crate) static TABLE: &[Function] = &[
    Function::pure("semver", &[Text], semver),
    Function::pure("semverCompare", &[Text, Text], semver_compare),
];
