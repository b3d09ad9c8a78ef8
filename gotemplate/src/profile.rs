//! Function sets. A profile says which functions a template may call and how the ones that changed over time behave.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::function::Function;
use crate::functions::{builtin, crypto, data, dates, encoding, numbers, paths, regexes, semver, strings};

/// Which sprig a function follows where versions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sprig {
    /// 2.22.0
    V2,
    /// 3.2.3
    V3,
}

/// How whole numbers in decoded JSON and YAML arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// As `float64`, like encoding/json: 1000000 prints as `1e+06`.
    #[default]
    Float,
    /// As `int64` where they are whole, like the Kubernetes client.
    Int64,
    /// As `int` where they are whole, like go-yaml alone.
    Int,
}

/// FNV-1a: quick on short names. The names come from our own tables, so nobody can choose them to collide.
#[derive(Clone, Copy, Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

type Hash = std::hash::BuildHasherDefault<Fnv>;

/// A function set.
pub struct Profile {
    /// Its name, as `--profile` takes it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    pub(crate) sprig: Sprig,
    tables: &'static [&'static [Function]],
    /// Names in the tables that this profile does not have.
    without: &'static [&'static str],
    index: OnceLock<HashMap<&'static str, &'static Function, Hash>>,
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Profile {
    const fn new(
        name: &'static str,
        about: &'static str,
        sprig: Sprig,
        tables: &'static [&'static [Function]],
        without: &'static [&'static str],
    ) -> Self {
        Self { name, about, sprig, tables, without, index: OnceLock::new() }
    }

    fn index(&self) -> &HashMap<&'static str, &'static Function, Hash> {
        self.index.get_or_init(|| {
            // Later tables win.
            let mut index: HashMap<_, _, Hash> = self
                .tables
                .iter()
                .flat_map(|table| table.iter())
                .map(|function| (function.name, function))
                .collect();
            index.retain(|name, _| !self.without.contains(name));
            index
        })
    }

    /// The function of this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&'static Function> {
        self.index().get(name).copied()
    }

    /// The names of all its functions, built-ins included, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.index().keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// The profile of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|profile| profile.name == name)
    }

    /// What to do about a function this profile lacks: where it is, or what it may be called.
    #[must_use]
    pub(crate) fn hint(&self, name: &str) -> Option<String> {
        let elsewhere: Vec<&str> = ALL
            .iter()
            .filter(|profile| profile.function(name).is_some())
            .map(|profile| profile.name)
            .collect();
        if !elsewhere.is_empty() {
            return Some(format!(
                "{name} is in the function sets {}; this is {}",
                elsewhere.join(", "),
                self.name
            ));
        }
        let near = self
            .names()
            .into_iter()
            .map(|known| (strsim::damerau_levenshtein(known, name), known))
            .min()
            .filter(|(distance, _)| *distance <= 2 && *distance < name.len())?;
        Some(format!("did you mean {}?", near.1))
    }
}

/// The functions of text/template and no others.
pub static TEXT: Profile =
    Profile::new("text", "Go's text/template alone", Sprig::V3, &[builtin::TABLE], &[]);

/// The tables of sprig 2.22.0.
const SPRIG_2: &[&[Function]] = &[
    builtin::TABLE,
    strings::TABLE,
    data::TABLE,
    numbers::TABLE,
    encoding::TABLE,
    dates::TABLE,
    paths::TABLE,
    regexes::TABLE,
    semver::TABLE,
    crypto::TABLE,
];

/// sprig 2.22.0.
pub static SPRIG_2_22: Profile =
    Profile::new("sprig-2.22", "text/template and sprig 2.22.0", Sprig::V2, SPRIG_2, &[]);

/// sprig 3.2.3.
pub static SPRIG_3_2: Profile = Profile::new(
    "sprig-3.2",
    "text/template and sprig 3.2.3",
    Sprig::V3,
    &[
        builtin::TABLE,
        strings::TABLE,
        data::TABLE,
        data::TABLE_V3,
        numbers::TABLE,
        numbers::TABLE_V3,
        encoding::TABLE,
        encoding::TABLE_V3,
        dates::TABLE,
        dates::TABLE_V3,
        paths::TABLE,
        paths::TABLE_V3,
        regexes::TABLE,
        regexes::TABLE_V3,
        semver::TABLE,
        crypto::TABLE,
        crypto::TABLE_V3,
    ],
    &[],
);

/// Interoperator's: sprig 3.2.3 with nine functions of its own.
pub static INTEROPERATOR: Profile = Profile::new(
    "interoperator",
    "sprig 3.2.3 with Interoperator's functions",
    Sprig::V3,
    &[
        builtin::TABLE,
        strings::TABLE,
        data::TABLE,
        data::TABLE_V3,
        numbers::TABLE,
        numbers::TABLE_V3,
        encoding::TABLE,
        encoding::TABLE_V3,
        dates::TABLE,
        dates::TABLE_V3,
        paths::TABLE,
        paths::TABLE_V3,
        regexes::TABLE,
        regexes::TABLE_V3,
        semver::TABLE,
        crypto::TABLE,
        crypto::TABLE_V3,
        encoding::INTEROPERATOR,
    ],
    &[],
);

/// Helm 3.14's: sprig 3.2.3 without the environment, with Helm's functions.
pub static HELM: Profile = Profile::new(
    "helm",
    "sprig 3.2.3 with the functions of Helm 3.14",
    Sprig::V3,
    &[
        builtin::TABLE,
        strings::TABLE,
        data::TABLE,
        data::TABLE_V3,
        numbers::TABLE,
        numbers::TABLE_V3,
        encoding::TABLE,
        encoding::TABLE_V3,
        dates::TABLE,
        dates::TABLE_V3,
        paths::TABLE,
        paths::TABLE_V3,
        regexes::TABLE,
        regexes::TABLE_V3,
        semver::TABLE,
        crypto::TABLE,
        crypto::TABLE_V3,
        encoding::HELM,
    ],
    &["env", "expandenv"],
);

/// All profiles.
pub static ALL: &[&Profile] = &[&TEXT, &SPRIG_2_22, &SPRIG_3_2, &INTEROPERATOR, &HELM];
