//! Registries that look like real ones, made from a number: same number, same commit id.

use std::path::Path;

use anyhow::Context;

use crate::repository::{Commit, Repository};

/// What was made.
pub(crate) struct Generated {
    /// The id of the newest commit.
    pub(crate) commit: String,
    /// Every template with its versions, lowest first.
    pub(crate) templates: Vec<Template>,
    pub(crate) repository: Repository,
}

/// One template.
pub(crate) struct Template {
    pub(crate) collection: &'static str,
    pub(crate) name: String,
    pub(crate) versions: Vec<String>,
    /// The name of its template file.
    pub(crate) entry: String,
}

/// Versions in one commit: a repository grows in steps, and a step is held in memory.
const VERSIONS_PER_COMMIT: usize = 500;

/// Versions of one template, on average; a few have many, most have few.
const VERSIONS_PER_TEMPLATE: usize = 8;

const COLLECTIONS: &[(&str, &[&str])] = &[
    ("web", &["nginx", "caddy", "httpd", "haproxy", "varnish", "traefik", "envoy", "static-site"]),
    (
        "databases",
        &["postgresql", "mysql", "mariadb", "mongodb", "cassandra", "couchdb", "cockroachdb", "sqlite-api"],
    ),
    ("caches", &["redis", "memcached", "valkey", "hazelcast", "dragonfly", "keydb"]),
    ("messaging", &["kafka", "rabbitmq", "nats", "pulsar", "activemq", "mosquitto", "zookeeper"]),
    (
        "observability",
        &["prometheus", "grafana", "loki", "tempo", "alertmanager", "jaeger", "fluentd", "node-exporter"],
    ),
    ("storage", &["minio", "nfs-server", "ceph-gateway", "seaweedfs", "registry", "backup-agent"]),
    ("security", &["vault", "keycloak", "dex", "oauth2-proxy", "cert-issuer", "falco"]),
    ("jobs", &["cron", "airflow", "argo-runner", "spark-history", "batch-worker", "nightly-report"]),
];

const VARIANTS: &[&str] = &[
    "", "ha", "cluster", "replica", "single", "dev", "proxy", "operator", "exporter", "gateway", "edge",
    "internal", "legacy", "lite", "backup", "restore", "sidecar", "mirror", "sharded", "staging", "metrics",
    "init", "admin", "public", "private", "stateful",
];

/// SplitMix64 (Steele, Lea, Flood 2014): all this needs is that it is the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Makes a bare repository with so many versions.
pub(crate) fn generate(path: &Path, versions: usize, seed: u64) -> anyhow::Result<Generated> {
    let mut repository =
        Repository::create(path).with_context(|| format!("{} cannot be made", path.display()))?;
    let mut random = Random(seed);
    let templates = plan(versions, &mut random);
    let mut commit = Commit::default().file("registry.yaml", registry_file());
    let mut pending = 0;
    for template in &templates {
        for version in &template.versions {
            commit = add(commit, template, version, &mut random);
            pending += 1;
            if pending == VERSIONS_PER_COMMIT {
                repository.commit(std::mem::take(&mut commit))?;
                pending = 0;
            }
        }
    }
    repository.commit(commit.file("README.md", "# Templates\n\nMade by a program.\n"))?;
    repository.repack()?;
    Ok(Generated { commit: repository.head()?, templates, repository })
}

/// Which templates there are, and which versions each has.
fn plan(versions: usize, random: &mut Random) -> Vec<Template> {
    let names = VARIANTS.iter().flat_map(|variant| {
        COLLECTIONS.iter().flat_map(move |(collection, products)| {
            products.iter().map(move |product| {
                let name =
                    if variant.is_empty() { (*product).to_owned() } else { format!("{product}-{variant}") };
                (*collection, name)
            })
        })
    });
    // When names run out they are numbered, so that any number of versions can be made.
    let numbered = (2..).flat_map(|number| {
        COLLECTIONS
            .iter()
            .map(move |(collection, products)| (*collection, format!("{}-{number}", products[0])))
    });
    let mut left = versions;
    let mut templates = Vec::new();
    for (collection, name) in names.chain(numbered) {
        if left == 0 {
            break;
        }
        let most = match random.below(10) {
            0 => VERSIONS_PER_TEMPLATE as u64 * 4,
            1..=4 => VERSIONS_PER_TEMPLATE as u64,
            _ => VERSIONS_PER_TEMPLATE as u64 / 2 + 2,
        };
        let count = usize::try_from(1 + random.below(most * 2)).unwrap_or(1).min(left);
        left -= count;
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
        let versions = numbers.collect();
        let extension = if random.below(5) < 2 { "jinja" } else { "yaml" };
        templates.push(Template { collection, entry: format!("{name}.{extension}"), name, versions });
    }
    templates
}

fn registry_file() -> String {
    let collections =
        COLLECTIONS.iter().map(|(name, _)| format!("  {name}: {{path: {name}, title: {}}}\n", title(name)));
    format!(
        "apiVersion: formwork/v1\nkind: TemplateRegistry\ntitle: Templates\ncollections:\n{}",
        collections.collect::<String>()
    )
}

