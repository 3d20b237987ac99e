package memory

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	manifest    = "memory.json"
	maxFactFile = 64 << 10
)

// ReadFolder reads the memory of a user from DeerFlow's folder of him: memory.json, and the facts in
// agents/NAME/facts/XX/ID.md. An old memory.json has the facts in it.
func ReadFolder(dir fs.FS) (Document, error) {
	var d Document
	raw, err := fs.ReadFile(dir, manifest)
	if err == nil {
		d, err = ParseDocument(raw)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("%s: %w", manifest, err)
	}
	missing := err != nil
	err = fs.WalkDir(dir, "agents", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		part := strings.Split(name, "/")
		if len(part) != 5 || part[2] != "facts" || !strings.HasSuffix(name, ".md") || !e.Type().IsRegular() {
			return nil
		}
		if len(d.Facts) >= MaxImport {
			return fmt.Errorf("there are more than %d facts", MaxImport)
		}
		f, err := readFact(dir, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f.Scope.AgentName = part[1]
		d.Facts = append(d.Facts, f)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && missing && len(d.Facts) == 0 {
		err = fmt.Errorf("there is no %s and no fact below agents: give DeerFlow's folder of a user, or a document",
			manifest)
	}
	slices.SortFunc(d.Facts, func(a, b FactDoc) int { return strings.Compare(a.ID, b.ID) })
	return d, err
}

func readFact(dir fs.FS, name string) (FactDoc, error) {
	info, err := fs.Stat(dir, name)
	if err == nil && info.Size() > maxFactFile {
		err = fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxFactFile)
	}
	var raw []byte
	if err == nil {
		raw, err = fs.ReadFile(dir, name)
	}
	if err != nil {
		return FactDoc{}, err
	}
	return ParseFact(raw)
}

// frontMatter is the head of a fact's file.
type frontMatter struct {
	ID                string   `yaml:"id"`
	Category          string   `yaml:"category"`
	CategoryExtension string   `yaml:"categoryExtension,omitempty"`
	Confidence        *float64 `yaml:"confidence"`
	CreatedAt         string   `yaml:"createdAt"`
	Source            struct {
		Type   string `yaml:"type"`
		Thread string `yaml:"threadId,omitempty"`
	} `yaml:"source"`
	SchemaVersion    int      `yaml:"schemaVersion"`
	Status           string   `yaml:"status"`
	Topics           []string `yaml:"topics"`
	ConsolidatedFrom []string `yaml:"consolidatedFrom"`
	SourceError      string   `yaml:"sourceError,omitempty"`
	ValidDays        int      `yaml:"expected_valid_days,omitempty"`
	ConfirmedAt      string   `yaml:"lastConfirmedAt,omitempty"`
	Confirmations    int      `yaml:"confirmationCount,omitempty"`
	UpdatedAt        string   `yaml:"updatedAt"`
	Revision         int      `yaml:"revision"`
	User             string   `yaml:"user_id"`
	Agent            string   `yaml:"agent_name"`
	Folder           string   `yaml:"project_id,omitempty"`
}

// factID is what DeerFlow takes for an id.
var factID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// ParseFact reads the file of a fact: YAML between two lines of three dashes, a title, and the content.
func ParseFact(raw []byte) (FactDoc, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\ufeff"),
		"\n---\n")
	head, begins := strings.CutPrefix(head, "---\n")
	if !ok || !begins {
		return FactDoc{}, errors.New("it does not begin with YAML between two lines of three dashes")
	}
	var m frontMatter
	if err := yaml.Unmarshal([]byte(head), &m); err != nil {
		return FactDoc{}, err
	}
	if !factID.MatchString(m.ID) {
		return FactDoc{}, fmt.Errorf("%.40q is no id of a fact", m.ID)
	}
	body = strings.TrimSpace(body)
	title := ""
	if strings.HasPrefix(body, "# ") {
		title, body, _ = strings.Cut(body, "\n")
	}
	return FactDoc{
		ID: m.ID, Content: cmp.Or(strings.TrimSpace(body), strings.TrimPrefix(title, "# ")), Category: m.Category,
		CategoryExtension: m.CategoryExtension, Topics: m.Topics, Confidence: m.Confidence, CreatedAt: m.CreatedAt,
		Source: SourceDoc(cmp.Or(m.Source.Thread, m.Source.Type)), SourceError: m.SourceError, SchemaVersion: 2,
		Status: m.Status, Scope: ScopeDoc{m.User, m.Agent, m.Folder}, Revision: m.Revision, UpdatedAt: m.UpdatedAt,
		ConsolidatedFrom: m.ConsolidatedFrom, ValidDays: m.ValidDays, ConfirmedAt: m.ConfirmedAt,
		Confirmations: m.Confirmations,
	}, nil
}

// File writes a fact as DeerFlow's files have it.
func (d FactDoc) File() ([]byte, error) {
	m := frontMatter{
		ID: d.ID, Category: d.Category, CategoryExtension: d.CategoryExtension, Confidence: d.Confidence,
		CreatedAt: d.CreatedAt, SchemaVersion: 2, Status: d.Status, Topics: d.Topics,
		ConsolidatedFrom: d.ConsolidatedFrom, SourceError: d.SourceError, ValidDays: d.ValidDays,
		ConfirmedAt: d.ConfirmedAt, Confirmations: d.Confirmations, UpdatedAt: d.UpdatedAt, Revision: d.Revision,
		User: d.Scope.UserID, Agent: d.Scope.AgentName, Folder: d.Scope.FolderID,
	}
	m.Source.Type = string(d.Source)
	if !slices.Contains([]string{Manual, Conversation, Consolidated, Imported, Unknown}, m.Source.Type) {
		m.Source.Type, m.Source.Thread = Conversation, string(d.Source)
	}
	head, err := yaml.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write fact %q: %w", d.ID, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\n%s---\n\n# %s\n\n%s\n", head, cut(oneLine(d.Content), 80), d.Content)
	return b.Bytes(), nil
}

// Files are those of DeerFlow's folder of a user, by their paths.
func (d Document) Files() (map[string][]byte, error) {
	list := d.Facts
	head := struct {
		Version     string `json:"version"`
		Revision    int    `json:"revision"`
		LastUpdated string `json:"lastUpdated"`
		Sections
	}{written, d.Revision, d.LastUpdated, d.Sections}
	raw, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write memory: %w", err)
	}
	files := map[string][]byte{manifest: append(raw, '\n')}
	for _, f := range list {
		if !factID.MatchString(f.ID) {
			return nil, fmt.Errorf("%.40q can be no name of a file: change the id in an exported document", f.ID)
		}
		sum := sha256.Sum256([]byte(f.ID))
		raw, err := f.File()
		if err != nil {
			return nil, err
		}
		files[path.Join("agents", folderName(f.Scope.AgentName), "facts", hex.EncodeToString(sum[:1]),
			f.ID+".md")] = raw
	}
	return files, nil
}

// folderName is the folder of an agent; one whose name can be none is the standard agent.
func folderName(agent string) string {
	if agent = strings.ToLower(agent); factID.MatchString(agent) {
		return agent
	}
	return standard
}
