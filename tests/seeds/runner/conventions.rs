//! What the documents show of names: references, versions, which version a reference gets, and layouts.

use schema::layout::{Collection, Found, ScannedVersion, Sink, scan};
use schema::limits::TreeLimits;
use schema::reference::{Home, Selector};
use schema::resolve::{Candidate, resolve};
use schema::tree::MemoryTree;
use schema::{Finding, Reference, RegistryName, Version};
use yaml::Value;

use crate::case::{Asked, Case, Layout, Named, Resolving, Spelled};

/// Checks all that a case states.
pub(crate) fn check(case: &Case) -> Result<(), String> {
    case.facts.references.iter().try_for_each(reference)?;
    case.facts.versions.iter().try_for_each(version)?;
    case.facts.resolves.iter().try_for_each(resolving)?;
    case.facts.layouts.iter().try_for_each(|stated| layout(case, stated))
}

/// Compares what was got with what the case says it is, or why it is refused.
fn compare<T: PartialEq + std::fmt::Debug>(
    asked: &str,
    got: Result<T, String>,
    is: Option<&T>,
    refused: Option<&String>,
) -> Result<(), String> {
    match (got, is, refused) {
        (Ok(got), Some(is), None) if got == *is => Ok(()),
        (Err(message), None, Some(refused)) if message.contains(refused.as_str()) => Ok(()),
        (_, Some(_), Some(_)) | (_, None, None) => Err(format!("`{asked}`: state either `is` or `refused`")),
        (got, is, refused) => {
            Err(format!("`{asked}` is {got:?}, and not {is:?} or refused with {refused:?}"))
        }
    }
}

fn reference(asked: &Asked) -> Result<(), String> {
    let name = |text: &String| text.parse::<RegistryName>().map_err(|error| error.to_string());
    let registries = asked.registries.iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let home = match &asked.home {
        Some(registry) => {
            let collection = asked.home_collection.as_ref().map(|name| name.parse()).transpose();
            Some(Home {
                registry: name(registry)?,
                collection: collection.map_err(|error| format!("{error}"))?,
            })
        }
        None => None,
    };
    let located = || -> Result<Named, String> {
        let reference = asked.ask.parse::<Reference>().map_err(|error| error.to_string())?;
        let location = reference.locate(&registries, home.as_ref()).map_err(|error| error.to_string())?;
        Ok(Named {
            registry: location.registry.to_string(),
            collection: location.collection.map(String::from),
            template: location.template.to_string(),
            selector: reference.selector.to_string(),
        })
    };
    compare(&asked.ask, located(), asked.is.as_ref(), asked.refused.as_ref())
}

fn version(spelled: &Spelled) -> Result<(), String> {
    let got = Version::from_directory(&spelled.directory).map(|(version, _)| version.to_string());
    compare(
        &spelled.directory,
        got.map_err(|error| error.to_string()),
        spelled.is.as_ref(),
        spelled.refused.as_ref(),
    )
}

fn resolving(stated: &Resolving) -> Result<(), String> {
    let versions = stated.among.iter().map(|name| Version::from_directory(name).map(|(version, _)| version));
    let versions = versions.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let selector = stated.ask.parse::<Selector>().map_err(|error| error.to_string())?;
    let candidates = versions.iter().map(|version| Candidate { version, choosable: true });
    let got = resolve(&selector, candidates).map(|resolution| resolution.version.to_string());
    if got == stated.gets {
        Ok(())
    } else {
        Err(format!("among {:?}, `{}` gets {got:?}, and not {:?}", stated.among, stated.ask, stated.gets))
    }
}

/// What a scan found, as a case states it.
#[derive(Default)]
struct Seen {
    serves: Vec<String>,
    kinds: Vec<(String, schema::Kind)>,
    collections: Vec<String>,
    findings: Vec<String>,
}

impl Sink for Seen {
    fn collection(&mut self, collection: &Collection) {
        self.collections.extend(collection.name.iter().map(ToString::to_string));
    }

    fn wants(&mut self, _: &Found<'_>) -> bool {
        true
    }

    fn version(&mut self, found: &Found<'_>, version: ScannedVersion) {
        let collection = found.collection.name.as_ref().map(|name| format!("{name}/")).unwrap_or_default();
        let reference = format!("{collection}{}:{}", found.template, found.version);
        if let Some((kind, _)) = version.template {
            self.serves.push(reference.clone());
            self.kinds.push((reference, kind));
        }
        version.findings.into_iter().for_each(|finding| self.finding(finding));
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(format!("{} {}", finding.rule, finding.path));
    }
}

fn layout(case: &Case, stated: &Layout) -> Result<(), String> {
    let text =
        case.completion.get(&stated.tree).ok_or_else(|| format!("there is no file {}", stated.tree))?;
    let document = yaml::load_bytes(text, &yaml::Options::default()).map_err(|error| error.to_string())?;
    let document = document.ok_or_else(|| format!("{} is empty", stated.tree))?;
    let mut tree = MemoryTree::new();
    plant(&mut tree, "", &document.value)?;
    let mut seen = Seen::default();
    scan(&tree, &TreeLimits::default(), &mut seen).map_err(|error| error.to_string())?;
    let same = |what: &str, got: Vec<String>, stated: &[String]| {
        let sorted = |mut list: Vec<String>| {
            list.sort();
            list
        };
        let (got, stated) = (sorted(got), sorted(stated.to_vec()));
        if got == stated { Ok(()) } else { Err(format!("{what} are {got:#?}, and not {stated:#?}")) }
    };
    same("the versions served", seen.serves, &stated.serves)?;
    same("the collections", seen.collections, &stated.collections)?;
    same("the findings", seen.findings, &stated.findings)?;
    for (reference, kind) in &stated.kinds {
        if !seen.kinds.contains(&(reference.clone(), *kind)) {
            return Err(format!("{reference} is no {}: {:?}", kind.as_str(), seen.kinds));
        }
    }
    Ok(())
}

/// Puts what a file describes into a tree: maps are directories, texts are files.
fn plant(tree: &mut MemoryTree, path: &str, value: &Value) -> Result<(), String> {
    match value {
        Value::Map(map) => map.iter().try_for_each(|(name, value)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            plant(tree, &path, value)
        }),
        Value::String(content) => {
            *tree = std::mem::take(tree).file(path, content);
            Ok(())
        }
        other => Err(format!("{path}: a {} is neither a directory nor a file", other.kind_name())),
    }
}
