package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"text/template"
	"time"

	"sigs.k8s.io/yaml"
)

// measure prints the least and the middle time of a call in many batches, and what it allocates.
func measure(name string, call func()) {
	const batch = 25
	var times []int64
	for began := time.Now(); time.Since(began) < 1500*time.Millisecond; {
		start := time.Now()
		for range batch {
			call()
		}
		times = append(times, int64(time.Since(start))/batch)
	}
	sort.Slice(times, func(one, other int) bool { return times[one] < times[other] })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range batch {
		call()
	}
	runtime.ReadMemStats(&after)
	allocations := (after.Mallocs - before.Mallocs) / batch
	fmt.Printf("%s\t%d\t%d\t%d\n", name, times[0], times[len(times)/2], allocations)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bench measures parsing and running one template: name, least ns, middle ns, allocations.
func bench(arguments []string) {
	text, err := os.ReadFile(arguments[0])
	must(err)
	raw, err := os.ReadFile(arguments[1])
	must(err)
	profile := "interoperator"
	if len(arguments) > 2 {
		profile = arguments[2]
	}
	var data any
	must(yaml.Unmarshal(raw, &data))
	set := functions(profile)
	fresh := func() (*template.Template, error) {
		made := template.New("t").Funcs(set)
		if profile == "helm" {
			made.Funcs(rendering(made, map[string]int{}))
		}
		return made.Parse(string(text))
	}
	made, err := fresh()
	must(err)
	var out bytes.Buffer
	must(made.Execute(&out, data))
	encoded, err := json.Marshal(data)
	must(err)
	measure("decode", func() { var value any; json.Unmarshal(encoded, &value) })
	measure("exec", func() { out.Reset(); made.Execute(&out, data) })
	measure("parse", func() { fresh() })
}
