//! The parser: tokens become events, by a stack of states instead of recursion.

use std::borrow::Cow;

use super::{
    Event, EventKind, Mark, Problem, Properties, ScalarStyle, SyntaxError,
    scanner::Scanner,
    token::{Token, TokenKind},
};
use crate::options::Rules;

/// How many `%TAG` directives a document may have: a limit of ours, for each is looked through for every tag.
const TAG_DIRECTIVES: usize = 64;

/// Reads events from a text.
#[derive(Debug)]
pub(crate) struct Parser<'text> {
    scanner: Scanner<'text>,
    state: State,
    /// Where to go on after the node at hand.
    states: Vec<State>,
    /// Where the open collections began.
    marks: Vec<Mark>,
    tags: Vec<(&'text str, Cow<'text, str>)>,
    /// The end of the last token that is not only the end of an indentation.
    last_end: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockListEntry,
    IndentlessListEntry,
    BlockMapKey,
    BlockMapValue,
    FlowListFirst,
    FlowListEntry,
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowMapFirst,
    FlowMapKey,
    FlowMapValue,
    FlowMapEmptyValue,
    End,
}

type Parsed<'text> = Result<Event<'text>, Problem>;

impl<'text> Parser<'text> {
    pub(crate) fn new(text: &'text str, rules: Rules) -> Self {
        Self {
            scanner: Scanner::new(text, rules),
            state: State::ImplicitDocumentStart,
            states: Vec::new(),
            marks: Vec::new(),
            tags: Vec::new(),
            last_end: Mark::default(),
        }
    }

