// Package pgtest runs a real PostgreSQL server for tests and for the programs that test: one server per process, in a
// folder of its own that is removed at the end, with every guarantee of durability switched on. It can be killed and
// started again. Whoever uses the server may be killed too: a small watcher then ends the server and removes the
// folder.
//
// The store's tests are its first user: a [Lazy] server, and a database or a schema per test.
package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/pudu-ai/pudu/internal/lib/flock"
	"github.com/pudu-ai/pudu/internal/testkit/addrtest"
)

// User is the server's superuser, and Password what it needs over TCP; the socket asks for none.
const (
	User     = "pudu"
	Password = "pudu test pass/word" //nolint:gosec // of a server that lives as long as a test
)

// startTimeout bounds how long a server may take until it answers, recovery after a crash included.
const startTimeout = 60 * time.Second

// Config says how the server runs. The zero value is a server on a Unix socket.
type Config struct {
	// TCP also listens on an address of this machine, where the password is asked for.
	TCP bool
	// Settings are further lines of postgresql.conf, such as "max_connections = 20".
	Settings []string
}

// Server is a running PostgreSQL. Its methods are for one goroutine at a time, URL for many.
type Server struct {
	dir     string // holds data/, log and the socket
	bin     string // the folder of the server's programs
	host    string // of TCP; empty without
	port    string // of TCP and in the name of the socket
	user    *account
	process *exec.Cmd // nil when the server does not run
	watcher *exec.Cmd
	watched io.WriteCloser // the watcher cleans up when this is closed, by us or by our death
}

// account is whom the server runs as: PostgreSQL refuses root.
type account struct{ uid, gid int }

// Start makes a server and waits until it answers. PostgreSQL is installed with apt-get if it is not there and this is
// root; else the error says how to install it.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s, err := start(ctx, cfg)
	if err != nil {
		if s != nil {
			err = errors.Join(err, s.Stop())
		}
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return s, nil
}

func start(ctx context.Context, cfg Config) (*Server, error) {
	bin, err := programs(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	if s.user, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp(shortTemp(), "pudu-pg-"); err != nil {
		return nil, err
	}
	if s.user != nil {
		if err := os.Chown(s.dir, s.user.uid, s.user.gid); err != nil {
			return s, err
		}
	}
	if err := s.watch(); err != nil { //nolint:contextcheck // it outlives the start
		return s, err
	}
	if err := s.initialize(ctx); err != nil {
		return s, err
	}
	if err := s.configure(cfg); err != nil {
		return s, err
	}
	return s, s.launch(ctx)
}

// shortTemp is where the folder goes: the path of a socket may have a hundred bytes.
func shortTemp() string {
	if dir := os.TempDir(); len(dir) < 40 {
		return dir
	}
	return "/tmp"
}

// programs returns the folder of the newest PostgreSQL.
func programs(ctx context.Context) (string, error) {
	if bin := find(); bin != "" {
		return bin, nil
	}
	const remedy = "install it, for example with: sudo apt-get install postgresql"
	if os.Geteuid() != 0 {
		return "", errors.New("no initdb and postgres in /usr/lib/postgresql/*/bin or $PATH; " + remedy)
	}
	if err := install(ctx); err != nil {
		return "", fmt.Errorf("it is not there, and apt-get could not install it; %s: %w", remedy, err)
	}
	if bin := find(); bin != "" {
		return bin, nil
	}
	return "", errors.New("it was installed, but there is no /usr/lib/postgresql/*/bin/postgres")
}

// find looks where Debian and its kin put each version, newest first, then in $PATH.
func find() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(initdb); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "postgres")) && executable(filepath.Join(dir, "initdb")) {
			return dir
		}
	}
	return ""
}

func version(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return n
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// install is what scripts/setup does too: the package, without a cluster that starts by itself.
func install(ctx context.Context) error {
	const script = `set -e
export DEBIAN_FRONTEND=noninteractive
conf=/etc/postgresql-common/createcluster.conf
mkdir -p "${conf%/*}"
[ -e "$conf" ] || echo 'create_main_cluster = false' >"$conf"
get() { apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold postgresql; }
get || { apt-get update -qq && get; }`
	out, err := exec.CommandContext(ctx, "sh", "-c", script).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, tail(string(out)))
	}
	return nil
}

// clusterEnv names where a cluster is kept that all servers of a run of tests begin with, as scripts/test does: to copy
// one takes a tenth of what initdb takes. Without it each server has initdb make its own.
const clusterEnv = "PUDU_TEST_CLUSTER"

