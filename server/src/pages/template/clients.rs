//! How to use a version with each client that works with this server today.
//!
//! [`CLIENTS`] is the one place to add a client to: a name, and a function that gives its command for the versions it
//! fits. The end of the reference is a choice of the page (follow patches, exactly, by digest); a command holds all of
//! them, and the style sheet shows the one that is chosen.

use schema::reference::{Location, Reference, Selector};
use schema::{Kind, Version};

use super::parameters::{Parameter, shell_quoted};
use crate::target::encode_path;
use crate::ui::escape;

/// Parameters that a command shows; the table has the rest.
const SHOWN: usize = 3;

/// What a command is made of.
pub(super) struct Use<'a> {
    /// The server, as its reader reaches it.
    pub(super) base: &'a str,
    pub(super) location: &'a Location,
    pub(super) version: &'a Version,
    pub(super) digest: String,
    pub(super) kind: Kind,
    /// The path of its top-level file.
    pub(super) entry: &'a str,
    pub(super) parameters: &'a [Parameter],
    /// Whether this server makes objects of it.
    pub(super) processable: bool,
    /// Kubernetes Templates: the notation, where it is known.
    pub(super) dialect: Option<&'a str>,
    pub(super) pins: Pins,
}

/// Which ends of a reference get this version, and which one is shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pins {
    pub(super) patches: bool,
    pub(super) exact: bool,
    pub(super) chosen: &'static str,
}

/// A client and what to type.
pub(super) struct Client {
    pub(super) name: &'static str,
    /// What it does, where the command does not say it.
    pub(super) note: Option<&'static str>,
    /// HTML.
    pub(super) command: String,
}

/// A client's name, and its command for a version if it fits.
type Form = (&'static str, fn(&Use<'_>) -> Option<(Option<&'static str>, String)>);

/// Every client, in the order of the tabs. At most six have a place in the style sheet.
const CLIENTS: [Form; 5] =
    [("formwork", formwork), ("kubectl", kubectl), ("dm", dm), ("oc", oc), ("curl", curl)];

/// The clients that a version can be used with.
pub(super) fn clients(of: &Use<'_>) -> Vec<Client> {
    let fitting = CLIENTS.iter().filter_map(|(name, form)| {
        let (note, command) = form(of)?;
        Some(Client { name, note, command })
    });
    fitting.collect()
}

impl Use<'_> {
    /// The reference as HTML, with its end as a choice.
    pub(super) fn reference(&self) -> String {
        let path = Reference::to(self.location, Selector::Highest).to_string();
        format!("{}{}", escape(&path), self.choice())
    }

    /// The ends of the reference, each in a class of its own.
    fn choice(&self) -> String {
        let mut out = String::new();
        if self.pins.patches {
            out.push_str(&format!(
                r#"<b class="ref pf">:v{}.{}</b>"#,
                self.version.major(),
                self.version.minor()
            ));
        }
        if self.pins.exact {
            out.push_str(&format!(r#"<b class="ref pe">:={}</b>"#, self.version));
        }
        out.push_str(&format!(r#"<b class="ref pd">@{}</b>"#, self.digest));
        out
    }

    fn required(&self) -> impl Iterator<Item = String> {
        let required = self.parameters.iter().filter(|parameter| parameter.required).take(SHOWN);
        required.map(|parameter| format!("{}=…", parameter.name))
    }

    /// `-p NAME=…` for what must be given.
    fn options(&self) -> String {
        self.required().map(|set| format!(" {} {}", flag("-p"), escape(&shell_quoted(&set)))).collect()
    }

    /// The address of something of the version, in quotes.
    fn url(&self, behind: &str) -> String {
        format!("'{}/api/v1/templates/{}{}'", escape(self.base), self.reference(), escape(behind))
    }
}

/// A flag that no line break takes apart.
fn flag(text: &str) -> String {
    format!("<span class=\"nowrap\">{text}</span>")
}

fn formwork(of: &Use<'_>) -> Option<(Option<&'static str>, String)> {
    let (server, base, reference) = (flag("--server"), escape(of.base), of.reference());
    Some(if of.processable {
        let options = of.options();
        let apply = format!("kubectl apply {} -", flag("-f"));
        (None, format!("formwork process {server} {base} '{reference}'{options} | {apply}"))
    } else {
        (
            Some("This server does not process this kind; it resolves and serves it."),
            format!("formwork resolve {server} {base} '{reference}'"),
        )
    })
}

fn kubectl(of: &Use<'_>) -> Option<(Option<&'static str>, String)> {
    if !of.processable {
        return None;
    }
    let body = serde_json::json!({ "set": of.required().collect::<Vec<_>>() }).to_string();
    let body = escape(&body.replace('\'', r"'\''"));
    let url = of.url("/-/process?output=yaml");
    Some((
        Some("Processed here; nothing to install beside kubectl."),
        format!("curl {} {url} {} '{body}' | kubectl apply {} -", flag("-fsS"), flag("--json"), flag("-f")),
    ))
}

/// `dm` is for Deployment Manager's templates; ours prints the objects of what it records.
fn dm(of: &Use<'_>) -> Option<(Option<&'static str>, String)> {
    if !of.processable || !matches!(of.kind, Kind::DmJinja | Kind::DmPython) {
        return None;
    }
    let given = of.required().collect::<Vec<_>>().join(",");
    let properties = match given.as_str() {
        "" => String::new(),
        given => format!(" {} {}", flag("--properties"), escape(&shell_quoted(given))),
    };
    Some((
        Some("Recorded here as a deployment, which needs a token unless this server is on your own machine."),
        format!(
            "dm {} {}{properties} deploy '{}' | kubectl apply {} -",
            flag("--service"),
            escape(of.base),
            of.reference(),
            flag("-f")
        ),
    ))
}

/// `oc` processes the notation of OpenShift itself, without a cluster.
fn oc(of: &Use<'_>) -> Option<(Option<&'static str>, String)> {
    if of.kind != Kind::Template || of.dialect != Some("openshift") {
        return None;
    }
    let url = of.url(&format!("/-/files/{}", encode_path(of.entry)));
    Some((
        Some("Processed by oc, from the template as it is."),
        format!(
            "oc process {} {} {url}{} | oc apply {} -",
            flag("--local"),
            flag("-f"),
            of.options(),
            flag("-f")
        ),
    ))
}

fn curl(of: &Use<'_>) -> Option<(Option<&'static str>, String)> {
    let url = of.url("/-/archive.tar.gz");
    Some((
        Some("Every file of the version, as in its repository."),
        format!("curl {} {url} | tar xz", flag("-fsS")),
    ))
}
