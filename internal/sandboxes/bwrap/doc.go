// Package bwrap is the sandbox provider "bubblewrap": it runs the agent's code in namespaces of its own, without
// network, without capabilities, under an unprivileged user of the host, behind a seccomp filter.
//
// The way of a sandbox: [Provider.Open] chooses the user (identity.go), hands it the writable folders (chown.go), puts
// the options of bwrap together (profile.go, seccomp.go) and starts it inside a fresh cgroup (spawn.go, cgroup.go). Its
// init is a bash that reads the numbers of commands from a pipe (controller.go). [sandbox.Sandbox.Run] writes the
// command into a file that the init sources and reads the output from FIFOs (run.go, stream.go). All that goes on
// inside is observed through the sandbox's own /proc (procs.go), which is also how commands are killed (kill.go) and
// how the watchdog finds what breaks a limit (watchdog.go). The disk's is held by disk.go: it says when the sandbox
// must be stopped and measured (pause.go), by a walk (tree.go, contents.go) and a look at files without a name
// (nameless.go). Where there is no cgroup, memory.go holds the limit of the memory.
package bwrap
