//! From what a reference asks to the version it gets.
//!
//! Source: the convention document, "Template Versions": the highest PATCH of the same MAJOR and MINOR, never
//! another MINOR. Ours where it is silent: a patch lower than the one asked for is not given (the answer lists
//! what there is), pre-releases and withdrawn versions are never chosen, only given when asked for exactly.

use crate::reference::Selector;
use crate::version::Version;

/// A version that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The version.
    pub version: &'a Version,
    /// Whether it may be chosen: not withdrawn, not gone upstream.
    pub choosable: bool,
}

/// Which rule chose the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// No version was asked for: the highest there is.
    Highest,
    /// `:v1.1.0`: the highest PATCH of that MAJOR.MINOR.
    HighestPatch,
    /// `:^v1.1`: the highest MINOR of that MAJOR.
    HighestMinor,
    /// `:=v1.1.0`, or a pre-release.
    Exact,
}

impl Rule {
    /// The word used in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Rule::Highest => "highest",
            Rule::HighestPatch => "highest-patch",
            Rule::HighestMinor => "highest-minor",
            Rule::Exact => "exact",
        }
    }
}

/// The version a selector gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution<'a> {
    /// The chosen version.
    pub version: &'a Version,
    /// By which rule.
    pub rule: Rule,
    /// The highest version of the same MAJOR with a higher MINOR, which the rule does not take by itself.
    pub newer_minor: Option<&'a Version>,
    /// The highest version of a higher MAJOR.
    pub newer_major: Option<&'a Version>,
}

