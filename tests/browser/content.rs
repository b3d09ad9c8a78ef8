//! What the registries of the browser's tests hold: much of everything, and what attackers write.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

/// What the example registry is called.
pub(crate) const EXAMPLE: &str = "/localhost/examples/registry";
/// What a generated registry is called.
const OURS: &str = "/localhost/acme/templates";

/// Writes a file and the directories it is in.
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a file is in a directory"))
        .expect("a directory can be made");
    std::fs::write(path, text).expect("a file can be written");
}

/// A Template of a ConfigMap.
fn small(name: &str, description: &str) -> String {
    format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: {name}\n  annotations:\n    \
         description: {description}\nparameters:\n- name: NAME\n  value: {name}\nobjects:\n- apiVersion: v1\n  \
         kind: ConfigMap\n  metadata:\n    name: ${{NAME}}\n"
    )
}

/// Long names, many versions, many templates, many collections, many objects, odd states.
pub(crate) fn wide(registry: &Path) {
    let long = long_name();
    write(
        &registry.join("registry.yaml"),
        "title: A registry whose title goes on and on, as titles do when nobody stops their authors\n\
         description: Everything here is larger than it ought to be.\n\
         maintainers: [The team with the long name that keeps templates for everybody else in the company]\n\
         links: {Documentation: 'https://example.com/a/very/long/address/that/nobody/will/ever/type'}\n\
         withdrawn:\n  many:v1.5.0: {reason: Loses data on restart., use: 'many:v1.5.1'}\n\
         deprecated:\n  many:v1.4.0: {reason: Out of support., use: 'no-such-thing:v1'}\n",
    );
    for minor in 0..40 {
        let text = small("many", "Has forty versions and then some.");
        write(&registry.join(format!("many/v1.{minor}.0/many.yaml")), &text);
        write(&registry.join(format!("many/v1.{minor}.1/many.yaml")), &text);
    }
    for number in 0..150 {
        let name = format!("crowd-{number:03}");
        write(&registry.join(format!("crowd/{name}/v1.0.0/{name}.yaml")), &small(&name, "One of many."));
    }
    for number in 0..30 {
        let directory = registry.join(format!("collection-{number:02}"));
        write(&directory.join("only/v1.0.0/only.yaml"), &small("only", "Alone in its collection."));
    }
    let directory = registry.join(&long).join("v1.0.0");
    write(&directory.join(format!("{long}.yaml")), &large_template(&long));
    write(&directory.join("example.yaml"), "parameters: {}\n");
    let word = "unbreakable".repeat(20);
    write(
        &directory.join("README.md"),
        &format!(
            "# {word}\n\nText with `{word}` and <https://example.com/{word}>.\n\n```yaml\nkey: {word}\n```\n\n\
             | {word} | b |\n|---|---|\n| c | {word} |\n\n> {word}\n\n1. one\n2. two\n\n- [ ] open\n- [x] done\n\n\
             ![missing](missing.png) ![there](logo.png)\n"
        ),
    );
    write(&directory.join(format!("docs/{}.txt", "deep/".repeat(6) + &long)), &format!("{word}\n"));
    let lines = (0..3_000).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "line-{line}: {}", &word[..line % word.len()]);
        text
    });
    write(&directory.join("lines.yaml.txt"), &lines);
    // Its example fails, and says so.
    write(&registry.join("failing/v1.0.0/failing.yaml"), &small("failing", "Its example gives too much."));
    write(&registry.join("failing/v1.0.0/example.yaml"), "parameters: {NO_SUCH_PARAMETER: x}\n");
}

/// A name as long as names may be.
fn long_name() -> String {
    format!("{}x", "orders-frontend-production-".repeat(4).get(..99).expect("it is long enough"))
}

