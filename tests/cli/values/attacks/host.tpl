[{{ env "PATH" }}{{ expandenv "$HOME$PATH$FORMWORK_SECRET" }}{{ getHostByName "localhost" }}]
