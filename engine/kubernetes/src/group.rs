//! Legacy groups: OpenShift's kinds were once of the empty group; `oc process` moves them to their own.
//!
//! A table and nothing else. It is applied after substitution, in OpenShift's notation only. The kinds are those the
//! library moves (library-go, `legacygroupification`), compared one by one with what its program does.

use yaml::Value;

/// Kinds by group. Of most of them there is a `…List` as well, named here where there is.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "apps.openshift.io",
        &[
            "DeploymentConfig",
            "DeploymentConfigList",
            "DeploymentConfigRollback",
            "DeploymentLog",
            "DeploymentRequest",
        ],
    ),
    (
        "authorization.openshift.io",
        &[
            "ClusterRole",
            "ClusterRoleBinding",
            "ClusterRoleBindingList",
            "ClusterRoleList",
            "LocalResourceAccessReview",
            "LocalSubjectAccessReview",
            "ResourceAccessReview",
            "Role",
            "RoleBinding",
            "RoleBindingList",
            "RoleBindingRestriction",
            "RoleBindingRestrictionList",
            "RoleList",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
            "SubjectRulesReview",
        ],
    ),
    (
        "build.openshift.io",
        &[
            "BinaryBuildRequestOptions",
            "Build",
            "BuildConfig",
            "BuildConfigList",
            "BuildList",
            "BuildLog",
            "BuildRequest",
        ],
    ),
    (
        "image.openshift.io",
        &[
            "Image",
            "ImageList",
            "ImageSignature",
            "ImageStream",
            "ImageStreamImage",
            "ImageStreamImport",
            "ImageStreamList",
            "ImageStreamMapping",
            "ImageStreamTag",
            "ImageStreamTagList",
        ],
    ),
    (
        "network.openshift.io",
        &[
            "ClusterNetwork",
            "ClusterNetworkList",
            "EgressNetworkPolicy",
            "EgressNetworkPolicyList",
            "HostSubnet",
            "HostSubnetList",
            "NetNamespace",
            "NetNamespaceList",
        ],
    ),
    (
        "oauth.openshift.io",
        &[
            "OAuthAccessToken",
            "OAuthAccessTokenList",
            "OAuthAuthorizeToken",
            "OAuthAuthorizeTokenList",
            "OAuthClient",
            "OAuthClientAuthorization",
            "OAuthClientAuthorizationList",
            "OAuthClientList",
        ],
    ),
    ("project.openshift.io", &["Project", "ProjectList", "ProjectRequest"]),
    (
        "quota.openshift.io",
        &[
            "AppliedClusterResourceQuota",
            "AppliedClusterResourceQuotaList",
            "ClusterResourceQuota",
            "ClusterResourceQuotaList",
        ],
    ),
    ("route.openshift.io", &["Route", "RouteList"]),
    (
        "security.openshift.io",
        &[
            "PodSecurityPolicyReview",
            "PodSecurityPolicySelfSubjectReview",
            "PodSecurityPolicySubjectReview",
            "SecurityContextConstraints",
            "SecurityContextConstraintsList",
        ],
    ),
    ("template.openshift.io", &["Template", "TemplateList"]),
    (
        "user.openshift.io",
        &["Group", "GroupList", "Identity", "IdentityList", "User", "UserIdentityMapping", "UserList"],
    ),
];

/// Moves an object of the empty group and a listed kind to its group; the version stays.
pub(crate) fn move_to_group(object: &mut Value) {
    let Some(map) = object.as_map_mut() else { return };
    let version = map.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
    if version.is_empty() || version.contains('/') {
        return;
    }
    let Some(kind) = map.get("kind").and_then(Value::as_str) else { return };
    if let Some((group, _)) = GROUPS.iter().find(|(_, kinds)| kinds.contains(&kind)) {
        map.insert("apiVersion".to_owned(), Value::from(format!("{group}/{version}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(api_version: &str, kind: &str) -> String {
        let mut object = Value::from_iter([("apiVersion", api_version), ("kind", kind)]);
        move_to_group(&mut object);
        object.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    #[test]
    fn the_kinds_are_the_librarys() {
        let all =
            GROUPS.iter().flat_map(|(_, kinds)| kinds.iter()).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(all.len(), 77);
        for (group, kinds) in GROUPS {
            assert!(kinds.iter().all(|kind| moved("v1", kind) == format!("{group}/v1")));
        }
        // Neither of these is moved by it.
        for kind in ["DeploymentLogOptions", "OAuthRedirectReference", "Deployment", "Route2"] {
            assert_eq!(moved("v1", kind), "v1");
        }
        assert_eq!(moved("rbac.authorization.k8s.io/v1", "Role"), "rbac.authorization.k8s.io/v1");
        assert_eq!(moved("", "Role"), "", "the original makes `authorization.openshift.io/` of it");
    }
}
