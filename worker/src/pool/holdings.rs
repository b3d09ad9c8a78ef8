//! Which files one worker holds, and what to send it for a job. Pure.
//!
//! The parent decides alone what is loaded and dropped; the worker only does as told. Versions are kept by digest,
//! the ones used last, within a number and a size.

use schema::digest::Digest;
use schema::processing::{Provided, Template};
use schema::tree::Files;

use crate::protocol::{Head, Key, ProvidedHead};

/// Versions a worker holds between jobs.
const MOST: usize = 64;

/// Bytes of files a worker holds between jobs; part of the worker's reserve of memory.
const MOST_BYTES: u64 = 24 << 20;

/// What a worker holds.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    next: u64,
    /// The one used last is last.
    held: Vec<Held>,
}

#[derive(Debug, Clone)]
struct Held {
    digest: Digest,
    key: Key,
    bytes: u64,
}

/// What to say to the worker for a job.
#[derive(Debug)]
pub(super) struct Plan {
    /// Drop these first.
    pub(super) forget: Vec<Key>,
    /// Then load these.
    pub(super) load: Vec<(Key, Files)>,
    /// The template.
    pub(super) template: Head,
    /// Those provided.
    pub(super) provided: Vec<ProvidedHead>,
    /// Drop these when the job is done.
    pub(super) release: Vec<Key>,
}

impl Holdings {
    /// The versions held, the one used last first.
    pub(super) fn digests(&self) -> impl Iterator<Item = Digest> {
        self.held.iter().rev().map(|held| held.digest)
    }

    /// Plans a job, and takes it as done.
    pub(super) fn plan(
        &mut self,
        digest: Option<Digest>,
        template: Template,
        provided: Vec<Provided>,
    ) -> Plan {
        let mut load = Vec::new();
        let mut release = Vec::new();
        let mut used = Vec::new();
        let mut head = |digest: Option<Digest>, template: Template| {
            let key = self.place(digest, &template.files, &mut load, &mut release);
            used.push(key);
            Head {
                name: template.name,
                kind: template.kind,
                entry: template.entry,
                files: key,
                jinja2: template.jinja2,
            }
        };
        let template = head(digest, template);
        let provided = provided
            .into_iter()
            .map(|one| ProvidedHead {
                asked: one.asked,
                version: one.version,
                digest: one.digest,
                template: head(Some(one.digest), one.template),
            })
            .collect();

        let mut forget = Vec::new();
        while self.held.len() > MOST || self.held.iter().map(|held| held.bytes).sum::<u64>() > MOST_BYTES {
            let key = self.held.remove(0).key;
            // What this job uses can only go after it.
            if used.contains(&key) { release.push(key) } else { forget.push(key) }
        }
        Plan { forget, load, template, provided, release }
    }

    fn place(
        &mut self,
        digest: Option<Digest>,
        files: &Files,
        load: &mut Vec<(Key, Files)>,
        release: &mut Vec<Key>,
    ) -> Key {
        if let Some(place) = self.held.iter().position(|held| Some(held.digest) == digest) {
            let held = self.held.remove(place);
            let key = held.key;
            self.held.push(held);
            return key;
        }
        let key = Key(self.next);
        self.next += 1;
        load.push((key, files.clone()));
        match digest {
            Some(digest) => self.held.push(Held { digest, key, bytes: size(files) }),
            None => release.push(key),
        }
        key
    }
}

/// Bytes of all files.
pub(super) fn size(files: &Files) -> u64 {
    files.iter().map(|(path, bytes)| (path.len() + bytes.len()) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use schema::kind::Kind;
    use std::collections::BTreeMap;

    fn template(number: u8, megabytes: usize) -> Template {
        let files = Files::from_iter([("a.yaml".to_owned(), vec![number; megabytes << 20])]);
        Template {
            name: "a".to_owned(),
            kind: Kind::Template,
            entry: "a.yaml".to_owned(),
            files,
            jinja2: false,
        }
    }

    fn digest(number: u8) -> Digest {
        Digest::of(&[number])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        /// A worker that does as told finds every file of every job, and holds no more than it may.
        #[test]
        fn the_worker_always_has_what_a_job_names(
            jobs in prop::collection::vec((prop::option::of(0..6_u8), prop::collection::vec(6..12_u8, 0..4)), 1..30),
        ) {
            let size_of = |number: u8| usize::from(number % 5) * 3;
            let mut holdings = Holdings::default();
            let mut worker: BTreeMap<Key, Files> = BTreeMap::new();
            for (main, others) in jobs {
                let number = main.unwrap_or(20);
                let provided = others.iter().map(|other| Provided {
                    asked: String::new(),
                    version: String::new(),
                    digest: digest(*other),
                    template: template(*other, size_of(*other)),
                });
                let plan = holdings.plan(main.map(digest), template(number, size_of(number)), provided.collect());
                worker.retain(|key, _| !plan.forget.contains(key));
                for (key, files) in plan.load {
                    prop_assert!(worker.insert(key, files).is_none(), "loaded twice");
                }
                prop_assert_eq!(&worker[&plan.template.files], &template(number, size_of(number)).files);
                for (head, other) in plan.provided.iter().zip(&others) {
                    prop_assert_eq!(&worker[&head.template.files], &template(*other, size_of(*other)).files);
                }
                worker.retain(|key, _| !plan.release.contains(key));
                prop_assert_eq!(worker.len(), holdings.held.len());
                prop_assert!(worker.values().map(size).sum::<u64>() <= MOST_BYTES);
            }
        }
    }

    #[test]
    fn a_version_is_sent_once() {
        let mut holdings = Holdings::default();
        assert_eq!(holdings.plan(Some(digest(1)), template(1, 1), Vec::new()).load.len(), 1);
        assert_eq!(holdings.plan(Some(digest(1)), template(1, 1), Vec::new()).load.len(), 0);
        let uncached = holdings.plan(None, template(1, 1), Vec::new());
        assert_eq!((uncached.load.len(), uncached.release.len()), (1, 1));
        assert_eq!(holdings.digests().collect::<Vec<_>>(), [digest(1)]);
    }
}
