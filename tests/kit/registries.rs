//! Templates the tests make repositories of: small, and each obviously what it is.

/// A Kubernetes Template that makes one ConfigMap holding `text`.
pub(crate) fn kubernetes_template(name: &str, text: &str) -> String {
    format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: {name}\n  annotations:\n    description: Made for a test.\n\
         parameters:\n- name: NAME\n  value: {name}\nobjects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: ${{NAME}}\n  data:\n    text: {text}\n"
    )
}

/// Values that process [`kubernetes_template`].
pub(crate) const EXAMPLE: &str = "parameters:\n  NAME: example\n";

/// A document of some hundred bytes that stands for billions of nodes.
pub(crate) fn yaml_bomb() -> String {
    let mut text = "apiVersion: v1\nkind: Template\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![below; 10].join(", ")));
    }
    text.push_str("objects: *a11\n");
    text
}
