//! The form of a version: what it shows, what it makes, and what it keeps to itself.

use catalog::testing::Registry;
use http::Method;

use crate::kit::{Answer, App, InProcess, REGISTRY, inspected};

const SHOP: &str = r#"apiVersion: template.openshift.io/v1
kind: Template
objects:
- apiVersion: v1
  kind: Secret
  metadata: {name: "${NAME}"}
  stringData: {password: "${PASSWORD}", url: "shop://${PASSWORD}@${NAME}", token: "${TOKEN}"}
parameters:
- {name: NAME, displayName: "<b>Name</b>", description: "What it is called.", required: true}
- {name: PASSWORD, description: "The password."}
- {name: TOKEN, generate: expression, from: "[a-z]{12}"}
"#;

const HOSTILE: &str = r#"apiVersion: template.openshift.io/v1
kind: Template
objects: []
parameters:
- {name: A, displayName: "\"><script>alert(1)</script>", description: "</textarea><img src=x onerror=alert(1)>", value: "\" autofocus onfocus=\"alert(1)"}
"#;

const SIZED: &str = "resources:\n- name: {{ env['name'] }}\n  type: Service\n  properties: {size: {{ properties['storage']['size'] }}, list: {{ properties['list'] }}}\n";
const SIZED_SCHEMA: &str = "info: {title: Sized}\nrequired: [storage]\nproperties:\n  storage:\n    type: object\n    title: Storage\n    properties:\n      size: {type: integer, minimum: 1, maximum: 9}\n  list: {type: array, default: [1]}\n";

const PAGE: &str = "/github.com/acme/templates/shop:v1/-/try";

async fn app() -> App {
    let registry = Registry::new(REGISTRY)
        .version(
            "shop:v1.0.0",
            &[("shop.yaml", SHOP), ("example.yaml", "parameters: {NAME: orders, PASSWORD: from-example}\n")],
        )
        .version("hostile:v1.0.0", &[("hostile.yaml", HOSTILE)])
        .version("sized:v1.0.0", &[("sized.jinja", SIZED), ("sized.jinja.schema", SIZED_SCHEMA)]);
    App::with(vec![inspected(registry)], Box::new(InProcess), None).await
}

async fn send(app: &App, page: &str, form: &str) -> Answer {
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    app.send(Method::POST, page, &headers, form.to_owned()).await
}

#[tokio::test]
async fn a_form_works_by_submitting_it() {
    let app = app().await;
    let empty = app.get(PAGE).await;
    assert_eq!(empty.status, 200);
    let html = empty.text();
    for expected in [
        "name=\"p/NAME\"",
        "type=\"password\"",
        "They appear here when",
        "What it is called.",
        "&#60;b&#62;Name",
    ] {
        assert!(html.contains(expected), "{expected}\n{html}");
    }
    assert!(!html.contains("role=\"alert\""), "nobody has done anything wrong yet");

    let sent = send(&app, PAGE, "whole=1&p/NAME=orders&p/PASSWORD=&namespace=shop").await;
    assert_eq!((sent.status.as_u16(), sent.header("cache-control")), (200, "no-store"));
    let html = sent.text();
    assert!(html.contains("1 object, "), "{html}");
    assert!(html.contains("<span class=\"k\">namespace</span><span class=\"p\">:</span> shop"), "{html}");
    assert!(html.contains("value=\"orders\""));
    assert!(html.contains("-p NAME=orders"));
}

