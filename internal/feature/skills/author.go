package skills

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/store"
)

// The actions of an agent that writes skills, as they stand in the history too.
const (
	Create     = "create"
	Rewrite    = "edit"
	Patch      = "patch"
	Delete     = "delete"
	WriteFile  = "write_file"
	RemoveFile = "remove_file"
)

// Order is what an agent does to a skill.
type Order struct {
	Action, Name string
	// File is the file of the skill, for [Patch], [WriteFile] and [RemoveFile]; empty for SKILL.md, where that may be.
	File    string
	Content string
	// Find is replaced by Replace as often as it stands there, which must be Count times if that is not 0.
	Find, Replace string
	Count         int
	// Thread is where the agent works.
	Thread string
}

// OrderError says what is wrong with an order.
type OrderError struct{ Text string }

// Error implements error.
func (e *OrderError) Error() string { return e.Text }

func wrongf(format string, args ...any) error { return &OrderError{fmt.Sprintf(format, args...)} }

// agentAuthor is who has written what an agent has, in the history.
const agentAuthor = "agent"

// Manage has an agent write a skill of its user's, and returns what was done in a sentence. An agent that may use some
// skills alone may write those alone. What refuses it is an [OrderError], or what refuses an installation.
func (r *Run) Manage(ctx context.Context, o Order) (string, error) {
	if err := CheckName(o.Name); err != nil {
		return "", err
	}
	if r.allow != nil && !slices.Contains(r.allow, o.Name) {
		return "", wrongf("This agent may write only the skills that it may use: %s.", strings.Join(r.allow, ", "))
	}
	by := By{Action: o.Action, Author: agentAuthor, Thread: o.Thread}
	done, err := r.mine.order(ctx, o, by)
	switch {
	case errors.Is(err, store.ErrNotFound):
		err = wrongf("Custom skill '%s' not found. Use action create first.", o.Name)
	case errors.Is(err, ErrBuiltIn):
		err = wrongf("'%s' is a built-in skill. Use action create to make a skill of your own of that name: it hides "+
			"the built-in one.", o.Name)
	}
	return done, err
}

func (m *Mine) order(ctx context.Context, o Order, by By) (string, error) {
	switch o.Action {
	case Create:
		return m.create(ctx, o, by)
	case Rewrite:
		_, err := m.Edit(ctx, o.Name, o.Content, by)
		return fmt.Sprintf("Updated custom skill '%s'.", o.Name), err
	case Delete:
		return fmt.Sprintf("Deleted custom skill '%s'.", o.Name), m.Remove(ctx, o.Name, by)
	case Patch, WriteFile, RemoveFile:
		return m.changeFile(ctx, o, by)
	}
	return "", wrongf("There is no action %.40q; there are create, edit, patch, delete, write_file and remove_file.",
		o.Action)
}

func (m *Mine) create(ctx context.Context, o Order, by By) (string, error) {
	if err := m.free(ctx, o.Name); err != nil {
		return "", err
	}
	s, err := m.rewrite(ctx, nil, o.Name, FileName, &o.Content,
		Entry{Action: by.Action, Author: by.Author, Thread: threadOf(by)})
	if errors.Is(err, ErrChanged) { // another one was made meanwhile
		err = &ExistsError{o.Name}
	}
	return fmt.Sprintf("Created custom skill '%s'. Its folder is %s.", o.Name, s.Path()), err
}

// changeFile changes one file of a skill that is there.
func (m *Mine) changeFile(ctx context.Context, o Order, by By) (string, error) {
	if o.File == "" && o.Action == Patch {
		o.File = FileName
	}
	if err := checkFile(o); err != nil {
		return "", err
	}
	s, err := m.own(ctx, o.Name)
	if err != nil {
		return "", err
	}
	list, err := m.files(ctx, s)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(f file) bool { return f.name == o.File })
	if i < 0 && o.Action != WriteFile {
		return "", wrongf("Custom skill '%s' has no file '%s'.", o.Name, o.File)
	}
	done, content := fmt.Sprintf("Wrote '%s' of custom skill '%s'.", o.File, o.Name), &o.Content
	switch o.Action {
	case RemoveFile:
		done, content = fmt.Sprintf("Removed '%s' from custom skill '%s'.", o.File, o.Name), nil
	case Patch:
		n, patched, err := patch(string(list[i].content), o)
		if err != nil {
			return "", err
		}
		done, content = fmt.Sprintf("Patched '%s' of custom skill '%s': %d replaced.", o.File, o.Name, n), &patched
	}
	_, err = m.rewrite(ctx, &s, o.Name, o.File, content,
		Entry{Action: by.Action, Author: by.Author, Thread: threadOf(by)})
	return done, err
}

// checkFile refuses a file that no order can be for.
func checkFile(o Order) error {
	folders := []string{"references", "templates", "scripts", "assets"}
	top, _, below := strings.Cut(o.File, "/")
	switch {
	case o.File == FileName && o.Action == Patch:
		return nil
	case path.Base(o.File) == FileName: // none lies in a skill
		return wrongf("%s is written with the actions create, edit and patch, and goes with delete.", FileName)
	case !below || !slices.Contains(folders, top) || path.Clean(o.File) != o.File || !fit(o.File):
		return wrongf("The path '%.200s' must lie below %s of the skill, such as scripts/main.py.", o.File,
			strings.Join(folders, ", "))
	case len(o.Content) > MaxText:
		return wrongf("'%s' is too long (%d bytes). Maximum is %d bytes.", o.File, len(o.Content), MaxText)
	case !utf8.ValidString(o.Content):
		return wrongf("'%s' must be valid UTF-8.", o.File)
	}
	return nil
}

// patch replaces words of a text, all of them.
func patch(text string, o Order) (n int, patched string, err error) {
	if o.Find == "" {
		return 0, "", wrongf("find is empty; give the words that are to be replaced.")
	}
	n = strings.Count(text, o.Find)
	switch {
	case n == 0:
		return 0, "", wrongf("The words of find do not stand in '%s'.", o.File)
	case o.Count != 0 && n != o.Count:
		return 0, "", wrongf("The words of find stand %d times in '%s', not %d times; nothing was changed.", n, o.File,
			o.Count)
	case len(text)+n*(len(o.Replace)-len(o.Find)) > MaxText:
		return 0, "", wrongf("'%s' would be too long. Maximum is %d bytes.", o.File, MaxText)
	}
	return n, strings.ReplaceAll(text, o.Find, o.Replace), nil
}
