package skills

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// ErrExists is that the user has installed a skill of that name.
var ErrExists = errors.New("already exists")

// ExistsError names it.
type ExistsError struct{ Name string }

// Error implements error.
func (e *ExistsError) Error() string { return fmt.Sprintf("Skill '%s' already exists", e.Name) }

// Is reports whether it is [ErrExists].
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// Install installs the skill that is in an archive; source is the name of the file. What refuses it is an
// [InvalidError], a [ScanError], a [ReviewError], an [ExistsError], [ErrNoArchive], [ErrEmpty] or [ErrLarge], and is
// kept for [Mine.Refused].
func (m *Mine) Install(ctx context.Context, r io.ReaderAt, size int64, source string) (Skill, error) {
	name, err := m.install(ctx, r, size, source)
	if err != nil {
		return Skill{}, m.refuse(ctx, source, name, err)
	}
	if err := m.Project(ctx); err != nil {
		return Skill{}, err
	}
	return m.Get(ctx, name)
}

func (m *Mine) install(ctx context.Context, r io.ReaderAt, size int64, source string) (name string, err error) {
	p, closed, err := pack(r, size, m.all.cfg.Settings().Scan, func(h Head) error {
		name = h.Name
		return m.free(ctx, name)
	})
	if err != nil {
		return name, err
	}
	defer closed()
	v, err := m.review(ctx, p, fmt.Sprintf("skill '%s'", name))
	if err != nil {
		return name, err
	}
	return name, m.put(ctx, p, v, source)
}

// free refuses a name that the user has.
func (m *Mine) free(ctx context.Context, name string) error {
	list, err := m.installed(ctx)
	for i := range list {
		if list[i].Name == name {
			return &ExistsError{name}
		}
	}
	return err
}

// put makes the rows of a new skill.
func (m *Mine) put(ctx context.Context, p *packed, v Verdict, source string) error {
	raw, err := json.Marshal(body{p.head, v, excerpt.First(strings.Map(visible, source), maxEvidence)})
	if err != nil {
		return err
	}
	now := database.Micros(m.all.cfg.Now())
	err = m.db.Write(ctx, int(p.size), func(tx database.Tx) error {
		n, err := tx.Exec("add", p.head.Name, p.digest, now, string(raw))
		if err == nil && n == 0 {
			err = &ExistsError{p.head.Name}
		}
		if err != nil {
			return err
		}
		return m.putParts(tx, p)
	})
	if err != nil && !errors.Is(err, ErrExists) {
		err = fmt.Errorf("install skill %s: %w", p.head.Name, err)
	}
	if known, ok := errors.AsType[*ExistsError](err); ok {
		return known
	}
	return err
}

func (m *Mine) putParts(tx database.Tx, p *packed) error {
	return p.parts(func(n int, part []byte) error {
		_, err := tx.Exec("part", p.digest, n, part)
		return err
	})
}

// Refused is an installation that was refused.
type Refused struct {
	At       time.Time `json:"-"`
	Source   string    `json:"source"`
	Name     string    `json:"skill_name"` // empty if it was not known
	Why      string    `json:"message"`
	Findings []Finding `json:"findings"`
}

// refuse keeps why a skill was refused, if that was for what it is, and returns the reason.
func (m *Mine) refuse(ctx context.Context, source, name string, why error) error {
	if !IsRefusal(why) || errors.Is(why, ErrExists) {
		return why
	}
	r := Refused{Source: excerpt.First(strings.Map(visible, source), maxEvidence), Name: name, Why: why.Error(),
		Findings: []Finding{}}
	if scan, ok := errors.AsType[*ScanError](why); ok {
		r.Findings = scan.Findings
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return errors.Join(why, err)
	}
	now := database.Micros(m.all.cfg.Now())
	err = m.db.Write(ctx, len(raw), func(tx database.Tx) error {
		var last int64
		if err := tx.Scan("last_refused", []any{&last}); err != nil {
			return err
		}
		if _, err := tx.Exec("refuse", last+1, now, string(raw)); err != nil {
			return err
		}
		_, err := tx.Exec("trim_refused", last+1-maxRefused)
		return err
	})
	if err != nil {
		return errors.Join(why, fmt.Errorf("keep why a skill was refused: %w", err))
	}
	return why
}

// IsRefusal reports whether an error says that a skill, and not the installation, is what is wrong.
func IsRefusal(err error) bool {
	_, invalid := errors.AsType[*InvalidError](err)
	_, scan := errors.AsType[*ScanError](err)
	_, review := errors.AsType[*ReviewError](err)
	return invalid || scan || review || errors.Is(err, ErrNoArchive) || errors.Is(err, ErrEmpty) ||
		errors.Is(err, ErrLarge) || errors.Is(err, ErrExists)
}

// Refused lists the installations that were refused, the newest first.
func (m *Mine) Refused(ctx context.Context) (list []Refused, err error) {
	err = m.db.Read(ctx, "refused", func(row database.Row) (bool, error) {
		var at int64
		var raw string
		if err := row.Scan(&at, &raw); err != nil {
			return false, err
		}
		r := Refused{}
		err := json.Unmarshal([]byte(raw), &r)
		r.At = database.TimeOf(at)
		list = append(list, r)
		return true, err
	})
	if err != nil {
		return nil, fmt.Errorf("list refused skills: %w", err)
	}
	return list, nil
}

// Report is what the scan says of an archive that nobody installs.
type Report struct {
	Head

	Findings []Finding
}

// Scan looks at an archive as an installation does, without the review by a model. What is wrong is an error as of
// [Mine.Install]; the findings of one that would be installed are in the report.
func Scan(r io.ReaderAt, size int64) (Report, error) {
	p, closed, err := pack(r, size, true, nil)
	if err != nil {
		return Report{}, err
	}
	closed()
	return Report{p.head, p.found}, nil
}

// archive is that of an installed skill, as it is kept.
func (m *Mine) archive(ctx context.Context, digest string) ([]byte, error) {
	var b bytes.Buffer
	err := m.db.Read(ctx, "parts", func(r database.Row) (bool, error) {
		var part []byte
		err := r.Scan(&part)
		b.Write(part)
		return true, err
	}, digest)
	return b.Bytes(), err
}

// files are those of one of the user's own skills.
func (m *Mine) files(ctx context.Context, s Skill) ([]file, error) {
	raw, err := m.archive(ctx, s.Digest)
	var list []file
	if err == nil {
		list, err = unpack(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("read the files of skill %s: %w", s.Name, err)
	}
	return list, nil
}

// Export writes one of the user's own skills as an archive that can be installed again.
func (m *Mine) Export(ctx context.Context, name string, to io.Writer) error {
	s, err := m.own(ctx, name)
	if err != nil {
		return err
	}
	list, err := m.files(ctx, s)
	if err != nil {
		return err
	}
	z := zip.NewWriter(to)
	for _, f := range list {
		head := &zip.FileHeader{Name: name + "/" + f.name, Method: zip.Deflate}
		head.SetMode(f.mode)
		w, err := z.CreateHeader(head)
		if err == nil {
			_, err = w.Write(f.content)
		}
		if err != nil {
			return fmt.Errorf("export skill %s: %w", name, err)
		}
	}
	return z.Close()
}
