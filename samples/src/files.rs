//! The files of a version, in each kind's own notation.

use crate::products::NOTES;
use crate::random::Random;
use crate::{Kind, Template, capital};

/// The template file of a version.
pub(crate) fn entry(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Kubernetes | Kind::Plan | Kind::Broker => format!("{name}.yaml"),
        Kind::Jinja => format!("{name}.jinja"),
        Kind::Python => format!("{name}.py"),
        Kind::Chart => "Chart.yaml".to_owned(),
    }
}

/// A parameter: its name, title, description and default.
struct Parameter {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    default: String,
}

/// How a notation writes what is given by the user.
struct Notation {
    name: String,
    memory: String,
    replicas: String,
    password: String,
}

pub(crate) fn files(template: &Template, version: &str) -> Vec<(String, String)> {
    let mut seed = template.seed;
    version.bytes().for_each(|byte| seed = seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut random = Random::new(seed);
    let tag = format!("{}.{}.{}", 1 + random.below(9), random.below(30), random.below(20));
    let mut files = match template.kind {
        Kind::Kubernetes => kubernetes(template, &tag, &mut random),
        Kind::Jinja => deployment_manager(template, version, jinja(template, &tag)),
        Kind::Python => deployment_manager(template, version, python(template, &tag)),
        Kind::Chart => chart(template, version, &tag),
        Kind::Plan => plan(template, &tag),
        Kind::Broker => broker(template),
    };
    files.push(("README.md".to_owned(), readme(template, version, &tag, &mut random)));
    files
}

fn readme(template: &Template, version: &str, tag: &str, random: &mut Random) -> String {
    let (title, product) = (template.title(), template.product);
    let first = random.below(NOTES.len());
    let second = (first + 1 + random.below(NOTES.len() - 1)) % NOTES.len();
    let own = product.parameter;
    format!(
        "# {title}\n\n{description}\n\n{name} is a good choice for {uses}.\n\n## Settings\n\n- `{parameter}`: {what}.\n\n\
         ## Notes\n\n{}\n{}\n\n## Changes\n\n- **{version}** the image is {tag}.\n",
        NOTES[first],
        NOTES[second],
        description = template.description(),
        name = product.title,
        uses = product.uses,
        parameter = own.0,
        what = lower(own.2),
    )
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn parameters(template: &Template) -> Vec<Parameter> {
    let own = |(name, title, description): (&'static str, &'static str, &'static str)| Parameter {
        name,
        title,
        description,
        default: "auto".to_owned(),
    };
    let common = |name, title, description, default: &str| Parameter {
        name,
        title,
        description,
        default: default.to_owned(),
    };
    let mut parameters = vec![
        common("NAME", "Name", "Names every object", &template.name),
        common("MEMORY", "Memory", "The memory a pod may take", "256Mi"),
        common("REPLICAS", "Replicas", "How many pods run", "1"),
        own(template.product.parameter),
    ];
    parameters.extend(template.flavour.parameter.map(own));
    parameters
}

fn tags(template: &Template) -> Vec<&'static str> {
    let flavour = Some(template.flavour.suffix).filter(|suffix| !suffix.is_empty());
    template.product.tags.iter().copied().chain(flavour).collect()
}

fn has_secret(template: &Template) -> bool {
    template.product.keeps && template.flavour.suffix != "dev"
}

/// The objects it makes, each as the lines of a document.
fn objects(template: &Template, tag: &str, write: &Notation) -> Vec<String> {
    let Notation { name, memory, replicas, password } = write;
    let product = template.product;
    let (image, port) = (product.name, product.port);
    let workload = if has_secret(template) { "StatefulSet" } else { "Deployment" };
    let service_name = if has_secret(template) { format!("  serviceName: {name}\n") } else { String::new() };
    let mut objects = Vec::new();
    if has_secret(template) {
        objects.push(format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n  password: {password}\n"
        ));
    }
    objects.push(format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\nspec:\n  ports:\n  - name: main\n    port: {port}\n  selector:\n    app: {name}\n"
    ));
    objects.push(format!(
        "apiVersion: apps/v1\nkind: {workload}\nmetadata:\n  name: {name}\nspec:\n{service_name}  replicas: {replicas}\n  selector:\n    matchLabels:\n      app: {name}\n  \
         template:\n    metadata:\n      labels:\n        app: {name}\n    spec:\n      containers:\n      - name: main\n        image: registry.example/{image}:{tag}\n        \
         ports:\n        - name: main\n          containerPort: {port}\n        resources:\n          limits:\n            memory: {memory}\n"
    ));
    if let Some((api_version, kind)) = template.flavour.object {
        objects.push(format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}-{}\n  labels:\n    app: {name}\n",
            template.flavour.suffix
        ));
    }
    objects
}

