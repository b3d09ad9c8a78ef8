package main

import (
	"fmt"
	"io"
	"testing"

	"sigs.k8s.io/yaml"
)

// Workloads are those of yaml/benches: the same value, built the same way.
func workload(name string) any {
	type m = map[string]any
	type l = []any
	container := func(index int) any {
		return m{
			"name": fmt.Sprintf("container-%d", index), "image": "registry.example.com/team/app:1.25.3", "imagePullPolicy": "IfNotPresent",
			"args":      l{"--port=8080", "--verbose", "yes"},
			"ports":     l{m{"containerPort": int64(8080), "name": "http", "protocol": "TCP"}},
			"env":       l{m{"name": "MODE", "value": "production"}, m{"name": "DEBUG", "value": "false"}, m{"name": "RATIO", "value": "0.5"}},
			"resources": m{"limits": m{"cpu": "500m", "memory": "128Mi"}, "requests": m{"cpu": "250m", "memory": "64Mi"}},
		}
	}
	deployment := func(index int, containers int) any {
		list := l{}
		for one := range containers {
			list = append(list, container(one))
		}
		labels := m{"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": fmt.Sprintf("web-%d", index), "tier": "frontend"}
		return m{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": m{"name": fmt.Sprintf("web-%d", index), "labels": labels, "annotations": m{
				"description": "A deployment whose annotation is long enough that the writer has to fold it at column eighty, as people see it in every cluster.",
				"checksum":    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}},
			"spec": m{"replicas": int64(3), "selector": m{"matchLabels": labels}, "template": m{"metadata": m{"labels": labels}, "spec": m{"containers": list}}},
		}
	}
	switch name {
	case "small":
		return m{"app": "web", "tier": "frontend", "release": "v1.2.3", "ports": l{int64(80), int64(443)}}
	case "deployment":
		return deployment(0, 1)
	default:
		list := l{}
		for index := range 200 {
			list = append(list, deployment(index, 3))
		}
		return m{"apiVersion": "v1", "kind": "List", "items": list}
	}
}

func bench(out io.Writer) {
	for _, name := range []string{"small", "deployment", "list"} {
		value := workload(name)
		text, err := yaml.Marshal(value)
		if err != nil {
			panic(err)
		}
		report := func(what string, result testing.BenchmarkResult) {
			nanoseconds := float64(result.T.Nanoseconds()) / float64(result.N)
			fmt.Fprintf(out, "%-5s %-10s %9d bytes %12.0f ns %8.1f MB/s %8d allocations\n", what, name, len(text), nanoseconds,
				float64(len(text))/nanoseconds*1000, result.AllocsPerOp())
		}
		report("emit", testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := yaml.Marshal(value); err != nil {
					b.Fatal(err)
				}
			}
		}))
		report("load", testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var target any
				if err := yaml.Unmarshal(text, &target); err != nil {
					b.Fatal(err)
				}
			}
		}))
	}
}
