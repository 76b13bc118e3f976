"""redis-py: takes numbers of `order` as it is told by lines of its input.

Arguments: host, port, version of RESP, password or "-", file of a certificate authority or "-".
"""

import sys

import redis

host, port, protocol, password, authority = sys.argv[1:6]
options = {}
if password != "-":
    options.update(password=password)
if authority != "-":
    options.update(ssl=True, ssl_ca_certs=authority)
client = redis.Redis(host=host, port=int(port), protocol=int(protocol), decode_responses=True, **options)

for line in sys.stdin:
    word, _, count = line.strip().partition(" ")
    try:
        if word == "one":
            print(client.incr("order"))
        elif word == "pipeline":
            pipe = client.pipeline(transaction=False)
            for _ in range(int(count)):
                pipe.incr("order")
            print("\n".join(map(str, pipe.execute())))
        elif word == "transaction":
            pipe = client.pipeline()
            for _ in range(int(count)):
                pipe.incr("order")
            print("\n".join(map(str, pipe.execute())))
    except redis.RedisError as error:
        print("!", type(error).__name__, str(error).replace("\n", " "))
    print(".", flush=True)
