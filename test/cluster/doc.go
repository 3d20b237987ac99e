// Package cluster tests the server as whole processes: several of them on one PostgreSQL, one NATS and one data folder,
// or one alone on SQLite. It kills, pauses, stops and restarts them, their database and their bus while clients follow
// runs, and looks for what the clients have missed, seen twice or seen out of order. The model is a small server of the
// tests, which answers when it is told to; everything else is real. The tests need Linux.
//
//	model_test.go   the model: what it says stands in the user's message
//	node_test.go    where servers are started
//	client_test.go  what clients send; package viewer follows the runs and compares
//	newer/          a program that plays the next version, with a kind of jobs and a migration that this one does not know
package cluster
