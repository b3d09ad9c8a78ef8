//! `formwork digest`: the content digest of a version directory, and the listing it is made of.

use std::process::ExitCode;

use anyhow::bail;
use indexer::directory::DirectoryTree;
use schema::layout::scan_version;
use schema::limits::TreeLimits;

use crate::arguments::DigestArguments;
use crate::{output, target};

pub(crate) fn run(arguments: &DigestArguments) -> anyhow::Result<ExitCode> {
    if !arguments.path.is_dir() {
        bail!("{} is not a directory", arguments.path.display());
    }
    let (name, _) = target::names(&arguments.path)?;
    let scanned = scan_version(&DirectoryTree::new(&arguments.path), "", &name, &TreeLimits::default());
    if scanned.template.is_none() {
        let finding = scanned.findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
        bail!("{} would not be published: {finding}", arguments.path.display());
    }
    if arguments.listing {
        output::line("formwork version 1");
        for file in &scanned.files {
            let mark = if file.executable { 'x' } else { '-' };
            output::line(format_args!("{mark} {}  {}", file.digest.hex(), file.path));
        }
    } else {
        output::line(scanned.digest);
    }
    Ok(ExitCode::SUCCESS)
}
