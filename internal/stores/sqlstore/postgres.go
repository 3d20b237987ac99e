package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pudu-ai/pudu/internal/store"
)

// postgres is the dialect of PostgreSQL.
type postgres struct {
	// name is the database and its place for people, without the password.
	name string
	user string
	// secrets are the forms of the password that an error must not show.
	secrets []string
	timeout time.Duration
	lease   time.Duration
}

var _ dialect = (*postgres)(nil)

// rewrite implements dialect: $N is PostgreSQL's own form.
func (*postgres) rewrite(query string) string { return query }

// begin implements dialect. Each statement sees what was committed before it; what must not change between two of them
// is locked, or compared when it is written.
func (*postgres) begin() string { return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" }

func (*postgres) locking() string { return " FOR UPDATE" }

func (d *postgres) unheld() string {
	return " AND NOT EXISTS (SELECT 1 FROM nodes WHERE runs.status = 'running' AND nodes.owner = runs.owner AND " +
		"nodes.owner <> $2 AND " +
		d.held() + ")"
}

// held is the condition on nodes that the lease has not run out, by the database's clock.
func (d *postgres) held() string {
	return fmt.Sprintf("nodes.renewed_at > clock_timestamp() - interval '%d microseconds'", d.lease.Microseconds())
}

func (*postgres) among(param string) string {
	return " = ANY (ARRAY(SELECT json_array_elements_text(CAST(" + param + " AS json))))"
}

// retriable implements dialect: what the server refuses with an ERROR it has undone. When it ends a session, or the
// connection breaks, a COMMIT under way may have come through.
func (*postgres) retriable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"
}

// transient implements dialect: deadlocks and failures of serialization.
func (*postgres) transient(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001")
}

// unreachable implements dialect. A server that starts, stops or has no connection left may have one soon.
func (d *postgres) unreachable(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "57P01", "57P02", "57P03", "57P05", "25P03", "53300":
			return true
		}
		return strings.HasPrefix(pg.Code, "08")
	}
	return isConnectionError(err)
}

func isConnectionError(err error) bool {
	var netErr net.Error
	var connect *pgconn.ConnectError
	for _, target := range []error{
		driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return errors.As(err, &netErr) || errors.As(err, &connect) || pgconn.Timeout(err) || pgconn.SafeToRetry(err)
}

// hidden is a driver's error whose text does not show the password.
type hidden struct {
	text  string
	cause error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.cause }

// hide takes the password out of an error's text.
func (d *postgres) hide(err error) error {
	text := err.Error()
	for _, s := range d.secrets {
		text = strings.ReplaceAll(text, s, "xxxxx")
	}
	if text == err.Error() {
		return err
	}
	return &hidden{text, err}
}

// explain implements dialect.
func (d *postgres) explain(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return d.explainServer(d.hide(err), pg)
	}
	switch {
	case errors.Is(err, errSlow), errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		// The deadline is ours, not the caller's: nobody may take it for one of a run.
		return keepUnknown(err,
			fmt.Errorf("%w: %s did not answer in time; check the server, its load and the network: %s",
				store.ErrUnreachable, d.name, oneLine(d.hide(err))))
	case isConnectionError(err):
		return keepUnknown(err, fmt.Errorf("%w: %s; check that it runs, and that this machine may connect to it: %s",
			store.ErrUnreachable, d.name, oneLine(d.hide(err))))
	}
	return d.hide(err)
}

// keepUnknown hands on what of a lost connection the caller must know; the rest of the chain says things, such as the
// end of a context or of a file, that would be taken for something else.
func keepUnknown(cause, told error) error {
	if errors.Is(cause, store.ErrUnknown) {
		return fmt.Errorf("%w: %w", store.ErrUnknown, told)
	}
	return told
}

// oneLine is an error's text without the driver's line breaks. Of a connection that fails it is the cause, which the
// driver says once for each try.
func oneLine(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

func (d *postgres) explainServer(err error, pg *pgconn.PgError) error {
	switch pg.Code {
	case "23505":
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	case "23503":
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	case "28P01", "28000":
		return fmt.Errorf("%s refuses user %q; check the user and the password (in the URL, or PGPASSWORD): %s", d.name,
			d.user, oneLine(err))
	case "3D000":
		return fmt.Errorf("%s does not exist; create it, for example with: createdb: %s", d.name, oneLine(err))
	case "42501":
		return d.forbidden(err)
	case "25006":
		return fmt.Errorf("%s takes no writes, as a replica does; name the primary server: %w", d.name, err)
	case "42P01", "42703", "42P07", "3F000":
		return d.corrupt(err)
	case "XX001", "XX002":
		return fmt.Errorf("%w: %s; restore it from a backup: %w", store.ErrCorrupt, d.name, err)
	case "53100":
		return fmt.Errorf("%w: disk of %s is full; free some space and try again: %w", store.ErrDiskFull, d.name, err)
	case "53300":
		return fmt.Errorf("%w: %s has no connection left; raise its max_connections, or lower database.pool_size: %w",
			store.ErrUnreachable, d.name, err)
	}
	if d.unreachable(err) {
		return fmt.Errorf("%w: %s ended the connection; it works again when the server does: %w", store.ErrUnreachable,
			d.name, err)
	}
	return err
}

func (d *postgres) forbidden(cause error) error {
	return fmt.Errorf("user %q may not do this in %s; let its administrator GRANT CREATE, USAGE ON SCHEMA, or name a "+
		"database of its own: %w",
		d.user, d.name, cause)
}

// corrupt says that the tables cannot be used and what is left to do.
func (d *postgres) corrupt(cause error) error {
	return fmt.Errorf("%w: %s (%w); restore it from a backup, or name another database or, with "+
		"database.postgres_schema, "+
		"another schema to begin with empty tables", store.ErrCorrupt, d.name, cause)
}
