{{ regexFind "(\\pL{1000}|\\pN{1000})" "aaaa" }}
