{{ range until 1000 }}{{ $key := genPrivateKey "ecdsa" }}{{ end }}
