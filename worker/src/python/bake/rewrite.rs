//! Rewrites a module's sections: what is exported, and with a frozen memory, what it begins with.

use std::ops::Range;

use wasm_encoder::{
    ConstExpr, DataSection, ExportKind, ExportSection, GlobalSection, GlobalType, MemorySection, MemoryType,
    Module, RawSection, SectionId, ValType,
};
use wasmparser::{ExternalKind, Parser, Payload};

use super::BakeError;
use crate::python::TABLE;

/// The name under which the stack pointer is exported while baking.
pub(super) const STACK_POINTER: &str = "stack_pointer";

/// Memory is frozen in pieces of this size; those that are all zero are left out.
const PIECE: usize = 4096;
const WASM_PAGE: usize = 64 << 10;

/// The memory and the stack pointer, where the prelude asked for it.
pub(super) struct Frozen {
    pub(super) memory: Vec<u8>,
    pub(super) stack_pointer: i32,
}

/// The module without its custom sections, with its table exported; and either with its stack pointer exported, or
/// beginning with what was frozen.
pub(super) fn rewrite(wasm: &[u8], frozen: Option<&Frozen>) -> Result<Vec<u8>, BakeError> {
    let unexpected =
        |what: &str| BakeError::Module(format!("the interpreter is not of the form expected: {what}"));
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        match (&payload, frozen) {
            (Payload::CustomSection(_) | Payload::CodeSectionEntry(_), _) => {}
            (Payload::CodeSectionStart { range, .. }, _) => {
                module.section(&RawSection { id: SectionId::Code.into(), data: &wasm[range.clone()] });
            }
            (Payload::StartSection { .. } | Payload::DataCountSection { .. }, _) => {
                return Err(unexpected("it has a start function or passive data"));
            }
            (Payload::ExportSection(reader), _) => {
                let mut exports = ExportSection::new();
                for export in reader.clone() {
                    let export = export?;
                    let kind = match export.kind {
                        ExternalKind::Func => ExportKind::Func,
                        ExternalKind::Table => ExportKind::Table,
                        ExternalKind::Memory => ExportKind::Memory,
                        ExternalKind::Global => ExportKind::Global,
                        other => return Err(unexpected(&format!("it exports a {other:?}"))),
                    };
                    exports.export(export.name, kind, export.index);
                }
                exports.export(TABLE, ExportKind::Table, 0);
                if frozen.is_none() {
                    exports.export(STACK_POINTER, ExportKind::Global, 0);
                }
                module.section(&exports);
            }
            (Payload::GlobalSection(reader), Some(frozen)) => {
                if reader.count() != 1 {
                    return Err(unexpected("it has more globals than its stack pointer"));
                }
                let kind = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
                let mut globals = GlobalSection::new();
                globals.global(kind, &ConstExpr::i32_const(frozen.stack_pointer));
                module.section(&globals);
            }
            (Payload::MemorySection(reader), Some(frozen)) => {
                let before =
                    reader.clone().into_iter().next().ok_or_else(|| unexpected("it has no memory"))??;
                let mut memories = MemorySection::new();
                memories.memory(MemoryType {
                    minimum: (frozen.memory.len() / WASM_PAGE) as u64,
                    maximum: before.maximum,
                    memory64: false,
                    shared: false,
                    page_size_log2: None,
                });
                module.section(&memories);
            }
            (Payload::DataSection(_), Some(frozen)) => {
                module.section(&data(&frozen.memory));
            }
            (other, _) => {
                if let Some((id, range)) = other.as_section() {
                    module.section(&RawSection { id, data: &wasm[range] });
                }
            }
        }
    }
    Ok(module.finish())
}

/// Everything in memory that is not zero, in runs of pieces.
fn data(memory: &[u8]) -> DataSection {
    let mut section = DataSection::new();
    let mut run = None::<usize>;
    for (index, piece) in memory.chunks(PIECE).enumerate() {
        let is_empty = piece.iter().all(|byte| *byte == 0);
        match (run, is_empty) {
            (None, false) => run = Some(index * PIECE),
            (Some(from), true) => {
                segment(&mut section, memory, from..index * PIECE);
                run = None;
            }
            _ => {}
        }
    }
    if let Some(from) = run {
        segment(&mut section, memory, from..memory.len());
    }
    section
}

fn segment(section: &mut DataSection, memory: &[u8], range: Range<usize>) {
    // Addresses of 32 bits, in a constant that is signed.
    let at = ConstExpr::i32_const((range.start as u32).cast_signed());
    section.active(0, &at, memory[range].iter().copied());
}
