// The originals' answers for the crate `yaml`: what sigs.k8s.io/yaml writes and reads, as data.
//
//	go run . record ../../../yaml/tests/data    write the recorded corpus (fixed seeds: twice the same)
//	go run . strings SEED COUNT                 texts and how Marshal writes them, as JSON lines
//	go run . structures SEED COUNT              values and how Marshal writes them
//	go run . documents SEED COUNT               documents and how they are read
//	go run . marshal < values.jsonl             the answer for values of your own
//	go run . read < documents.jsonl             the answer for documents (JSON strings) of your own
//	go run . bench                              the speed of the original on the workloads of yaml/benches
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// StringCase is a text and what becomes of it as a value, in a nested list, and as a key.
type StringCase struct {
	Text  string  `json:"text"`
	Value *string `json:"value,omitempty"`
	Key   *string `json:"key,omitempty"`
	Root  *string `json:"root,omitempty"`
	// Refused is Marshal's error, when it has one for any of the three.
	Refused string `json:"refused,omitempty"`
}

// StructureCase is a value, and how it is written.
type StructureCase struct {
	Value   json.RawMessage `json:"value"`
	YAML    string          `json:"yaml"`
	Refused string          `json:"refused,omitempty"`
	// JSON and Indented are encoding/json's own texts.
	JSON     string `json:"json"`
	Indented string `json:"indented,omitempty"`
}

// DocumentCase is a text and how it is read: JSON, or an error.
type DocumentCase struct {
	Text  string  `json:"text"`
	JSON  *string `json:"json,omitempty"`
	Error string  `json:"error,omitempty"`
	// Duplicate says that only the strict reader refuses it.
	Duplicate bool `json:"duplicate,omitempty"`
	// Several says that there are more documents; JSON is the first.
	Several bool `json:"several,omitempty"`
}

// FloatCase is a float by its bits and the texts Go has for it.
type FloatCase struct {
	Bits string `json:"bits"`
	JSON string `json:"json"`
	YAML string `json:"yaml"`
	Go   string `json:"go"`
}

func stringCase(text string) StringCase {
	result := StringCase{Text: text}
	marshal := func(value any) *string {
		out, err := yaml.Marshal(value)
		if err != nil {
			result.Refused = err.Error()
			return nil
		}
		written := string(out)
		return &written
	}
	result.Value = marshal(map[string]any{"k": text, "l": []any{[]any{text}}})
	result.Key = marshal(map[string]any{text: map[string]any{text: []any{1}}})
	result.Root = marshal(text)
	return result
}

func structureCase(value any, indented bool) StructureCase {
	plain, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	result := StructureCase{Value: plain, JSON: string(plain)}
	if indented {
		pretty, _ := json.MarshalIndent(value, "", "  ")
		result.Indented = string(pretty)
	}
	out, err := yaml.Marshal(value)
	if err != nil {
		result.Refused = err.Error()
	}
	result.YAML = string(out)
	return result
}

func documentCase(text string) (result DocumentCase) {
	result.Text = text
	defer func() {
		if problem := recover(); problem != nil {
			result = DocumentCase{Text: text, Error: fmt.Sprint("panic: ", problem)}
		}
	}()
	out, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		result.Error = err.Error()
	} else {
		written := string(out)
		result.JSON = &written
		if _, err := yaml.YAMLToJSONStrict([]byte(text)); err != nil {
			result.Duplicate = true
		}
	}
	decoder := goyaml.NewDecoder(bytes.NewReader([]byte(text)))
	for count := 0; ; count++ {
		var value any
		err := decoder.Decode(&value)
		if err == io.EOF {
			break
		}
		// What follows the first document may be no YAML at all.
		if count > 0 {
			result.Several = true
			break
		}
		if err != nil {
			break
		}
	}
	return result
}

func floatCase(value float64) FloatCase {
	plain, _ := json.Marshal(value)
	out, err := yaml.Marshal(map[string]any{"f": value})
	if err != nil {
		panic(err)
	}
	return FloatCase{
		Bits: strconv.FormatUint(math.Float64bits(value), 16),
		JSON: string(plain),
		YAML: string(out),
		Go:   strconv.FormatFloat(value, 'g', -1, 64),
	}
}

func writeLines[T any](out io.Writer, cases []T) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, one := range cases {
		if err := encoder.Encode(one); err != nil {
			panic(err)
		}
	}
}

