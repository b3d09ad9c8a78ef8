package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
)

// Case is a generated Template, as JSON text, and what the library makes of it.
type Case struct {
	Template string          `json:"template"`
	List     json.RawMessage `json:"list,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// Values hold no references (the library would look at them again), and keys do not become one: those are the
// differences that are meant, and have recorded runs of their own.
var (
	names  = []string{"A", "B", "C_1", "VERSION"}
	values = []any{
		"1", "-0", "1.5", "true", "null", "x", "a b", `{"a": 1}`, `[1, "b"]`, `"q"`, "1e3", "0x1F", "", "é\n---\n",
		"<&>", "100", "1.0", "5 ", "True", "\u2028", "$", "}}", "9007199254740991",
	}
	texts = []any{
		"plain", "yes", "on", "0o17", "012", "1_000", "~", "", "-", "a: b", "# x", " lead", "trail ", "2016-01-31",
		"12:30", "line\nbreak", "tab\t", "é", "<b>&", "$(A) $((B))", "${", "$${", "${A-B}", "${}",
	}
	plain = []any{1, 0, -5, 1.5, true, false, nil, 1000000}
)

type object = map[string]any

type random struct{ *rand.Rand }

func (r random) one(of []any) any { return of[r.Intn(len(of))] }

func (r random) name() string { return names[r.Intn(len(names))] }

func (r random) text() string {
	name := r.name()
	if r.Intn(8) == 0 {
		name = "UNDECLARED"
	}
	switch r.Intn(8) {
	case 0, 1:
		return "${" + name + "}"
	case 2:
		return "${{" + name + "}}"
	case 3:
		return "pre-${" + name + "}-${" + r.name() + "}"
	case 4:
		return "$${" + name + "} ${{" + name + "}}"
	default:
		return r.one(texts).(string)
	}
}

func (r random) value(depth int) any {
	switch kind := r.Intn(10); {
	case depth > 3 || kind < 5:
		return r.text()
	case kind < 6:
		return r.one(plain)
	case kind < 8:
		map_ := object{}
		for range r.Intn(4) {
			keys := []any{"a", "b", "key", "k${A}", "z-${C_1}", "10", "9", "y", "on", "${UNDECLARED}"}
			map_[r.one(keys).(string)] = r.value(depth + 1)
		}
		return map_
	default:
		list := []any{}
		for range r.Intn(4) {
			list = append(list, r.value(depth+1))
		}
		return list
	}
}

func (r random) object() object {
	made := object{
		"apiVersion": r.one([]any{"v1", "apps/v1", "${VERSION}"}),
		"kind":       r.one([]any{"ConfigMap", "Role", "Service", "Route", "Deployment", "Custom"}),
	}
	metadata := object{}
	if r.Intn(10) > 0 {
		metadata["name"] = r.text()
	}
	if r.Intn(3) == 0 {
		metadata["namespace"] = r.one([]any{"prod", "${A}", "${{A}}", "x-${UNDECLARED}", "", nil, 5})
	}
	if r.Intn(2) == 0 {
		metadata["labels"] = object{"l": r.one([]any{"x", "${B}"}), "own": "y"}
	}
	if len(metadata) > 0 || r.Intn(2) == 0 {
		made["metadata"] = metadata
	}
	for _, part := range []string{"data", "spec"} {
		if r.Intn(3) > 0 {
			made[part] = r.value(0)
		}
	}
	return made
}

func (r random) template() object {
	parameters := []any{}
	for _, name := range names {
		value := r.one(values)
		if name == "VERSION" {
			value = "v1"
		}
		parameters = append(parameters, object{"name": name, "value": value, "required": r.Intn(8) == 0})
	}
	objects := []any{}
	for range 1 + r.Intn(4) {
		objects = append(objects, r.object())
	}
	made := object{
		"apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": object{"name": "t"},
		"parameters": parameters, "objects": objects,
	}
	if r.Intn(2) == 0 {
		made["labels"] = object{"l": r.text(), "t${A}": r.text()}
	}
	return made
}

// What crashes the library is an error of its own kind, and not recorded.
func attempt(text []byte) (list []byte, err error, crashed bool) {
	defer func() {
		if recover() != nil {
			crashed = true
		}
	}()
	list, err = process(text)
	return list, err, false
}

func record(seed int64, count int, out io.Writer) error {
	r := random{rand.New(rand.NewSource(seed))}
	for range count {
		text, err := json.Marshal(r.template())
		if err != nil {
			return err
		}
		list, err, crashed := attempt(text)
		if crashed {
			continue
		}
		one := Case{Template: string(text), List: list}
		if err != nil {
			one = Case{Template: string(text), Error: err.Error()}
		}
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, string(line)); err != nil {
			return err
		}
	}
	return nil
}
