//! What can be said of a program without running it: which data it reads, and what makes its output unrepeatable.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::ast::{Branch, Node, NodeId};
use crate::function::{Body, Purity};
use crate::program::{Program, Template};

/// A call whose answer comes from elsewhere than its arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unrepeatable {
    /// The text it stands in.
    pub template: String,
    /// The line, from 1.
    pub line: usize,
    /// The function.
    pub function: &'static str,
    /// Where its answer comes from.
    pub purity: &'static str,
}

/// What a program reads and what it depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Paths into the data, as far as they can be told: `Values.image.tag`, `ports[].name` (the elements of a list or
    /// map). Sorted. A path computed while running is not here.
    pub reads: Vec<String>,
    /// Calls that make the output differ from run to run, sorted by place.
    pub unrepeatable: Vec<Unrepeatable>,
    /// Names of templates that are called but not there.
    pub missing_templates: Vec<String>,
}

/// A path into the data; none where it cannot be told.
type Path = Option<Rc<str>>;

/// The path with fields as they are written, `.a.b`, after it.
fn below(path: &Path, fields: &str) -> Path {
    let base = path.as_ref()?;
    let tail = fields.strip_prefix('.').unwrap_or_default();
    let joined = match (base.is_empty(), tail.is_empty()) {
        (_, true) => return path.clone(),
        (true, false) => tail.to_owned(),
        (false, false) => format!("{base}.{tail}"),
    };
    Some(joined.into())
}

enum Job {
    Node(NodeId, Path),
    /// A branch's bodies, once its pipe has been looked at and its variables are known.
    Bodies {
        kind: Branch,
        pipe: NodeId,
        list: NodeId,
        otherwise: Option<NodeId>,
        dot: Path,
    },
    Declare {
        pipe: NodeId,
        dot: Path,
    },
}

struct Reader<'p> {
    program: &'p Program,
    reads: BTreeSet<String>,
    unrepeatable: BTreeSet<Unrepeatable>,
    missing: BTreeSet<String>,
    todo: Vec<(String, Path)>,
    /// The paths each template was looked at for.
    seen: HashMap<String, HashSet<Path>>,
    nodes: usize,
}

/// One template is looked at for up to this many paths, and then once more for any other.
const PATHS: usize = 200;

/// Paths deeper than this are not told: templates that call themselves on what is in a map would make them for ever.
const DEEPEST: usize = 32;

/// So many nodes are looked at in all; what is beyond them is not in the report.
const NODES: usize = 2_000_000;

/// How many names and elements a path goes through.
fn depth(path: &str) -> usize {
    path.bytes().filter(|byte| matches!(byte, b'.' | b'[')).count()
}

impl Program {
    /// Looks at the template of this name and all it calls.
    #[must_use]
    pub fn report(&self, template: &str) -> Report {
        let mut reader = Reader {
            program: self,
            reads: BTreeSet::new(),
            unrepeatable: BTreeSet::new(),
            missing: BTreeSet::new(),
            todo: Vec::new(),
            seen: HashMap::new(),
            nodes: 0,
        };
        reader.call(template, Some("".into()));
        while let Some((name, dot)) = reader.todo.pop() {
            if let Some(template) = self.find(&name) {
                reader.template(template, dot);
            }
        }
        Report {
            reads: reader.reads.into_iter().collect(),
            unrepeatable: reader.unrepeatable.into_iter().collect(),
            missing_templates: reader.missing.into_iter().collect(),
        }
    }
}

