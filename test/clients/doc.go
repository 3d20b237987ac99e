// Package clients drives a running server with the official clients of the LangGraph API. The suites are in the
// clients' own languages, in js and python; clients_test.go starts the server and them, each as a subtest. What they
// need is installed by scripts/clients; a suite can also be run by hand:
//
//	PUDU_URL=http://127.0.0.1:2026 PUDU_SDK=sdk-1.6 node --test test/clients/js/streams.test.mjs
//	cd test/clients/python && PUDU_URL=http://127.0.0.1:2026 ../../../.cache/clients/python/bin/python -m unittest test_runs
package clients
