//! From text to trees, with Go's rules, order of complaints and error texts. The structures still open are kept on
//! stacks of our own, so a text may nest as deep as it likes without touching the machine's stack.

use crate::ast::{Branch, Node, NodeId, Nodes, Number, Span, Tree};
use crate::error::Error;
use crate::lex::{Kind, Lexer, Token};
use crate::strconv::{self, NumberError};

/// What the parser must know of its surroundings.
pub(crate) trait Names {
    fn has_function(&self, name: &str) -> bool;
    /// What to say of a function that is not there, beyond Go's words.
    fn hint(&self, name: &str) -> Option<String>;
}

/// A template found in a text: the text itself, or what a `define` or `block` named.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) body: NodeId,
}

/// Everything found in one text.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    pub(crate) definitions: Vec<Definition>,
}

/// Parentheses may nest this deep; Go's limit.
const MAX_PARENS: usize = 10_000;

enum Construct {
    /// The whole text.
    Root,
    /// `define`: variables, action line and range depth of the outer tree are put aside.
    Define,
    Block {
        name_pos: usize,
        pipe: NodeId,
        /// The line the outer tree had come to, where it reports what is wrong with the block.
        line: usize,
    },
    /// A control structure; `list` is set once its `else` has begun.
    Control {
        kind: Branch,
        pipe: NodeId,
        list: Option<NodeId>,
        /// An `else if`: the `end` of the structure around it ends this one too.
        chained: bool,
        variables: usize,
    },
}

struct Open<'s> {
    construct: Construct,
    list: NodeId,
    /// For definitions.
    name: String,
    saved: Option<Saved<'s>>,
}

/// State of the outer tree while a definition inside it is read.
struct Saved<'s> {
    variables: Vec<&'s str>,
    action_line: usize,
    range_depth: usize,
}

struct Parser<'s, 'n> {
    name: &'s str,
    source: &'s str,
    lexer: Lexer<'s>,
    names: &'n dyn Names,
    token: [Token; 3],
    peeked: usize,
    tree: Tree,
    definitions: Vec<Definition>,
    variables: Vec<&'s str>,
    action_line: usize,
    range_depth: usize,
    hint: Option<String>,
}

type Parse<T> = Result<T, Box<Error>>;

/// Parses a text under this name.
pub(crate) fn parse(name: &str, source: &str, delimiters: (&str, &str), names: &dyn Names) -> Parse<Parsed> {
    let lexer = Lexer::new(source, delimiters, !names.has_function("break"), !names.has_function("continue"));
    let none = Token { kind: Kind::Eof, start: 0, end: 0, line: 0 };
    let mut parser = Parser {
        name,
        source,
        lexer,
        names,
        token: [none; 3],
        peeked: 0,
        // About what templates have; it saves growing, and is little.
        tree: Tree::with_capacity(source.len().min(1 << 20) / 8),
        definitions: Vec::new(),
        variables: vec!["$"],
        action_line: 0,
        range_depth: 0,
        hint: None,
    };
    parser.text()?;
    Ok(Parsed { tree: parser.tree, definitions: parser.definitions })
}

/// A pipeline that is being read, inside the parentheses of another or at the top.
struct OpenPipe {
    pipe: NodeId,
    context: &'static str,
    end: Kind,
    /// The command being read, once one has begun.
    command: Option<NodeId>,
}

