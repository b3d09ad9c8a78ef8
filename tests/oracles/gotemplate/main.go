// Command oracle answers template cases with the original libraries, one JSON object a line:
//
//	{"profile", "name", "template", "data", "numbers", "missing"}  ->  {"output", "error"}
//
// data is a JSON text; numbers says how its whole numbers arrive (float, int64 or int). Formwork's tests need the
// recorded answers only; a developer re-runs this program to record new ones:
//
//	go run . answer < cases.jsonl > answers.jsonl
//	go run . bench TEMPLATE DATA [PROFILE]
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"text/template"

	sprig2 "github.com/Masterminds/sprig"
	sprig3 "github.com/Masterminds/sprig/v3"
)

type request struct {
	Profile  string `json:"profile"`
	Name     string `json:"name"`
	Template string `json:"template"`
	Data     string `json:"data"`
	Numbers  string `json:"numbers"`
	Missing  string `json:"missing"`
}

type response struct {
	Output string `json:"output"`
	Error  string `json:"error"`
}

func functions(profile string) template.FuncMap {
	switch profile {
	case "sprig-2.22":
		return sprig2.TxtFuncMap()
	case "sprig-3.2":
		return sprig3.TxtFuncMap()
	case "interoperator":
		return interoperator(sprig3.TxtFuncMap())
	case "helm":
		return helm(sprig3.TxtFuncMap())
	}
	return template.FuncMap{}
}

// whole turns numbers that are whole into integers.
func whole(value any, convert func(json.Number) any) any {
	switch value := value.(type) {
	case json.Number:
		return convert(value)
	case map[string]any:
		for key, element := range value {
			value[key] = whole(element, convert)
		}
		return value
	case []any:
		for at, element := range value {
			value[at] = whole(element, convert)
		}
		return value
	}
	return value
}

func decode(text, numbers string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if numbers != "float" && numbers != "" {
		decoder.UseNumber()
	}
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	convert := func(number json.Number) any {
		if integer, err := number.Int64(); err == nil {
			if numbers == "int64" {
				return integer
			}
			return int(integer)
		}
		float, _ := number.Float64()
		return float
	}
	return whole(value, convert), nil
}

func parse(asked *request) (*template.Template, error) {
	made := template.New(asked.Name)
	made.Funcs(functions(asked.Profile))
	if asked.Profile == "helm" {
		made.Funcs(rendering(made, map[string]int{}))
	}
	if asked.Missing != "" {
		made.Option("missingkey=" + asked.Missing)
	}
	return made.Parse(asked.Template)
}

func answer(asked *request) (given response) {
	defer func() {
		if why := recover(); why != nil {
			given.Error = fmt.Sprintf("PANIC %v", why)
		}
	}()
	data, err := decode(asked.Data, asked.Numbers)
	if err != nil {
		return response{Error: err.Error()}
	}
	made, err := parse(asked)
	if err != nil {
		return response{Error: err.Error()}
	}
	var out bytes.Buffer
	err = made.Execute(&out, data)
	given.Output = strings.ToValidUTF8(out.String(), "\ufffd")
	if err != nil {
		given.Error = err.Error()
	}
	return given
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		bench(os.Args[2:])
		return
	}
	// A value that contains itself ends the process when it is printed: soon, and with all answers before it written.
	debug.SetMaxStack(128 << 20)
	decoder := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var asked request
		if err := decoder.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		encoder.Encode(answer(&asked))
	}
}
