//! What goes wrong, where, and in the words Go would use.

use crate::budget::Limit;

/// What sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is no template.
    Parse,
    /// The template stopped while it ran.
    Execute,
    /// The template stopped itself, with `fail` or `required`; [`Error::cause`] is what it said.
    Raised,
    /// A budget ran out; says which.
    Limit(Limit),
}

/// An error with its place. [`Error::to_go_string`] is what Go would have said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What sort of error it is.
    pub kind: ErrorKind,
    /// The name of the text in which it happened (in Go: the parse name).
    pub template: String,
    /// The line, from 1; 0 where the template as a whole is meant.
    pub line: usize,
    /// The column in bytes, from 0 as Go counts; parse errors have none.
    pub column: Option<usize>,
    /// The name of the template that was executing, which a `define` may have given.
    pub executing: Option<String>,
    /// The part of the template that failed, as Go prints it.
    pub node: Option<String>,
    /// What went wrong.
    pub message: String,
    /// What a function itself said, when one stopped the template.
    pub cause: Option<String>,
    /// What to do about it, where that is known: a near name, or the profile that has a function.
    pub hint: Option<String>,
    /// For an error inside a template that a function called (`include`, `tpl`): that error, at its own place.
    pub inner: Option<Box<Error>>,
}

impl Error {
    pub(crate) fn parse(template: &str, line: usize, message: String) -> Self {
        Self {
            kind: ErrorKind::Parse,
            template: template.to_owned(),
            line,
            column: None,
            executing: None,
            node: None,
            message,
            cause: None,
            hint: None,
            inner: None,
        }
    }

    /// The innermost error: the place in the text where it really happened.
    #[must_use]
    pub fn innermost(&self) -> &Self {
        let mut error = self;
        while let Some(inner) = &error.inner {
            error = inner;
        }
        error
    }

    /// The whole message as Go's text/template words it.
    #[must_use]
    pub fn to_go_string(&self) -> String {
        let mut place = self.template.clone();
        if self.line > 0 {
            place.push_str(&format!(":{}", self.line));
        }
        if let Some(column) = self.column {
            place.push_str(&format!(":{column}"));
        }
        match (&self.executing, &self.node) {
            (Some(name), Some(node)) => {
                let name = crate::strconv::quote(name.as_bytes());
                format!("template: {place}: executing {name} at <{node}>: {}", self.message)
            }
            _ => format!("template: {place}: {}", self.message),
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_go_string())?;
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
