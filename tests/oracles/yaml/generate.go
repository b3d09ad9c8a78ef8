package main

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
)

// Pieces that mean something to one YAML or another, alone or within a text.
var words = []string{
	"", "~", "null", "Null", "NULL", "nULL", "true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "yes", "Yes", "YES", "yEs",
	"no", "No", "NO", "nO", "on", "On", "ON", "oN", "off", "Off", "OFF", "y", "Y", "n", "N", "t", "f", "T", "F", "o", "O",
	".inf", ".Inf", ".INF", "+.inf", "-.inf", "-.Inf", "inf", "Inf", "NaN", "nan", ".nan", ".NaN", ".NAN", "-.nan", "Infinity",
	"<<", "=", "<", ">", "|", "&", "*", "!", "%", "@", "`", "?", ":", "-", "#", ",", "[", "]", "{", "}", "'", "\"", "\\", "/",
	"0", "-0", "+0", "1", "+1", "-1", "007", "017", "08", "09", "0o7", "0o17", "0o8", "0O7", "0x1F", "0X1f", "0x", "0xg", "0b1", "0B1", "0b2",
	"0b", "-0b1", "+0b1", "-0b+1", "-0b-1", "0b-1", "0b+1", "0b_1", "1_000", "_1", "1_", "1__0", "0_7", "0x_1", "-0x1F", "+0o17", "-017", "--1", "+-1", "-", "+",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
	"18446744073709551616", "+18446744073709551615", "+9223372036854775808", "0xffffffffffffffff", "99999999999999999999",
	"0b1111111111111111111111111111111111111111111111111111111111111111", "0777777777777777777777", "01777777777777777777777",
	".5", "-.5", "+.5", "5.", "1.", "-1.", ".", "..", "...", "....", "1.5", "1.5.5", "1e3", "1E3", "1e+3", "1e-3", "1.e3", ".e3", ".5e3", "1e", "e1", "1e400", "-1e400", "1e-400",
	"._5", ".5_0", "1_0.5", "1.5_0", "1e1_0", "1_e3", "0x1p-2", "0x1.8p1", ".1p3", "1p3", "0.1e+", "1.0e+3", "+1.5e-3", "685.230_15e+03", "685_230.15",
	"12:30", "12:30:45", "1:2", "1:60", "1:59", "1:5:9", "1:5.5", "1:5._", "190:20:30.15", "-1:30", "+1:30", "0:1", "1_0:30", "1:2:", ":1", "1:", "12:30:", "1::2",
	"2001-01-01", "2001-1-1", "2001-13-01", "2001-02-29", "2000-02-29", "1900-02-29", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5",
	"2001-12-14 21:59:43", "2001-12-14T21:59:43Z", "2001-12-14T21:59:43z", "2001-12-14T21:59:43", "2001-12-14  1:2:3", "2001-12-14 1:2:3,5", "2001-12-14 24:00:00",
	"2001-12-14T21:59:60Z", "2001-12-14T21:59:43+24:60", "2001-12-14T21:59:43+25:00", "2001-12-14T1:2:3-05:00", "2001-12-14 21:59", "20011-12-14", "201-12-14", "2001-1-32", "2001-001-01",
	"2001-12-14 21:59:43.", "2001-12-14 21:59:43.123456789012", "2001-12-14 21:59:43 ", "2001-12-14\t21:59:43", "2001-12-14T21:59:43 Z", "0000-01-01", "0000-00-00",
	"---", "--- a", "---a", "-- -", "--", "-a", "- a", "-\ta", "?a", "? a", ":a", ": a", "a:", "a: b", "a :b", "a:b", "a : b", "a::b", "a#b", "a #b", "a# b", "#a", "a #", "a\t#b", "a\t: b", "a:\tb",
	"key: value # comment", "[a", "a]", "a, b", "{a: b}", "${VAR}", "$(VAR)", "{{ .Values.x }}", "%YAML", "!tag x", "&anchor", "*alias", "@at", "`tick", "'quoted'", "\"quoted\"", "it's", "say \"hi\"",
	" a", "a ", "  a", "a  ", " ", "  ", "a  b", "\ta", "a\t", "\t", "a\tb", "\n", "\n\n", "\n\n\n", "a\n", "a\n\n", "\na", "\n\na", "a\nb", "a\n\nb", "a\n b", "a \nb", "a\n  b\n", " a\nb", "  a\n b\n", "\n a", "a\n ", "a\n\n ", "a \n", "a\n \n", "a\n\tb", "\ta\nb",
	"a\rb", "a\r\nb", "\r", "\r\n", "a\r", "\x00", "\x01", "\a", "\b", "\v", "\f", "\x1b", "\x7f", "a\x7fb", "\u0080", "\u0085", "a\u0085b", "a\u0085", "\u009f", "\u00a0", "a\u00a0b", "é", "naïve café", "ß", "日本語", "Ω≈ç", "\u2028", "a\u2028b", "\u2029", "a\u2029 b", "a \u2028b", "a\u2028\nb", "\u2028a", "a\u2028", "a\nb\u2028", "a\nb\u2028c\n", "'\u2028'",
	"\ud7ff", "\ue000", "\ufeff", "\ufeffabc", "a\ufeffb", "\ufffd", "\ufffe", "\uffff", "😀", "a😀b", "\U0010ffff", "👩‍👩‍👧", "e\u0301", "\u200b", "\u202e",
	"100m", "1Gi", "0.5", "v1", "v1.10", "1.10", "1.2.3", "nginx:1.25", "http://a.b/c?d=e&f#g", "user@host", "a=b", "-Xmx512m", "--flag", "--flag=x y", "<none>", "<no value>", "*/5 * * * *", "@hourly", "50%", "%d", "~/.ssh", "C:\\x", "a\\nb", "key=value", "x|y", "a>b", "!important", "null ", " null", "true ", "yes!", "no,", "1 2", "1,000", "1;2",
}

