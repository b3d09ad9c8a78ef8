//! What people look for in a catalogue of 5,000 templates, and what must come first. The cases are in `relevance.txt`.
//!
//! The catalogue is what `samples` makes, inspected by the real engine: what a case finds, a user finds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use schema::Kind;
use schema::processing::Template;
use schema::tree::Files;

use super::*;

const TEMPLATES: usize = 5_000;
const SEED: u64 = 1;

fn kind(of: samples::Kind) -> Kind {
    match of {
        samples::Kind::Kubernetes => Kind::Template,
        samples::Kind::Jinja => Kind::DmJinja,
        samples::Kind::Python => Kind::DmPython,
        samples::Kind::Chart => Kind::Chart,
        samples::Kind::Plan => Kind::InteroperatorPlan,
        samples::Kind::Broker => Kind::ServiceBroker,
    }
}

/// A registry as a scan would publish it.
fn published(sample: &samples::Registry) -> Registry {
    let mut registry = Registry::new(&sample.name);
    for template in &sample.templates {
        let version = template.versions.last().unwrap();
        let files = template.files(version);
        let borrowed = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>();
        registry = registry.version(&format!("{}:{version}", template.directory()), &borrowed);
        let last = registry.publication.versions.last_mut().unwrap();
        (last.kind, last.entry) = (kind(template.kind), template.entry.clone());
        let contents = files.into_iter().map(|(path, text)| (path, Arc::<[u8]>::from(text.into_bytes())));
        let inspected = engine::inspect(&Template {
            name: template.name.clone(),
            kind: last.kind,
            entry: last.entry.clone(),
            files: contents.collect::<Files>(),
            jinja2: false,
        });
        last.inspection = inspected.into();
    }
    registry
}

async fn catalogue(directory: &Path) -> Catalog {
    let (catalog, _) = open(directory).await;
    let samples = samples::catalogue(TEMPLATES, 1, SEED);
    let half = samples.len() / 2;
    let registries = std::thread::scope(|scope| {
        let first = scope.spawn(|| samples[..half].iter().map(published).collect::<Vec<_>>());
        let mut second = samples[half..].iter().map(published).collect::<Vec<_>>();
        second.extend(first.join().unwrap());
        second
    });
    for registry in registries {
        registry.publish(&catalog).await;
    }
    catalog
}

/// What a case asks for: `name` first, or among the first three.
#[derive(Debug)]
struct Case<'a> {
    line: usize,
    query: &'a str,
    within: usize,
    /// Any of these: `name`, or `*` at either end for any beginning or end.
    names: Vec<&'a str>,
}

/// `query => name | name` (first) or `query =3> name` (in the first three); `-` for nothing; `#` for remarks.
fn cases(text: &str) -> Vec<Case<'_>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let (query, within, names) = match line.split_once("=3>") {
                Some((query, names)) => (query, 3, names),
                None => line.split_once("=>").map(|(query, names)| (query, 1, names)).unwrap_or_else(|| {
                    panic!("line {}: a case has `=>` or `=3>` between query and answer", number + 1)
                }),
            };
            let names = names.split('|').map(str::trim).collect();
            Case { line: number + 1, query: query.trim(), within, names }
        })
        .collect()
}

fn is(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), None) => name.ends_with(end),
        (None, Some(beginning)) => name.starts_with(beginning),
        _ => name == pattern,
    }
}

#[tokio::test]
async fn what_people_look_for_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let catalog = catalogue(directory.path()).await;
    let built = started.elapsed();
    let cases = cases(include_str!("relevance.txt"));
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let (mut wrong, mut firsts, mut slowest) = (Vec::new(), 0, (std::time::Duration::ZERO, ""));
    for case in &cases {
        let asked = Instant::now();
        let answer = catalog.search(ANYBODY, &Query { limit: 10, ..Query::text(case.query) });
        slowest = slowest.max((asked.elapsed(), case.query));
        let names = answer.hits.iter().map(|hit| hit.location.template.as_str()).collect::<Vec<_>>();
        let place = names.iter().position(|name| case.names.iter().any(|wanted| is(wanted, name)));
        firsts += usize::from(place == Some(0));
        let good =
            if case.names == ["-"] { names.is_empty() } else { place.is_some_and(|at| at < case.within) };
        if !good {
            let place = place.map_or("not in the first ten".to_owned(), |at| format!("number {}", at + 1));
            wrong.push(format!(
                "line {}: `{}`: {} is {place}, behind {} ({} hits, taken for {:?})",
                case.line,
                case.query,
                case.names.join(" or "),
                names.iter().take(6).copied().collect::<Vec<_>>().join(", "),
                answer.total,
                answer.corrected
            ));
        }
    }
    let shown = format!(
        "{} cases, {firsts} of them first; the catalogue took {built:.1?}, the slowest query {:.1?} ({})",
        cases.len(),
        slowest.0,
        slowest.1
    );
    assert!(wrong.is_empty(), "{shown}\n{} wrong:\n{}", wrong.len(), wrong.join("\n"));

    // Of any name, that name comes first: the whole catalogue is the case.
    let mut by_name = BTreeMap::new();
    for registry in catalog.snapshot().visible(ANYBODY) {
        for template in registry.templates() {
            by_name.insert(template.name.to_string(), ());
        }
    }
    let sample = by_name.keys().step_by(by_name.len().div_ceil(300));
    let not_first = sample.filter(|name| {
        let answer = catalog.search(ANYBODY, &Query::text(name.as_str()));
        answer.hits.first().is_none_or(|hit| hit.location.template.as_str() != name.as_str())
    });
    assert_eq!(not_first.collect::<Vec<_>>(), Vec::<&String>::new(), "exact names that are not first");
}
