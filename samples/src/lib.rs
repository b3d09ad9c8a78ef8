//! Registries that look like real ones, made from a number: same number, same bytes, everywhere.
//!
//! A catalogue is programs people run, in arrangements people run them in, over registries that have some of them each;
//! with descriptions in sentences, READMEs, parameters and objects. Tests ask it for relevance, benches for size.
//!
//! # What it must not know
//! Any crate of ours, Git, files: it gives paths and texts, and is no part of the product.

mod files;
mod products;
mod random;

use products::{FLAVOURS, Flavour, OWNERS, PRODUCTS, Product, REPOSITORIES};
use random::Random;

/// A registry.
#[derive(Debug)]
pub struct Registry {
    /// Its name, of three segments.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its templates; no two have one place.
    pub templates: Vec<Template>,
}

/// A template with its versions.
#[derive(Debug, Clone)]
pub struct Template {
    /// The collection; `None` is the root.
    pub collection: Option<&'static str>,
    /// Its name.
    pub name: String,
    /// What its template file is.
    pub kind: Kind,
    /// The path of that file inside a version.
    pub entry: String,
    /// Its versions, lowest first.
    pub versions: Vec<String>,
    product: &'static Product,
    flavour: &'static Flavour,
    seed: u64,
}

/// What a template is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A Kubernetes Template in OpenShift's notation.
    Kubernetes,
    /// Deployment Manager's Jinja.
    Jinja,
    /// Deployment Manager's Python.
    Python,
    /// A Helm chart.
    Chart,
    /// A plan of Interoperator.
    Plan,
    /// A configuration of a Service Broker.
    Broker,
}

/// Templates of one registry of a large catalogue, at the most: more are in further registries.
const REGISTRY_TEMPLATES: usize = 2_000;
/// Registries of a catalogue, at the least.
const REGISTRIES: usize = 12;
/// Versions of one template of [`registry`], on average; a few have many, most have few.
const VERSIONS_PER_TEMPLATE: usize = 8;

/// Collections of registries that have few, with the topics they hold.
const GROUPS: &[(&str, &[&str])] = &[
    ("data", &["databases", "caches", "storage", "search", "machine-learning"]),
    ("platform", &["web", "observability", "security", "delivery", "messaging"]),
    ("apps", &["jobs", "collaboration", "mail", "devices"]),
];

/// How a registry files its templates.
#[derive(Clone, Copy)]
enum Filing {
    Topics,
    Groups,
    Flat,
}

/// So many templates over several registries, each with at most `versions` versions.
pub fn catalogue(templates: usize, versions: usize, seed: u64) -> Vec<Registry> {
    let registries = templates.div_ceil(REGISTRY_TEMPLATES).max(REGISTRIES);
    let mut random = Random::new(seed);
    let each = templates / registries;
    let registry = |number: usize| {
        let (host, owner) = OWNERS[number % OWNERS.len()];
        let repository = REPOSITORIES[(number / OWNERS.len()) % REPOSITORIES.len()];
        let again = number / (OWNERS.len() * REPOSITORIES.len());
        let again = if again == 0 { String::new() } else { format!("-{}", again + 1) };
        let filing = [Filing::Topics, Filing::Groups, Filing::Topics, Filing::Flat][number % 4];
        let count = each + usize::from(number < templates % registries);
        let mut of_it = plan(count, filing, number == 0, &mut random);
        for template in &mut of_it {
            let count = match random.below(10) {
                0 => versions,
                1..=3 => versions.min(2),
                _ => 1,
            };
            template.versions = numbered(count, &mut random);
        }
        Registry {
            name: format!("{host}/{owner}/{repository}{again}"),
            title: format!("{} {repository}", capital(owner)),
            templates: of_it,
        }
    };
    (0..registries).map(registry).collect()
}

/// One registry that holds exactly so many versions.
pub fn registry(versions: usize, seed: u64) -> Registry {
    let mut random = Random::new(seed);
    let mut left = versions;
    let mut counts = Vec::new();
    while left > 0 {
        let most = match random.below(10) {
            0 => VERSIONS_PER_TEMPLATE * 4,
            1..=4 => VERSIONS_PER_TEMPLATE,
            _ => VERSIONS_PER_TEMPLATE / 2 + 2,
        };
        let count = (1 + random.below(2 * most)).min(left);
        left -= count;
        counts.push(count);
    }
    let mut templates = plan(counts.len(), Filing::Topics, true, &mut random);
    for (template, count) in templates.iter_mut().zip(counts) {
        template.versions = numbered(count, &mut random);
    }
    Registry { name: "git.example/acme/templates".to_owned(), title: "Templates".to_owned(), templates }
}

