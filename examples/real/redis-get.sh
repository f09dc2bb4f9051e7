#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fills a redis server with 400,000 keys and has redis-benchmark read them in random order, over a socket in
# a folder of its own. Prints how many were found; the rate goes to stderr.
# Debian packages: redis-server, redis-tools.
set -eu
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server" || :; wait "$server" || :; }; rm -rf "$dir"' EXIT

redis-server --port 0 --unixsocket "$dir/socket" --dir "$dir" --save '' --appendonly no \
    --loglevel warning --logfile "$dir/log" &
server=$!
tries=0
until redis-cli -s "$dir/socket" ping >"$dir/ping" 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 500 ]; then
        echo "redis-get.sh: the server does not answer:" >&2
        cat "$dir/log" "$dir/ping" >&2
        exit 1
    fi
    sleep 0.01
done

redis-cli -s "$dir/socket" eval "
    for i = 0, 399999 do
        redis.call('SET', string.format('key:%012d', i), string.rep(tostring(i % 10), 200))
    end
    return redis.call('DBSIZE')" 0
redis-benchmark -s "$dir/socket" -t get -r 400000 -n 400000 -P 16 -q >&2
redis-cli -s "$dir/socket" info stats | tr -d '\r' | grep -E '^keyspace_(hits|misses):'
