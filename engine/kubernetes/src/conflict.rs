//! Step 4 of the proposal: "If a given $(VAL) could be resolved to either a parameter or an environment
//! variable/downward api reference, an error will be returned".
//!
//! The kubelet expands `$(VAR)` itself, in `command`, `args`, `env[].value`, `subPathExpr` and exec probes. It
//! resolves a value in `env` against *earlier* entries only, which is why the proposal's own example, an entry
//! `MONGODB_USER` with the value `$(MONGODB_USER)`, is no conflict. The walk here is in the kubelet's order, on the
//! objects before substitution; names that hold parameters are resolved first.

use std::collections::{HashMap, HashSet};

use schema::Severity;
use schema::processing::Problem;
use yaml::Value;

use crate::document::Document;
use crate::notation::{Notation, Piece, pieces};
use crate::substitute::Pointed;

/// What the walk found.
#[derive(Default)]
pub(crate) struct Conflicts {
    pub(crate) errors: Vec<Pointed>,
    pub(crate) notes: Vec<Pointed>,
    /// Names of environment variables the kubelet will know somewhere: not undefined, whatever else they are.
    pub(crate) environment: HashSet<String>,
}

/// What a container knows a name from.
#[derive(Clone)]
enum Source {
    Entry { index: usize, downward: bool },
    EnvFrom { index: usize },
    Service(String),
}

type Variables = HashMap<String, Source>;

/// What one container knows: its own variables, and whether those of services.
#[derive(Clone, Default)]
struct Environment {
    own: Variables,
    services: bool,
}

struct Walk<'a> {
    values: &'a HashMap<String, String>,
    document: &'a Document,
    /// Environment variables of the services made by this template.
    services: Variables,
    /// Those of the cluster's own service, which are always there.
    cluster: Variables,
    /// Where the ConfigMaps and Secrets of the template are, by kind and name.
    sources: HashMap<(&'static str, String), usize>,
    found: Conflicts,
}

/// Looks for conflicts in all objects of a document.
pub(crate) fn find(document: &Document, values: &HashMap<String, String>) -> Conflicts {
    let mut cluster = Variables::new();
    service_variables(
        &mut cluster,
        "kubernetes",
        &[("https".to_owned(), "443".to_owned(), "TCP".to_owned())],
    );
    let (services, sources, found) = (Variables::new(), HashMap::new(), Conflicts::default());
    let mut walk = Walk { values, document, services, cluster, sources, found };
    for (index, object) in document.objects.iter().enumerate() {
        let Some(name) = object.pointer("/metadata/name").and_then(Value::as_str) else { continue };
        let name = walk.resolved(name);
        match object.get("kind").and_then(Value::as_str) {
            Some("Service") => {
                let ports = walk.ports(object);
                service_variables(&mut walk.services, &name, &ports);
            }
            Some("ConfigMap") => {
                walk.sources.insert(("ConfigMap", name), index);
            }
            Some("Secret") => {
                walk.sources.insert(("Secret", name), index);
            }
            _ => {}
        }
    }
    walk.found.environment.extend(walk.services.keys().chain(walk.cluster.keys()).cloned());
    for (index, object) in document.objects.iter().enumerate() {
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or("object");
        let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let title = format!("objects[{index}] ({kind}/{})", walk.resolved(name));
        walk.pods(object, &title, &format!("/objects/{index}"), "");
    }
    walk.found
}

/// The variables the kubelet sets for a service, as far as names go.
fn service_variables(environment: &mut Variables, service: &str, ports: &[(String, String, String)]) {
    let word = |text: &str| text.to_uppercase().replace('-', "_");
    let name = word(service);
    let mut add = |variable: String| {
        environment.insert(variable, Source::Service(service.to_owned()));
    };
    for suffix in ["SERVICE_HOST", "SERVICE_PORT", "PORT"] {
        add(format!("{name}_{suffix}"));
    }
    for (port_name, port, protocol) in ports {
        if !port_name.is_empty() {
            add(format!("{name}_SERVICE_PORT_{}", word(port_name)));
        }
        let base = format!("{name}_PORT_{port}_{}", word(protocol));
        for suffix in ["_PROTO", "_PORT", "_ADDR"] {
            add(format!("{base}{suffix}"));
        }
        add(base);
    }
}