/// So many different templates, plain ones before others; with `complete`, every product there is.
fn plan(count: usize, filing: Filing, complete: bool, random: &mut Random) -> Vec<Template> {
    let mut pairs = Vec::with_capacity(PRODUCTS.len() * FLAVOURS.len());
    for product in PRODUCTS {
        for flavour in FLAVOURS {
            let plain = flavour.suffix.is_empty();
            let place = if plain && complete { 0 } else { random.below(1_000) + if plain { 0 } else { 400 } };
            pairs.push((place, product, flavour));
        }
    }
    pairs.sort_by_key(|(place, product, flavour)| (*place, product.name, flavour.suffix));
    // When names run out they are numbered, so that there are as many as asked for.
    let rounds = (1..).flat_map(|round| pairs.iter().map(move |pair| (round, pair)));
    let template = |(round, (_, product, flavour)): (usize, &(usize, &'static Product, &'static Flavour))| {
        let mut name = product.name.to_owned();
        for part in [flavour.suffix.to_owned(), if round > 1 { round.to_string() } else { String::new() }] {
            if !part.is_empty() {
                name = format!("{name}-{part}");
            }
        }
        let kind = match random.below(100) {
            0..50 => Kind::Kubernetes,
            50..74 => Kind::Jinja,
            74..80 => Kind::Python,
            80..90 => Kind::Chart,
            90..96 => Kind::Plan,
            _ => Kind::Broker,
        };
        Template {
            collection: collection(product.topic, filing),
            entry: files::entry(&name, kind),
            name,
            kind,
            versions: Vec::new(),
            product,
            flavour,
            seed: random.next(),
        }
    };
    rounds.take(count).map(template).collect()
}

fn collection(topic: &'static str, filing: Filing) -> Option<&'static str> {
    match filing {
        Filing::Topics => Some(topic),
        Filing::Groups => GROUPS.iter().find(|(_, topics)| topics.contains(&topic)).map(|(group, _)| *group),
        Filing::Flat => None,
    }
}

/// Version numbers as releases bring them: mostly patches, now and then a minor, seldom a major.
fn numbered(count: usize, random: &mut Random) -> Vec<String> {
    let (mut major, mut minor, mut patch) = (1, 0, 0);
    let numbers = (0..count).map(|number| {
        if number > 0 {
            match random.below(10) {
                0 => (major, minor, patch) = (major + 1, 0, 0),
                1..=3 => (minor, patch) = (minor + 1, 0),
                _ => patch += 1,
            }
        }
        format!("v{major}.{minor}.{patch}")
    });
    numbers.collect()
}

/// `acme` as a title begins.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl Registry {
    /// How many versions it holds.
    pub fn versions(&self) -> usize {
        self.templates.iter().map(|template| template.versions.len()).sum()
    }

    /// The text of its `registry.yaml`.
    pub fn file(&self) -> String {
        let mut names = self.templates.iter().filter_map(|template| template.collection).collect::<Vec<_>>();
        names.sort_unstable();
        names.dedup();
        let collections =
            names.iter().map(|name| format!("  {name}: {{path: {name}, title: {}}}\n", capital(name)));
        let collections = collections.collect::<String>();
        let collections = if names.is_empty() { " {}\n".to_owned() } else { format!("\n{collections}") };
        format!(
            "apiVersion: formwork/v1\nkind: TemplateRegistry\ntitle: {}\ncollections:{collections}",
            self.title
        )
    }
}

impl Template {
    /// Its title.
    pub fn title(&self) -> String {
        match self.flavour.title {
            "" => self.product.title.to_owned(),
            flavour => format!("{}, {flavour}", self.product.title),
        }
    }

    /// What it is for, in a sentence.
    pub fn description(&self) -> String {
        let how = if self.flavour.how.is_empty() { String::new() } else { format!(" {}", self.flavour.how) };
        format!("{}{how}, for {}.", self.product.what, self.product.uses)
    }

    /// The directory of its versions.
    pub fn directory(&self) -> String {
        self.collection.map_or_else(|| self.name.clone(), |collection| format!("{collection}/{}", self.name))
    }

    /// The files of one version: paths inside it, and texts.
    pub fn files(&self, version: &str) -> Vec<(String, String)> {
        files::files(self, version)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn places(registry: &Registry) -> BTreeSet<String> {
        registry.templates.iter().map(Template::directory).collect()
    }

    #[test]
    fn a_registry_has_as_many_versions_as_asked_for_and_no_name_twice() {
        for versions in [1, 7, 1_000, 10_000, 60_000] {
            let registry = registry(versions, 7);
            assert_eq!(registry.versions(), versions);
            assert_eq!(places(&registry).len(), registry.templates.len());
        }
    }

    #[test]
    fn a_catalogue_has_as_many_templates_as_asked_for_in_registries_of_their_own() {
        for (templates, registries) in [(100, 12), (5_000, 12), (50_000, 25)] {
            let catalogue = catalogue(templates, 3, 1);
            let names = catalogue.iter().map(|registry| &registry.name).collect::<BTreeSet<_>>();
            assert_eq!(names.len(), registries);
            assert_eq!(catalogue.iter().map(|registry| registry.templates.len()).sum::<usize>(), templates);
            assert!(catalogue.iter().all(|registry| places(registry).len() == registry.templates.len()));
        }
    }

    #[test]
    fn same_seed_same_bytes() {
        let bytes = |seed| {
            let registries = catalogue(300, 2, seed);
            let files = |template: &Template| {
                template.versions.iter().flat_map(|version| template.files(version)).collect::<Vec<_>>()
            };
            registries
                .iter()
                .flat_map(|registry| registry.templates.iter().flat_map(files))
                .collect::<Vec<_>>()
        };
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
    }
}