var fragments = []string{
	"a", "b", "ab", "the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "0", "1", "12", "3.5", "yes", "no", "null", "~", "x-y", "a_b", "é", "日本", "ß",
	" ", " ", " ", " ", " ", "  ", "\n", "\n", "\t", ":", ": ", " #", "#", "- ", "-", "'", "\"", "\\", ",", "[", "]", "{", "}", "&", "*", "!", "|", ">", "%", "@", "`", "?", "? ", "=", "<<", "/", ".", "...", "---",
	"😀", "\u2028", "\u0085", "\u00a0", "\ufeff", "\r", "\x01", "\x1b", "$(A)", "${B}", "{{ c }}", "http://example.com/path?query=1",
}

func curatedStrings() []string {
	list := append([]string{}, words...)
	for _, word := range []string{"a", "é", "😀", "'", "\"", "a:", "yes", "\u2028"} {
		for _, length := range []int{70, 76, 77, 78, 79, 80, 81, 82, 90, 126, 127, 128, 129, 170} {
			list = append(list, strings.Repeat(word, length))
			if length < 129 {
				list = append(list, strings.Repeat("x", length)+" "+word+" tail of it")
			}
		}
	}
	sentence := "The quick brown fox jumps over the lazy dog and then some more words follow until the line is long enough to be folded twice at least."
	list = append(list, sentence, sentence+" ", " "+sentence, "'"+sentence, "\""+sentence+"\t", sentence+": "+sentence, "- "+sentence, sentence+"\n"+sentence,
		strings.ReplaceAll(sentence, " ", "  "), "\t"+strings.ReplaceAll(sentence, " ", "  "), strings.ReplaceAll(sentence, " ", " 'quoted' "),
		"😀 "+sentence, strings.ReplaceAll(sentence, " ", " 😀 "), strings.ReplaceAll(sentence, " ", "\u00a0"), strings.ReplaceAll(sentence, " ", " é "), strings.ReplaceAll("\u2028 "+sentence, " ", " é "),
		strings.Repeat("k", 1021), strings.Repeat("k", 1022), strings.Repeat("k", 1023), strings.Repeat("é", 1022), strings.Repeat("é", 1023), strings.Repeat("\n", 511), strings.Repeat("\n", 512),
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "#!/bin/sh\nset -e\n\nif true; then\n\techo hi\nfi\n", "{\n  \"a\": 1\n}", "line one\n  indented\nline three\n\n\n")
	return list
}