// initialize makes the cluster.
func (s *Server) initialize(ctx context.Context) error {
	kept := os.Getenv(clusterEnv)
	if kept == "" {
		return s.initdb(ctx, s.data())
	}
	if err := s.keep(ctx, kept); err != nil {
		return err
	}
	if out, err := s.command(ctx, "/bin/cp", "-a", kept, s.data()).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", kept, err, tail(string(out)))
	}
	return nil
}

// keep makes the kept cluster, unless it is there. Of several processes one makes it, and the others wait.
func (s *Server) keep(ctx context.Context, kept string) error {
	lock, err := os.OpenFile(kept+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := flock.Wait(ctx, lock); err != nil {
		return err
	}
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unready := kept + ".new"
	if err := errors.Join(os.RemoveAll(unready), s.initdb(ctx, unready)); err != nil {
		return err
	}
	return os.Rename(unready, kept)
}

// initdb makes a cluster in a folder. Words are sorted by a language's rules, which no store must rely on.
func (s *Server) initdb(ctx context.Context, dir string) error {
	pass := filepath.Join(s.dir, "pass")
	if err := os.WriteFile(pass, []byte(Password+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(pass)
	if s.user != nil {
		if err := os.Chown(pass, s.user.uid, s.user.gid); err != nil {
			return err
		}
	}
	args := []string{"-D", dir, "-U", User, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions",
		"--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile", pass}
	if help, _ := s.command(ctx, "initdb", "--help").Output(); strings.Contains(string(help), "--icu-locale") {
		args = append(args, "--locale-provider=icu", "--icu-locale=en-US")
	}
	if out, err := s.command(ctx, "initdb", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, tail(string(out)))
	}
	return nil
}

func (s *Server) configure(cfg Config) error {
	listen := "listen_addresses = ''"
	s.port = "5432"
	if cfg.TCP {
		addr, err := addrtest.Free()
		if err != nil {
			return err
		}
		if s.host, s.port, err = net.SplitHostPort(addr); err != nil {
			return err
		}
		listen = "listen_addresses = '" + s.host + "'"
	}
	lines := append([]string{
		"", listen, "port = " + s.port, "unix_socket_directories = '" + s.dir + "'",
		"fsync = on", "full_page_writes = on", "synchronous_commit = on", "max_connections = 200",
		// its files go with the folder of a server that is killed
		"shared_buffers = 64MB", "dynamic_shared_memory_type = mmap",
		"logging_collector = off", "log_min_messages = warning",
	}, cfg.Settings...)
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, f.Close())
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) log() string  { return filepath.Join(s.dir, "log") }

// URL is the address of a database over the socket; "postgres" is always there.
func (s *Server) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(User), Path: "/" + database,
		RawQuery: url.Values{"host": {s.dir}, "port": {s.port}}.Encode()}
	return u.String()
}

// TCPURL is the address of a database over TCP, with the password. The server needs [Config.TCP].
func (s *Server) TCPURL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(User, Password), Path: "/" + database,
		Host: net.JoinHostPort(s.host, s.port), RawQuery: "sslmode=disable"}
	return u.String()
}

// CreateDatabase makes a database and returns its URL.
func (s *Server) CreateDatabase(ctx context.Context, name string) (string, error) {
	if err := s.exec(ctx, s.copyStatement("template1", name)); err != nil {
		return "", fmt.Errorf("create database %s: %w", name, err)
	}
	return s.URL(name), nil
}

// copyStatement copies the files of a database, which takes a third of what PostgreSQL does by itself since version 15:
// it writes each page to its log.
func (s *Server) copyStatement(from, name string) string {
	statement := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize() + " TEMPLATE " + pgx.Identifier{from}.Sanitize()
	if version(s.bin) >= 15 {
		statement += " STRATEGY file_copy"
	}
	return statement
}

// exec runs a statement as the superuser.
func (s *Server) exec(ctx context.Context, statement string) error {
	db, err := sql.Open("pgx", s.URL("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// launch starts the server and waits until it answers.
func (s *Server) launch(ctx context.Context) error {
	if err := s.spawn(); err != nil { //nolint:contextcheck // it outlives the start
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := s.exec(ctx, "SELECT 1")
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("it does not answer (%w); its log ends: %s", err, s.logTail())
		case !s.alive():
			return fmt.Errorf("it ended at once; its log ends: %s", s.logTail())
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Restart starts the server again, after it was killed or, shutting it down in order first, while it runs. The data
// and the address stay.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.shutdown(); err != nil {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	if err := s.launch(ctx); err != nil {
		return fmt.Errorf("restart PostgreSQL: %w", err)
	}
	return nil
}

func (s *Server) logTail() string {
	data, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	return tail(string(data))
}

// tail is the end of a program's output.
func tail(text string) string {
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-2000):]
}
