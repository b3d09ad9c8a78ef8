//! READMEs and our own documentation, from Markdown to HTML that can do nothing.
//!
//! Raw HTML is dropped, not escaped into view and not passed on. Links go to `http`, `https` and `mailto`, or to a
//! file of the same version; images only to a file of the same version, because an image from elsewhere tells its
//! host who reads. Everything else keeps its text and loses its target. The page's policy forbids scripts on top.

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};

/// Longest text that is rendered; the rest is at the raw file.
const LONGEST: usize = 512 << 10;

/// Where a relative target leads, if it leads anywhere.
pub(crate) trait Targets {
    /// The URL of a page or file a link may point to.
    fn link(&self, path: &str) -> Option<String>;
    /// The URL of an image.
    fn image(&self, path: &str) -> Option<String>;
}

/// Renders Markdown. Its highest headings become headings of level `top`, and none skips a level, whatever the text
/// does: readers of a page are led by them.
pub(crate) fn render(text: &str, targets: &dyn Targets, top: HeadingLevel) -> String {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let mut out = String::with_capacity(end * 3 / 2);
    // How each open link and image was written out, so that its end matches its beginning.
    let mut open = Vec::new();
    let mut headings = Headings { top, open: Vec::new() };
    let events = Parser::new_ext(&text[..end], options)
        .filter_map(|event| sanitised(event, targets, &mut open, &mut headings));
    html::push_html(&mut out, events);
    // No markup but the renderer's own is in it. What may be wider than the page scrolls by itself, with keys too.
    out.replace("<pre>", "<pre tabindex=\"0\">")
        .replace(
            "<table>",
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>",
        )
        .replace("</table>", "</table></div>")
}

/// Levels of headings as they are written, of those that the next one may be below.
struct Headings {
    top: HeadingLevel,
    open: Vec<HeadingLevel>,
}

impl Headings {
    /// The level a heading gets.
    fn begin(&mut self, level: HeadingLevel) -> HeadingLevel {
        self.open.retain(|above| *above < level);
        self.open.push(level);
        self.current()
    }

    /// The level of the heading that began last.
    fn current(&self) -> HeadingLevel {
        let below = self.open.len().saturating_sub(1);
        HeadingLevel::try_from((self.top as usize + below).min(6)).unwrap_or(HeadingLevel::H6)
    }
}

fn sanitised<'a>(
    event: Event<'a>,
    targets: &dyn Targets,
    open: &mut Vec<bool>,
    headings: &mut Headings,
) -> Option<Event<'a>> {
    match event {
        Event::Html(_)
        | Event::InlineHtml(_)
        | Event::Start(Tag::HtmlBlock)
        | Event::End(TagEnd::HtmlBlock) => None,
        Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
            level: headings.begin(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        })),
        Event::End(TagEnd::Heading(_)) => Some(Event::End(TagEnd::Heading(headings.current()))),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let target = match link_type {
                LinkType::Email => Some(CowStr::from(format!("mailto:{dest_url}"))),
                _ => link_target(&dest_url, targets),
            };
            open.push(target.is_some());
            let link_type = if link_type == LinkType::Email { LinkType::Inline } else { link_type };
            target.map(|dest_url| Event::Start(Tag::Link { link_type, dest_url, title, id }))
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let target = local(&dest_url).and_then(|(path, _)| targets.image(path)).map(CowStr::from);
            open.push(target.is_some());
            target.map(|dest_url| Event::Start(Tag::Image { link_type, dest_url, title, id }))
        }
        // Without its image the text that stands for it is ordinary text.
        Event::End(TagEnd::Link | TagEnd::Image) if open.pop() == Some(false) => None,
        // Nobody can tick a list of somebody else: a mark says whether it is done, and needs no label.
        Event::TaskListMarker(done) => Some(Event::InlineHtml(CowStr::Borrowed(if done {
            "<span role=\"img\" aria-label=\"done\">\u{2611}</span> "
        } else {
            "<span role=\"img\" aria-label=\"to do\">\u{2610}</span> "
        }))),
        other => Some(other),
    }
}

fn link_target<'a>(target: &CowStr<'a>, targets: &dyn Targets) -> Option<CowStr<'a>> {
    let lower = target.trim_start().to_ascii_lowercase();
    if ["https://", "http://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme)) {
        return Some(target.clone());
    }
    let (path, fragment) = local(target)?;
    if path.is_empty() {
        // Headings have no ids of their own here; a link within the text stays where it is.
        return None;
    }
    targets.link(path).map(|url| {
        CowStr::from(match fragment {
            Some(fragment) => format!("{url}#{}", crate::target::encode_path(fragment)),
            None => url,
        })
    })
}