/// A Template with forty parameters, and objects that refer to each other across several layers.
fn large_template(name: &str) -> String {
    let mut text = format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: {name}\n  annotations:\n    \
         openshift.io/display-name: Everything at once\n    description: A workload with all it needs, and a description that \
         takes more than one line on any screen, because whoever wrote it wanted to say it all.\n    \
         tags: one,two,three,four,five,six,seven,eight,nine,ten\n    \
         template.openshift.io/documentation-url: https://example.com/docs\n    \
         template.openshift.io/support-url: https://example.com/support\nparameters:\n"
    );
    for number in 0..40 {
        let _ = writeln!(
            text,
            "- name: PARAMETER_WITH_A_LONG_NAME_{number}\n  displayName: Parameter {number}\n  description: What it is for, \
             told in a sentence that is long enough to be broken into lines.\n  value: {}",
            "default-".repeat(number % 9 + 1)
        );
    }
    text.push_str("objects:\n");
    for kind in ["ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim"] {
        let _ = writeln!(text, "- {{apiVersion: v1, kind: {kind}, metadata: {{name: shop-{kind}}}}}");
    }
    for part in ["shop-frontend-production", "shop-backend-production-with-a-name", "worker"] {
        let _ = writeln!(
            text,
            "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: {part}}}\n  spec:\n    template:\n      \
             metadata: {{labels: {{app: {part}}}}}\n      spec:\n        serviceAccountName: shop-ServiceAccount\n        \
             volumes:\n        - {{name: a, persistentVolumeClaim: {{claimName: shop-PersistentVolumeClaim}}}}\n        \
             - {{name: b, configMap: {{name: shop-ConfigMap}}}}\n        containers:\n        - name: c\n          \
             envFrom: [{{secretRef: {{name: shop-Secret}}}}, {{configMapRef: {{name: elsewhere}}}}]\n\
             - apiVersion: v1\n  kind: Service\n  metadata: {{name: {part}}}\n  spec: {{selector: {{app: {part}}}}}\n\
             - apiVersion: networking.k8s.io/v1\n  kind: Ingress\n  metadata: {{name: {part}}}\n  spec:\n    rules:\n    \
             - http: {{paths: [{{backend: {{service: {{name: {part}}}}}}}]}}\n\
             - apiVersion: networking.k8s.io/v1\n  kind: NetworkPolicy\n  metadata: {{name: {part}}}\n  \
             spec: {{podSelector: {{matchLabels: {{app: {part}}}}}}}"
        );
    }
    text
}

/// The pages on which all of that is seen.
pub(crate) fn wide_pages() -> Vec<String> {
    let long = long_name();
    [
        String::new(),
        "/crowd/".to_owned(),
        "/crowd/?after=crowd-099".to_owned(),
        "?after=collection-20".to_owned(),
        "/many".to_owned(),
        "/many:=v1.5.0".to_owned(),
        "/many:=v1.4.0".to_owned(),
        "/many/-/versions".to_owned(),
        "/many/-/history".to_owned(),
        "/many:v7".to_owned(),
        "/failing".to_owned(),
        format!("/{long}"),
        format!("/{long}/-/files/"),
        format!("/{long}/-/files/README.md"),
        format!("/{long}/-/files/lines.yaml.txt"),
        format!("/{long}y"),
    ]
    .map(|end| format!("{OURS}{end}"))
    .into_iter()
    .chain(["/search?q=crowd".to_owned()])
    .collect()
}

