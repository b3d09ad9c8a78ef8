package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"
)

func toYAML(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}

func fromYAML(text string) map[string]any {
	value := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		value["Error"] = err.Error()
	}
	return value
}

func fromYAMLArray(text string) []any {
	value := []any{}
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		value = []any{err.Error()}
	}
	return value
}

func toTOML(value any) string {
	text := &bytes.Buffer{}
	if err := toml.NewEncoder(text).Encode(value); err != nil {
		return err.Error()
	}
	return text.String()
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

func fromJSON(text string) map[string]any {
	value := map[string]any{}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		value["Error"] = err.Error()
	}
	return value
}

func fromJSONArray(text string) []any {
	value := []any{}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		value = []any{err.Error()}
	}
	return value
}

// interoperator is the function set of the Interoperator's renderer.
func interoperator(set template.FuncMap) template.FuncMap {
	set["b64enc"] = func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	set["b64dec"] = func(text string) (string, error) {
		value, err := base64.StdEncoding.DecodeString(text)
		return string(value), err
	}
	set["unmarshalJSON"] = func(text string) (map[string]any, error) {
		value := map[string]any{}
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("failed to unmarshal %s. %v", text, err)
		}
		return value, nil
	}
	set["marshalJSON"] = func(value map[string]any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	}
	set["toToml"] = toTOML
	set["toYaml"] = toYAML
	set["fromYaml"] = fromYAML
	set["toJson"] = toJSON
	set["fromJson"] = fromJSON
	return set
}

// helm is the function set of Helm's engine, as far as it needs no templates.
func helm(set template.FuncMap) template.FuncMap {
	delete(set, "env")
	delete(set, "expandenv")
	set["toToml"] = toTOML
	set["toYaml"] = toYAML
	set["fromYaml"] = fromYAML
	set["fromYamlArray"] = fromYAMLArray
	set["toJson"] = toJSON
	set["fromJson"] = fromJSON
	set["fromJsonArray"] = fromJSONArray
	set["getHostByName"] = func(string) string { return "" }
	set["lookup"] = func(string, string, string, string) (map[string]any, error) { return map[string]any{}, nil }
	set["required"] = func(message string, value any) (any, error) {
		if value == nil || value == "" {
			return value, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	return set
}

// rendering adds include and tpl, which need the templates around them.
func rendering(made *template.Template, included map[string]int) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			if count, ok := included[name]; ok {
				if count > 1000 {
					return "", fmt.Errorf("rendering template has a nested reference name: %s: unable to execute template", name)
				}
				included[name]++
			} else {
				included[name] = 1
			}
			err := made.ExecuteTemplate(&out, name, data)
			included[name]--
			return out.String(), err
		},
		"tpl": func(text string, data any) (string, error) {
			clone, err := made.Clone()
			if err != nil {
				return "", err
			}
			clone.Funcs(rendering(clone, included))
			clone, err = clone.New(made.Name()).Parse(text)
			if err != nil {
				return "", fmt.Errorf("cannot parse template %q: %w", text, err)
			}
			var out strings.Builder
			if err := clone.Execute(&out, data); err != nil {
				return "", fmt.Errorf("error during tpl function execution for %q: %w", text, err)
			}
			return strings.ReplaceAll(out.String(), "<no value>", ""), nil
		},
	}
}
