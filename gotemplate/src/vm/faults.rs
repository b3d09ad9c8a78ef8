//! From the place where running stopped to the error Go would report.

use super::{Capture, Fault, Frame, Machine};
use crate::error::{Error, ErrorKind};
use crate::strconv;

/// How many links of a chain of errors are kept, counted from the innermost.
const KEPT_LINKS: usize = 8;

impl<'a> Machine<'_, 'a> {
    /// The error as Go would report it: at the innermost place first, then at each `include` and `tpl` around it.
    pub(super) fn error(&mut self, fault: Fault) -> Error {
        let (kind, message, cause) = match fault {
            Fault::Message(message) => (ErrorKind::Execute, message, None),
            Fault::Function { name, message, raised } => {
                let kind = if raised { ErrorKind::Raised } else { ErrorKind::Execute };
                (kind, format!("error calling {name}: {message}"), Some(message))
            }
            Fault::Limit(limit) => (ErrorKind::Limit(limit), limit.describe().to_owned(), None),
        };
        // What an `include` or `tpl` wrote before it failed was to be its value, not output.
        if let Some((_, mark)) = self.frames.iter().find_map(|frame| frame.capture.as_ref()) {
            self.out.truncate(*mark);
        }
        let mut node = self.node;
        let mut error: Option<Error> = None;
        let mut message = message;
        let mut cause = cause;
        let mut depth = 0;
        while let Some(frame) = self.frames.pop() {
            let inner = error.take();
            if inner.is_none() {
                error = Some(at_node(&frame, node, kind, message.clone(), cause.take(), None));
            } else {
                error = inner;
            }
            // Where a limit was reached is all there is to say of it.
            if matches!(kind, ErrorKind::Limit(_)) {
                break;
            }
            // A template called by an action reports its own error; one called by a function is an error of the call.
            let (Some((capture, _)), Some(outer)) = (&frame.capture, self.frames.last()) else { continue };
            let site = &outer.unit.sites[frame.called_from as usize];
            node = site.node;
            let Some(inside) = error.take() else { continue };
            let text = inside.to_go_string();
            message = match capture {
                Capture::Include(_) => format!("error calling {}: {text}", site.function.name),
                Capture::Tpl(source) => format!(
                    "error calling {}: error during tpl function execution for {}: {text}",
                    site.function.name,
                    strconv::quote(source)
                ),
            };
            // Of a deep chain the innermost links tell enough: every link carries the text of all those inside it.
            depth += 1;
            let cause = inside.cause.clone();
            let inner = if depth > KEPT_LINKS { inside.inner } else { Some(Box::new(inside)) };
            error = Some(at_node(outer, node, kind, message.clone(), cause, inner));
        }
        error.unwrap_or_else(|| Error::parse("", 0, message))
    }
}

fn at_node(
    frame: &Frame<'_>,
    node: u32,
    kind: ErrorKind,
    message: String,
    cause: Option<String>,
    inner: Option<Box<Error>>,
) -> Error {
    let unit = frame.unit;
    let before = &unit.source.as_bytes()[..unit.tree.pos(node)];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let column =
        before.iter().rposition(|byte| *byte == b'\n').map_or(before.len(), |at| before.len() - at - 1);
    Error {
        kind,
        template: unit.name.to_string(),
        line,
        column: Some(column),
        executing: Some(frame.name.to_owned()),
        node: Some(unit.tree.print(node, &unit.source)),
        message,
        cause,
        hint: None,
        inner,
    }
}