impl Walk<'_> {
    /// A name with its parameters resolved.
    fn resolved(&self, text: &str) -> String {
        let parts = pieces(Notation::Kubernetes, text, false).into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Reference { written, name, .. } => self.values.get(name).map_or(written, String::as_str),
        });
        parts.collect()
    }

    fn ports(&self, service: &Value) -> Vec<(String, String, String)> {
        let Some(ports) = service.pointer("/spec/ports").and_then(Value::as_list) else { return Vec::new() };
        let text = |port: &Value, key: &str, default: &str| match port.get(key) {
            Some(Value::String(text)) => self.resolved(text),
            Some(number) if number.is_number() => yaml::to_json(number),
            _ => default.to_owned(),
        };
        let one = |port| (text(port, "name", ""), text(port, "port", ""), text(port, "protocol", "TCP"));
        ports.iter().map(one).collect()
    }

    /// Finds pod specs by their shape, wherever they are: a map with a list of containers.
    fn pods(&mut self, value: &Value, title: &str, pointer: &str, path: &str) {
        match value {
            Value::Map(map) => {
                if map
                    .get("containers")
                    .and_then(Value::as_list)
                    .is_some_and(|list| list.iter().any(is_container))
                {
                    self.pod(value, title, pointer, path);
                    return;
                }
                for (key, value) in map {
                    let step = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    self.pods(
                        value,
                        title,
                        &format!("{pointer}/{}", crate::document::pointer_segment(key)),
                        &step,
                    );
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.pods(item, title, &format!("{pointer}/{index}"), &format!("{path}[{index}]"));
                }
            }
            _ => {}
        }
    }

    fn pod(&mut self, pod: &Value, title: &str, pointer: &str, path: &str) {
        let services = pod.get("enableServiceLinks").and_then(Value::as_bool) != Some(false);
        for list in ["initContainers", "containers", "ephemeralContainers"] {
            let containers = pod.get(list).and_then(Value::as_list).unwrap_or_default();
            for (index, container) in containers.iter().enumerate() {
                let path = if path.is_empty() {
                    format!("{list}[{index}]")
                } else {
                    format!("{path}.{list}[{index}]")
                };
                let known = Environment { own: Variables::new(), services };
                self.container(container, known, title, &format!("{pointer}/{list}/{index}"), &path);
            }
        }
    }

    fn container(
        &mut self,
        container: &Value,
        mut known: Environment,
        title: &str,
        pointer: &str,
        path: &str,
    ) {
        let list = |key: &str| container.get(key).and_then(Value::as_list).unwrap_or_default();
        for (index, source) in list("envFrom").iter().enumerate() {
            self.env_from(source, index, &mut known, &format!("{pointer}/envFrom/{index}"));
        }
        // Exec probes run with the plain values alone.
        let mut plain = known.clone();
        for (index, entry) in list("env").iter().enumerate() {
            if let Some(value) = entry.get("value").and_then(Value::as_str) {
                self.check(
                    value,
                    &known,
                    title,
                    &format!("{pointer}/env/{index}/value"),
                    &format!("{path}.env[{index}].value"),
                );
            }
            let Some(name) = entry.get("name").and_then(Value::as_str) else { continue };
            let name = self.resolved(name);
            let from = entry.get("valueFrom");
            let downward = from
                .is_some_and(|from| from.get("fieldRef").is_some() || from.get("resourceFieldRef").is_some());
            self.found.environment.insert(name.clone());
            if from.is_none() {
                plain.own.insert(name.clone(), Source::Entry { index, downward });
            }
            known.own.insert(name, Source::Entry { index, downward });
        }
        for key in ["command", "args"] {
            self.check_all(list(key), &known, title, &format!("{pointer}/{key}"), &format!("{path}.{key}"));
        }
        for (index, mount) in list("volumeMounts").iter().enumerate() {
            if let Some(text) = mount.get("subPathExpr").and_then(Value::as_str) {
                let (pointer, path) = (
                    format!("{pointer}/volumeMounts/{index}/subPathExpr"),
                    format!("{path}.volumeMounts[{index}].subPathExpr"),
                );
                self.check(text, &known, title, &pointer, &path);
            }
        }
        for probe in
            ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle/postStart", "lifecycle/preStop"]
        {
            if let Some(Value::List(command)) = container.pointer(&format!("/{probe}/exec/command")) {
                let path = format!("{path}.{}.exec.command", probe.replace('/', "."));
                self.check_all(command, &plain, title, &format!("{pointer}/{probe}/exec/command"), &path);
            }
        }
        self.found.environment.extend(known.own.into_keys());
    }

    fn env_from(&mut self, source: &Value, index: usize, known: &mut Environment, pointer: &str) {
        let prefix = self.resolved(source.get("prefix").and_then(Value::as_str).unwrap_or_default());
        for (key, kind) in [("configMapRef", "ConfigMap"), ("secretRef", "Secret")] {
            let Some(name) = source.pointer(&format!("/{key}/name")).and_then(Value::as_str) else {
                continue;
            };
            let name = self.resolved(name);
            let object = self.sources.get(&(kind, name.clone())).map(|index| &self.document.objects[*index]);
            match object {
                Some(object) => {
                    for part in ["data", "stringData"] {
                        let keys =
                            object.get(part).and_then(Value::as_map).into_iter().flat_map(|map| map.keys());
                        for key in keys {
                            let variable = format!("{prefix}{}", self.resolved(key));
                            self.found.environment.insert(variable.clone());
                            known.own.insert(variable, Source::EnvFrom { index });
                        }
                    }
                }
                None if !self.values.is_empty() => {
                    let message = format!(
                        "the keys of {kind} `{name}` are not known here and may stand for the same names as parameters"
                    );
                    self.found.notes.push(Pointed {
                        pointer: pointer.to_owned(),
                        problem: Problem::new(Severity::Info, message),
                    });
                }
                None => {}
            }
        }
    }

    fn check_all(&mut self, texts: &[Value], known: &Environment, title: &str, pointer: &str, path: &str) {
        for (index, text) in texts.iter().enumerate() {
            if let Some(text) = text.as_str() {
                self.check(text, known, title, &format!("{pointer}/{index}"), &format!("{path}[{index}]"));
            }
        }
    }

    fn check(&mut self, text: &str, known: &Environment, title: &str, pointer: &str, path: &str) {
        let mut seen = HashSet::new();
        for piece in pieces(Notation::Kubernetes, text, false) {
            // `$((P))` is no reference to the kubelet, so it has one meaning.
            let Piece::Reference { name, unquoted: false, .. } = piece else { continue };
            if !self.values.contains_key(name) || !seen.insert(name) {
                continue;
            }
            let shared =
                || self.cluster.get(name).or_else(|| self.services.get(name).filter(|_| known.services));
            let other = match known.own.get(name).or_else(shared) {
                None => continue,
                Some(Source::Entry { index, downward: false }) => {
                    format!("environment variable {name:?} (env[{index}])")
                }
                Some(Source::Entry { index, downward: true }) => {
                    format!("downward API value {name:?} (env[{index}])")
                }
                Some(Source::EnvFrom { index }) => {
                    format!("environment variable {name:?} (envFrom[{index}])")
                }
                Some(Source::Service(service)) => format!("variable {name:?} of Service {service:?}"),
            };
            let message = format!(
                "{title} {path}: $({name}) could be parameter {name:?} or {other}; rename one of them"
            );
            let problem = Problem::error(message)
                .hint("write $$(NAME) for what the kubelet is to expand, after renaming the parameter");
            self.found.errors.push(Pointed { pointer: pointer.to_owned(), problem });
        }
    }
}

