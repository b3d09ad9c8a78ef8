// The dm client of Deployment Manager v1.2.1, unmodified, to be built for tests that run it against our server:
//
//	go build -o dm github.com/kubernetes/deployment-manager/dm
//
// Its module is published as helm.sh/helm v1.2.1, which go.mod puts in the place of the name its own imports have.

//go:build tools

package dm

import _ "github.com/kubernetes/deployment-manager/dm"
