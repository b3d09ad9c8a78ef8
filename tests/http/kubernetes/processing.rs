//! Templates processed: what is sent, and what is here.

use serde_json::{Value, json};

use super::kit::{GROUP, Setting, expect_failure, template};

/// `oc -n databases process redis:v1.0 -p NAME=orders`, call by call as the client makes them.
#[test]
fn oc_processes_a_version_by_its_name() {
    let setting = Setting::new();
    // It escapes the name or not, by its version.
    for name in ["redis:v1.0", "redis%3Av1.0"] {
        let mut object =
            setting.get(&format!("{GROUP}/namespaces/databases/templates/{name}")).expect_status(200).json();
        // Its types know these members and no others, all of them texts.
        for parameter in object["parameters"].as_array_mut().unwrap() {
            let members = parameter.as_object().unwrap();
            for (member, value) in members {
                let known = ["name", "displayName", "description", "value", "generate", "from", "required"];
                assert!(
                    known.contains(&member.as_str()) && (value.is_string() || value.is_boolean()),
                    "{member}: {value}"
                );
            }
            if parameter["name"] == "NAME" {
                parameter["value"] = json!("orders");
            }
        }
        let path = format!("{GROUP}/namespaces/databases/processedtemplates");
        let url = format!("{}{path}", setting.server.url());
        let answer = crate::kit::post(&url, &object.to_string()).unwrap().expect_status(201);
        assert_eq!(answer.header("cache-control"), "no-store");
        let processed = answer.json();
        assert_eq!(
            (&processed["kind"], &processed["apiVersion"]),
            (&json!("Template"), &json!("template.openshift.io/v1"))
        );
        assert_eq!(processed["objects"][0]["metadata"]["name"], "orders");
        let password = processed["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["generate"] == "expression")
            .unwrap();
        assert!(password["value"].as_str().is_some_and(|value| value.len() >= 16), "{password}");
    }
}

#[test]
fn a_template_that_is_sent_is_processed_by_anybody() {
    let setting = Setting::new();
    let post = |path: &str, body: &Value| {
        crate::kit::post(&format!("{}{path}", setting.server.url()), &body.to_string()).unwrap()
    };
    let mut sent = template("sent");
    sent["parameters"][0]["value"] = json!("shop");
    sent["metadata"]["namespace"] = json!("anywhere");
    let processed = post("/processedtemplates", &sent).expect_status(201).json();
    assert_eq!(
        (&processed["kind"], &processed["objects"][0]["spec"]["ports"][0]["port"]),
        (&json!("Template"), &json!(80))
    );
    let list = post("/processedtemplates?output=List", &sent).expect_status(201).json();
    assert_eq!((&list["kind"], &list["items"]), (&json!("List"), &processed["objects"]));
    let missing = expect_failure(post("/processedtemplates", &template("sent")), 422, "Invalid");
    assert!(missing["message"].as_str().unwrap().contains("parameter NAME is required"), "{missing}");
    assert_eq!(missing["details"]["causes"][0]["field"], "parameters[0]");
    expect_failure(post("/processedtemplates?output=Config", &sent), 422, "Invalid");
    expect_failure(
        post("/processedtemplates", &json!({ "kind": "Template", "apiVersion": "v9" })),
        400,
        "BadRequest",
    );
    expect_failure(post("/processedtemplates", &json!([])), 400, "BadRequest");
    expect_failure(setting.get("/processedtemplates"), 405, "MethodNotAllowed");
    // The proposal's notation, through OpenShift's address and back: it is still the proposal's.
    let object = setting.get(&format!("{GROUP}/namespaces/databases/templates/postgresql")).json();
    let mut object = object;
    for parameter in object["parameters"].as_array_mut().unwrap() {
        if parameter.get("value").is_none_or(|value| value == "") {
            parameter["value"] = json!("given");
        }
    }
    let processed =
        post(&format!("{GROUP}/namespaces/databases/processedtemplates"), &object).expect_status(201).json();
    assert!(!processed["objects"].to_string().contains("$("), "{processed}");
}

#[test]
fn a_version_is_processed_with_parameters_that_are_sent() {
    let setting = Setting::new();
    let path = "/namespaces/databases/templates/redis:v1.0/processed";
    let post = |path: &str, body: &Value| setting.send("POST", path, body);
    let mut sent = json!({ "kind": "Parameters", "apiVersion": "v1", "parameters": [{ "name": "NAME", "value": "orders" }] });
    let processed = post(path, &sent).expect_status(201).json();
    assert_eq!(processed["kind"], "Template");
    assert_eq!(processed["objects"][0]["metadata"]["name"], "orders");
    sent["parameters"] = json!({ "NAME": "mapped" });
    sent["output"] = json!("List");
    let list = post(path, &sent).expect_status(201).json();
    assert_eq!((&list["kind"], &list["items"][0]["metadata"]["name"]), (&json!("List"), &json!("mapped")));
    let grouped = post(&format!("{GROUP}{path}"), &json!({})).status;
    let empty = post(path, &Value::Null).status;
    assert_eq!(grouped, empty, "nothing is no parameters");
    let unknown = expect_failure(post(path, &json!({ "parameters": { "NAEM": "x" } })), 422, "Invalid");
    assert!(unknown["message"].as_str().unwrap().contains("NAEM"), "{unknown}");
    expect_failure(post("/namespaces/databases/templates/nothing/processed", &sent), 404, "NotFound");
    expect_failure(setting.get(path), 405, "MethodNotAllowed");
}