fn title(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn add(commit: Commit, template: &Template, version: &str, random: &mut Random) -> Commit {
    let Template { collection, name, entry, .. } = template;
    let directory = format!("{collection}/{name}/{version}");
    let tag = format!("{}.{}.{}", 1 + random.below(9), random.below(30), random.below(20));
    let commit = if entry.ends_with(".jinja") {
        commit
            .file(&format!("{directory}/{entry}"), jinja(name, &tag))
            .file(&format!("{directory}/{entry}.schema"), jinja_schema(name, version))
            .file(
                &format!("{directory}/example.yaml"),
                format!("properties:\n  name: {name}\n  replicas: {}\n", 1 + random.below(5)),
            )
    } else {
        commit.file(&format!("{directory}/{entry}"), kubernetes(collection, name, &tag)).file(
            &format!("{directory}/example.yaml"),
            format!("parameters:\n  NAME: {name}\n  MEMORY: {}Mi\n", 128 << random.below(4)),
        )
    };
    let readme = format!(
        "# {}\n\nRuns {name} {tag} with a Service in front of it.\n\n## Changes\n\n- **{version}** the image is {tag}.\n",
        title(name)
    );
    commit.file(&format!("{directory}/README.md"), readme)
}

fn kubernetes(collection: &str, name: &str, tag: &str) -> String {
    let title = title(name);
    format!(
        r#"apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: {name}
  annotations:
    openshift.io/display-name: {title}
    description: {title} {tag} with a Service, its settings in a ConfigMap.
    tags: {collection},{name}
    template.openshift.io/documentation-url: https://docs.example.com/{name}
labels:
  template: {name}
parameters:
- name: NAME
  displayName: Name
  description: Names every object.
  value: {name}
  required: true
- name: MEMORY
  displayName: Memory
  description: The memory a pod may take.
  value: 256Mi
- name: REPLICAS
  displayName: Replicas
  description: How many pods run.
  value: "1"
- name: PASSWORD
  displayName: Password
  description: The password clients give.
  generate: expression
  from: "[a-zA-Z0-9]{{24}}"
objects:
- apiVersion: v1
  kind: Secret
  metadata:
    name: ${{NAME}}
  stringData:
    password: ${{PASSWORD}}
- apiVersion: v1
  kind: Service
  metadata:
    name: ${{NAME}}
  spec:
    ports:
    - name: main
      port: 8080
      targetPort: main
    selector:
      app: ${{NAME}}
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: ${{NAME}}
  spec:
    replicas: ${{{{REPLICAS}}}}
    selector:
      matchLabels:
        app: ${{NAME}}
    template:
      metadata:
        labels:
          app: ${{NAME}}
      spec:
        containers:
        - name: {name}
          image: registry.example/{name}:{tag}
          ports:
          - name: main
            containerPort: 8080
          resources:
            limits:
              memory: ${{MEMORY}}
"#
    )
}

fn jinja(name: &str, tag: &str) -> String {
    format!(
        r#"{{% set name = properties["name"] %}}
resources:
- name: {{{{ name }}}}-service
  type: Service
  properties:
    apiVersion: v1
    kind: Service
    metadata:
      name: {{{{ name }}}}
    spec:
      ports:
      - port: 8080
      selector:
        app: {{{{ name }}}}
- name: {{{{ name }}}}-deployment
  type: Deployment
  properties:
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: {{{{ name }}}}
    spec:
      replicas: {{{{ properties["replicas"] }}}}
      selector:
        matchLabels:
          app: {{{{ name }}}}
      template:
        metadata:
          labels:
            app: {{{{ name }}}}
        spec:
          containers:
          - name: {name}
            image: registry.example/{name}:{tag}
"#
    )
}

fn jinja_schema(name: &str, version: &str) -> String {
    let title = title(name);
    let version = version.trim_start_matches('v');
    format!(
        "info:\n  title: {title}\n  description: {title} with a Service.\n  version: {version}\n\nrequired:\n- name\n\nproperties:\n  name:\n    type: string\n    description: Names every object.\n  replicas:\n    type: integer\n    description: How many pods run.\n    default: 1\n    minimum: 1\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_as_many_versions_as_asked_for_and_no_name_twice() {
        for versions in [1, 7, 1_000, 10_000, 60_000] {
            let templates = plan(versions, &mut Random(7));
            assert_eq!(templates.iter().map(|template| template.versions.len()).sum::<usize>(), versions);
            let names = templates
                .iter()
                .map(|template| (template.collection, &template.name))
                .collect::<std::collections::BTreeSet<_>>();
            assert_eq!(names.len(), templates.len());
        }
    }

    #[test]
    fn same_seed_same_commit() {
        if !crate::repository::git_is_installed() {
            return crate::report::progress("SKIPPED: same_seed_same_commit: git is not installed");
        }
        let directory = tempfile::tempdir().unwrap();
        let make = |name: &str, seed| generate(&directory.path().join(name), 60, seed).unwrap().commit;
        assert_eq!(make("a", 1), make("b", 1));
        assert_ne!(make("c", 1), make("d", 2));
    }
}
