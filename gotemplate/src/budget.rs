//! How much a template may use before it is stopped. Go has no such limits but one; a server needs them all.

/// The budgets of one render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps: one per action, call and iteration, and one per 64 bytes a function writes or reads.
    pub steps: u64,
    /// Bytes of output.
    pub output: usize,
    /// Bytes of values made while rendering. Nothing is given back before the render ends.
    pub memory: usize,
    /// How deep templates may call templates (`template`, `include`, `tpl`).
    pub depth: usize,
    /// How many items one list may have (`until`, `untilStep`, `seq`, splits).
    pub items: usize,
    /// Bytes of one regular expression's compiled form.
    pub regex: usize,
    /// Calls of the functions that are slow on purpose (keys, certificates, password hashes).
    pub crypto: u32,
}

impl Default for Budget {
    /// What a server gives a request: well beyond any real template, far from harm.
    fn default() -> Self {
        Self {
            steps: 20_000_000,
            output: 8 << 20,
            memory: 256 << 20,
            depth: 10_000,
            items: 100_000,
            regex: 1 << 20,
            crypto: 20,
        }
    }
}

/// The budget that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Budget::steps`]
    Steps,
    /// [`Budget::output`]
    Output,
    /// [`Budget::memory`]
    Memory,
    /// [`Budget::depth`]
    Depth,
    /// [`Budget::items`]
    Items,
    /// [`Budget::regex`]
    Regex,
    /// [`Budget::crypto`]
    Crypto,
    /// A value contains itself and was to be printed or copied.
    Cyclic,
}

impl Limit {
    /// The limit in words, for messages.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Steps => "the template takes too many steps",
            Self::Output => "the output is too long",
            Self::Memory => "the template uses too much memory",
            Self::Depth => "templates call each other too deeply",
            Self::Items => "a list has too many items",
            Self::Regex => "a regular expression is too large",
            Self::Crypto => "too many keys, certificates or password hashes",
            Self::Cyclic => "a value contains itself",
        }
    }
}
