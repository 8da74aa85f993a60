#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# /v1/logs: the last lines in three forms, and those to come.
. "${srcdir:=.}/functions.sh"
requires curl --version
requires python3 --version
token=0123456789abcdef0123456789abcdef
echo "$token" > "$dir/token"
start_guestd --token-file "$dir/token" --debug
auth="Authorization: Bearer $token"
log=$dir/run/guestd.log

request /v1/logs
expect 401

# Every line of the file is an object with a time, a level and a message.
request /nothing -H "$auth"
expect 404
python3 - "$log" <<'END' || fail "$(cat "$log")"
import json, re, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
for j in lines:
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', j['ts']), j
    assert j['level'] in ('error', 'warn', 'info', 'debug') and j['msg'], j
requests = [j for j in lines if j['msg'] == 'request']
assert requests[-1]['method'] == 'GET' and requests[-1]['path'] == '/nothing'
assert requests[-1]['status'] == 404 and requests[-1]['ms'] >= 0
END

# The three forms.
request '/v1/logs?lines=1' -H "$auth"
expect 200 '"source":"guestd"'
expect 200 '"lines":[{"ts":"2'
expect 200 '"path":"/nothing"'
request '/v1/logs?source=guestd&lines=1' -H "$auth" -H 'Accept: text/plain'
expect 200 'debug: request method="GET" path="/v1/logs" status=200 ms='
grep -qi '^content-type: text/plain' "$dir/head" || fail "not text/plain"
[ "$(wc -l < "$dir/body")" = 1 ] || fail "more than a line"
request '/v1/logs?lines=2' -H "$auth" -H 'Accept: application/x-ndjson'
expect 200
[ "$(grep -c '^{"ts":"2' "$dir/body")" = 2 ] || fail "not two objects"
request '/v1/logs?lines=0' -H "$auth"
expect 200 '"lines":[]'

# What has no form.
for query in lines=-1 lines=10001 lines=x since=yesterday since=-1 follow=maybe \
	since=2026-01-31 since=; do
	request "/v1/logs?$query" -H "$auth"
	expect 400 '"code":"invalid"'
done
for source in nothing serial ../../etc/passwd ''; do
	request "/v1/logs?source=$source" -H "$auth"
	expect 404 '"remediation":"there are: guestd'
done

# From a time on; what is not JSON becomes a message.
cat > "$log" <<'END'
{"ts":"2026-01-31T12:00:00.000Z","level":"info","msg":"first"}
{"ts":"2026-01-31T12:00:01.500Z","level":"info","msg":"second"}
not JSON
END
request '/v1/logs?since=2026-01-31T12:00:01Z' -H "$auth"
expect 200 second
expect 200 '{"msg":"not JSON"}'
grep -q first "$dir/body" && fail "too old: $(cat "$dir/body")"
request '/v1/logs?since=2026-01-31T13:00:00%2B01:00' -H "$auth"
expect 200 first
request '/v1/logs?since=1769860801' -H "$auth"
grep -q first "$dir/body" && fail "too old: $(cat "$dir/body")"
expect 200 second
request '/v1/logs?since=1h' -H "$auth"
grep -q second "$dir/body" && fail "too old: $(cat "$dir/body")"
grep -q 1769860801 "$dir/body" && fail "a query was logged"
expect 200 '"path":"/v1/logs"'

# follow OUT CURL-OPTION...: read events in the background.
follow()
{
	out=$1
	shift
	curl -sSN -m 60 -H "$auth" "$@" > "$out" &
	follower=$!
	at_exit "kill $follower 2>/dev/null || :"
}
seen()
{
	grep -q "$2" "$1"
}

# Lines that there are, then those to come, by a ticket as a page would.
request /v1/tickets -H "$auth" -d '{"path":"/v1/logs"}'
expect 201
ticket=$(sed 's/.*"ticket":"\([0-9a-f]*\)".*/\1/' "$dir/body")
curl -sSN -m 60 "$url/v1/logs?follow&lines=1&ticket=$ticket" > "$dir/events" &
follower=$!
at_exit "kill $follower 2>/dev/null || :"
wait_until 20 seen "$dir/events" '"path":"/v1/tickets"'
[ "$(grep -c '^event: log$' "$dir/events")" -le 2 ] || fail "$(cat "$dir/events")"
request /new-line -H "$auth"
wait_until 20 seen "$dir/events" '"path":"/new-line"'

# Into the next file, and past a truncation.
mv "$log" "$log.1"
echo 'after the rename' > "$log"
wait_until 20 seen "$dir/events" '{"msg":"after the rename"}'
truncate -s 0 "$log"
# Seen by now, or the file would look as if it had just grown.
echo 'x' >> "$log"
wait_until 20 seen "$dir/events" '{"msg":"x"}'

# A client that comes again gets what it missed, once.
id=$(sed -n 's/^id: //p' "$dir/events" | tail -1)
kill "$follower"
printf 'missed 1\nmissed 2\n' >> "$log"
mv "$log" "$log.1"
printf 'missed 3\n' > "$log"
follow "$dir/more" -H "Last-Event-ID: $id" "$url/v1/logs?follow=1"
wait_until 20 seen "$dir/more" 'missed 3'
[ "$(grep -o 'missed [0-9]' "$dir/more" | tr '\n' ' ')" = \
	'missed 1 missed 2 missed 3 ' ] || fail "$(cat "$dir/more")"
grep -q '"msg":"x"' "$dir/more" && fail "twice: $(cat "$dir/more")"
request '/v1/logs?follow' -H "$auth" -H 'Last-Event-ID: nonsense'
expect 400

# guestd itself begins a new file in time, and a follower sees all of it.
stop_guestd
wait "$follower" || :
rm "$log.1"
head -c 4194304 /dev/zero | tr '\0' '\n' > "$log"
start_guestd --token-file "$dir/token" --debug
follow "$dir/all" "$url/v1/logs?follow&lines=0"
wait_until 20 test -e "$log.1"
i=0
while [ $i -lt 50 ]; do
	request "/line-$i" -H "$auth"
	i=$((i + 1))
done
wait_until 20 seen "$dir/all" line-49
[ "$(stat -c %s "$log")" -lt 1000000 ] || fail "the log was not begun anew"

# No credential is in it.
grep -qF "$token" "$log" "$log.1" && fail "the token was logged"
grep -q "$ticket" "$log" "$log.1" && fail "the ticket was logged"
grep -q "ticket=" "$log" "$log.1" && fail "a query was logged"
exit 0