fn is_container(value: &Value) -> bool {
    value.get("name").is_some()
        && ["image", "env", "command", "args"].iter().any(|key| value.get(key).is_some())
}

#[cfg(test)]
mod tests {
    use schema::Kind;
    use schema::processing::Template;

    use super::*;

    /// Messages for a pod with this container, in a template with parameters A and PORT.
    fn conflicts(container: &str, others: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: v1\nkind: Template\nparameters: [{{name: A, value: a}}, {{name: PORT, value: '1'}}, {{name: REDIS_PORT, value: x}}]\n\
             objects:\n- kind: Pod\n  metadata: {{name: p}}\n  spec:\n    containers:\n    - {container}\n{others}"
        );
        let files = [("t.yaml", text.into_bytes())].into_iter().collect();
        let template = Template {
            name: "t".to_owned(),
            kind: Kind::Template,
            entry: "t.yaml".to_owned(),
            files,
            jinja2: false,
        };
        let document = crate::document::read(&template).unwrap();
        let values = document.parameters.iter().map(|p| (p.name.clone(), p.value.clone())).collect();
        find(&document, &values).errors.into_iter().map(|pointed| pointed.problem.message).collect()
    }

    #[test]
    fn only_earlier_entries_count_for_a_value() {
        assert!(conflicts("{name: c, env: [{name: A, value: $(A)}]}", "").is_empty());
        assert_eq!(
            conflicts("{name: c, env: [{name: A, value: x}, {name: B, value: '$(A) $(A)'}]}", ""),
            [
                "objects[0] (Pod/p) spec.containers[0].env[1].value: $(A) could be parameter \"A\" or environment variable \"A\" (env[0]); rename one of them"
            ]
        );
    }

    #[test]
    fn commands_arguments_and_paths_see_all_entries() {
        let container = "{name: c, env: [{name: PORT, valueFrom: {fieldRef: {fieldPath: x}}}], args: [$(PORT)], command: ['$((PORT)) $$(PORT)'], \
                         volumeMounts: [{subPathExpr: $(PORT)}], livenessProbe: {exec: {command: [$(PORT)]}}}";
        let found = conflicts(container, "");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains(
            "args[0]: $(PORT) could be parameter \"PORT\" or downward API value \"PORT\" (env[0])"
        ));
        assert!(found[1].contains("volumeMounts[0].subPathExpr"));
    }

    #[test]
    fn services_and_config_maps_of_the_template_bring_names() {
        let service = "- kind: Service\n  metadata: {name: redis}\n  spec: {ports: [{port: 6379}]}\n";
        let found = conflicts("{name: c, args: [$(REDIS_PORT)]}", service);
        assert!(found[0].contains("variable \"REDIS_PORT\" of Service \"redis\""), "{found:?}");
        let map = "- kind: ConfigMap\n  metadata: {name: a}\n  data: {ORT: x}\n";
        let found =
            conflicts("{name: c, args: [$(PORT)], envFrom: [{prefix: P, configMapRef: {name: $(A)}}]}", map);
        assert!(found[0].contains("environment variable \"PORT\" (envFrom[0])"), "{found:?}");
    }
}