func record(folder string) {
	write := func(name string, fill func(io.Writer)) {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			panic(err)
		}
		defer file.Close()
		fill(file)
	}
	write("strings.jsonl", func(out io.Writer) { writeLines(out, stringCases(1, 2200)) })
	write("structures.jsonl", func(out io.Writer) { writeLines(out, structureCases(2, 420)) })
	write("documents.jsonl", func(out io.Writer) { writeLines(out, documentCases(3, 3600)) })
	write("floats.jsonl", func(out io.Writer) { writeLines(out, floatCases(4, 600)) })
}

func stringCases(seed int64, count int) (cases []StringCase) {
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			cases = append(cases, stringCase(text))
		}
	}
	for _, text := range curatedStrings() {
		add(text)
	}
	random := rand.New(rand.NewSource(seed))
	for len(cases) < count {
		add(randomString(random))
	}
	return cases
}

func structureCases(seed int64, count int) (cases []StructureCase) {
	// The natural order has cycles (a1b < a2 < a10 < a1b): then the output depends on the random order in which Go
	// hands out keys, and there is nothing to compare with.
	add := func(value any, indented bool) {
		one := structureCase(value, indented)
		for range 8 {
			if again, _ := yaml.Marshal(value); one.Refused == "" && string(again) != one.YAML {
				return
			}
		}
		cases = append(cases, one)
	}
	for _, value := range curatedStructures() {
		add(value, true)
	}
	random := rand.New(rand.NewSource(seed))
	for index := 0; len(cases) < count; index++ {
		add(randomStructure(random, 1+random.Intn(5)), index%5 == 0)
	}
	return cases
}

func documentCases(seed int64, count int) (cases []DocumentCase) {
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			cases = append(cases, documentCase(text))
		}
	}
	for _, text := range curatedDocuments() {
		add(text)
	}
	random := rand.New(rand.NewSource(seed))
	for len(cases) < count {
		text := randomDocument(random)
		if random.Intn(3) == 0 {
			text = mutate(random, text)
		}
		add(text)
	}
	return cases
}

func floatCases(seed int64, count int) (cases []FloatCase) {
	for _, value := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e20, 1e21, 1e22, 1e-6, 1e-7, 9.99e-7, 123456.5,
		1234567.5, 1e5, 1e6, 1e15, 1e17, 9007199254740993, 9.3e18, 1.8e19, 1.9e19, -9.3e18, 9223372036854775807,
		-9223372036854775808, 18446744073709551615, 5e-324, math.MaxFloat64, 0.00001, 0.0001, 0.00012345, 100000.5,
		1e300, 2.5, 3.14159, 1e-300, 1.7976931348623157e308} {
		cases = append(cases, floatCase(value))
	}
	random := rand.New(rand.NewSource(seed))
	for len(cases) < count {
		value := math.Float64frombits(random.Uint64())
		switch random.Intn(4) {
		case 0:
			value = math.Round(random.NormFloat64()*1e6) / 1000
		case 1:
			value = random.NormFloat64() * math.Pow(10, float64(random.Intn(44)-22))
		case 2:
			value = math.Trunc(random.NormFloat64() * math.Pow(10, float64(random.Intn(24))))
		}
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			cases = append(cases, floatCase(value))
		}
	}
	return cases
}

func main() {
	arguments := os.Args[1:]
	number := func(index int, otherwise int) int {
		if index < len(arguments) {
			if value, err := strconv.Atoi(arguments[index]); err == nil {
				return value
			}
		}
		return otherwise
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if len(arguments) == 0 {
		fmt.Fprintln(os.Stderr, "usage: oracle record FOLDER | strings|structures|documents SEED COUNT | marshal | read | bench")
		os.Exit(2)
	}
	switch arguments[0] {
	case "record":
		record(arguments[1])
	case "strings":
		writeLines(out, stringCases(int64(number(1, 1)), number(2, 1000)))
	case "structures":
		writeLines(out, structureCases(int64(number(1, 1)), number(2, 1000)))
	case "documents":
		writeLines(out, documentCases(int64(number(1, 1)), number(2, 1000)))
	case "floats":
		writeLines(out, floatCases(int64(number(1, 1)), number(2, 1000)))
	case "marshal":
		eachLine(func(line []byte) {
			var value any
			decoder := json.NewDecoder(bytes.NewReader(line))
			decoder.UseNumber()
			if err := decoder.Decode(&value); err != nil {
				panic(err)
			}
			writeLines(out, []StructureCase{structureCase(value, true)})
		})
	case "read":
		eachLine(func(line []byte) {
			var text string
			if err := json.Unmarshal(line, &text); err != nil {
				panic(err)
			}
			writeLines(out, []DocumentCase{documentCase(text)})
		})
	case "bench":
		bench(out)
	}
}

func eachLine(do func([]byte)) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		do(lines.Bytes())
	}
}
