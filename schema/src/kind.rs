//! The kinds of templates, told apart by file name, then by `apiVersion` and `kind`.

use serde::{Deserialize, Serialize};

/// What a version's top-level template file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `<name>.jinja`: a Deployment Manager template in Jinja.
    DmJinja,
    /// `<name>.py`: a Deployment Manager template in Python.
    DmPython,
    /// `<name>.yaml` or `.json` of `kind: Template`.
    Template,
    /// `kind: ServiceBrokerConfig`, or a bare list of `{name, template}`.
    ServiceBroker,
    /// `kind: SFPlan`.
    InteroperatorPlan,
    /// A directory with a `Chart.yaml`.
    Chart,
    /// A Deployment Manager configuration that somebody sends to be expanded, with the files it imports. No version
    /// of a registry is one, so it is not among [`Kind::ALL`].
    DmConfiguration,
}

impl Kind {
    /// Every kind a version can have, in the order people see them.
    pub const ALL: [Kind; 6] = [
        Kind::Template,
        Kind::Chart,
        Kind::DmJinja,
        Kind::DmPython,
        Kind::ServiceBroker,
        Kind::InteroperatorPlan,
    ];

    /// The word used in URLs, queries and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::DmJinja => "dm-jinja",
            Kind::DmPython => "dm-python",
            Kind::Template => "template",
            Kind::ServiceBroker => "service-broker",
            Kind::InteroperatorPlan => "interoperator-plan",
            Kind::Chart => "chart",
            Kind::DmConfiguration => "dm-configuration",
        }
    }

    /// What a person calls it.
    pub const fn title(self) -> &'static str {
        match self {
            Kind::DmJinja => "Deployment Manager (Jinja)",
            Kind::DmPython => "Deployment Manager (Python)",
            Kind::Template => "Kubernetes Template",
            Kind::ServiceBroker => "Service Broker configuration",
            Kind::InteroperatorPlan => "Interoperator plan",
            Kind::Chart => "Helm chart",
            Kind::DmConfiguration => "Deployment Manager configuration",
        }
    }

    /// The kinds a word in a query stands for: each kind's own word, and `dm` for both of Deployment Manager's.
    pub fn from_query(word: &str) -> Vec<Kind> {
        match word.to_ascii_lowercase().as_str() {
            "dm" => vec![Kind::DmJinja, Kind::DmPython],
            "broker" => vec![Kind::ServiceBroker],
            "plan" => vec![Kind::InteroperatorPlan],
            word => Kind::ALL.into_iter().filter(|kind| kind.as_str() == word).collect(),
        }
    }
}