/// A document as an item of a list, indented by so many spaces.
fn item(document: &str, spaces: usize) -> String {
    let pad = " ".repeat(spaces);
    let lines = document.lines().enumerate();
    lines.map(|(at, line)| format!("{pad}{}{line}\n", if at == 0 { "- " } else { "  " })).collect()
}

fn indented(document: &str, spaces: usize) -> String {
    let pad = " ".repeat(spaces);
    document.lines().map(|line| format!("{pad}{line}\n")).collect()
}

fn kubernetes(template: &Template, tag: &str, random: &mut Random) -> Vec<(String, String)> {
    let name = &template.name;
    let write = Notation {
        name: "${NAME}".to_owned(),
        memory: "${MEMORY}".to_owned(),
        replicas: "${{REPLICAS}}".to_owned(),
        password: "${PASSWORD}".to_owned(),
    };
    let mut declared = parameters(template)
        .iter()
        .map(|p| {
            format!(
                "- name: {}\n  displayName: {}\n  description: {}.\n  value: {:?}\n",
                p.name, p.title, p.description, p.default
            )
        })
        .collect::<String>();
    if has_secret(template) {
        declared.push_str(
            "- name: PASSWORD\n  displayName: Password\n  description: The password clients give.\n  generate: expression\n  from: \"[a-zA-Z0-9]{24}\"\n",
        );
    }
    // Parameters that no object needs go into one that tells what was chosen.
    let settings = parameters(template)
        .iter()
        .skip(3)
        .map(|p| format!("  {}: ${{{}}}\n", p.name, p.name))
        .collect::<String>();
    let settings =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${{NAME}}-settings\ndata:\n{settings}");
    let objects = objects(template, tag, &write);
    let objects = objects.iter().chain([&settings]).map(|object| item(object, 0)).collect::<String>();
    let text = format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: {name}\n  annotations:\n    openshift.io/display-name: {:?}\n    \
         description: {:?}\n    tags: {:?}\n    iconClass: icon-{}\n    template.openshift.io/documentation-url: https://docs.example.com/{name}\n\
         labels:\n  template: {name}\nparameters:\n{declared}objects:\n{objects}",
        template.title(),
        template.description(),
        tags(template).join(","),
        template.product.name,
    );
    let example = format!("parameters:\n  NAME: {name}\n  MEMORY: {}Mi\n", 128 << random.below(4));
    vec![(template.entry.clone(), text), ("example.yaml".to_owned(), example)]
}

fn deployment_manager(template: &Template, version: &str, text: String) -> Vec<(String, String)> {
    let properties = parameters(template)
        .iter()
        .map(|p| {
            let kind =
                if p.name == "REPLICAS" { "integer\n    default: 1\n    minimum: 1" } else { "string" };
            format!(
                "  {}:\n    type: {kind}\n    title: {}\n    description: {}.\n",
                camel(p.name),
                p.title,
                p.description
            )
        })
        .collect::<String>();
    let schema = format!(
        "info:\n  title: {:?}\n  description: {:?}\n  version: {}\n  author: Platform team\n\nrequired:\n- name\n\nproperties:\n{properties}",
        template.title(),
        template.description(),
        version.trim_start_matches('v')
    );
    let example = format!("properties:\n  name: {}\n  memory: 256Mi\n  replicas: 2\n", template.name);
    vec![
        (template.entry.clone(), text),
        (format!("{}.schema", template.entry), schema),
        ("example.yaml".to_owned(), example),
    ]
}

/// `MAX_CONNECTIONS` as Deployment Manager's templates write it: `maxConnections`.
fn camel(name: &str) -> String {
    let mut words = name.split('_').map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    words.fold(first, |all, word| all + &capital(&word))
}

fn jinja(template: &Template, tag: &str) -> String {
    let write = Notation {
        name: "{{ properties[\"name\"] }}".to_owned(),
        memory: "{{ properties[\"memory\"] }}".to_owned(),
        replicas: "{{ properties[\"replicas\"] }}".to_owned(),
        password: "{{ properties[\"name\"] }}-changeme".to_owned(),
    };
    let resource = |object: &String| {
        let kind = kind_of(object);
        format!(
            "- name: {{{{ properties[\"name\"] }}}}-{}\n  type: {kind}\n  properties:\n{}",
            kind.to_lowercase(),
            indented(object, 4)
        )
    };
    format!("resources:\n{}", objects(template, tag, &write).iter().map(resource).collect::<String>())
}

fn kind_of(object: &str) -> &str {
    object.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default()
}

