//! The report on a tree: every version with its findings, and what is wrong beside them.

use schema::finding::{Finding, worst};
use schema::layout::{Collection, Found, ScannedVersion, Sink, scan};
use schema::limits::TreeLimits;
use schema::processing::{Request, Template};
use schema::tree::{Tree, TreeError};
use schema::{Digest, Kind, Severity};

use crate::Engine;
use crate::example::check_example;

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// Every version directory, in the order of the walk.
    pub versions: Vec<VersionReport>,
    /// What is wrong with the registry, or with what is no version.
    pub findings: Vec<Finding>,
}

/// One version directory.
#[derive(Debug)]
pub struct VersionReport {
    /// The short reference to it: `databases/redis:v1.0.0`.
    pub reference: String,
    /// Its directory.
    pub path: String,
    /// Its kind; `None` if it would be withheld.
    pub kind: Option<Kind>,
    /// Its digest.
    pub digest: Digest,
    /// What is wrong with it, with paths from the root of the tree.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Every finding, those of versions included, sorted by path and place.
    pub fn all_findings(&self) -> Vec<&Finding> {
        let versions = self.versions.iter().flat_map(|version| &version.findings);
        let mut findings = self.findings.iter().chain(versions).collect::<Vec<_>>();
        findings.sort();
        findings
    }

    /// The worst severity, if it is above info.
    pub fn worst(&self) -> Option<Severity> {
        worst(self.all_findings())
    }
}

/// Checks a tree. With `examples`, each version's example is processed; the request carries clock and entropy.
///
/// # Errors
/// When the root cannot be read.
pub fn check_tree(
    tree: &dyn Tree,
    engine: &dyn Engine,
    examples: Option<&Request>,
    progress: &mut dyn FnMut(&str),
) -> Result<Report, TreeError> {
    let mut check = Check { report: Report::default(), engine, examples, progress };
    scan(tree, &TreeLimits::default(), &mut check)?;
    Ok(check.report)
}

struct Check<'a> {
    report: Report,
    engine: &'a dyn Engine,
    examples: Option<&'a Request>,
    progress: &'a mut dyn FnMut(&str),
}

impl Sink for Check<'_> {
    fn collection(&mut self, _: &Collection) {}

    fn wants(&mut self, found: &Found<'_>) -> bool {
        (self.progress)(&found.path);
        true
    }

    fn version(&mut self, found: &Found<'_>, version: ScannedVersion) {
        let collection = found.collection.name.as_ref().map(|name| format!("{name}/")).unwrap_or_default();
        let mut report = VersionReport {
            reference: format!("{collection}{}:{}", found.template, found.version),
            path: found.path.clone(),
            kind: version.template.as_ref().map(|(kind, _)| *kind),
            digest: version.digest,
            findings: Vec::new(),
        };
        if let Some((kind, entry)) = version.template.clone() {
            let template = Template {
                name: found.template.to_string(),
                kind,
                entry,
                files: version.contents(),
                jinja2: false,
            };
            let mut inside = self.engine.inspect(&template).findings;
            if let Some(request) = self.examples {
                inside.extend(check_example(&template, self.engine, request.clone()));
            }
            report.findings.extend(inside.into_iter().map(|mut finding| {
                finding.path = format!("{}/{}", found.path, finding.path).trim_end_matches('/').to_owned();
                finding
            }));
        }
        report.findings.extend(version.findings);
        report.findings.sort();
        self.report.versions.push(report);
    }

    fn finding(&mut self, finding: Finding) {
        self.report.findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graft;
    use schema::Inspection;
    use schema::processing::{Cause, Failure, Outcome, Problem, Step};
    use schema::tree::MemoryTree;

    /// Refuses every template whose example asks for it.
    struct Picky;

    impl Engine for Picky {
        fn inspect(&self, _: &Template) -> Inspection {
            Inspection::default()
        }

        fn process(&self, _: &Template, request: Request) -> Result<Step, String> {
            match request.values.get("fail") {
                Some(_) => Ok(Step::Failed(Failure::one(
                    Cause::Values,
                    Problem::error("told to fail").in_file("values").at(1, 7),
                ))),
                None => Ok(Step::Done(Box::default())),
            }
        }
    }

    /// Renders what Jinja2 would, or refuses as it would, where the example says so.
    struct TwoOfThem;

    impl Engine for TwoOfThem {
        fn inspect(&self, _: &Template) -> Inspection {
            Inspection::default()
        }

        fn process(&self, template: &Template, request: Request) -> Result<Step, String> {
            let who = if template.jinja2 { "theirs" } else { "ours" };
            let text =
                request.values.as_str().expect("an example of this kind is handed on as it is written");
            let values = yaml::load(text, &yaml::Options::default()).unwrap().unwrap().value.to_json();
            match values[who].as_str() {
                Some("fails") => {
                    Ok(Step::Failed(Failure::one(Cause::Template, Problem::error(format!("{who} fails")))))
                }
                Some("absent") => Err("no Python".to_owned()),
                original => {
                    Ok(Step::Done(Box::new(Outcome { original: original.into(), ..Outcome::default() })))
                }
            }
        }
    }

    #[test]
    fn where_jinja2_differs_it_counts() {
        let found = |example: &str| {
            let tree = MemoryTree::new().file("x.jinja", "resources:\n").file("example.yaml", example);
            let report =
                check_tree(&Graft::new(tree, "x/v1"), &TwoOfThem, Some(&Request::default()), &mut |_| {})
                    .unwrap();
            let rule = |finding: &Finding| format!("{} {}", finding.rule, finding.message);
            report
                .all_findings()
                .into_iter()
                .map(rule)
                .filter(|text| !text.starts_with("dm-"))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("{ours: a, theirs: a}\n"), Vec::<String>::new());
        assert_eq!(found("{ours: a, theirs: absent}\n"), Vec::<String>::new());
        assert_eq!(found("{ours: fails, theirs: fails}\n"), ["example-fails ours fails"]);
        assert_eq!(
            found("{ours: a, theirs: b}\n"),
            ["rendered-by-jinja2 the example is rendered by Jinja2: it comes out differently"]
        );
        assert_eq!(
            found("{ours: fails, theirs: b}\n"),
            ["rendered-by-jinja2 the example is rendered by Jinja2: only Jinja2 itself takes it"]
        );
        let refused = found("{ours: a, theirs: fails}\n");
        assert_eq!(
            (refused.len(), refused.iter().any(|text| text == "example-fails theirs fails")),
            (2, true)
        );
    }

    fn tree(example: &str) -> MemoryTree {
        MemoryTree::new().file("x.yaml", "kind: Template\n").file("example.yaml", example)
    }

    fn check(example: &str) -> Vec<String> {
        let report =
            check_tree(&Graft::new(tree(example), "x/v1"), &Picky, Some(&Request::default()), &mut |_| {})
                .unwrap();
        let line = |finding: &Finding| {
            format!(
                "{} {} {:?} {}",
                finding.rule,
                finding.path,
                finding.place.map(|place| place.line),
                finding.message
            )
        };
        report.all_findings().into_iter().map(line).collect()
    }

    #[test]
    fn an_example_that_fails_is_an_error_at_its_place() {
        assert_eq!(check("{}\n"), Vec::<String>::new());
        assert_eq!(check("fail: 1\n"), ["example-fails x/v1/example.yaml Some(1) told to fail"]);
        assert!(check("a: [\n")[0].starts_with("example-unreadable x/v1/example.yaml Some("));
    }
}
