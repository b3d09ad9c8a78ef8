fn main() {
    let kind = std::env::args().nth(1).unwrap();
    let text = match kind.as_str() {
        "maps" => "- a: b\n".repeat(249_999),
        "keys" => (0..499_999).map(|i| format!("k{i}: v\n")).collect(),
        "lists" => "- []\n".repeat(499_990),
        "emptymaps" => "- {}\n".repeat(499_990),
        "nest" => format!("{}{}\n", "[".repeat(90), "]".repeat(90))
            .lines()
            .map(|l| format!("- {l}\n"))
            .collect::<String>()
            .repeat(5400),
        "anchors" => "- &a {a: b}\n".repeat(166_000),
        "alias" => format!("a: &a {{a: b}}\nl:\n{}", "- *a\n".repeat(49_000)),
        "emptykey" => format!("&a : v\nl:\n{}", "- *a\n".repeat(99_000)),
        "set" => format!("!!set\n{}", (0..499_998).map(|i| format!("? k{i}\n")).collect::<String>()),
        "dups" => "a: b\n".repeat(499_000),
        "quoted" => format!("\"{}\"", "\\n".repeat(2_000_000)),
        "folded" => format!("a: >\n{}", " x\n".repeat(1_000_000)),
        "plain" => format!("a: {}", "x\n ".repeat(1_000_000)),
        "comments" => "# x\n".repeat(2_000_000),
        "brackets" => "[".repeat(8_000_000),
        "dashes" => "- ".repeat(4_000_000),
        "questions" => "? ".repeat(4_000_000),
        "tags" => format!("%TAG ! {}\n---\n[{}]", "x".repeat(1000), "!a b,".repeat(400_000)),
        "merge" => format!(
            "a: &a {{{}}}\nb:\n{}",
            (0..300).map(|i| format!("k{i}: 1,")).collect::<String>(),
            "  <<: *a\n".repeat(320)
        ),
        "docs" => "---\n".repeat(9_999),
        "manytags" => (0..100_000).map(|i| format!("%TAG !{i}! x\n")).collect::<String>() + "---\na",
        _ => panic!(),
    };
    for rules in [yaml::Rules::Kubernetes, yaml::Rules::PyYaml] {
        let options =
            yaml::Options { rules, duplicate_keys: yaml::DuplicateKeys::LastWins, ..Default::default() };
        let start = std::time::Instant::now();
        let r = yaml::load_stream(&text, &options);
        let t = start.elapsed();
        let rss = std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .find(|l| l.starts_with("VmHWM"))
            .unwrap()
            .to_owned();
        eprintln!(
            "{kind} {rules:?} {} bytes: {t:?} {rss} {:?}",
            text.len(),
            r.as_ref().map(|d| d.len()).map_err(|e| e.to_string())
        );
    }
}
