//! A program: one or more parsed texts whose templates know each other by name.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compile::{Unit, compile};
use crate::error::Error;
use crate::parse::{Names, parse};
use crate::profile::Profile;

/// What a key that is not in a map stands for; Go's option `missingkey`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// Nothing: prints as `<no value>`, and so does every field of it.
    #[default]
    Invalid,
    /// The zero value of the map's elements.
    Zero,
    /// An error.
    Error,
}

/// How texts are read and templates behave.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What a missing key stands for.
    pub missing_key: MissingKey,
    /// The marks around actions; empty means `{{` and `}}`.
    pub delimiters: (String, String),
}

/// A template within a program.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) unit: Arc<Unit>,
    /// Index of its entry in the unit.
    pub(crate) entry: usize,
}

/// Parsed templates, ready to run any number of times, from any thread.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    pub(crate) profile: &'static Profile,
    pub(crate) options: Options,
    templates: HashMap<String, Template>,
    /// For programs made while rendering: the templates of the program that made them.
    parent: Option<Arc<Program>>,
}

/// Programs made by `tpl` inside `tpl` form a chain; it is taken apart link by link, for it may be long.
impl Drop for Program {
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(program) = next {
            next = Arc::into_inner(program).and_then(|mut program| program.parent.take());
        }
    }
}

struct ProfileNames(&'static Profile);

impl Names for ProfileNames {
    fn has_function(&self, name: &str) -> bool {
        self.0.function(name).is_some()
    }

    fn hint(&self, name: &str) -> Option<String> {
        self.0.hint(name)
    }
}

impl Program {
    /// An empty program. `name` is its main template.
    #[must_use]
    pub fn empty(name: &str, profile: &'static Profile, options: Options) -> Self {
        Self { name: name.to_owned(), profile, options, templates: HashMap::new(), parent: None }
    }

    /// Parses one text under a name.
    ///
    /// # Errors
    /// When the text is no template, in Go's words.
    pub fn parse(name: &str, text: &str, profile: &'static Profile) -> Result<Self, Box<Error>> {
        let mut program = Self::empty(name, profile, Options::default());
        program.add(name, text)?;
        Ok(program)
    }

    /// Parses a further text into the program. Later definitions replace earlier ones of the same name, unless they
    /// hold nothing but white space.
    ///
    /// # Errors
    /// When the text is no template; the program is unchanged then.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), Box<Error>> {
        if u32::try_from(text.len()).is_err() {
            return Err(Box::new(Error::parse(name, 1, "the text is larger than 4 GiB".to_owned())));
        }
        let delimiters = (self.options.delimiters.0.as_str(), self.options.delimiters.1.as_str());
        let parsed = parse(name, text, delimiters, &ProfileNames(self.profile))?;
        let unit = Arc::new(compile(name, text, parsed, self.profile));
        for (at, entry) in unit.entries.iter().enumerate() {
            if entry.empty && self.find(&entry.name).is_some() {
                continue;
            }
            self.templates.insert(entry.name.clone(), Template { unit: Arc::clone(&unit), entry: at });
        }
        Ok(())
    }

    /// A program that adds a text to this one without changing it.
    pub(crate) fn extended(self: &Arc<Self>, name: &str, text: &str) -> Result<Self, Box<Error>> {
        let mut program = Self::empty(name, self.profile, self.options.clone());
        program.add(name, text)?;
        // Even an empty text is this program's main template.
        program.parent = Some(Arc::clone(self));
        Ok(program)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Template> {
        let mut program = self;
        loop {
            if let Some(template) = program.templates.get(name) {
                return Some(template);
            }
            program = program.parent.as_deref()?;
        }
    }

    /// The name of the main template.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The function set the program was parsed for.
    #[must_use]
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// Whether there is a template of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The names of all templates, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.templates.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// A size in bytes to weigh the program with in a cache: its texts and about what was made of them.
    #[must_use]
    pub fn weight(&self) -> usize {
        let mut seen: Vec<*const Unit> = Vec::new();
        let mut weight = size_of::<Self>();
        for template in self.templates.values() {
            let unit = Arc::as_ptr(&template.unit);
            if !seen.contains(&unit) {
                seen.push(unit);
                weight += 1024 + template.unit.source.len() * 8 + template.unit.operations.len() * 128;
            }
        }
        weight
    }
}
