package main

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
)

func curatedDocuments() []string {
	list := []string{
		"", " ", "\n", "# c", "---", "---\n", "--- # c\n", "...", "---\n...\n", "--- a", "--- |\n a\n", "--- {a: 1}", "---\na: 1\n", "a: 1\n...\n", "%YAML 1.1\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n", "%YAML 2.0\n---\na\n", "%TAG ! tag:x,2000:\n---\n!a b\n", "%FOO bar\n---\na\n", "a\n---\nb\n", "a\n...\nb\n", "---\n---\n",
		"a: b: c", "a: - b", "- a: b\n  c: d\n- e", "a:\n- b\n- c", "a:\n  - b\n - c", "a:\n b: 1\n  c: 2", "a: 1\n b: 2", " a: 1\nb: 2", "a\nb", "a\n b\n  c", "a: b\n c\n d: e", "a:\n\n\n  b", "a: 'x\n  y\n\n  z'", "a: \"x\n  y\\\n  z\"", "a: 'it''s'", "a: \"\\x41\\u00e9\\U0001F600\\n\\t\\\\\\\"\\/\\e\\0\\a\\b\\v\\f\\r\\N\\_\\L\\P\\ \"", "a: \"\\q\"", "a: \"\\xZZ\"", "a: \"\\ud83d\\ude00\"", "a: \"\\ud800\"", "a: 'x", "a: \"x",
		"[a, b]", "[a, b", "[a b]", "[a,, b]", "[a, b,]", "[,]", "[]", "{}", "{a}", "{a, b}", "{a: 1, b}", "{a: 1,}", "{a:1}", "{a:1, b:2}", "{\"a\":1}", "{\"a\":1,\"b\":[2]}", "{'a':1}", "{a: b: c}", "{? a : b}", "{? a}", "{: a}", "[a: 1]", "[a: 1, b]", "[? a : b]", "[: a]", "{a: [b, {c: d}]}", "{a: }", "[a\n, b]", "{a:\n1}", "a: [b\nc]", "a: [\nb\n]", "a: {\nb: c\n}", "a: [\n  b\n]\nc: d", "[a]: b", "{a: b}: c", "? a\n: b", "? a", "? [a]\n: b", "? {a: b}\n: c", "? |\n  a\n: b", ": a", "- : a", "- ? a\n  : b", "? a\n? b",
		"a: |\n  x\n  y\n", "a: |-\n  x\n", "a: |+\n  x\n\n", "a: >\n  x\n  y\n\n  z\n", "a: >-\n  x\n   y\n  z\n", "a: |2\n   x\n", "a: |1\n x\n", "a: |0\n x\n", "a: |10\n x\n", "a: |-2\n   x\n", "a: |2-\n   x\n", "a: | # c\n  x\n", "a: |x\n", "a: |\n\n\n  x\n", "a: |\n   \n  x\n", "a: |\n  x\n y\n", "a: |\n\tx\n", "a: |\nb: c\n", "a: |\n", "a: >\n", "- |\n a\n- >\n b\n", "|\n a\nb\n", "a: |\n  x\n  # not\n # c\nb: 1\n",
		"a: !!str 1", "a: !!int \"1\"", "a: !!int x", "a: !!int 1.5", "a: !!float 1", "a: !!float 1.5", "a: !!float x", "a: !!float 18446744073709551615", "a: !!bool yes", "a: !!bool x", "a: !!null ''", "a: !!null x", "a: !!null null", "a: !!binary aGk=", "a: !!binary '*'", "a: !!binary aGk", "a: !!binary |\n  aG\n  k=\n", "a: !!timestamp 2001-01-01", "a: !!timestamp x", "a: !!set {a, b}", "a: !!omap [a: 1]", "a: !!seq [1]", "a: !!map {a: 1}", "a: !!seq x", "a: !!map x", "a: !!str [1]", "a: !foo 1", "a: !foo {b: 1}", "a: ! 1", "a: ! x", "a: !<tag:yaml.org,2002:int> '3'", "a: !<x> 3", "a: !x!y z", "a: !!python/none x", "!!map {a: 1}", "!!str", "a: !!str", "a: !!int", "a: !!merge <<", "!!str a: 1", "a: !!unknown 12", "a: !!binary /w==", "a: !!bool true", "a: !!bool \"true\"", "a: !!null", "!!null a: 1",
		"a: &x 1\nb: *x", "a: &x {b: 1}\nc: *x", "a: &x [1, 2]\nb: [*x, *x]", "a: *x", "a: &x [*x]", "a: &x 1\nb: &x 2\nc: *x", "&a a: &b b\n*a : *b", "&k key: v\nx: *k", "a: &x\nb: *x", "a: & x", "a: &x &y 1", "a: &x !!str 1\nb: *x", "a: !!str &x 1\nb: *x", "? &a a\n: b\nc: *a", "&m\na: 1\n", "- &a 1\n- *a\n- *b", "a: &x-1_b 1\nc: *x-1_b", "a: &x.y 1\nc: *x.y", "a: &é 1\nb: *é", "{*a : 1}", "[&a a, *a]", "{&a a: *a}", "a: *x\nb: &x 1",
		"b: &b {x: 1, y: 2}\nc:\n  <<: *b\n  y: 3\n", "b: &b {x: 1, y: 2}\nc:\n  y: 3\n  <<: *b\n", "b: &b {x: 1}\nd: &d {x: 2, z: 3}\nc:\n  <<: [*b, *d]\n", "b: &b {x: 1}\nd: &d {x: 2, z: 3}\nc:\n  <<: *b\n  <<: *d\n", "c: {<<: {x: 1}}", "c: {<<: [{x: 1}, {x: 2, y: 3}]}", "c: {<<: 1}", "c: {<<: [1]}", "c: {<<: }", "c: {<<: []}", "l: &l [{x: 1}]\nc: {<<: *l}", "s: &s 1\nc: {<<: *s}", "c: {\"<<\": {x: 1}}", "c: {'<<': 1}", "c: {!!merge x: 1}", "c: {!!merge '<<': {x: 1}}", "c: {! '<<': {x: 1}}", "c: {!!str <<: {x: 1}}", "<<: {a: 1}\nb: 2", "a: &a {<<: {x: 1}, y: 2}\nb: {<<: *a, z: 3}", "a: <<", "[<<]", "[<<: {a: 1}]", "<<", "b: &b {x: 1}\nc: {<<: [[*b]]}", "b: &b {x: {y: 1}}\nc: {<<: *b, x: {z: 1}}", "a: &a\n  b: 1\n  <<: *a", "k: &k <<\nc:\n  *k : {x: 1}",
		"a: 1\na: 2", "a: 1\nb: 2\na: 3", "{a: 1, a: 2}", "1: a\n\"1\": b", "a:\n  b: 1\n  b: 2", "true: a\nyes: b", "0x1: a\n1: b", "a: 1\n'a': 2\n\"a\": 3", "1.0: a\n1: b", "~: a", "null: a", "? \n: a", "'': a", "yes: a", "on: push", "1.5: a", "1e3: a", "3.14159265358979: a", "0.1: a", ".inf: a", ".nan: a", "1e40: a", "18446744073709551615: a", "9223372036854775807: a", "0o17: a", "017: a", "2001-01-01: a", "12:30: a", "1_000: a", "0x1F: a", "-0: a", "1e-50: a", "16777217.0: a", "123456789.0: a",
		"a: .inf", "a: .nan", "a: -.inf", "a: 1e400", "a: 1e3", "a: 1.0", "a: 1e20", "a: 1e21", "a: 0.000001", "a: 1e-7", "a: -0.0", "a: -0",
		"a:\tb", "a: \tb", "a: b\t", "a: b\t# c", "\ta: b", "a:\n\tb: c", "a:\n  b:\n\t  c", "- \ta", "-\ta", "a\t: b", "[\ta,\tb\t]", "a: 'b'\t", "a: 'b' c", "a: \"b\" c", "a: [b] c", "a: {b: c} d", "a: b # c", "a: b #c", "a: b# c", "a: # c\n  b", "a: #c", "# c\na: b\n# d\n", "a: b\n  # c\n", "a:\n  # c\n  b: c\n# d\n  e: f\n", "a: 'b' # c", "a: [b # c\n]", "a: [b #c, d\n]", "[a#b]", "[a #b\n]", "'a' : b", "\"a\": b", "'a':b", "\"a\":b", "a:b", "a :b", "a : b", "a: b : c", "http://x: y", "a: http://x:80/y", "a: b:", "a: :b", "a: ::", "-a: b", "--a: b", "- -a", "- - a", "-- a", "- - - a\n    - b\n  - c\n- d", "-\n  a", "-\n- a", "- \n- ", "-", "a:\n-\n-", "a: -", "a: ?", "a: ? b", "a: , b", "a: ]", "a: }", "a: %b", "a: @b", "a: `b", "a: ,", "a: -b", "a: ?b", "a: :b", "a: 'b\n---\nc'", "a: b\n---c", "a: |\n  b\n---\n", "---a", "--- a\n--- b", "...a", "a: ...", "a: ---", "a\n...\n", "a: b\n... # c\n", "- a\n-b", "a: b\n-c: d", "a\n:b", "a\n: b", "a:\n  - b\n  c: d", "- a\n b: c", "a: b\nc", "a: b\nc\nd: e", "a: b\n'c'\n", "a\n  b: c", "'a\n  b': c", "? a\n  b\n: c", "{a\n b: c}", "{'a\n b': c}", "[a\n b: c]", "{a, b: c\n, d}", "{ a : b }", "{a: b,c: d}", "{a: 'b','c': d}", "[a,b]", "[a:b]", "[a :b]", "[http://x:80/y]", "{a: http://x:80/y}", "[-]", "[- a]", "[-a]", "{-: a}", "[?]", "[?a]", "[? a]", "{?a: b}", "[a?b]", "{a?b: c}", "[:]", "[:a]", "{:a: b}", "[a:]", "{a:}", "{a:, b}", "[\"a\":b]", "[\"a\" :b]", "[\"a\": b]", "[a]]", "}", "]", "a: b]", "a: [}", "{]", "[[[[]]]]", "[{}]", "{a: [}", "!!", "!", "&", "*", "&a", "*a", "!a", "|", ">", "@", "`", "%", "'", "\"", "?", ":", "-", ",", "[", "{", "#", "? ", ": ", "- ", ", ",
		"a: \u0085b", "a:\u0085  b: c", "a: b\u2028c: d", "a: 'b\u2028c'", "a: \u00a0b", "\ufeffa: b", "a: \ufeffb", "a: b\ufeff", "---\n\ufeffa", "a: \x01", "a: \x7f", "a: \u0080", "a: \ufffe", "a: \uffff", "a: \x00b", "a: 😀", "😀: 1", "a: \r\n  b", "a: b\r\nc: d\r\n", "a: |\r\n  b\r\n  c\r\n", "a: b\rc: d\r", "a: 'b\r\n  c'", "a: >\n  b\r\n  c\r\n",
		"a:   b   ", "a: b  c", "a:  'b'  ", "  - a\n  - b", "  a: b\n  c: d", "  a\n", "\n\na: b", "a: b\n\n\nc: d", "a: b\n\n\n", "a:\n    b: c\n    d:\n      - e", "- a\n\n- b", "a: 1\n\n# c\n\nb: 2",
		"key: >\n  folded\n  text\n\n    more\n  less\n", "key: |\n  a\n\n\n  b\n\n\nnext: 1\n", "key: >+\n  a\n\n\nnext: 1\n", "- >\n\n a\n  b\n\n c\n", "a: \"line\n\n  next\"", "a: \"x \\\n   y\"", "a: \" x \n y \"", "a: ' x \n y '", "a: \"x\\n\\\n y\"", "a: \"\n\"", "a: '\n'", "a: x\n  y\n\n  z\nb: 1", "a: x\n  # c\n  y", "a: x # c\n  y", "a: x\n y: z", "a: - b\n   - c", "a:\n  b\n   c\n  d",
		"a: &x b\n*x: c", "*x: c", "a: [*x]", "- &a\n- *a", "a: &b\n  c: d\ne: *b", "- &a - b", "&a - b", "&a\n- b\n", "!!seq\n- a\n", "a: !!seq\n- b\n", "a: &x\n- b\nc: *x", "a: !t &x\n  b: 1", "!t a: 1", "&x a: 1", "&x &y a: 1", "a: !t\n!u b: 1", "- !t\n- !u a",
		strings.Repeat("[", 90) + strings.Repeat("]", 90), strings.Repeat("- ", 90) + "a", strings.Repeat("{a: ", 90) + strings.Repeat("}", 90), strings.Repeat("k", 1023) + ": v", strings.Repeat("k", 1024) + ": v", strings.Repeat("k", 1025) + ": v", "{" + strings.Repeat("k", 1024) + ": v}", "{" + strings.Repeat("k", 1025) + ": v}", "\"" + strings.Repeat("k", 1022) + "\": v", "\"" + strings.Repeat("k", 1023) + "\": v", "{\"" + strings.Repeat("k", 1023) + "\": v}", "? " + strings.Repeat("k", 1100) + "\n: v",
	}
	for _, word := range words {
		if !strings.ContainsAny(word, "\n\r") {
			list = append(list, "a: "+word+"\n", "- "+word+"\n", word+": a\n", "["+word+"]", "{a: "+word+"}")
		}
	}
	return list
}