func randomString(random *rand.Rand) string {
	var text strings.Builder
	pick := func(list []string) string { return list[random.Intn(len(list))] }
	switch random.Intn(9) {
	case 8:
		// Long enough to fold once it is quoted and escaped.
		text.WriteString(pick([]string{"'", "\"", "[", "a: ", "\t", "é", "- "}))
		for text.Len() < 30+random.Intn(60) {
			text.WriteString(pick([]string{"'", "\"", "\\", "a", "bc", "é", "😀", " ", " ", " ", "  "}))
		}
	case 0:
		// A word with something before or after.
		text.WriteString(pick(fragments) + pick(words))
	case 1:
		text.WriteString(pick(words) + pick(fragments))
	case 2:
		// Long enough to fold.
		for text.Len() < 60+random.Intn(160) {
			text.WriteString(pick(fragments[:24]))
			if random.Intn(8) > 0 {
				text.WriteString(" ")
			}
			if random.Intn(12) == 0 {
				text.WriteString(pick(fragments))
			}
		}
	case 3:
		// Like a number or a time.
		for range 1 + random.Intn(10) {
			text.WriteByte("0123456789012345-+:._eExobTZ "[random.Intn(29)])
		}
	case 4:
		// Lines.
		for range 1 + random.Intn(5) {
			text.WriteString(strings.Repeat(" ", max(0, random.Intn(6)-3)) + pick(words) + pick([]string{"\n", "\n", "\n\n", " \n", ""}))
		}
	default:
		for range 1 + random.Intn(8) {
			text.WriteString(pick(fragments))
		}
	}
	return text.String()
}

func curatedStructures() []any {
	type m = map[string]any
	type l = []any
	return []any{
		nil, true, false, 0, -1, "a", m{}, l{}, l{nil}, m{"a": nil}, m{"a": m{}}, m{"a": l{}}, l{m{}}, l{l{}}, l{l{l{}}}, l{l{1, 2}, l{3}},
		m{"": 1, "_": 2, "1": 3, "A1": 4, "B": 5, "a2": 6, "a10": 7, "b": 8, "é": 9},
		m{"a": l{m{"b": 1, "c": l{1, m{"d": 2}}}, "x"}}, l{m{"a": 1, "b": l{1}}, m{"a": m{"b": m{"c": nil}}}},
		m{"a\nb": l{1, 2}, "c\nd": m{"e": 1}, strings.Repeat("k", 129): l{l{1}}, strings.Repeat("j", 130): m{"x": m{"y": l{m{}}}}},
		m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "x", "labels": m{"app.kubernetes.io/name": "x", "on": "yes"}}, "data": m{"script": "#!/bin/sh\necho hi\n", "n": "1"}},
		m{"i": math.MaxInt64, "j": math.MinInt64, "u": uint64(math.MaxUint64), "f": 1.5, "g": 1e21, "h": 1e-7, "z": -0.0},
		m{"a1": 1, "a01": 2, "a001": 3, "a10": 4, "a010": 5, "a1-": 7, "a-1": 8, "a_1": 9, "a.1": 10, "10": 12, "9": 13, "٣": 14, "٢0": 15, "ä": 16, "z": 17, "Z": 18, "1-": 20, "10-": 21, "0": 22, "00": 23, "": 24, "日本": 25, "日": 26, "a\u0301": 27, "\u0301": 28, "ⅷ": 29, "²": 30, "a²": 31, "a2": 32, "Ⓐ": 33},
		l{l{l{"deep", m{"k": l{"v", l{"w"}}}}}}, m{"a": l{"multi\nline", "  lead\n", "\n"}, "b": m{"c": "x\ny\n\n"}},
		m{"html": "<a href=\"x\">&</a>", "sep": "a\u2028b\u2029c", "ctl": "\x01\x1f\t\r\b\f", "slash": "/\\"},
	}
}

var keys = []string{"a", "b", "c", "name", "kind", "metadata", "spec", "app.kubernetes.io/name", "on", "y", "1", "10", "2", "a1", "a10", "a2", "é", "A", "Z", "_", "-", "x y", "", "a:", "#", "multi\nline", "'", "<<", "null", "1.5", "2001-01-01", "{{ k }}"}

func randomStructure(random *rand.Rand, depth int) any {
	if depth == 0 || random.Intn(5) == 0 {
		switch random.Intn(9) {
		case 0:
			return nil
		case 1:
			return random.Intn(2) == 0
		case 2:
			return random.Int63n(1<<uint(1+random.Intn(62))) - 50
		case 3:
			return math.Round(random.NormFloat64()*1e5) / 1000
		case 4:
			return words[random.Intn(len(words))]
		default:
			return randomString(random)
		}
	}
	if random.Intn(5) < 2 {
		list := []any{}
		for range random.Intn(4) {
			list = append(list, randomStructure(random, depth-1))
		}
		return list
	}
	mapping := map[string]any{}
	for range random.Intn(6) {
		key := keys[random.Intn(len(keys))]
		switch random.Intn(12) {
		case 0:
			key = randomString(random)
		case 1:
			key = fmt.Sprintf("%s%d", key, random.Intn(120))
		}
		mapping[key] = randomStructure(random, depth-1)
	}
	return mapping
}
