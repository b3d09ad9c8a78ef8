//! What a caller chooses before reading: the rules, what duplicate keys mean, and the budget.

/// Whose YAML it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// `sigs.k8s.io/yaml`: go-yaml v2's YAML 1.1 scalars, then JSON's value model. What clusters, `kubectl`, Helm and
    /// OpenShift read.
    #[default]
    Kubernetes,
    /// PyYAML's `SafeLoader`. What Deployment Manager read. Dates and times become their ISO text, `!!set` the list
    /// of its members, `!!binary` its text.
    PyYaml,
}

/// What a key that stands twice in one mapping means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DuplicateKeys {
    /// An error that names both places.
    #[default]
    Error,
    /// The last one counts, as in both originals.
    LastWins,
}

/// How much a document may cost. Every limit is checked before the thing it limits is built.
///
/// The defaults are for strangers' input: whatever the text, reading it takes less than about 300 MB and a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Length of the text, in bytes.
    pub bytes: usize,
    /// Levels of lists and mappings around the innermost value; at most [`Limits::MAX_DEPTH`].
    pub depth: usize,
    /// Values written in the text (keys not counted), over all documents.
    pub nodes: usize,
    /// Values that exist only because an alias or a merge key repeats them.
    pub alias_nodes: usize,
    /// Bytes of text (scalars and keys) that exist only because an alias or a merge key repeats them.
    pub alias_bytes: usize,
    /// Length of one scalar or key, in bytes.
    pub scalar_bytes: usize,
    /// Documents in a stream.
    pub documents: usize,
}

impl Limits {
    /// The greatest depth that is ever read or written, whatever a caller asks for: values are dropped and compared
    /// by recursion, and this keeps that within a few hundred kilobytes of stack.
    pub const MAX_DEPTH: usize = 1_000;

    /// The depth in force.
    #[must_use]
    pub fn effective_depth(&self) -> usize {
        self.depth.min(Self::MAX_DEPTH)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 8 << 20,
            depth: 100,
            nodes: 500_000,
            alias_nodes: 100_000,
            alias_bytes: 8 << 20,
            scalar_bytes: 4 << 20,
            documents: 10_000,
        }
    }
}

/// How to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Whose YAML it is.
    pub rules: Rules,
    /// What a key that stands twice means.
    pub duplicate_keys: DuplicateKeys,
    /// How much the document may cost.
    pub limits: Limits,
}

impl Options {
    /// Kubernetes' rules, duplicate keys an error, default limits.
    #[must_use]
    pub fn kubernetes() -> Self {
        Self::default()
    }

    /// PyYAML's rules as Deployment Manager had them: the last of equal keys counts.
    #[must_use]
    pub fn pyyaml() -> Self {
        Self { rules: Rules::PyYaml, duplicate_keys: DuplicateKeys::LastWins, ..Self::default() }
    }

    /// The same with another policy for duplicate keys.
    #[must_use]
    pub fn with_duplicate_keys(self, duplicate_keys: DuplicateKeys) -> Self {
        Self { duplicate_keys, ..self }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}
