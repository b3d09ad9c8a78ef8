{{ env "PATH" }}