#[tokio::test]
async fn what_is_wrong_stands_at_its_field() {
    let app = app().await;
    let sent = send(&app, PAGE, "whole=1&p/NAME=").await;
    assert_eq!(sent.status, 422);
    let html = sent.text();
    assert!(html.contains("1 field needs</strong>") || html.contains("1 field needs attention."), "{html}");
    assert!(html.contains("<a href=\"#f-NAME\">NAME</a>: This is required."), "{html}");
    let sized = "/github.com/acme/templates/sized:v1/-/try";
    let html = send(&app, sized, "whole=1&p/storage/size=12&p/list=[1]").await.text();
    assert!(html.contains("<legend>Storage</legend>"), "{html}");
    let field = html.split("id=\"f-storage-size\"").nth(1).unwrap().split("</div></div>").next().unwrap();
    assert!(field.contains("aria-invalid=\"true\"") && field.contains("class=\"err\""), "{field}");
    let html = send(&app, sized, "whole=1&p/storage/size=3&p/list=- a%0A- b").await.text();
    assert!(html.contains("<span class=\"n\">3</span>"), "{html}");
    assert!(html.contains("echo &#39;{&quot;properties&quot;:") && html.contains("--values -"), "{html}");
}

#[tokio::test]
async fn attack_row_31_a_secret_is_in_no_field_link_line_or_object() {
    let app = app().await;
    let sent = send(&app, PAGE, "whole=1&p/NAME=orders&p/PASSWORD=hunter2hunter2").await;
    assert_eq!(sent.status, 200);
    let html = sent.text();
    assert!(!html.contains("hunter2"), "{html}");
    assert!(html.contains("••••••••") && html.contains("shop://••••••••@orders"), "{html}");
    assert!(html.contains("Left out: <code>PASSWORD</code>"), "{html}");
    assert!(html.contains("-p PASSWORD=&quot;$PASSWORD&quot;"), "{html}");
    // The file that was asked for has it: that is what it is for.
    let file = send(&app, PAGE, "whole=1&p/NAME=orders&p/PASSWORD=hunter2hunter2&download=1").await;
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"shop.yaml\"");
    assert_eq!(file.header("cache-control"), "no-store");
    assert!(file.text().contains("password: hunter2hunter2"));
}

#[tokio::test]
async fn generated_values_on_the_page_are_used_nowhere() {
    let app = app().await;
    let form = "whole=1&p/NAME=orders";
    let token = |text: String| {
        let rest = text.split("token").nth(1).unwrap().to_owned();
        rest.split(|character: char| !character.is_ascii_lowercase())
            .find(|word| word.len() == 12)
            .unwrap()
            .to_owned()
    };
    let shown = token(send(&app, PAGE, form).await.text());
    assert_eq!(shown, token(send(&app, PAGE, form).await.text()));
    let file = token(send(&app, PAGE, &format!("{form}&download=1")).await.text());
    assert_ne!(shown, file);
    assert_ne!(file, token(send(&app, PAGE, &format!("{form}&download=1")).await.text()));
}

#[tokio::test]
async fn links_and_examples_fill_the_form() {
    let app = app().await;
    let html = app.get(&format!("{PAGE}?p/NAME=web&seed=x")).await.text();
    assert!(html.contains("value=\"web\"") && html.contains("1 object, "), "{html}");
    assert!(html.contains("/-/try?p/NAME=web&#38;seed=x"), "{html}");
    let html = app.get(&format!("{PAGE}?example")).await.text();
    assert!(html.contains("value=\"orders\""), "{html}");
    assert!(!html.contains("from-example"), "{html}");
}

#[tokio::test]
async fn attack_row_27_a_hostile_template_writes_no_html() {
    let app = app().await;
    let html = app.get("/github.com/acme/templates/hostile:v1/-/try").await.text();
    assert!(
        !html.contains("<script>alert") && !html.contains("<img src=x") && !html.contains("\" autofocus"),
        "{html}"
    );
}

#[tokio::test]
async fn other_methods_and_large_forms_are_refused() {
    let app = app().await;
    assert_eq!(app.send(Method::PUT, PAGE, &[], "").await.status, 405);
    let form = format!("whole=1&p/NAME={}", "x".repeat(100 << 10));
    assert_eq!(send(&app, PAGE, &form).await.status, 413);
    assert_eq!(app.get("/github.com/acme/templates/nothing/-/try").await.status, 404);
}
