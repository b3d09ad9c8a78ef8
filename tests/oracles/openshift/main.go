// OpenShift's processing library, as a program: what `oc process --local` does between reading and printing.
//
//	go run . process < template.yaml      the List, as JSON
//	go run . record SEED COUNT            generated Templates and what it makes of them, as JSON lines
//	go run . bench FILE…                  nanoseconds for each file, from YAML text to JSON text, as JSON lines
//
// It stands in for `oc` where that is not at hand, and is the peer of `formwork-bench kubernetes`.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strings"
	"testing"
	"time"

	templatev1 "github.com/openshift/api/template/v1"
	"github.com/openshift/library-go/pkg/template/generator"
	"github.com/openshift/library-go/pkg/template/templateprocessing"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// The form `oc` prints: the members in this order.
type list struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"apiVersion"`
	Metadata   map[string]string `json:"metadata"`
	Items      []json.RawMessage `json:"items"`
}

func process(text []byte) ([]byte, error) {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var template templatev1.Template
	if err := json.Unmarshal(data, &template); err != nil {
		return nil, err
	}
	source := rand.New(rand.NewSource(time.Now().UnixNano()))
	processor := templateprocessing.NewProcessor(map[string]generator.Generator{
		"expression": generator.NewExpressionValueGenerator(source),
	})
	if errs := processor.Process(&template); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	items := make([]json.RawMessage, 0, len(template.Objects))
	for _, object := range template.Objects {
		raw := object.Raw
		if object.Object != nil {
			if raw, err = runtime.Encode(encoder{}, object.Object); err != nil {
				return nil, err
			}
		}
		items = append(items, raw)
	}
	return json.MarshalIndent(list{"List", "v1", map[string]string{}, items}, "", "    ")
}

// Objects are unstructured here, and write themselves.
type encoder struct{}

func (encoder) Encode(object runtime.Object, out io.Writer) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

func (encoder) Identifier() runtime.Identifier { return "oracle" }

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("say process, record or bench"))
	}
	switch os.Args[1] {
	case "process":
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			fail(err)
		}
		out, err := process(text)
		if err != nil {
			fail(err)
		}
		fmt.Println(string(out))
	case "bench":
		for _, path := range os.Args[2:] {
			text, err := os.ReadFile(path)
			if err != nil {
				fail(err)
			}
			result := testing.Benchmark(func(b *testing.B) {
				for range b.N {
					if _, err := process(text); err != nil {
						fail(err)
					}
				}
			})
			nanoseconds := float64(result.T.Nanoseconds()) / float64(result.N)
			fmt.Printf("{\"file\": %q, \"nanoseconds\": %.0f}\n", path, nanoseconds)
		}
	case "record":
		var seed int64
		var count int
		if _, err := fmt.Sscan(strings.Join(os.Args[2:], " "), &seed, &count); err != nil {
			fail(err)
		}
		if err := record(seed, count, os.Stdout); err != nil {
			fail(err)
		}
	default:
		fail(fmt.Errorf("%q is none of process, record and bench", os.Args[1]))
	}
}