fn python(template: &Template, tag: &str) -> String {
    let write = Notation {
        name: "%(name)s".to_owned(),
        memory: "%(memory)s".to_owned(),
        replicas: "1".to_owned(),
        password: "%(name)s-changeme".to_owned(),
    };
    let resources = objects(template, tag, &write)
        .iter()
        .map(|object| {
            let kind = kind_of(object);
            format!(
                "        resource(name, '{kind}', {{'apiVersion': '{}', 'kind': '{kind}', 'metadata': {{'name': name}}}}),\n",
                object.lines().next().and_then(|line| line.strip_prefix("apiVersion: ")).unwrap_or_default()
            )
        })
        .collect::<String>();
    format!(
        "\"\"\"{}\"\"\"\n\n\ndef resource(name, kind, properties):\n    return {{'name': '%s-%s' % (name, kind.lower()), 'type': kind, 'properties': properties}}\n\n\n\
         def GenerateConfig(context):\n    name = context.properties['name']\n    return {{'resources': [\n{resources}    ]}}\n",
        template.description()
    )
}

fn chart(template: &Template, version: &str, tag: &str) -> Vec<(String, String)> {
    let write = Notation {
        name: "{{ .Release.Name }}".to_owned(),
        memory: "{{ .Values.memory }}".to_owned(),
        replicas: "{{ .Values.replicas }}".to_owned(),
        password: "{{ .Values.password | quote }}".to_owned(),
    };
    let keywords = tags(template).iter().map(|tag| format!("- {tag}\n")).collect::<String>();
    let metadata = format!(
        "apiVersion: v2\nname: {}\ndescription: {:?}\nversion: {}\nappVersion: {tag:?}\nkeywords:\n{keywords}home: https://docs.example.com/{}\n",
        template.name,
        template.description(),
        version.trim_start_matches('v'),
        template.name
    );
    let values = parameters(template)
        .iter()
        .skip(1)
        .map(|p| format!("# {}.\n{}: {}\n", p.description, camel(p.name), p.default))
        .chain(has_secret(template).then(|| "# The password clients give.\npassword: changeme\n".to_owned()))
        .collect::<String>();
    let mut files = vec![
        (template.entry.clone(), metadata),
        ("values.yaml".to_owned(), values),
        ("example.yaml".to_owned(), "values:\n  replicas: 2\n".to_owned()),
    ];
    files.extend(
        objects(template, tag, &write)
            .into_iter()
            .map(|object| (format!("templates/{}.yaml", kind_of(&object).to_lowercase()), object)),
    );
    files
}

/// The schema of what a service takes, for brokers and plans.
fn schema(template: &Template, spaces: usize) -> String {
    let properties = parameters(template)
        .iter()
        .skip(1)
        .map(|p| {
            let (name, title, description) = (camel(p.name), p.title, p.description);
            format!("  {name}:\n    type: string\n    title: {title}\n    description: {description}.\n")
        })
        .collect::<String>();
    indented(&format!("type: object\nproperties:\n{properties}"), spaces)
}

fn plan(template: &Template, tag: &str) -> Vec<(String, String)> {
    let write = Notation {
        name: "{{ $name }}".to_owned(),
        memory: "256Mi".to_owned(),
        replicas: "1".to_owned(),
        password: "{{ $name | b64enc }}".to_owned(),
    };
    let documents = objects(template, tag, &write).join("---\n");
    let name = &template.name;
    let text = format!(
        "apiVersion: osb.servicefabrik.io/v1alpha1\nkind: SFPlan\nmetadata:\n  name: {name}\nspec:\n  name: {name}\n  id: {name}\n  description: {:?}\n  \
         free: true\n  bindable: true\n  serviceId: {}\n  metadata:\n    displayName: {:?}\n    tags: [{}]\n  schemas:\n    service_instance:\n      create:\n        parameters:\n{}  \
         templates:\n  - action: provision\n    type: gotemplate\n    content: |\n      {{{{- $name := \"\" }}}}\n      {{{{- with .instance.metadata.name }}}}{{{{ $name = . }}}}{{{{ end }}}}\n{}",
        template.description(),
        template.product.name,
        template.title(),
        tags(template).join(", "),
        schema(template, 10),
        indented(&documents, 6),
    );
    vec![(template.entry.clone(), text), ("example.yaml".to_owned(), "action: provision\n".to_owned())]
}

fn broker(template: &Template) -> Vec<(String, String)> {
    let name = &template.name;
    let text = format!(
        "apiVersion: servicebroker.couchbase.com/v1alpha1\nkind: ServiceBrokerConfig\nmetadata:\n  name: {name}\nspec:\n  catalog:\n    services:\n    - name: {name}\n      \
         id: {name}\n      description: {:?}\n      bindable: true\n      tags: [{}]\n      metadata:\n        displayName: {:?}\n      plans:\n      - name: standard\n        id: {name}-standard\n        \
         description: The usual size.\n        schemas:\n          serviceInstance:\n            create:\n              parameters:\n{}  \
         templates:\n  - name: {name}\n    template:\n      apiVersion: v1\n      kind: Secret\n      metadata:\n        name: {name}\n      data: {{}}\n  bindings: []\n",
        template.description(),
        tags(template).join(", "),
        template.title(),
        schema(template, 16),
    );
    vec![(template.entry.clone(), text), ("example.yaml".to_owned(), "plan: standard\n".to_owned())]
}
