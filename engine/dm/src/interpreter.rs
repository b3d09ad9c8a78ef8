//! The door to Python: what Deployment Manager's own interpreter does for a template, asked of whoever has one.
//!
//! Templates in Python run nowhere else, and templates in Jinja may be rendered by Jinja2 itself. This crate decides
//! what to ask and what to make of the answer.
//!
//! # What it must not know
//! How Python is run, and within which limits: that is the host's, who hands in an [`Interpreter`]. One serves one
//! expansion and may keep its instance for all calls of it, but no call sees what another left behind.

use std::collections::BTreeMap;

use serde_json::Value;

/// Runs templates for one expansion.
pub trait Interpreter {
    /// Runs one template.
    ///
    /// # Errors
    /// When the template fails, is stopped, or nothing here can run it.
    fn call(&self, call: &Call<'_>) -> Result<Returned, InterpreterError>;
}

/// One template to run.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    /// What it is written in.
    pub language: Language,
    /// The path it has among the imports. Messages name it.
    pub file: &'c str,
    /// Its text.
    pub source: &'c str,
    /// The resource's properties after defaults; `None` if there are none, which is not the same as an empty map.
    pub properties: Option<&'c Value>,
    /// `deployment`, `project`, `name`, `type` and what the caller added.
    pub env: &'c Value,
    /// The files it may import or include, by import name and by path.
    pub imports: &'c BTreeMap<String, String>,
}

/// What a template is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python: `GenerateConfig(context)` or `generate_config(context)` is called.
    Python,
    /// Jinja2 itself, not what this crate has in its place.
    Jinja,
}

/// What a template gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    /// What the call returned.
    pub made: Made,
    /// The properties as the template left them, if it changed them: the layout shows those.
    pub properties: Option<Value>,
    /// The environment as the template left it, if it changed it: templates expanded later see that.
    pub env: Option<Value>,
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq)]
pub enum Made {
    /// A text, to be read as YAML.
    Text(String),
    /// A value, as the extended expander allows: maps and lists, with keys as texts. Nothing is `null`.
    Value(Value),
}

impl From<Made> for Returned {
    /// From a template that changed nothing.
    fn from(made: Made) -> Returned {
        Returned { made, properties: None, env: None }
    }
}

/// Why a template gave nothing back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InterpreterError {
    /// It failed by itself.
    #[error("{message}")]
    Template {
        /// As Python says it: the exception's type and text, without the traceback.
        message: String,
        /// The file the exception came from, if it is one of the expansion's.
        file: Option<String>,
        /// The line in that file, from 1.
        line: Option<u32>,
        /// What is left of the traceback: a line a frame, outermost first, frames of ours left out.
        trace: Vec<String>,
    },
    /// It was stopped at a limit.
    #[error("{message}")]
    Limit {
        /// Which, and what to look for.
        message: String,
    },
    /// Nothing here runs Python, or not yet.
    #[error("{message}")]
    Unavailable {
        /// Why.
        message: String,
    },
}

/// Where there is no interpreter: every call is refused.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInterpreter;

impl Interpreter for NoInterpreter {
    fn call(&self, call: &Call<'_>) -> Result<Returned, InterpreterError> {
        let message = format!("{} needs a Python interpreter, and there is none here", call.file);
        Err(InterpreterError::Unavailable { message })
    }
}
