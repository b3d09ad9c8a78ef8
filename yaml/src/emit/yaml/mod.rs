//! The YAML writer: block style, compact lists, folding at column 80.
//!
//! Both originals descend from one emitter and share its layout machine (column, indentation, whether the line holds
//! only indentation so far); they differ in how they choose and escape scalars. It must not know value types.

mod text;

use super::{
    EmitError, Sink, Style,
    number::{write_kubernetes_float, write_python_float},
    scalar::analyse,
};
use crate::Limits;

/// Spaces a level is indented by.
const INDENT: usize = 2;
/// The longest key, in characters, that go-yaml reads in JSON: with quotes and escapes.
const READABLE_KEY: usize = 1024;

/// Writes YAML, as a [`Sink`].
///
/// ```
/// use yaml::{Emitter, Sink, emit::Style};
/// let mut text = String::new();
/// let mut emitter = Emitter::new(&mut text, Style::Kubernetes);
/// emitter.begin_map(1)?;
/// emitter.key("ports");
/// emitter.begin_list(2)?;
/// emitter.int(80);
/// emitter.string("443");
/// emitter.end_list();
/// emitter.end_map();
/// emitter.finish()?;
/// assert_eq!(text, "ports:\n- 80\n- \"443\"\n");
/// # Ok::<(), yaml::EmitError>(())
/// ```
#[derive(Debug)]
pub struct Emitter<'text> {
    text: &'text mut String,
    style: Style,
    strict: bool,
    depth_limit: usize,
    frames: Vec<Frame>,
    column: usize,
    /// Columns the current level is indented by; none before the document's own value.
    indent: Option<usize>,
    /// The last thing written was space.
    whitespace: bool,
    /// The line holds nothing but indentation and indicators.
    indention: bool,
    /// The document needs `...` at its end (PyYAML only).
    open_ended: bool,
    problem: Option<EmitError>,
}

/// An open collection.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: FrameKind,
    /// The indentation to go back to.
    outer: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    List,
    /// A mapping whose current key was written after `?`, or not.
    Map {
        explicit_key: bool,
    },
    /// `[]` or `{}`.
    Empty,
}

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    Root,
    Item,
    Value,
    SimpleKey,
    ExplicitKey,
}

impl<'text> Emitter<'text> {
    /// A writer that appends one document to `text`, which should be empty or end with a line break.
    pub fn new(text: &'text mut String, style: Style) -> Self {
        Self {
            text,
            style,
            strict: false,
            depth_limit: Limits::MAX_DEPTH,
            frames: Vec::new(),
            column: 0,
            indent: None,
            whitespace: true,
            indention: true,
            open_ended: false,
            problem: None,
        }
    }

    /// The same, refusing what `sigs.k8s.io/yaml`'s Marshal refuses.
    #[must_use]
    pub fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    pub(super) fn of_any_depth(self) -> Self {
        Self { depth_limit: usize::MAX, ..self }
    }

    /// Ends the document.
    ///
    /// # Errors
    /// The first thing a [`strict`](Emitter::strict) writer had to refuse.
    pub fn finish(mut self) -> Result<(), EmitError> {
        self.indent = None;
        self.write_indent();
        if self.open_ended {
            self.write_indicator("...", true, false, false);
            self.write_indent();
        }
        self.problem.map_or(Ok(()), Err)
    }

    fn refuse(&mut self, problem: EmitError) {
        if self.strict && self.problem.is_none() {
            self.problem = Some(problem);
        }
    }

    // Layout.

    fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.text.push('\n');
            self.column = 0;
        }
        const SPACES: &str = "                                                                ";
        while self.column < indent {
            let wanted = (indent - self.column).min(SPACES.len());
            self.text.push_str(&SPACES[..wanted]);
            self.column += wanted;
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn write_indicator(&mut self, indicator: &str, needs_space: bool, is_space: bool, is_indention: bool) {
        if needs_space && !self.whitespace {
            self.text.push(' ');
            self.column += 1;
        }
        self.text.push_str(indicator);
        self.column += indicator.len();
        self.whitespace = is_space;
        self.indention &= is_indention;
        self.open_ended = false;
    }

    fn indent_more(&self, first: usize) -> usize {
        self.indent.map_or(first, |indent| indent + INDENT)
    }

    /// Writes what leads to the next item or value, and says where it stands.
    fn lead(&mut self) -> Context {
        match self.frames.last().map(|frame| frame.kind) {
            None => Context::Root,
            Some(FrameKind::List) => {
                self.write_indent();
                self.write_indicator("-", true, false, true);
                Context::Item
            }
            Some(FrameKind::Map { explicit_key: false }) => {
                self.write_indicator(":", false, false, false);
                Context::Value
            }
            Some(FrameKind::Map { explicit_key: true }) => {
                self.write_indent();
                self.write_indicator(":", true, false, true);
                Context::Value
            }
            Some(FrameKind::Empty) => Context::Item,
        }
    }

    fn begin(&mut self, length: usize, empty: &str, kind: FrameKind) -> Result<(), EmitError> {
        if self.frames.len() >= self.depth_limit {
            return Err(EmitError::TooDeep);
        }
        let context = self.lead();
        let outer = self.indent;
        if length == 0 {
            self.write_indicator(empty, true, false, false);
            self.frames.push(Frame { kind: FrameKind::Empty, outer });
            return Ok(());
        }
        // A list right after `key:` is not indented.
        if kind != FrameKind::List || context != Context::Value || self.indention {
            self.indent = Some(self.indent_more(0));
        }
        self.frames.push(Frame { kind, outer });
        Ok(())
    }

    fn end(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.indent = frame.outer;
        }
    }

    // Scalars.

    /// A scalar that is not text.
    fn write_word(&mut self, word: &str) {
        let context = self.lead();
        if !self.whitespace {
            self.text.push(' ');
            self.column += 1;
        }
        self.text.push_str(word);
        self.column += word.len();
        self.after_plain(context);
    }

    fn after_plain(&mut self, context: Context) {
        self.whitespace = false;
        self.indention = false;
        self.open_ended = self.style == Style::PyYaml && context == Context::Root;
    }
}

impl Sink for Emitter<'_> {
    fn null(&mut self) {
        self.write_word("null");
    }

    fn bool(&mut self, value: bool) {
        self.write_word(if value { "true" } else { "false" });
    }

    fn int(&mut self, value: i64) {
        self.write_word(itoa::Buffer::new().format(value));
    }

    fn uint(&mut self, value: u64) {
        self.write_word(itoa::Buffer::new().format(value));
    }

    fn float(&mut self, value: f64) {
        if !value.is_finite() {
            self.refuse(EmitError::NonFinite(value));
        }
        let mut number = String::new();
        match self.style {
            Style::Kubernetes => write_kubernetes_float(&mut number, value),
            Style::PyYaml => write_python_float(&mut number, value),
        }
        self.write_word(&number);
    }

    fn string(&mut self, text: &str) {
        self.refuse_markers(text);
        let text = self.as_read_back(text);
        let analysis = analyse(&text, self.style);
        let context = self.lead();
        self.write_text(&text, &analysis, context);
    }

    fn begin_list(&mut self, length: usize) -> Result<(), EmitError> {
        self.begin(length, "[]", FrameKind::List)
    }

    fn end_list(&mut self) {
        self.end();
    }

    fn begin_map(&mut self, length: usize) -> Result<(), EmitError> {
        self.begin(length, "{}", FrameKind::Map { explicit_key: false })
    }

    fn key(&mut self, key: &str) {
        let analysis = analyse(key, self.style);
        if self.strict && !analysis.is_readable_key(key, READABLE_KEY) {
            self.refuse(EmitError::LongKey);
        }
        self.write_indent();
        let explicit_key = !self.is_simple_key(key, &analysis);
        if let Some(frame) = self.frames.last_mut() {
            frame.kind = FrameKind::Map { explicit_key };
        }
        if explicit_key {
            self.write_indicator("?", true, false, true);
            self.write_text(key, &analysis, Context::ExplicitKey);
        } else {
            self.write_text(key, &analysis, Context::SimpleKey);
        }
    }

    fn end_map(&mut self) {
        self.end();
    }
}