/// A relative path and its fragment; nothing for what has a scheme, a host, or leaves the root.
fn local(target: &str) -> Option<(&str, Option<&str>)> {
    let target = target.trim();
    let (path, fragment) =
        target.split_once('#').map_or((target, None), |(path, fragment)| (path, Some(fragment)));
    let path = path.split('?').next().unwrap_or_default();
    let scheme = path.split('/').next().unwrap_or_default().contains(':');
    let rooted = path.starts_with('/') || path.contains('\\');
    (!scheme && !rooted).then_some((path, fragment))
}

/// A path relative to the directory of `from`, made plain; nothing if it leaves the root.
pub(crate) fn join(from: &str, path: &str) -> Option<String> {
    let mut segments = from.split('/').collect::<Vec<_>>();
    segments.pop();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            other => segments.push(other),
        }
    }
    Some(segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Everything;

    impl Targets for Everything {
        fn link(&self, path: &str) -> Option<String> {
            Some(format!("/file/{}", join("README.md", path)?))
        }

        fn image(&self, path: &str) -> Option<String> {
            Some(format!("/raw/{}", join("README.md", path)?))
        }
    }

    fn rendered(text: &str) -> String {
        render(text, &Everything, HeadingLevel::H3)
    }

    #[test]
    fn nothing_that_can_script_comes_through() {
        for hostile in [
            "<script>alert(1)</script>",
            "text <img src=x onerror=alert(1)> text",
            "<iframe src=//evil.example></iframe>",
            "[click](javascript:alert(1))",
            "[click](JaVaScRiPt:alert(1))",
            "[click](&#106;avascript:alert(1))",
            "[click]( java\nscript:alert(1))",
            "[click](data:text/html;base64,PHNjcmlwdD4=)",
            "[click](vbscript:x)",
            "![x](javascript:alert(1))",
            "![x](https://evil.example/pixel.png)",
            "![x](//evil.example/pixel.png)",
            "![x](\\\\evil.example\\pixel.png)",
            "<javascript:alert(1)>",
            "[a]: javascript:alert(1)\n[a]",
            "```\"><script>alert(1)</script>\nx\n```",
            "<svg><style><!--</style><img src onerror=alert(1)>",
        ] {
            let html = rendered(hostile).to_ascii_lowercase();
            for bad in [
                "<script",
                "<img src=x",
                "onerror=alert(1)>",
                "<iframe",
                "href=\"javascript",
                "href=\"data",
                "href=\"vbscript",
                "src=\"javascript",
                "src=\"https",
                "src=\"//",
                "src=\"\\",
                "<svg",
                "<style",
            ] {
                assert!(!html.contains(bad), "{hostile:?} became {html:?}");
            }
        }
    }

    #[test]
    fn honest_markdown_stays() {
        let html = rendered(
            "# Title\n\nSee [docs](docs/a.md#b), [site](https://example.com) and <me@example.com>.\n\n![logo](./img/logo.png)\n\n| a |\n|---|\n| b |\n",
        );
        for expected in [
            "<h3>Title</h3>",
            "href=\"/file/docs/a.md#b\"",
            "href=\"https://example.com\"",
            "href=\"mailto:me@example.com\"",
            "src=\"/raw/img/logo.png\" alt=\"logo\"",
            "<td>b</td>",
        ] {
            assert!(html.contains(expected), "{expected} is not in {html}");
        }
    }

    #[test]
    fn headings_skip_no_level() {
        let levels = |text: &str, top| {
            let html = render(text, &Everything, top);
            html.split("<h").skip(1).map(|rest| rest[..1].to_owned()).collect::<String>()
        };
        assert_eq!(levels("# a\n## b\n#### c\n## d\n# e", HeadingLevel::H3), "34543");
        assert_eq!(levels("### a\n# b\n###### c", HeadingLevel::H2), "223");
        assert_eq!(levels("# a\n## b\n### c\n#### d\n##### e", HeadingLevel::H4), "45666");
    }

    #[test]
    fn what_is_wide_scrolls_by_itself() {
        let html = rendered("```yaml\na: <pre><table>\n```\n\n| a |\n|---|\n| b |\n");
        assert!(html.contains("<pre tabindex=\"0\"><code"), "{html}");
        assert!(html.contains("&lt;pre&gt;&lt;table&gt;"), "{html}");
        assert!(html.contains("aria-label=\"Table\"><table>") && html.contains("</table></div>"), "{html}");
    }

    #[test]
    fn text_of_what_loses_its_target_stays() {
        assert_eq!(rendered("[click](javascript:x) ![alt](https://e/x.png)"), "<p>click alt</p>\n");
    }

    #[test]
    fn paths_stay_in_the_tree() {
        assert_eq!(join("docs/README.md", "../a/./b.md").as_deref(), Some("a/b.md"));
        assert_eq!(join("README.md", "../a"), None);
    }
}