impl Reader<'_> {
    fn call(&mut self, name: &str, dot: Path) {
        if !self.program.has(name) {
            self.missing.insert(name.to_owned());
            return;
        }
        let paths = self.seen.entry(name.to_owned()).or_default();
        let told = paths.len() < PATHS && dot.as_ref().is_some_and(|path| depth(path) <= DEEPEST);
        let dot = dot.filter(|_| told);
        if paths.insert(dot.clone()) {
            self.todo.push((name.to_owned(), dot));
        }
    }

    fn read(&mut self, path: &Path) {
        if let Some(path) = path
            && !path.is_empty()
        {
            self.reads.insert(path.to_string());
        }
    }

    fn template(&mut self, template: &Template, dot: Path) {
        let unit = &template.unit;
        let tree = &unit.tree;
        let source = &*unit.source;
        let mut variables: HashMap<&str, Path> = HashMap::from([("$", dot.clone())]);
        let mut jobs = vec![Job::Node(unit.entries[template.entry].body, dot)];
        while let Some(job) = jobs.pop() {
            self.nodes += 1;
            if self.nodes > NODES {
                return;
            }
            let (node, dot) = match job {
                Job::Node(node, dot) => (node, dot),
                Job::Declare { pipe, dot } => {
                    let path = self.path_of(template, pipe, &dot, &variables);
                    if let Node::Pipe { declarations, .. } = tree.node(pipe) {
                        for declared in declarations {
                            if let Node::Variable(span) = tree.node(*declared) {
                                variables.insert(span.variable(source), path.clone());
                            }
                        }
                    }
                    continue;
                }
                Job::Bodies { kind, pipe, list, otherwise, dot } => {
                    let path = self.path_of(template, pipe, &dot, &variables);
                    if let Some(otherwise) = otherwise {
                        jobs.push(Job::Node(otherwise, dot.clone()));
                    }
                    let inner = match kind {
                        Branch::If => dot,
                        Branch::With => path,
                        Branch::Range => {
                            let element: Path = path.map(|path| format!("{path}[]").into());
                            if let Node::Pipe { declarations, .. } = tree.node(pipe)
                                && let Some(Node::Variable(span)) =
                                    declarations.last().map(|last| tree.node(*last))
                            {
                                variables.insert(span.variable(source), element.clone());
                            }
                            element
                        }
                    };
                    jobs.push(Job::Node(list, inner));
                    continue;
                }
            };
            match tree.node(node) {
                Node::List(items) => {
                    jobs.extend(items.iter().rev().map(|item| Job::Node(*item, dot.clone())));
                }
                Node::Action(pipe) => jobs.push(Job::Node(*pipe, dot)),
                Node::Pipe { commands, declarations, .. } => {
                    if !declarations.is_empty() {
                        jobs.push(Job::Declare { pipe: node, dot: dot.clone() });
                    }
                    jobs.extend(commands.iter().rev().map(|command| Job::Node(*command, dot.clone())));
                }
                Node::Command(words) => {
                    self.command(template, words, &dot, &variables);
                    jobs.extend(words.iter().rev().map(|word| Job::Node(*word, dot.clone())));
                }
                Node::Field(span) => self.read(&below(&dot, span.of(source))),
                Node::Variable(span) => {
                    let name = span.variable(source);
                    let path = variables.get(name).cloned().flatten();
                    self.read(&below(&path, &span.of(source)[name.len()..]));
                }
                Node::Chain { node: inner, fields } => {
                    let path = self.path_of(template, *inner, &dot, &variables);
                    self.read(&below(&path, fields.of(source)));
                    jobs.push(Job::Node(*inner, dot));
                }
                Node::Branch { kind, pipe, list, otherwise } => {
                    let (kind, pipe, list, otherwise) = (*kind, *pipe, *list, *otherwise);
                    jobs.push(Job::Bodies { kind, pipe, list, otherwise, dot: dot.clone() });
                    jobs.push(Job::Node(pipe, dot));
                }
                Node::Template { name, pipe } => {
                    let path = pipe.and_then(|pipe| self.path_of(template, pipe, &dot, &variables));
                    self.call(name, path);
                    jobs.extend(pipe.map(|pipe| Job::Node(pipe, dot)));
                }
                Node::Identifier(span) => {
                    let function = self.program.profile.function(span.of(source));
                    let purity = match function.map(|function| function.purity) {
                        Some(Purity::Clock) => "clock",
                        Some(Purity::Random) => "random",
                        Some(Purity::Closed) => "closed",
                        Some(Purity::Pure) | None => continue,
                    };
                    let before = &unit.source.as_bytes()[..tree.pos(node)];
                    self.unrepeatable.extend(function.map(|function| Unrepeatable {
                        template: unit.name.to_string(),
                        line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
                        function: function.name,
                        purity,
                    }));
                }
                _ => {}
            }
        }
    }

    /// Calls of templates by functions, with names that stand in the text.
    fn command(
        &mut self,
        template: &Template,
        words: &[NodeId],
        dot: &Path,
        variables: &HashMap<&str, Path>,
    ) {
        let tree = &template.unit.tree;
        let [first, name, data] = words else { return };
        let (Node::Identifier(function), Node::String(literal)) = (tree.node(*first), tree.node(*name))
        else {
            return;
        };
        let includes = self
            .program
            .profile
            .function(function.of(&template.unit.source))
            .is_some_and(|function| matches!(function.body, Body::Include));
        if includes {
            let path = self.path_of(template, *data, dot, variables);
            let text = crate::strconv::unquote(literal.of(&template.unit.source)).unwrap_or_default();
            self.call(&String::from_utf8_lossy(&text), path);
        }
    }

    /// The path of a value that is nothing but a field, a variable or dot.
    fn path_of(
        &self,
        template: &Template,
        node: NodeId,
        dot: &Path,
        variables: &HashMap<&str, Path>,
    ) -> Path {
        let tree = &template.unit.tree;
        let mut node = node;
        loop {
            match tree.node(node) {
                Node::Pipe { commands, .. } => match commands[..] {
                    [only] => node = only,
                    _ => return None,
                },
                Node::Command(words) => match words[..] {
                    [only] => node = only,
                    _ => return None,
                },
                Node::Dot => return dot.clone(),
                Node::Field(span) => return below(dot, span.of(&template.unit.source)),
                Node::Variable(span) => {
                    let (name, whole) =
                        (span.variable(&template.unit.source), span.of(&template.unit.source));
                    return below(&variables.get(name).cloned().flatten(), &whole[name.len()..]);
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Program, profile};

    /// A fuzzer found that this took the longest of all: a path for each level there might be.
    #[test]
    fn templates_that_call_themselves_are_looked_at_once_in_a_while() {
        let text = r#"{{define "r"}}{{range $k, $v := .}}{{include "r" $v}}{{.a}}{{end}}{{end}}{{include "r" .Values}}
{{define "two"}}{{include "two" .a}}{{include "two" .b}}{{end}}{{include "two" .}}"#;
        let report = Program::parse("t", text, &profile::HELM).expect("it parses").report("t");
        assert!(report.reads.contains(&"Values[][].a".to_owned()), "{:?}", report.reads);
        assert!(report.reads.len() < 1000, "{}", report.reads.len());
    }

    #[test]
    fn paths_follow_dot_variables_and_calls() {
        let text = r#"{{define "image"}}{{.repository}}:{{.tag | default $.digest}}{{end}}{{include "image" .Values.image}}
{{range $i, $p := .Values.ports}}{{.name}}{{$p.port}}{{$.Release.Name}}{{end}}{{with .Values.a}}{{.b}}{{else}}{{.c}}{{end}}
{{$v := .Values.x}}{{$v.y}}{{(.Values.z).w}}{{template "gone" .}}{{randAlphaNum 5}}{{now}}"#;
        let program = Program::parse("t", text, &profile::HELM).expect("it parses");
        let report = program.report("t");
        assert_eq!(
            report.reads,
            [
                "Release.Name",
                "Values.a",
                "Values.a.b",
                "Values.image",
                "Values.image.digest",
                "Values.image.repository",
                "Values.image.tag",
                "Values.ports",
                "Values.ports[].name",
                "Values.ports[].port",
                "Values.x",
                "Values.x.y",
                "Values.z",
                "Values.z.w",
                "c"
            ]
        );
        assert_eq!(report.missing_templates, ["gone"]);
        let calls: Vec<_> =
            report.unrepeatable.iter().map(|call| (call.function, call.purity, call.line)).collect();
        assert_eq!(calls, [("now", "clock", 3), ("randAlphaNum", "random", 3)]);
    }
}
