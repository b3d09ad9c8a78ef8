//! Which kinds live outside namespaces. A table and nothing else; a kind it does not know lives in one.

/// Whether objects of a kind have no namespace.
pub(crate) fn is_cluster_wide(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    matches!(
        (group, kind),
        ("", "Namespace" | "Node" | "PersistentVolume" | "ComponentStatus")
            | (
                "rbac.authorization.k8s.io" | "authorization.openshift.io",
                "ClusterRole" | "ClusterRoleBinding"
            )
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("apiregistration.k8s.io", "APIService")
            | ("storage.k8s.io", "StorageClass" | "CSIDriver" | "CSINode" | "VolumeAttachment")
            | ("scheduling.k8s.io", "PriorityClass")
            | ("networking.k8s.io", "IngressClass")
            | ("node.k8s.io", "RuntimeClass")
            | ("policy", "PodSecurityPolicy")
            | ("certificates.k8s.io", "CertificateSigningRequest")
            | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration")
            | (
                "admissionregistration.k8s.io",
                "MutatingWebhookConfiguration"
                    | "ValidatingWebhookConfiguration"
                    | "ValidatingAdmissionPolicy"
                    | "ValidatingAdmissionPolicyBinding"
            )
            | ("project.openshift.io", "Project" | "ProjectRequest")
            | ("quota.openshift.io", "ClusterResourceQuota")
            | ("security.openshift.io", "SecurityContextConstraints")
            | ("oauth.openshift.io" | "user.openshift.io" | "config.openshift.io", _)
            | ("image.openshift.io", "Image")
    )
}