impl<'s> Parser<'s, '_> {
    fn next(&mut self) -> Token {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.token[0] = self.lexer.next_item();
        }
        self.token[self.peeked]
    }

    fn backup(&mut self) {
        self.peeked += 1;
    }

    fn peek(&mut self) -> Token {
        if self.peeked > 0 {
            return self.token[self.peeked - 1];
        }
        self.peeked = 1;
        self.token[0] = self.lexer.next_item();
        self.token[0]
    }

    fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.backup();
        token
    }

    fn text_of(&self, token: Token) -> &'s str {
        &self.source[token.start..token.end]
    }

    fn fail<T>(&mut self, message: impl Into<String>) -> Parse<T> {
        let mut error = Error::parse(self.name, self.token[0].line, message.into());
        error.hint = self.hint.take();
        Err(Box::new(error))
    }

    fn unexpected<T>(&mut self, token: Token, context: &str) -> Parse<T> {
        let shown = self.lexer.describe(token);
        if token.kind == Kind::Error {
            let mut extra = String::new();
            if self.action_line != 0 && self.action_line != token.line {
                let before = if shown.ends_with(" action") { "" } else { " in action" };
                extra = format!("{before} started at {}:{}", self.name, self.action_line);
            }
            return self.fail(format!("{shown}{extra}"));
        }
        self.fail(format!("unexpected {shown} in {context}"))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parse<Token> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { self.unexpected(token, context) }
    }

    fn quoted_name(&mut self, token: Token, context: &str) -> Parse<String> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(token, context);
        }
        match strconv::unquote(self.text_of(token)) {
            Some(name) => Ok(String::from_utf8_lossy(&name).into_owned()),
            None => self.fail("invalid syntax"),
        }
    }

    fn append(&mut self, list: NodeId, node: NodeId) {
        if let Node::List(items) = self.tree.node_mut(list) {
            items.push(node);
        }
    }

    fn new_list(&mut self, pos: usize) -> NodeId {
        self.tree.add(Node::List(Vec::new()), pos)
    }

    fn define(&mut self, name: String, body: NodeId) -> Parse<()> {
        let existing = self.definitions.iter().position(|definition| definition.name == name);
        let Some(existing) = existing else {
            self.definitions.push(Definition { name, body });
            return Ok(());
        };
        if self.tree.is_empty_body(self.definitions[existing].body, self.source) {
            self.definitions[existing].body = body;
            return Ok(());
        }
        if !self.tree.is_empty_body(body, self.source) {
            let name = strconv::quote(name.as_bytes());
            return self.fail(format!("template: multiple definition of template {name}"));
        }
        Ok(())
    }

    /// Puts the outer tree's state aside for a definition.
    fn begin_definition(&mut self) -> Saved<'s> {
        self.peeked = 0;
        Saved {
            variables: std::mem::replace(&mut self.variables, vec!["$"]),
            action_line: std::mem::take(&mut self.action_line),
            range_depth: std::mem::take(&mut self.range_depth),
        }
    }

    fn end_definition(&mut self, saved: Option<Saved<'s>>) {
        if let Some(saved) = saved {
            self.variables = saved.variables;
            self.action_line = saved.action_line;
            self.range_depth = saved.range_depth;
        }
    }

    /// The whole text: everything between it and its end is kept on `open`.
    fn text(&mut self) -> Parse<()> {
        let pos = self.peek().start;
        let list = self.new_list(pos);
        let mut open =
            vec![Open { construct: Construct::Root, list, name: self.name.to_owned(), saved: None }];
        while let Some(current) = open.last() {
            let list = current.list;
            let root = matches!(current.construct, Construct::Root);
            if root {
                if self.peek().kind == Kind::Eof {
                    let body = open[0].list;
                    return self.define(self.name.to_owned(), body);
                }
                if self.peek().kind == Kind::LeftDelim {
                    let delim = self.next();
                    if self.next_non_space().kind == Kind::Define {
                        let saved = self.begin_definition();
                        let context = "define clause";
                        let token = self.next_non_space();
                        let name = self.quoted_name(token, context)?;
                        self.expect(Kind::RightDelim, context)?;
                        let pos = self.peek_non_space().start;
                        let list = self.new_list(pos);
                        open.push(Open { construct: Construct::Define, list, name, saved: Some(saved) });
                        continue;
                    }
                    // Two steps back: the token just read, and the delimiter before it.
                    self.token[1] = delim;
                    self.peeked = 2;
                }
            } else if self.peek_non_space().kind == Kind::Eof {
                return self.fail("unexpected EOF");
            }
            let token = self.next_non_space();
            match token.kind {
                Kind::Text => {
                    let node = self.tree.add(Node::Text { start: token.start, end: token.end }, token.start);
                    self.append(list, node);
                }
                Kind::LeftDelim => {
                    self.action_line = token.line;
                    self.action(&mut open)?;
                }
                _ => return self.unexpected(token, "input"),
            }
        }
        Ok(())
    }

    /// After a left delimiter: a keyword or a pipeline.
    fn action(&mut self, open: &mut Vec<Open<'s>>) -> Parse<()> {
        let token = self.next_non_space();
        let list = open.last().map_or(0, |open| open.list);
        match token.kind {
            Kind::Block => return self.block(open),
            Kind::Break | Kind::Continue => {
                let word = if token.kind == Kind::Break { "break" } else { "continue" };
                let context = format!("{{{{{word}}}}}");
                self.expect(Kind::RightDelim, &context)?;
                if self.range_depth == 0 {
                    return self.fail(format!("{{{{{word}}}}} outside {{{{range}}}}"));
                }
                let node = if token.kind == Kind::Break { Node::Break } else { Node::Continue };
                let node = self.tree.add(node, token.start);
                self.append(list, node);
            }
            Kind::Else => return self.otherwise(open),
            Kind::End => {
                self.expect(Kind::RightDelim, "end")?;
                return self.end(open);
            }
            Kind::If => return self.control(open, Branch::If, false),
            Kind::Range => return self.control(open, Branch::Range, false),
            Kind::With => return self.control(open, Branch::With, false),
            Kind::Template => {
                let context = "template clause";
                let token = self.next_non_space();
                let name = self.quoted_name(token, context)?;
                let pipe = if self.next_non_space().kind == Kind::RightDelim {
                    None
                } else {
                    self.backup();
                    Some(self.pipeline(context)?)
                };
                let node = self.tree.add(Node::Template { name, pipe }, token.start);
                self.append(list, node);
            }
            _ => {
                self.backup();
                let pos = self.peek().start;
                let pipe = self.pipeline("command")?;
                let node = self.tree.add(Node::Action(pipe), pos);
                self.append(list, node);
            }
        }
        self.action_line = 0;
        Ok(())
    }

    fn block(&mut self, open: &mut Vec<Open<'s>>) -> Parse<()> {
        let context = "block clause";
        let token = self.next_non_space();
        let name = self.quoted_name(token, context)?;
        let pipe = self.pipeline(context)?;
        let line = self.token[0].line;
        let saved = self.begin_definition();
        let pos = self.peek_non_space().start;
        let list = self.new_list(pos);
        let construct = Construct::Block { name_pos: token.start, pipe, line };
        open.push(Open { construct, list, name, saved: Some(saved) });
        Ok(())
    }

    fn control(&mut self, open: &mut Vec<Open<'s>>, kind: Branch, chained: bool) -> Parse<()> {
        let variables = self.variables.len();
        let context = match kind {
            Branch::If => "if",
            Branch::Range => "range",
            Branch::With => "with",
        };
        let pipe = self.pipeline(context)?;
        if kind == Branch::Range {
            self.range_depth += 1;
        }
        let pos = self.peek_non_space().start;
        let list = self.new_list(pos);
        let construct = Construct::Control { kind, pipe, list: None, chained, variables };
        open.push(Open { construct, list, name: String::new(), saved: None });
        Ok(())
    }

    fn otherwise(&mut self, open: &mut Vec<Open<'s>>) -> Parse<()> {
        let peek = self.peek_non_space();
        let chained = matches!(peek.kind, Kind::If | Kind::With);
        let pos = if chained { peek.start } else { self.expect(Kind::RightDelim, "else")?.start };
        // The else is an action of its own, which is over now.
        self.action_line = 0;
        let Some(current) = open.last_mut() else { return Ok(()) };
        let (kind, first) = match &mut current.construct {
            Construct::Root => return self.fail("unexpected {{else}}"),
            Construct::Define => return self.fail("unexpected {{else}} in define clause"),
            Construct::Block { line, .. } => {
                self.token[0].line = *line;
                return self.fail("unexpected {{else}} in block clause");
            }
            Construct::Control { list: Some(_), .. } => return self.fail("expected end; found {{else}}"),
            Construct::Control { kind, list, .. } => (*kind, list),
        };
        *first = Some(current.list);
        if kind == Branch::Range {
            self.range_depth -= 1;
        }
        let chains = match kind {
            Branch::If => peek.kind == Kind::If,
            Branch::With => peek.kind == Kind::With,
            Branch::Range => false,
        };
        if chains {
            let list = self.new_list(pos);
            if let Some(current) = open.last_mut() {
                current.list = list;
            }
            self.next_non_space();
            return self.control(open, kind, true);
        }
        let pos = self.peek_non_space().start;
        let list = self.new_list(pos);
        if let Some(current) = open.last_mut() {
            current.list = list;
        }
        Ok(())
    }

    fn end(&mut self, open: &mut Vec<Open<'s>>) -> Parse<()> {
        self.action_line = 0;
        while let Some(current) = open.pop() {
            match current.construct {
                Construct::Root => return self.fail("unexpected {{end}}"),
                Construct::Define => {
                    self.define(current.name, current.list)?;
                    self.end_definition(current.saved);
                    return Ok(());
                }
                Construct::Block { name_pos, pipe, .. } => {
                    self.define(current.name.clone(), current.list)?;
                    self.end_definition(current.saved);
                    self.action_line = 0;
                    let node =
                        self.tree.add(Node::Template { name: current.name, pipe: Some(pipe) }, name_pos);
                    if let Some(outer) = open.last() {
                        self.append(outer.list, node);
                    }
                    return Ok(());
                }
                Construct::Control { kind, pipe, list, chained, variables } => {
                    if kind == Branch::Range && list.is_none() {
                        self.range_depth -= 1;
                    }
                    self.variables.truncate(variables);
                    let (list, otherwise) = match list {
                        Some(list) => (list, Some(current.list)),
                        None => (current.list, None),
                    };
                    let pos = self.tree.pos(pipe);
                    let node = self.tree.add(Node::Branch { kind, pipe, list, otherwise }, pos);
                    if let Some(outer) = open.last() {
                        self.append(outer.list, node);
                    }
                    if !chained {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins a pipeline and reads the variables it declares or assigns.
    fn open_pipe(&mut self, context: &'static str, end: Kind) -> Parse<OpenPipe> {
        let first = self.peek_non_space();
        let mut declarations = Vec::new();
        let mut assign = false;
        loop {
            let variable = self.peek_non_space();
            if variable.kind != Kind::Variable {
                break;
            }
            self.next();
            // A space is a token: it takes three tokens to tell `$x foo` from `$x := foo`.
            let after = self.peek();
            let next = self.peek_non_space();
            let comma = next.kind == Kind::Char && self.text_of(next) == ",";
            if comma || matches!(next.kind, Kind::Assign | Kind::Declare) {
                self.next_non_space();
                let span = Span::new(variable.start, variable.end);
                declarations.push(self.tree.add(Node::Variable(span), variable.start));
                self.variables.push(self.text_of(variable));
                if !comma {
                    assign = next.kind == Kind::Assign;
                    break;
                }
                if context == "range" && declarations.len() < 2 {
                    match self.peek_non_space().kind {
                        Kind::Variable | Kind::RightDelim | Kind::RightParen => continue,
                        _ => return self.fail("range can only initialize variables"),
                    }
                }
                return self.fail(format!("too many declarations in {context}"));
            }
            if after.kind == Kind::Space {
                self.token[1] = after;
                self.token[2] = variable;
                self.peeked = 3;
            } else {
                self.token[1] = variable;
                self.peeked = 2;
            }
            break;
        }
        let node = Node::Pipe { declarations, assign, commands: Nodes::new() };
        Ok(OpenPipe { pipe: self.tree.add(node, first.start), context, end, command: None })
    }

    fn check_pipe(&mut self, open: &OpenPipe) -> Parse<()> {
        let Node::Pipe { commands, .. } = self.tree.node(open.pipe) else { return Ok(()) };
        if commands.is_empty() {
            return self.fail(format!("missing value for {}", open.context));
        }
        for (index, command) in commands.iter().enumerate().skip(1) {
            if let Node::Command(words) = self.tree.node(*command)
                && let Some(first) = words.first()
                && matches!(
                    self.tree.node(*first),
                    Node::Bool(_) | Node::Dot | Node::Nil | Node::Number(_) | Node::String(_)
                )
            {
                return self.fail(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(())
    }

    /// A pipeline up to the right delimiter.
    fn pipeline(&mut self, context: &'static str) -> Parse<NodeId> {
        let mut open = vec![self.open_pipe(context, Kind::RightDelim)?];
        // The operand just finished: a parenthesized pipeline, when one closed.
        let mut closed: Option<NodeId> = None;
        loop {
            let Some(top) = open.last_mut() else { return self.fail("unexpected EOF") };
            if top.command.is_none() {
                let (end, context) = (top.end, top.context);
                let token = self.next_non_space();
                if token.kind == end {
                    let Some(done) = open.pop() else { return self.fail("unexpected EOF") };
                    self.check_pipe(&done)?;
                    if open.is_empty() {
                        return Ok(done.pipe);
                    }
                    closed = Some(done.pipe);
                } else if matches!(
                    token.kind,
                    Kind::Bool
                        | Kind::CharConstant
                        | Kind::Complex
                        | Kind::Dot
                        | Kind::Field
                        | Kind::Identifier
                        | Kind::Number
                        | Kind::Nil
                        | Kind::RawString
                        | Kind::String
                        | Kind::Variable
                        | Kind::LeftParen
                ) {
                    self.backup();
                    let pos = self.peek_non_space().start;
                    let command = self.tree.add(Node::Command(Nodes::new()), pos);
                    if let Some(top) = open.last_mut() {
                        top.command = Some(command);
                    }
                } else {
                    return self.unexpected(token, context);
                }
            }
            // Inside a command: one operand.
            let operand = match closed.take() {
                Some(pipe) => Some(pipe),
                None => {
                    self.peek_non_space();
                    let token = self.next_non_space();
                    if token.kind == Kind::LeftParen {
                        if open.len() > MAX_PARENS {
                            return self.fail("max expression depth exceeded");
                        }
                        open.push(self.open_pipe("parenthesized pipeline", Kind::RightParen)?);
                        continue;
                    }
                    self.term(token)?
                }
            };
            let Some(top) = open.last_mut() else { return self.fail("unexpected EOF") };
            let Some(command) = top.command else { continue };
            if let Some(node) = operand {
                let node = self.fields_after(node)?;
                if let Node::Command(words) = self.tree.node_mut(command) {
                    words.push(node);
                }
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.backup(),
                Kind::Pipe => {}
                _ => return self.unexpected(token, "operand"),
            }
            if matches!(self.tree.node(command), Node::Command(words) if words.is_empty()) {
                return self.fail("empty command");
            }
            let Some(top) = open.last_mut() else { return self.fail("unexpected EOF") };
            top.command = None;
            if let Node::Pipe { commands, .. } = self.tree.node_mut(top.pipe) {
                commands.push(command);
            }
        }
    }

    /// `.Field.Field` straight after a term.
    fn fields_after(&mut self, node: NodeId) -> Parse<NodeId> {
        if self.peek().kind != Kind::Field {
            return Ok(node);
        }
        let pos = self.peek().start;
        // Nothing stands between the fields: they are one part of the source.
        let mut end = pos;
        while self.peek().kind == Kind::Field {
            end = self.next().end;
        }
        let fields = Span::new(pos, end);
        match self.tree.node(node) {
            Node::Field(first) => {
                let span = Span { start: first.start, end: fields.end };
                Ok(self.tree.add(Node::Field(span), pos))
            }
            Node::Variable(first) => {
                let span = Span { start: first.start, end: fields.end };
                Ok(self.tree.add(Node::Variable(span), pos))
            }
            Node::Bool(_) | Node::String(_) | Node::Number(_) | Node::Nil | Node::Dot => {
                let shown = strconv::quote(self.tree.print(node, self.source).as_bytes());
                self.fail(format!("unexpected . after term {shown}"))
            }
            _ => Ok(self.tree.add(Node::Chain { node, fields }, pos)),
        }
    }

    /// A term; `None` (and the token put back) when there is none.
    fn term(&mut self, token: Token) -> Parse<Option<NodeId>> {
        let text = self.text_of(token);
        let span = Span::new(token.start, token.end);
        let node = match token.kind {
            Kind::Identifier => {
                if !self.names.has_function(text) {
                    self.hint = self.names.hint(text);
                    let name = strconv::quote(text.as_bytes());
                    return self.fail(format!("function {name} not defined"));
                }
                Node::Identifier(span)
            }
            Kind::Dot => Node::Dot,
            Kind::Nil => Node::Nil,
            Kind::Variable => {
                if !self.variables.contains(&text) {
                    let name = strconv::quote(text.as_bytes());
                    return self.fail(format!("undefined variable {name}"));
                }
                Node::Variable(span)
            }
            Kind::Field => Node::Field(span),
            Kind::Bool => Node::Bool(text == "true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => match number(text, span, token.kind) {
                Ok(number) => Node::Number(Box::new(number)),
                Err(message) => return self.fail(message),
            },
            Kind::String | Kind::RawString => {
                if span.unescaped(self.source).is_none() && strconv::unquote(text).is_none() {
                    return self.fail("invalid syntax");
                }
                Node::String(span)
            }
            _ => {
                self.backup();
                return Ok(None);
            }
        };
        Ok(Some(self.tree.add(node, token.start)))
    }
}

#[expect(clippy::float_cmp, reason = "whether a float is whole is a question of exact equality")]
fn whole(value: f64) -> (Option<i64>, Option<u64>) {
    // 2^63 and 2^64: beyond them a conversion saturates and no longer compares equal for the right reason.
    let int = (value.abs() < 9.3e18 && (value as i64) as f64 == value).then_some(value as i64);
    let uint = ((0.0..1.85e19).contains(&value) && (value as u64) as f64 == value).then_some(value as u64);
    (int, uint)
}

fn from_complex(text: Span, re: f64, im: f64) -> Number {
    let mut number = Number { text, complex: Some((re, im)), ..Number::default() };
    if im == 0.0 {
        number.float = Some(re);
        (number.int, number.uint) = whole(re);
    }
    number
}

/// Every reading a number allows.
fn number(text: &str, span: Span, kind: Kind) -> Result<Number, String> {
    if kind == Kind::CharConstant {
        let value =
            strconv::unquote_rune(text).map_err(|why| why.unwrap_or_else(|| "invalid syntax".to_owned()))?;
        return Ok(Number {
            text: span,
            int: Some(value),
            uint: u64::try_from(value).ok(),
            float: Some(value as f64),
            complex: None,
        });
    }
    if kind == Kind::Complex {
        let body = &text[..text.len() - 1];
        let split = body.char_indices().skip(1).filter(|(at, c)| {
            matches!(c, '+' | '-') && !matches!(body.as_bytes()[at - 1], b'e' | b'E' | b'p' | b'P')
        });
        let Some((at, _)) = split.last() else {
            return Err("syntax error scanning complex number".to_owned());
        };
        let re = strconv::parse_float(&body[..at])
            .map_err(|_| "syntax error scanning complex number".to_owned())?;
        let im = strconv::parse_float(&body[at..])
            .map_err(|_| "syntax error scanning complex number".to_owned())?;
        return Ok(from_complex(span, re, im));
    }
    if let Some(body) = text.strip_suffix('i')
        && let Ok(value) = strconv::parse_float(body)
    {
        return Ok(from_complex(span, 0.0, value));
    }
    let mut number = Number { text: span, ..Number::default() };
    number.uint = strconv::parse_uint(text, 0).ok();
    number.int = strconv::parse_int(text, 0).ok();
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    if let Some(int) = number.int {
        number.float = Some(int as f64);
    } else if let Some(uint) = number.uint {
        number.float = Some(uint as f64);
    } else {
        match strconv::parse_float(text) {
            Ok(value) => {
                if !text.contains(['.', 'e', 'E', 'p', 'P']) {
                    return Err(format!("integer overflow: {}", strconv::quote(text.as_bytes())));
                }
                number.float = Some(value);
                let (int, uint) = whole(value);
                number.int = number.int.or(int);
                number.uint = number.uint.or(uint);
            }
            Err(NumberError::Syntax | NumberError::Range) => {}
        }
    }
    if number.int.is_none() && number.uint.is_none() && number.float.is_none() {
        return Err(format!("illegal number syntax: {}", strconv::quote(text.as_bytes())));
    }
    Ok(number)
}
