module formwork.example/oracles/dm

go 1.24

require github.com/kubernetes/deployment-manager v1.2.1

require (
	github.com/ghodss/yaml v1.0.0 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
)

replace github.com/kubernetes/deployment-manager => helm.sh/helm v1.2.1
