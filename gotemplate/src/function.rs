//! What a function is to a template: a name, the types of its parameters, and what calling it may cost or reveal.

use crate::context::{Context, Failure};
use crate::value::Value;

/// The type of a parameter. It decides which values fit, and what is said of those that do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `interface {}`: everything fits; a missing value arrives as null.
    Any,
    /// `reflect.Value`: everything fits; a missing value arrives as missing.
    Raw,
    /// `string`
    String,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `uint32`
    Uint32,
    /// `float64`
    Float,
    /// `map[string]interface {}`; a missing value arrives as the nil map.
    Map,
    /// `[]interface {}`; a missing value arrives as the nil list.
    List,
    /// `time.Time`
    Time,
    /// `time.Duration`
    Duration,
    /// `sprig.certificate`
    Certificate,
    /// `*semver.Version`
    Version,
}

impl Parameter {
    /// The type's name as Go prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Raw => "reflect.Value",
            Self::String => "string",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint32 => "uint32",
            Self::Float => "float64",
            Self::Map => "map[string]interface {}",
            Self::List => "[]interface {}",
            Self::Time => "time.Time",
            Self::Duration => "time.Duration",
            Self::Certificate => "sprig.certificate",
            Self::Version => "*semver.Version",
        }
    }

    pub(crate) fn can_be_nil(self) -> bool {
        matches!(self, Self::Any | Self::Raw | Self::Map | Self::List | Self::Version)
    }
}

/// Where a function's answer comes from, besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purity {
    /// Nowhere: the same arguments give the same answer.
    Pure,
    /// The clock.
    Clock,
    /// Chance.
    Random,
    /// The environment, the network or a cluster, all of which are closed here.
    Closed,
}

/// What a call costs beyond a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Next to nothing.
    Cheap,
    /// In proportion to its text.
    Text,
    /// Slow on purpose: counted against [`crate::Budget::crypto`].
    Crypto,
}

/// How a call is carried out.
#[derive(Clone, Copy)]
pub enum Body {
    /// By a function over the arguments.
    Native(for<'a> fn(&mut Context<'_, 'a>, &[Value<'a>]) -> Result<Value<'a>, Failure>),
    /// `and`: stops at the first false argument.
    And,
    /// `or`: stops at the first true argument.
    Or,
    /// `call`: of a function value, of which there are none.
    Call,
    /// Helm's `include`: the output of another template as text.
    Include,
    /// Helm's `tpl`: a text as a template.
    Tpl,
}

/// A function a template can call.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// The types of its parameters.
    pub parameters: &'static [Parameter],
    /// Whether the last parameter may be given any number of times.
    pub variadic: bool,
    /// Where its answer comes from.
    pub purity: Purity,
    /// What it costs.
    pub cost: Cost,
    /// What it does.
    pub body: Body,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?})", self.name, self.parameters)
    }
}

impl Function {
    /// The parameter that argument number `index` is for.
    pub(crate) fn parameter(&self, index: usize) -> Parameter {
        let last = self.parameters.len().saturating_sub(1);
        self.parameters.get(index.min(last)).copied().unwrap_or(Parameter::Any)
    }

    /// A pure, cheap function.
    #[must_use]
    pub const fn pure(
        name: &'static str,
        parameters: &'static [Parameter],
        body: for<'a> fn(&mut Context<'_, 'a>, &[Value<'a>]) -> Result<Value<'a>, Failure>,
    ) -> Self {
        Self {
            name,
            parameters,
            variadic: false,
            purity: Purity::Pure,
            cost: Cost::Cheap,
            body: Body::Native(body),
        }
    }

    /// The same, but its last parameter repeats.
    #[must_use]
    pub const fn variadic(self) -> Self {
        Self { variadic: true, ..self }
    }

    /// The same, with its answer from elsewhere.
    #[must_use]
    pub const fn from(self, purity: Purity) -> Self {
        Self { purity, ..self }
    }

    /// The same, at a cost.
    #[must_use]
    pub const fn costs(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// The same under another name.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }
}