/// What attackers write, wherever they may write something. Each calls `canary`, or asks a host that is not ours.
pub(crate) fn hostile(registry: &Path) {
    let script =
        "<script>canary('inline')</script><img src=x onerror=canary('image')><svg onload=canary('svg')>";
    write(
        &registry.join("registry.yaml"),
        &format!(
            "title: \"{script}\"\ndescription: \"{script}\"\nmaintainers: [\"{script}\"]\nlinks:\n  \"{script}\": \
             'https://example.com/'\n  Evil: \"javascript:canary('link')\"\n  Data: 'data:text/html,<script>canary(1)</script>'\n\
             collections:\n  queues: {{path: queues, title: \"{script}\", description: \"{script}\"}}\n\
             withdrawn:\n  app:v1.0.1: {{reason: \"{script}\", use: \"{script}\"}}\n"
        ),
    );
    let template = format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: app\n  annotations:\n    \
         openshift.io/display-name: \"{script}\"\n    description: \"{script}\"\n    tags: \"{script},other\"\n    \
         template.openshift.io/documentation-url: \"javascript:canary('documentation')\"\n    \
         template.openshift.io/support-url: \"data:text/html,<script>canary('support')</script>\"\nparameters:\n\
         - name: NAME\n  displayName: \"{script}\"\n  description: \"{script}\"\n  value: \"{script}\"\n\
         - name: \"{script}\"\n  value: x\nobjects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: \"{script}\"\n\
         - apiVersion: v1\n  kind: Pod\n  metadata:\n    name: \"</title></svg>{script}\"\n  spec:\n    volumes:\n    \
         - name: a\n      configMap:\n        name: \"{script}\"\n"
    );
    let readme = format!(
        "# {script}\n\n{script}\n\n[one](javascript:canary('md')) [two](JaVaScRiPt:canary('md')) [three](&#106;avascript:canary('md')) \
         [four](data:text/html,<script>canary('md')</script>) [five](vbscript:canary) <javascript:canary('auto')>\n\n\
         ![a](javascript:canary('img')) ![b](https://outside.example/pixel.png) ![c](//outside.example/pixel.png) ![logo](logo.svg)\n\n\
         <iframe src=\"https://outside.example\"></iframe><object data=\"logo.svg\"></object><base href=\"https://outside.example/\">\
         <meta http-equiv=\"refresh\" content=\"0;url=https://outside.example\"><style>body{{display:none}}</style>\
         <link rel=stylesheet href=https://outside.example/x.css><form action=https://outside.example><button>x</button></form>\n\n\
         ```mermaid\ngraph TD; A[\"<img src=x onerror=canary('mermaid')>\"] --> B; click A \"javascript:canary('mermaid')\"\n```\n\n\
         ```\"><script>canary('fence')</script>\nx\n```\n\n[ref]: javascript:canary('ref')\n[ref] [x](<javascript:canary('angle')> \"\\\" onmouseover=canary('title')\")\n"
    );
    for version in ["v1.0.0", "v1.0.1"] {
        let directory = registry.join("app").join(version);
        write(&directory.join("app.yaml"), &template);
        write(&directory.join("example.yaml"), "parameters: {}\n");
        write(&directory.join("README.md"), &readme);
        write(
            &directory.join("logo.svg"),
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' onload=\"parent.canary('svg')\"><script>parent.canary('svg')</script>\
             <image href='https://outside.example/pixel.png'/><foreignObject><script xmlns='http://www.w3.org/1999/xhtml'>canary('f')</script></foreignObject></svg>",
        );
        write(&directory.join("page.html"), "<!doctype html><script>canary('html')</script>");
        write(&directory.join("code.js"), "canary('js')");
        write(
            &directory.join("page.xhtml"),
            "<html xmlns='http://www.w3.org/1999/xhtml'><script>canary('xhtml')</script></html>",
        );
        write(&directory.join("odd'\"<img src=x onerror=canary(1)>.txt"), "x");
    }
    write(&registry.join("queues/q/v1.0.0/q.yaml"), &small("q", "Tame."));
}

/// Where all of that is shown.
pub(crate) fn hostile_task() -> Value {
    let app = format!("{OURS}/app");
    let query = "%3Cscript%3Ecanary('query')%3C/script%3E";
    let pages = [
        "/".to_owned(),
        "/registries".to_owned(),
        "/search?q=canary".to_owned(),
        format!("/search?q={query}"),
        format!("/search?q=app&kind={query}"),
        format!("/{query}"),
        format!("{OURS}/{query}"),
        OURS.to_owned(),
        format!("{OURS}/queues/"),
        app.clone(),
        format!("{app}:=v1.0.1"),
        format!("{app}:{query}"),
        format!("{app}/-/files/"),
        format!("{app}/-/versions"),
        format!("{app}/-/history"),
        format!("{app}/-/files/app.yaml"),
        format!("{app}/-/files/README.md"),
        format!("{app}/-/files/page.html"),
        format!("{app}/-/files/odd'%22%3Cimg%20src=x%20onerror=canary(1)%3E.txt"),
    ];
    let raw = ["logo.svg", "page.html", "code.js", "page.xhtml", "README.md", "app.yaml"];
    let raw = raw.map(|file| format!("/api/v1/templates/localhost/acme/templates/app:v1/-/files/{file}"));
    json!({ "pages": pages, "raw": raw })
}

/// A catalogue of five thousand templates below a directory: what serves it, and the file of each template called
/// `name`, by the page of the template.
pub(crate) fn catalogue(directory: &Path, name: &str) -> (Vec<String>, BTreeMap<String, String>) {
    let (mut arguments, mut wanted) = (Vec::new(), BTreeMap::new());
    for registry in samples::catalogue(5_000, 1, 7) {
        let root = directory.join(&registry.name);
        write(&root.join("registry.yaml"), &registry.file());
        for template in &registry.templates {
            for version in &template.versions {
                for (path, text) in template.files(version) {
                    if template.name == name && path == template.entry {
                        let page = format!("/{}/{}", registry.name, template.directory());
                        wanted.insert(page, text.clone());
                    }
                    write(&root.join(template.directory()).join(version).join(path), &text);
                }
            }
        }
        let source = root.to_str().expect("the path is text");
        arguments.extend(["--registry".to_owned(), format!("{}={source}", registry.name)]);
    }
    (arguments, wanted)
}
