package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pudu-ai/pudu/internal/store"
)

// Bounds of the connections to a server.
const (
	// openTimeout is how long Open waits for a server, patience how long a write waits for one that was there before.
	openTimeout = 5 * time.Second
	patience    = 10 * time.Second
	// defaultTimeout is the bound of a statement when none is configured.
	defaultTimeout = 30 * time.Second
	// pgWriters and pgBatch are how many connections write, and how many jobs share a transaction: on a server's other
	// side of a network each statement waits for an answer, so that several transactions side by side do more than one,
	// and the server syncs them together.
	pgWriters, pgBatch = 4, 32
)

// server is a PostgreSQL to be opened.
type server struct {
	*postgres
	config pgx.ConnConfig
	schema string
	pool   int
	age    time.Duration
}

// newServer reads the URL.
func newServer(cfg Config) (*server, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		// The text is not shown: there may be a password in it.
		return nil,
			errors.New("the address of the database is no URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE " +
				"(characters such as @ / : # % in a password are written as %40 %2F %3A %23 %25)")
	}
	d := &postgres{
		name: "PostgreSQL", secrets: secrets(u), lease: cmp.Or(cfg.Lease, store.Lease),
		timeout: cmp.Or(cfg.Timeout, defaultTimeout),
	}
	c, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		if parse, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
			err = cmp.Or(parse.Unwrap(), errors.New("it is malformed"))
		}
		return nil, fmt.Errorf("the address of the database cannot be read: %w", d.hide(err))
	}
	if c.Password != "" {
		d.secrets = append(d.secrets, c.Password)
	}
	if c.ConnectTimeout == 0 || c.ConnectTimeout > openTimeout {
		c.ConnectTimeout = openTimeout
	}
	place := c.Host
	if !strings.HasPrefix(place, "/") {
		place = fmt.Sprintf("%s:%d", c.Host, c.Port)
	}
	d.user, d.name = c.User, fmt.Sprintf("PostgreSQL database %q at %s", c.Database, place)
	if strings.ContainsRune(cfg.Schema, 0) || len(cfg.Schema) > 63 {
		return nil, fmt.Errorf("schema %.70q is no name of at most 63 bytes", cfg.Schema)
	}
	return &server{postgres: d, config: *c, schema: cfg.Schema, pool: max(cmp.Or(cfg.Pool, 10), 3), age: cfg.Recycle},
		nil
}

// secrets are the password as it is and as it is spelled in the URL, the longest first.
func secrets(u *url.URL) []string {
	var out []string
	if pass, ok := u.User.Password(); ok {
		out = append(out, pass, url.QueryEscape(pass), url.PathEscape(pass))
		if _, raw, ok := strings.Cut(u.User.String(), ":"); ok {
			out = append(out, raw)
		}
	}
	for _, name := range []string{"password", "sslpassword"} {
		if pass := u.Query().Get(name); pass != "" {
			out = append(out, pass, url.QueryEscape(pass))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// tuning of PostgreSQL.
func (d *server) tuning() tuning {
	return tuning{writers: min(pgWriters, (d.pool-1)/2), batch: pgBatch, timeout: d.timeout, patience: patience,
		recycle: d.age}
}

// sessionSetup is run on each new connection. The server ends a transaction that pauses for as long as a lease: the
// locks of a process that was stopped in the middle of one stand in nobody's way for longer. A server that was told to
// acknowledge commits before they are on disk is told otherwise for ours.
const sessionSetup = `SELECT set_config('idle_in_transaction_session_timeout', $1, false),
	set_config('default_transaction_read_only', $2, false),
	CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
	CASE WHEN $3 <> '' THEN set_config('search_path', $3, false) END`

// open makes a pool of at most conns connections. Nothing is opened before the first use.
func (d *server) open(conns int, readOnly bool) *sql.DB {
	path, ro := "", "off"
	if d.schema != "" {
		path = pgx.Identifier{d.schema}.Sanitize()
	}
	if readOnly {
		ro = "on"
	}
	db := stdlib.OpenDB(d.config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, sessionSetup, strconv.FormatInt(d.lease.Milliseconds(), 10), ro, path)
		return err
	}))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxLifetime(d.age)
	return db
}

// openServer opens the store on PostgreSQL.
func (s *Store) openServer(ctx context.Context, cfg Config, d *server) error {
	tune := d.tuning()
	readers := max(d.pool-1-tune.writers, 1)
	if cfg.ReadOnly {
		readers = d.pool
	}
	s.readers = d.open(readers, true)
	s.tuning = tune
	s.release = append(s.release, s.readers.Close)
	db := s.readers
	if !cfg.ReadOnly {
		db = d.open(tune.writers+1, false) // one is for the leases
		s.leases = db
		s.release = append(s.release, db.Close)
	}
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := d.reach(opening, db); err != nil {
		return err
	}
	if err := d.prepare(ctx, db, cfg); err != nil || cfg.ReadOnly {
		return err
	}
	w, err := newWriter(ctx, db, d, tune, s.backlog, s.newsroom, s.beside()...)
	s.writer = w
	return err
}

// reach waits for a server that is just starting, and for no other.
func (d *server) reach(ctx context.Context, db *sql.DB) error {
	for {
		err := db.PingContext(ctx)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "57P03" {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
