{{ regexMatch "^(a+)+$" (printf "%s!" (repeat 50000 "a")) }}