/// Chooses among `candidates`, in whatever order they come.
pub fn resolve<'a>(
    selector: &Selector,
    candidates: impl IntoIterator<Item = Candidate<'a>>,
) -> Option<Resolution<'a>> {
    let candidates = candidates.into_iter().collect::<Vec<_>>();
    let highest = |accepts: &dyn Fn(&Version) -> bool| {
        candidates
            .iter()
            .filter(|candidate| candidate.choosable && !candidate.version.is_pre_release())
            .map(|candidate| candidate.version)
            .filter(|version| accepts(version))
            .max()
    };
    let exact = |wanted: &Version| candidates.iter().map(|c| c.version).find(|version| *version == wanted);
    let (version, rule) = match selector {
        Selector::Highest => (highest(&|_| true)?, Rule::Highest),
        Selector::Exactly(wanted) => (exact(wanted)?, Rule::Exact),
        Selector::HighestPatch(wanted) if wanted.is_pre_release() => (exact(wanted)?, Rule::Exact),
        Selector::HighestPatch(wanted) => {
            (highest(&|version| version.same_minor(wanted) && version >= wanted)?, Rule::HighestPatch)
        }
        Selector::HighestMinor(wanted) => {
            (highest(&|version| version.major() == wanted.major() && version >= wanted)?, Rule::HighestMinor)
        }
    };
    let newer_minor = highest(&|other| other.major() == version.major() && other.minor() > version.minor());
    let newer_major = highest(&|other| other.major() > version.major());
    Some(Resolution { version, rule, newer_minor, newer_major })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn choose<'a>(selector: &str, versions: &'a [Version]) -> Option<&'a Version> {
        let selector = selector.parse().unwrap();
        resolve(&selector, versions.iter().map(|version| Candidate { version, choosable: true }))
            .map(|resolution| resolution.version)
    }

    fn versions(list: &[&str]) -> Vec<Version> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_highest_patch_never_another_minor() {
        let have = versions(&["v1", "v1.0.10", "v1.0.9", "v1.1", "v2"]);
        assert_eq!(choose("v1", &have).unwrap().to_string(), "v1.0.10");
        assert_eq!(choose("v1.0.2", &have).unwrap().to_string(), "v1.0.10");
        assert_eq!(choose("v1.1", &have).unwrap().to_string(), "v1.1.0");
        assert_eq!(choose("=v1", &have).unwrap().to_string(), "v1.0.0");
        assert_eq!(choose("^v1", &have).unwrap().to_string(), "v1.1.0");
        assert_eq!(choose("v1.2", &have), None);
        assert_eq!(choose("v1.0.11", &have), None, "a lower patch does not stand in for a higher one");
    }

    #[test]
    fn pre_releases_are_exact_only() {
        let have = versions(&["v1.0.0-rc.1"]);
        assert_eq!(choose("v1.0.0-rc.1", &have), have.first());
        assert_eq!(choose("v1", &have), None);
    }

    fn any_version() -> impl Strategy<Value = Version> {
        (0..3u64, 0..3u64, 0..5u64).prop_map(|(major, minor, patch)| Version::new(major, minor, patch))
    }

    /// Any version, now and then a pre-release, and whether it may be chosen.
    fn any_candidate() -> impl Strategy<Value = (Version, bool)> {
        let version = (any_version(), prop::option::weighted(0.2, 0..3u8));
        (version, prop::bool::weighted(0.8)).prop_map(|((version, pre_release), choosable)| {
            let version = match pre_release {
                Some(number) => {
                    format!("{version}-rc.{number}").parse().expect("a version and a pre-release")
                }
                None => version,
            };
            (version, choosable)
        })
    }

    fn any_selector() -> impl Strategy<Value = Selector> {
        (0..4u8, any_candidate()).prop_map(|(which, (version, _))| match which {
            0 => Selector::Highest,
            1 => Selector::HighestPatch(version),
            2 => Selector::HighestMinor(version),
            _ => Selector::Exactly(version),
        })
    }

    /// A template has each version once, whatever becomes of it.
    fn any_candidates() -> impl Strategy<Value = Vec<(Version, bool)>> {
        prop::collection::vec(any_candidate(), 0..20).prop_map(|mut candidates| {
            candidates.sort();
            candidates.dedup_by(|one, other| one.0 == other.0);
            candidates
        })
    }

    fn ask<'a>(selector: &Selector, have: &'a [(Version, bool)]) -> Option<Resolution<'a>> {
        resolve(
            selector,
            have.iter().map(|(version, choosable)| Candidate { version, choosable: *choosable }),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: prop::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

        /// The same versions in any order give the same answer, all of it, every time.
        #[test]
        fn every_answer_is_independent_of_the_order_of_insertion(
            (have, shuffled) in any_candidates().prop_flat_map(|have| (Just(have.clone()), Just(have).prop_shuffle())),
            selector in any_selector(),
        ) {
            prop_assert_eq!(ask(&selector, &have), ask(&selector, &shuffled));
            prop_assert_eq!(ask(&selector, &have), ask(&selector, &have));
        }

        /// What a selector gets is one of the versions there are, and one that the selector means.
        #[test]
        fn every_answer_is_what_was_asked_for(have in any_candidates(), selector in any_selector()) {
            let Some(found) = ask(&selector, &have) else { return Ok(()) };
            let (version, choosable) = have.iter().find(|(version, _)| version == found.version).expect("it is there");
            let (chosen, fits) = match &selector {
                Selector::Highest => (true, true),
                Selector::Exactly(wanted) => (false, version == wanted),
                Selector::HighestPatch(wanted) => (!wanted.is_pre_release(), version.same_minor(wanted) && version >= wanted),
                Selector::HighestMinor(wanted) => (true, version.major() == wanted.major() && version >= wanted),
            };
            prop_assert!(fits, "{:?} got {}", selector, version);
            prop_assert!(!chosen || (*choosable && !version.is_pre_release()), "{} must not be chosen", version);
            for newer in [found.newer_minor, found.newer_major].into_iter().flatten() {
                prop_assert!(newer > version && !newer.is_pre_release());
            }
        }

        /// A version that is added never lowers what a floating selector gets, and never changes what an exact one gets.
        #[test]
        fn an_added_version_never_lowers_an_answer(have in any_candidates(), added in any_candidate(), selector in any_selector()) {
            let mut more = have.clone();
            if have.iter().all(|(version, _)| *version != added.0) {
                more.push(added);
            }
            let before = ask(&selector, &have).map(|found| found.version.clone());
            let after = ask(&selector, &more).map(|found| found.version.clone());
            match (&selector, before) {
                (_, None) => {}
                (Selector::Exactly(_), before) => prop_assert_eq!(before, after),
                (_, before) => prop_assert!(after >= before),
            }
        }

        #[test]
        fn order_of_insertion_does_not_matter(mut have in prop::collection::vec(any_version(), 0..20), wanted in any_version()) {
            let selector = Selector::HighestPatch(wanted);
            let ask = |have: &[Version]| resolve(&selector, have.iter().map(|version| Candidate { version, choosable: true })).map(|r| r.version.clone());
            let first = ask(&have);
            have.reverse();
            prop_assert_eq!(first, ask(&have));
        }

        #[test]
        fn an_added_patch_never_lowers_the_answer(have in prop::collection::vec(any_version(), 0..20), added in any_version(), wanted in any_version()) {
            let selector = Selector::HighestPatch(wanted.clone());
            let ask = |have: &[Version]| resolve(&selector, have.iter().map(|version| Candidate { version, choosable: true })).map(|r| r.version.clone());
            let before = ask(&have);
            let mut more = have.clone();
            more.push(added);
            let after = ask(&more);
            prop_assert!(after >= before);
            if let Some(after) = after {
                prop_assert!(after.same_minor(&wanted) && after >= wanted);
            }
        }
    }
}