    /// The next event; none at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<Event<'text>>, Problem> {
        match self.state {
            State::ImplicitDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::End => Ok(None),
            State::DocumentContent => self.document_content().map(Some),
            State::DocumentEnd => self.document_end().map(Some),
            State::BlockNode => self.node(true, false).map(Some),
            State::BlockListEntry => self.block_list_entry().map(Some),
            State::IndentlessListEntry => self.indentless_list_entry().map(Some),
            State::BlockMapKey => self.block_map_key().map(Some),
            State::BlockMapValue => self.block_map_value().map(Some),
            State::FlowListFirst => self.flow_list_entry(true).map(Some),
            State::FlowListEntry => self.flow_list_entry(false).map(Some),
            State::FlowPairKey => self.flow_pair_key().map(Some),
            State::FlowPairValue => self.flow_pair_value().map(Some),
            State::FlowPairEnd => self.flow_pair_end().map(Some),
            State::FlowMapFirst => self.flow_map_key(true).map(Some),
            State::FlowMapKey => self.flow_map_key(false).map(Some),
            State::FlowMapValue => self.flow_map_value(false).map(Some),
            State::FlowMapEmptyValue => self.flow_map_value(true).map(Some),
        }
    }

    #[inline]
    fn peek(&mut self) -> Result<&Token<'text>, Problem> {
        self.scanner.peek()
    }

    fn take(&mut self) -> Option<Token<'text>> {
        let token = self.scanner.take()?;
        if !matches!(token.kind, TokenKind::BlockEnd) {
            self.last_end = token.end;
        }
        Some(token)
    }

    fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    fn node_then(&mut self, state: State, block: bool, indentless: bool) -> Parsed<'text> {
        self.states.push(state);
        self.node(block, indentless)
    }

    fn empty_then(&mut self, state: State, mark: Mark) -> Parsed<'text> {
        self.state = state;
        Ok(empty_scalar(mark))
    }

    // Documents.

    fn document_start(&mut self, implicit: bool) -> Result<Option<Event<'text>>, Problem> {
        if !implicit {
            while matches!(self.peek()?.kind, TokenKind::DocumentEnd) {
                self.take();
            }
        }
        let token = self.peek()?;
        let start = token.start;
        let explicit = matches!(
            token.kind,
            TokenKind::VersionDirective { .. }
                | TokenKind::TagDirective { .. }
                | TokenKind::OtherDirective
                | TokenKind::DocumentStart
        );
        if matches!(token.kind, TokenKind::StreamEnd) {
            self.state = State::End;
            return Ok(None);
        }
        if implicit && !explicit {
            self.directives()?;
            self.states.push(State::DocumentEnd);
            self.state = State::BlockNode;
            return Ok(Some(Event { kind: EventKind::DocumentStart, start, end: start }));
        }
        self.directives()?;
        let token = self.peek()?;
        let end = token.end;
        if !matches!(token.kind, TokenKind::DocumentStart) {
            return Err(problem("did not find expected <document start>", token.start));
        }
        self.take();
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        Ok(Some(Event { kind: EventKind::DocumentStart, start, end }))
    }

    fn directives(&mut self) -> Result<(), Problem> {
        let mut version_seen = false;
        self.tags.clear();
        loop {
            let dialect = self.scanner.dialect;
            let token = self.peek()?;
            let start = token.start;
            match &token.kind {
                TokenKind::VersionDirective { major, minor } => {
                    if version_seen {
                        return Err(problem("found duplicate %YAML directive", start));
                    }
                    if !dialect.takes_version(*major, *minor) {
                        return Err(problem("found incompatible YAML document", start));
                    }
                    version_seen = true;
                }
                TokenKind::TagDirective { handle, prefix } => {
                    let (handle, prefix) = (*handle, prefix.clone());
                    if self.tags.iter().any(|(known, _)| *known == handle) {
                        return Err(problem("found duplicate %TAG directive", start));
                    }
                    if self.tags.len() >= TAG_DIRECTIVES {
                        return Err(problem("found too many %TAG directives", start));
                    }
                    self.tags.push((handle, prefix));
                }
                TokenKind::OtherDirective => {}
                _ => break,
            }
            self.take();
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.tags.iter().any(|(known, _)| *known == handle) {
                self.tags.push((handle, Cow::Borrowed(prefix)));
            }
        }
        Ok(())
    }

    fn document_content(&mut self) -> Parsed<'text> {
        let token = self.peek()?;
        if matches!(
            token.kind,
            TokenKind::VersionDirective { .. }
                | TokenKind::TagDirective { .. }
                | TokenKind::OtherDirective
                | TokenKind::DocumentStart
                | TokenKind::DocumentEnd
                | TokenKind::StreamEnd
        ) {
            let mark = token.start;
            self.pop_state();
            return Ok(empty_scalar(mark));
        }
        self.node(true, false)
    }

    fn document_end(&mut self) -> Parsed<'text> {
        let token = self.peek()?;
        let (start, mut end) = (token.start, token.start);
        if matches!(token.kind, TokenKind::DocumentEnd) {
            end = token.end;
            self.take();
        }
        self.state = State::DocumentStart;
        Ok(Event { kind: EventKind::DocumentEnd, start, end })
    }

    // Nodes.

    fn node(&mut self, block: bool, indentless: bool) -> Parsed<'text> {
        let token = self.peek()?;
        let first = token.start;
        if let TokenKind::Alias(name) = token.kind {
            let (start, end) = (token.start, token.end);
            self.take();
            self.pop_state();
            return Ok(Event { kind: EventKind::Alias(name), start, end });
        }
        let properties = self.properties()?;
        let has_properties = properties.anchor.is_some() || properties.tag.is_some();
        let properties_end = self.last_end;
        let token = self.peek()?;
        let (start, end) = (token.start, token.end);
        let (kind, state) = match token.kind {
            TokenKind::Scalar { .. } => {
                self.pop_state();
                let Some(Token { kind: TokenKind::Scalar { text, style }, .. }) = self.take() else {
                    return Err(problem("did not find expected node content", start));
                };
                return Ok(Event { kind: EventKind::Scalar { text, style, properties }, start, end });
            }
            TokenKind::BlockEntry if indentless => {
                (EventKind::ListStart(properties), State::IndentlessListEntry)
            }
            TokenKind::FlowListStart => (EventKind::ListStart(properties), State::FlowListFirst),
            TokenKind::FlowMapStart => (EventKind::MapStart(properties), State::FlowMapFirst),
            TokenKind::BlockListStart if block => (EventKind::ListStart(properties), State::BlockListEntry),
            TokenKind::BlockMapStart if block => (EventKind::MapStart(properties), State::BlockMapKey),
            _ if has_properties => {
                self.pop_state();
                let kind =
                    EventKind::Scalar { text: Cow::Borrowed(""), style: ScalarStyle::Plain, properties };
                return Ok(Event { kind, start: first, end: properties_end });
            }
            _ => {
                let what = if block { "while parsing a block node" } else { "while parsing a flow node" };
                return Err(problem_in(what, first, "did not find expected node content", start));
            }
        };
        if state != State::IndentlessListEntry {
            self.marks.push(start);
            self.take();
        }
        self.state = state;
        Ok(Event { kind, start, end })
    }

    /// An anchor and a tag, in any order, or one of them, or none.
    fn properties(&mut self) -> Result<Properties<'text>, Problem> {
        let mut properties = Properties::default();
        let token = self.peek()?;
        let start = token.start;
        if !matches!(token.kind, TokenKind::Anchor(_) | TokenKind::Tag { .. }) {
            return Ok(properties);
        }
        loop {
            let token = self.peek()?;
            let at = token.start;
            match &token.kind {
                TokenKind::Anchor(name) if properties.anchor.is_none() => properties.anchor = Some(*name),
                TokenKind::Tag { handle, suffix } if properties.tag.is_none() => {
                    let (handle, suffix) = (*handle, suffix.clone());
                    let tag = if handle.is_empty() {
                        suffix
                    } else {
                        let prefix =
                            self.tags.iter().find(|(known, _)| *known == handle).map(|(_, prefix)| prefix);
                        let prefix = prefix.ok_or_else(|| {
                            problem_in("while parsing a node", start, "found undefined tag handle", at)
                        })?;
                        Cow::Owned([prefix.as_ref(), suffix.as_ref()].concat())
                    };
                    properties.tag = Some(tag);
                }
                _ => return Ok(properties),
            }
            self.take();
        }
    }

    // Block collections.

    fn end_of(&mut self, kind: EventKind<'text>) -> Parsed<'text> {
        self.pop_state();
        self.marks.pop();
        let start = self.peek()?.start;
        self.take();
        // A block collection ends where its last token does, not where the next line begins.
        Ok(Event { kind, start, end: self.last_end })
    }

    fn block_list_entry(&mut self) -> Parsed<'text> {
        let token = self.peek()?;
        let mark = token.end;
        match token.kind {
            TokenKind::BlockEntry => {
                self.take();
                if matches!(self.peek()?.kind, TokenKind::BlockEntry | TokenKind::BlockEnd) {
                    return self.empty_then(State::BlockListEntry, mark);
                }
                self.node_then(State::BlockListEntry, true, false)
            }
            TokenKind::BlockEnd => self.end_of(EventKind::ListEnd),
            _ => {
                let at = token.start;
                Err(self.problem_in_collection(
                    "while parsing a block collection",
                    "did not find expected '-' indicator",
                    at,
                ))
            }
        }
    }

    fn indentless_list_entry(&mut self) -> Parsed<'text> {
        let token = self.peek()?;
        let (start, mark) = (token.start, token.end);
        if !matches!(token.kind, TokenKind::BlockEntry) {
            self.pop_state();
            return Ok(Event { kind: EventKind::ListEnd, start, end: self.last_end });
        }
        self.take();
        if matches!(
            self.peek()?.kind,
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd
        ) {
            return self.empty_then(State::IndentlessListEntry, mark);
        }
        self.node_then(State::IndentlessListEntry, true, false)
    }

    fn block_map_key(&mut self) -> Parsed<'text> {
        let token = self.peek()?;
        let mark = token.end;
        match token.kind {
            TokenKind::Key => {
                self.take();
                if matches!(self.peek()?.kind, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd) {
                    return self.empty_then(State::BlockMapValue, mark);
                }
                self.node_then(State::BlockMapValue, true, true)
            }
            TokenKind::BlockEnd => self.end_of(EventKind::MapEnd),
            _ => {
                let at = token.start;
                Err(self.problem_in_collection(
                    "while parsing a block mapping",
                    "did not find expected key",
                    at,
                ))
            }
        }
    }

    fn block_map_value(&mut self) -> Parsed<'text> {
        let token = self.peek()?;
        let (start, mark) = (token.start, token.end);
        if !matches!(token.kind, TokenKind::Value) {
            return self.empty_then(State::BlockMapKey, start);
        }
        self.take();
        if matches!(self.peek()?.kind, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd) {
            return self.empty_then(State::BlockMapKey, mark);
        }
        self.node_then(State::BlockMapKey, true, true)
    }

    // Flow collections.

    fn flow_list_entry(&mut self, first: bool) -> Parsed<'text> {
        if !matches!(self.peek()?.kind, TokenKind::FlowListEnd) {
            if !first {
                self.flow_separator("while parsing a flow sequence", "did not find expected ',' or ']'")?;
            }
            let token = self.peek()?;
            let (start, end) = (token.start, token.end);
            match token.kind {
                TokenKind::Key => {
                    self.take();
                    self.state = State::FlowPairKey;
                    return Ok(Event { kind: EventKind::MapStart(Properties::default()), start, end });
                }
                TokenKind::FlowListEnd => {}
                _ => return self.node_then(State::FlowListEntry, false, false),
            }
        }
        self.end_of(EventKind::ListEnd)
    }

    fn flow_separator(&mut self, what: &'static str, missing: &'static str) -> Result<(), Problem> {
        let token = self.peek()?;
        let at = token.start;
        if !matches!(token.kind, TokenKind::FlowEntry) {
            return Err(self.problem_in_collection(what, missing, at));
        }
        self.take();
        Ok(())
    }

    /// The key of `[key: value]`.
    fn flow_pair_key(&mut self) -> Parsed<'text> {
        let drops = self.scanner.dialect.drops_value_after_empty_key_in_list();
        let token = self.peek()?;
        let mark = token.end;
        if matches!(token.kind, TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowListEnd) {
            if drops {
                self.take();
            }
            return self.empty_then(State::FlowPairValue, mark);
        }
        self.node_then(State::FlowPairValue, false, false)
    }

    fn flow_pair_value(&mut self) -> Parsed<'text> {
        if matches!(self.peek()?.kind, TokenKind::Value) {
            self.take();
            if !matches!(self.peek()?.kind, TokenKind::FlowEntry | TokenKind::FlowListEnd) {
                return self.node_then(State::FlowPairEnd, false, false);
            }
        }
        let mark = self.peek()?.start;
        self.empty_then(State::FlowPairEnd, mark)
    }

    fn flow_pair_end(&mut self) -> Parsed<'text> {
        let start = self.peek()?.start;
        self.state = State::FlowListEntry;
        Ok(Event { kind: EventKind::MapEnd, start, end: self.last_end })
    }

    fn flow_map_key(&mut self, first: bool) -> Parsed<'text> {
        if !matches!(self.peek()?.kind, TokenKind::FlowMapEnd) {
            if !first {
                self.flow_separator("while parsing a flow mapping", "did not find expected ',' or '}'")?;
            }
            match self.peek()?.kind {
                TokenKind::Key => {
                    self.take();
                    let token = self.peek()?;
                    let mark = token.start;
                    if matches!(token.kind, TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMapEnd) {
                        return self.empty_then(State::FlowMapValue, mark);
                    }
                    return self.node_then(State::FlowMapValue, false, false);
                }
                TokenKind::FlowMapEnd => {}
                _ => return self.node_then(State::FlowMapEmptyValue, false, false),
            }
        }
        self.end_of(EventKind::MapEnd)
    }

    fn flow_map_value(&mut self, empty: bool) -> Parsed<'text> {
        if !empty && matches!(self.peek()?.kind, TokenKind::Value) {
            self.take();
            if !matches!(self.peek()?.kind, TokenKind::FlowEntry | TokenKind::FlowMapEnd) {
                return self.node_then(State::FlowMapKey, false, false);
            }
        }
        let mark = self.peek()?.start;
        self.empty_then(State::FlowMapKey, mark)
    }

    fn problem_in_collection(&mut self, what: &'static str, missing: &'static str, at: Mark) -> Problem {
        let began = self.marks.last().copied().unwrap_or_default();
        problem_in(what, began, missing, at)
    }
}

fn problem(problem: &'static str, at: Mark) -> Problem {
    Box::new(SyntaxError { problem, at, context: None, in_scanner: false })
}

fn problem_in(what: &'static str, began: Mark, problem: &'static str, at: Mark) -> Problem {
    Box::new(SyntaxError { problem, at, context: Some((what, began)), in_scanner: false })
}

fn empty_scalar<'text>(mark: Mark) -> Event<'text> {
    let properties = Properties::default();
    let kind = EventKind::Scalar { text: Cow::Borrowed(""), style: ScalarStyle::Plain, properties };
    Event { kind, start: mark, end: mark }
}