// maker writes random YAML texts that are mostly right.
type maker struct {
	*rand.Rand
	text    strings.Builder
	anchors []string
}

func randomDocument(random *rand.Rand) string {
	m := &maker{Rand: random}
	if m.Intn(12) == 0 {
		m.text.WriteString(m.pick("---\n", "--- ", "# comment\n", "%YAML 1.1\n---\n", "\n", "---\n# c\n"))
	}
	m.node(0, 1+m.Intn(4), false)
	text := m.text.String()
	if m.Intn(10) == 0 {
		text += m.pick("...\n", "# end\n", "\n\n", "---\n", "--- x\n")
	}
	return text
}

func (m *maker) pick(options ...string) string { return options[m.Intn(len(options))] }

func (m *maker) properties() string {
	switch m.Intn(14) {
	case 0:
		name := "x" + strconv.Itoa(m.Intn(4))
		m.anchors = append(m.anchors, name)
		return "&" + name + " "
	case 1:
		return m.pick("!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "!!map ", "!!seq ", "!t ", "! ", "!!binary ", "!!timestamp ", "!!set ")
	}
	return ""
}

func (m *maker) comment() string {
	if m.Intn(10) == 0 {
		return m.pick(" # c", "  #c", " # a: b")
	}
	return ""
}

// node writes a value whose line has begun; indent is where its own lines go.
func (m *maker) node(indent, depth int, inLine bool) {
	kind := m.Intn(10)
	if depth == 0 {
		kind = 9
	}
	pad := strings.Repeat(" ", indent)
	switch {
	case kind < 4:
		if inLine {
			m.text.WriteString(m.properties() + m.comment() + "\n" + pad)
		}
		for index := range 1 + m.Intn(4) {
			if index > 0 {
				m.text.WriteString(pad)
			}
			m.text.WriteString(m.key() + m.pick(":", ":", ":", ":", " :") + " ")
			m.node(indent+1+m.Intn(3), depth-1, true)
		}
	case kind < 6:
		if inLine {
			m.text.WriteString(m.properties() + m.comment() + "\n" + pad)
		}
		for index := range 1 + m.Intn(4) {
			if index > 0 {
				m.text.WriteString(pad)
			}
			m.text.WriteString("- ")
			if m.Intn(3) == 0 && depth > 1 {
				// A mapping or a list that begins on the item's own line.
				m.node(indent+2, depth-1, false)
			} else {
				m.node(indent+1+m.Intn(3), depth-1, true)
			}
		}
	case kind == 6:
		m.text.WriteString(m.properties())
		m.flow(depth)
		m.text.WriteString(m.comment() + "\n")
	case kind == 7 && inLine:
		m.block(indent)
	default:
		m.scalar(indent)
		m.text.WriteString(m.comment() + "\n")
	}
}

func (m *maker) key() string {
	switch m.Intn(14) {
	case 0:
		return "<<"
	case 1:
		return m.pick(words[1:]...)
	case 2:
		return "'" + m.pick("a b", "it''s", "x: y", "#", "") + "'"
	case 3:
		return strconv.Quote(m.pick("a b", "é", "x\ny", "\\", "1"))
	case 4:
		if len(m.anchors) > 0 {
			return "*" + m.pick(m.anchors...) + " "
		}
	case 5:
		return "? " + m.pick("a", "b c", "[d]") + "\n"
	}
	return m.pick("a", "b", "c", "name", "kind", "key with space", "x-y", "on", "y", "1", "1.5", "é", "a/b", "a.b", "{{ t }}")
}

func (m *maker) plain() string {
	return m.pick("a", "some text", "x: y", "12", "1.5", "yes", "no", "null", "~", "", "2001-01-01", "12:30", "0o17", "017", "0x1F", "1_000", "a#b", "a #b", "-", "- a", "nginx:1.25", "http://a/b", "é", "{{ x }}", "100m", "1e3", "<<", "=", ".inf", "a, b", "[x", "x]", "*y", "&z", "'q", "%p", "@r", "a:b", "!v")
}

func (m *maker) scalar(indent int) {
	pad := strings.Repeat(" ", indent)
	switch m.Intn(12) {
	case 0:
		m.text.WriteString(m.properties() + "'" + m.pick("a", "it''s", "x\n"+pad+"y", "a\n\n"+pad+"b", " s ", "", "#", "\\n", "12") + "'")
	case 1:
		m.text.WriteString(m.properties() + "\"" + m.pick("a", "\\n", "\\u00e9", "\\x41 \\t", "x\n"+pad+"y", "x\\\n"+pad+"  y", "", "\\\"", "😀", "\\U0001F600", "a\\ \n"+pad+"b", "12", "\\/", "\\z") + "\"")
	case 2:
		m.text.WriteString(m.properties() + m.pick("several words", "first") + "\n" + pad + m.pick("second line", "12", "- x", "# c", "k: v", "'q'") + m.pick("", "\n"+pad+"third", "\n\n"+pad+"after blank"))
	case 3:
		if len(m.anchors) > 0 {
			m.text.WriteString("*" + m.pick(m.anchors...))
			return
		}
		m.text.WriteString("*missing")
	default:
		m.text.WriteString(m.properties() + m.plain())
	}
}

func (m *maker) block(indent int) {
	width := indent + m.Intn(3)
	m.text.WriteString(m.properties() + m.pick("|", ">"))
	if m.Intn(6) == 0 {
		m.text.WriteString(strconv.Itoa(1 + m.Intn(4)))
	}
	m.text.WriteString(m.pick("", "", "-", "+") + m.comment() + "\n")
	for range m.Intn(5) {
		line := m.pick("text", "more text", "# no comment", "- x", "  deeper", "", "", "k: v", "   ", "\ttab", "é", "---x", "trailing ")
		if line != "" || m.Intn(2) == 0 {
			line = strings.Repeat(" ", width) + line
		}
		m.text.WriteString(line + "\n")
	}
}

func (m *maker) flow(depth int) {
	space := func() string { return m.pick("", "", " ", "\n  ", " # c\n ") }
	if m.Intn(2) == 0 {
		m.text.WriteString("[" + space())
		for range m.Intn(4) {
			m.flowItem(depth)
			m.text.WriteString(space() + "," + m.pick(" ", " ", "", "\n "))
		}
		if m.Intn(2) == 0 {
			m.flowItem(depth)
		}
		m.text.WriteString("]")
		return
	}
	m.text.WriteString("{" + space())
	for range m.Intn(4) {
		m.text.WriteString(m.pick("a", "b", "'c'", "\"d\"", "e f", "? g", "1", "<<", "yes"))
		m.text.WriteString(m.pick(": ", ": ", ": ", ":", " : ", ""))
		m.flowItem(depth)
		m.text.WriteString(space() + "," + m.pick(" ", " ", "", "\n "))
	}
	m.text.WriteString(m.pick("}", "}", "}", "", "x: 1}"))
}

func (m *maker) flowItem(depth int) {
	if depth > 1 && m.Intn(3) == 0 {
		m.flow(depth - 1)
		return
	}
	m.text.WriteString(m.properties())
	m.text.WriteString(m.pick("a", "b c", "12", "1.5", "'q r'", "\"s\"", "x: y", "null", "", "yes", "http://a:80/b", "a:b", "-1", "- x", "?", "*x0", "*x1", "k: [v]"))
}

// mutate breaks a text a little.
func mutate(random *rand.Rand, text string) string {
	characters := []rune(text)
	extra := []rune(" \n\t:-#,[]{}&*!|>'\"%@`?ab1~.\\\r\u0085")
	for range 1 + random.Intn(3) {
		if len(characters) == 0 {
			break
		}
		at := random.Intn(len(characters))
		switch random.Intn(4) {
		case 0:
			characters = append(characters[:at:at], characters[at+1:]...)
		case 1:
			characters = append(characters[:at:at], append([]rune{extra[random.Intn(len(extra))]}, characters[at:]...)...)
		case 2:
			characters = append([]rune{}, characters...)
			characters[at] = extra[random.Intn(len(extra))]
		case 3:
			end := at + random.Intn(len(characters)-at)
			characters = append(characters[:at:at], characters[end:]...)
		}
	}
	return fmt.Sprint(string(characters))
}
