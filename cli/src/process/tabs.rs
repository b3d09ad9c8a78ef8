//! Aligned columns as Go's `text/tabwriter` makes them, for what `oc` prints with it.
//!
//! A column is as wide as its widest cell in a run of lines that all have it; a line's last cell is in no column.

/// How columns are made.
pub(super) struct Tabs {
    /// The least width of a column.
    pub(super) least: usize,
    /// What stands between a cell and the next column, at the least.
    pub(super) padding: usize,
    /// Fill with tabs of eight in place of blanks.
    pub(super) with_tabs: bool,
}

/// What fills a column is counted in tabs of this width.
const TAB: usize = 8;

impl Tabs {
    /// Lines whose cells are joined by tabs, aligned.
    pub(super) fn align(&self, text: &str) -> String {
        let lines = text.split('\n').map(|line| line.split('\t').collect::<Vec<_>>()).collect::<Vec<_>>();
        let mut out = String::with_capacity(text.len() * 2);
        self.block(&lines, 0, &mut Vec::new(), &mut out);
        out.pop();
        out
    }

    /// Writes lines whose first columns have these widths.
    fn block(&self, lines: &[Vec<&str>], column: usize, widths: &mut Vec<usize>, out: &mut String) {
        let mut at = 0;
        while at < lines.len() {
            let run = lines[at..].iter().take_while(|cells| column + 1 < cells.len()).count();
            if run == 0 {
                self.line(&lines[at], widths, out);
                at += 1;
                continue;
            }
            let block = &lines[at..at + run];
            let widest = block.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default();
            let width = (widest + self.padding).max(self.least);
            widths.push(if self.with_tabs { width.next_multiple_of(TAB) } else { width });
            self.block(block, column + 1, widths, out);
            widths.pop();
            at += run;
        }
    }

    fn line(&self, cells: &[&str], widths: &[usize], out: &mut String) {
        for (column, cell) in cells.iter().enumerate() {
            out.push_str(cell);
            let Some(width) = widths.get(column).filter(|_| column + 1 < cells.len()) else { continue };
            let fill = width - cell.chars().count();
            if self.with_tabs {
                out.extend(std::iter::repeat_n('\t', fill.div_ceil(TAB)));
            } else {
                out.extend(std::iter::repeat_n(' ', fill));
            }
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::Tabs;

    #[test]
    fn columns_are_as_wide_as_their_run_of_lines() {
        let blanks = Tabs { least: 4, padding: 1, with_tabs: false };
        assert_eq!(blanks.align("a\tb\nlonger\tb\n\na\tb"), "a      b\nlonger b\n\na   b");
        let tabs = Tabs { least: 0, padding: 1, with_tabs: true };
        assert_eq!(tabs.align("Name:\tt\nObject Labels:\tl"), "Name:\t\tt\nObject Labels:\tl");
        assert_eq!(tabs.align("a\tb\tc\nd\te"), "a\tb\tc\nd\te");
    }
}
