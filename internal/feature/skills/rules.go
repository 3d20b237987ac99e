package skills

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// kind is what a file of a skill is for the rules.
type kind int

const (
	data   kind = iota // anything else: secrets are looked for
	prose              // a model reads it
	head               // the head of SKILL.md, of which every run is told
	python             // code
	shell
	script // code in another language
)

// rule is something that is looked for in the files of a skill.
type rule struct {
	id, severity string
	kinds        []kind
	// near are words of which one stands in every text that the rule is for, in lower case; a file without them is not
	// looked at.
	near    []string
	pattern string
	// with is what must stand in the same piece of the file too; empty for nothing.
	with    string
	message string
	remedy  string
	// not begins what is no finding; empty for nothing.
	not      string
	redacted bool
}

func anyKind() []kind  { return []kind{data, prose, head, python, shell, script} }
func anyCode() []kind  { return []kind{python, shell, script} }
func anyProse() []kind { return []kind{prose, head} }

// credentials are files that only their owner should read.
const credentials = `(?:~|\$HOME|\$\{HOME\}|/root|/home/[\w.-]+)/\.(?:ssh|aws|gnupg|kube|docker|netrc|config/gcloud|` +
	`pgpass|git-credentials)|` +
	`/etc/(?:shadow|passwd|sudoers)|\.ssh/id_|id_rsa\b|id_ed25519\b|\.aws/credentials|/proc/(?:self|\d+)/environ`

// metadata are addresses at which clouds give keys to their machines.
const metadata = `169\.254\.169\.254|169\.254\.170\.2|100\.100\.100\.200|168\.63\.129\.16|fd00:ec2::254|` +
	`metadata\.google\.internal|metadata\.azure\.com`

// sends are ways to send something away.
const sends = `(?:requests\.(?:post|put|get)|urllib\.request|urlopen|http\.client|socket\.|httpx\.|aiohttp\.|curl\b|` +
	`wget\b|\bnc\b|smtplib|ftplib)`

// rules is what is looked for. It never changes.
var rules = []rule{
	{
		id: "secret-private-key", severity: Critical, kinds: anyKind(), near: []string{"-----begin"}, redacted: true,
		pattern: `-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----`,
		message: "Private key material is embedded in skill content.",
		remedy:  "Move private keys to a managed secret store and remove them from the skill.",
	}, {
		id: "secret-cloud-token", severity: Critical, kinds: anyKind(), redacted: true,
		near: []string{"akia", "asia", "ghp_", "gho_", "ghs_", "github_pat_", "sk-", "xox", "aiza", "glpat-",
			"sk_live_", "hf_", "npm_"},
		pattern: `\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}|sk-(?:ant-|` +
			`proj-)?[A-Za-z0-9_-]{20,}|` +
			`xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35}|glpat-[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{20,}|` +
			`hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36})`,
		message: "High-confidence cloud or API token is embedded in skill content.",
		remedy:  "Move tokens to environment variables or a secret store.",
	}, {
		id: "secret-env-assignment", severity: High, kinds: anyKind(), redacted: true,
		near: []string{"key", "token", "secret", "password", "passwd"},
		pattern: `(?i)\b[A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD|` +
			`PASSWD)[A-Z0-9_]*\s*[=:]\s*["']?[A-Za-z0-9+/_=.-]{16,}["']?`,
		message: "A value that looks like a secret is assigned in skill content.",
		remedy:  "Declare the name in required-secrets, and let the user supply the value.",
	}, {
		id: "declaration-prompt-override", severity: Critical, kinds: []kind{head}, near: overrideWords(),
		pattern: override,
		message: "The skill's description tries to override the instructions of every run.",
		remedy:  "Say what the skill does and when to use it, and nothing else.",
	}, {
		id: "declaration-prompt-override", severity: High, kinds: []kind{prose}, near: overrideWords(),
		pattern: override,
		message: "The text tries to override the instructions of the agent.",
		remedy:  "Remove instructions that set others aside or hide what is done.",
	}, {
		id: "declaration-hidden-text", severity: Critical, kinds: anyProse(),
		near: []string{"\xf3\xa0\x80", "\xf3\xa0\x81", "\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067",
			"\u2068"},
		pattern: `[\x{E0000}-\x{E007F}\x{202A}\x{202B}\x{202D}\x{202E}\x{2066}-\x{2068}]`,
		message: "The text has characters that people do not see, or that turn the order of what they see.",
		remedy:  "Remove tag characters and marks that override the direction of text.",
	}, {
		id: "declaration-hidden-text", severity: High, kinds: anyProse(),
		near:    []string{"\u200b", "\u2060", "\u2062", "\u2063", "\u2064"},
		pattern: `[\x{200B}\x{2060}\x{2062}-\x{2064}]`,
		message: "The text has characters without a width.",
		remedy:  "Remove them: they can hide words from people and from filters.",
	}, {
		id: "declaration-encoded-payload", severity: High, kinds: []kind{prose, python, shell, script},
		pattern: `[A-Za-z0-9+/]{240,}={0,2}`,
		message: "The text has a long piece that is encoded, so that nobody can read what it is.",
		remedy:  "Put data into a file of its own, in a form that can be read.",
	}, {
		id: "declaration-sensitive-capability", severity: High, kinds: anyProse(),
		near: []string{"shell command", "arbitrary", "sudo", "root access", "unrestricted", "any command",
			"without asking", "disable"},
		pattern: `(?i)\b(?:shell commands?|arbitrary (?:code|commands?)|sudo|root access|unrestricted access|any ` +
			`command|without asking|disable (?:the )?(?:sandbox|safety|guardrails?))\b`,
		message: "SKILL.md declares a sensitive capability.",
		remedy:  "Make the capability explicit, narrow, and justified, or remove it.",
	}, {
		id: "declaration-sensitive-path", severity: High, kinds: anyProse(), near: credentialWords(), pattern: `(?:` +
			credentials + `)`,
		message: "The text names files with credentials.",
		remedy:  "Remove the path: a skill has no business there.",
	}, {
		id: "declaration-external-endpoint", severity: Medium, kinds: anyProse(), near: []string{"http://", "https://"},
		pattern: `(?i)https?://[^\s<>"')\]` + "`" + `]+`,
		message: "SKILL.md declares an external network endpoint.",
		remedy:  "Document why the endpoint is needed and prefer HTTPS.",
	}, {
		id: "python-dynamic-exec", severity: Critical, kinds: []kind{python}, near: []string{"exec", "eval", "compile"},
		pattern: `(?:^|[^\w.])(?:exec|eval)\s*\(|(?:^|[^\w.])compile\s*\([^\n)]*["']exec["']`,
		message: "Python code is made from text and carried out.",
		remedy:  "Write the code as code; read data with json or ast.literal_eval.",
	}, {
		id: "python-shell-exec", severity: Critical, kinds: []kind{python},
		near:    []string{"os.system", "os.popen", "shell", "pty.spawn", "commands."},
		pattern: `\b(?:os\.system|os\.popen|pty\.spawn|commands\.getoutput)\b|\bshell\s*=\s*True\b`,
		message: "Python shell execution primitive is used in a skill file.",
		remedy:  "Use subprocess with a fixed argument list and shell=False, or remove shell execution.",
	}, {
		id: "python-sensitive-exfil", severity: Critical, kinds: []kind{python}, near: credentialWords(),
		pattern: `(?:` + credentials + `)`, with: sends,
		message: "Python code reads credentials and sends something away.",
		remedy:  "Remove it.",
	}, {
		id: "python-env-dump-exfil", severity: Critical, kinds: []kind{python}, near: []string{"os.environ"},
		pattern: `dict\(os\.environ\)|os\.environ\.(?:copy|items)\(|json\.dumps\([^\n)]*os\.environ|str\(os\.environ\)`,
		with:    sends,
		message: "Python code reads the whole environment and sends something away.",
		remedy:  "Read the variables that are needed by their names, and keep them.",
	}, {
		id: "python-reverse-shell", severity: Critical, kinds: []kind{python}, near: []string{"dup2", "pty.spawn"},
		pattern: `\b(?:os\.dup2|pty\.spawn)\b`, with: `\bsocket\b`,
		message: "Python code gives a shell to somebody elsewhere.",
		remedy:  "Remove it.",
	}, {
		id: "python-dynamic-import", severity: High, kinds: []kind{python}, near: []string{"__import__", "importlib"},
		pattern: `\b__import__\s*\(|\bimportlib\.import_module\s*\(`,
		message: "A module is imported by a name that is made at run time.",
		remedy:  "Import modules by their names.",
	}, {
		id: "python-subprocess", severity: High, kinds: []kind{python},
		near:    []string{"subprocess", "os.exec", "os.spawn"},
		pattern: `\bsubprocess\.(?:run|Popen|call|check_call|check_output)\b|\bos\.(?:exec|spawn)[lvpe]+\b`,
		message: "Python code starts other programs.",
		remedy:  "Say in SKILL.md which programs are started, and why.",
	}, {
		id: "python-sensitive-path-read", severity: High, kinds: []kind{python, script}, near: credentialWords(),
		pattern: `(?:` + credentials + `)`,
		message: "Code names files with credentials.",
		remedy:  "Remove the path: a skill has no business there.",
	}, {
		id: "python-unsafe-deserialization", severity: Medium, kinds: []kind{python},
		near:    []string{"pickle", "marshal", "yaml", "dill"},
		pattern: `\b(?:c?[pP]ickle|dill|marshal)\.loads?\s*\(|\byaml\.(?:unsafe_load|load\s*\([^\n)]*\))`,
		message: "Data is read in a way that can run code.",
		remedy:  "Use json, or yaml.safe_load.",
	}, {
		id: "shell-reverse-shell", severity: Critical, kinds: []kind{shell},
		near: []string{"/dev/tcp", "/dev/udp", "nc ", "ncat", "socat"},
		pattern: `(?:bash|sh)\s+-i\b[^\n]*/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat)\b[^\n]*\s-[a-z]*[ec]\s*\S*sh\b|` +
			`\bsocat\b[^\n]*\bexec:`,
		message: "A shell is given to somebody elsewhere.",
		remedy:  "Remove it.",
	}, {
		id: "shell-sensitive-exfil", severity: Critical, kinds: []kind{shell}, near: credentialWords(),
		pattern: `(?:` + credentials +
			`)[^\n]*\b(?:curl|wget|nc|ncat|scp|rsync)\b|\b(?:curl|wget|nc|ncat|scp|rsync)\b[^\n]*(?:` + credentials +
			`)`,
		message: "A command sends credentials away.",
		remedy:  "Remove it.",
	}, {
		id: "shell-reverse-shell-heuristic", severity: High, kinds: []kind{shell},
		near:    []string{"/dev/tcp", "/dev/udp", "mkfifo"},
		pattern: `/dev/(?:tcp|udp)/|\bmkfifo\b[^\n]*\b(?:nc|ncat|netcat)\b`,
		message: "The command looks like one that opens a shell to somebody elsewhere.",
		remedy:  "Use the tools for the network, or remove it.",
	}, {
		id: "shell-curl-pipe-shell", severity: High, kinds: []kind{shell},
		near: []string{"curl", "wget", "base64", "xxd"},
		pattern: `\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:env\s+)?(?:ba|z|da)?sh\b|` +
			`\b(?:ba)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b|` +
			`\bbase64\s+(?:-d|-D|--decode)\b[^\n|]*\|\s*(?:ba)?sh\b|\b(?:curl|wget)\b[^\n|]*\|\s*python3?\b`,
		message: "What is loaded or decoded is carried out unseen.",
		remedy:  "Put the script into the package, so that it can be read and scanned.",
	}, {
		id: "shell-destructive-command", severity: High, kinds: []kind{shell},
		near: []string{"rm ", "mkfs", "dd ", "shred", "chmod"},
		pattern: `\brm\s+(?:-\w+\s+)*-\w*[rR]\w*\s+(?:-\w+\s+)*["']?(?:/|~|\$HOME)["']?(?:\s|\*|$)|\bmkfs\b|` +
			`\bdd\b[^\n]*\bof=/dev/|\bshred\b|\bchmod\s+-R\s+777\s+/`,
		message: "The command destroys what it may not be meant for.",
		remedy:  "Name the files that are removed.",
	}, {
		id: "shell-env-dump", severity: Medium, kinds: []kind{shell}, near: []string{"env", "set"},
		pattern: `(?m)(?:^|[;&|]\s*)(?:printenv|env)\s*(?:$|[|>])`,
		message: "The command shows the whole environment.",
		remedy:  "Read the variables that are needed by their names.",
	}, {
		id: "network-cloud-metadata", severity: Critical, kinds: anyKind(),
		near:    []string{"169.254.", "100.100.100.200", "168.63.129.16", "fd00:ec2", "metadata."},
		pattern: metadata,
		message: "An address is named at which clouds give keys to their machines.",
		remedy:  "Remove it.",
	}, {
		id: "network-cleartext-http", severity: Medium, kinds: anyKind(), near: []string{"http://"},
		not:     "http://www.w3.org/", // which names forms of XML, and is not asked
		pattern: `(?i)(http://(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/?)`,
		message: "Skill content references a non-local cleartext HTTP endpoint.",
		remedy:  "Use HTTPS or document why cleartext local development is required.",
	}, {
		id: "network-local-http", severity: Low, kinds: anyKind(), near: []string{"localhost", "127.0.0.1", "0.0.0.0",
			"[::1]"},
		pattern: `(?i)https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d+)?`,
		message: "An address of the machine itself is named.",
		remedy:  "Say what listens there.",
	}, {
		id: "resource-fork-bomb", severity: Critical, kinds: anyCode(),
		near:    []string{":(){", ": ( )", ":()", "os.fork"},
		pattern: `:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&|while\s+(?:True|1)\s*:\s*(?:\n\s*)?os\.fork\(`,
		message: "The code starts itself without an end.",
		remedy:  "Remove it.",
	},
}

const override = `(?i)\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|` +
	`all|any|your|system|other)\b[^.\n]{0,40}\b(?:instructions?|rules?|prompts?|guidelines?|policies|policy|` +
	`messages?)\b|` +
	`\byou are now\b[^.\n]{0,40}\b(?:dan|unrestricted|jailbroken|root|developer mode)\b|\b(?:do not|don't|` +
	`never)\s+(?:tell|inform|mention\b[^.\n]{0,30}\bto|show|reveal\b[^.\n]{0,30}\bto)\s+(?:the\s+)?user\b|` +
	`</?(?:system|system-reminder|instructions?|prompt)>`

func overrideWords() []string {
	return []string{"ignore", "disregard", "forget", "override", "bypass", "you are now", "do not", "don't", "never",
		"<system", "</system", "instruction>", "instructions>", "prompt>"}
}

func credentialWords() []string {
	return []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".netrc", "gcloud", ".pgpass", "git-credentials",
		"/etc/", "id_rsa", "id_ed25519", "environ"}
}

// kindOfFile is what a file is for the rules.
func kindOfFile(name string, content []byte) kind {
	switch strings.ToLower(path.Ext(name)) {
	case ".py", ".pyw", ".ipynb":
		return python
	case ".sh", ".bash", ".zsh", ".ksh":
		return shell
	case ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rb", ".pl", ".php", ".lua", ".go", ".rs", ".java", ".ps1",
		".bat", ".cmd", ".r", ".jl":
		return script
	case ".md", ".markdown", ".txt", ".rst", ".adoc", ".tmpl", ".j2", ".jinja", ".prompt":
		return prose
	}
	line, _, _ := bytes.Cut(content[:min(len(content), 200)], []byte("\n"))
	switch {
	case !bytes.HasPrefix(line, []byte("#!")):
		return data
	case bytes.Contains(line, []byte("python")):
		return python
	case bytes.Contains(line, []byte("sh")):
		return shell
	}
	return script
}

// compiled are the patterns of a rule.
type compiled struct{ pattern, with *regexp.Regexp }

// patterns are made when the first skill is scanned.
var patterns = sync.OnceValue(func() (all struct {
	of    []compiled
	fence *regexp.Regexp
}) {
	for i := range rules {
		c := compiled{pattern: regexp.MustCompile(rules[i].pattern)}
		if rules[i].with != "" {
			c.with = regexp.MustCompile(rules[i].with)
		}
		all.of = append(all.of, c)
	}
	all.fence = regexp.MustCompile(fence)
	return all
})

const maxPerRule = 5 // findings of a rule in a file

// scanFile looks for what the rules know in a file of a skill.
func scanFile(name string, content []byte) (found []Finding) {
	k := kindOfFile(name, content)
	pieces := []piece{newPiece(k, 0, content)}
	if name == FileName {
		if h, ok := cutHead(string(content)); ok {
			at := bytes.Index(content, []byte(h))
			pieces = []piece{newPiece(head, at, content[at:at+len(h)]), newPiece(prose, at+len(h), content[at+len(h):])}
		}
	}
	if k == prose {
		pieces = append(pieces, fenced(content)...)
	}
	for i := range pieces {
		pieces[i].lower = bytes.ToLower(pieces[i].text)
	}
	for i := range rules {
		for _, p := range pieces {
			if slices.Contains(rules[i].kinds, p.kind) && p.near(rules[i].near) {
				found = append(found, rules[i].in(patterns().of[i], name, content, p)...)
			}
		}
	}
	return found
}

// piece is a part of a file.
type piece struct {
	kind kind
	at   int // where in the file it begins
	text []byte

	lower []byte
}

func newPiece(k kind, at int, text []byte) piece { return piece{kind: k, at: at, text: text} }

const fence = "(?ms)^[ \t]*```[ \t]*(bash|sh|shell|zsh|console|python|python3|py)\\b[^\n]*\n(.*?)(?:^[ \t]*```|\\z)"

// fenced are the pieces of code in a text.
func fenced(content []byte) (list []piece) {
	for _, m := range patterns().fence.FindAllSubmatchIndex(content, 100) {
		k := shell
		if strings.HasPrefix(string(content[m[2]:m[3]]), "py") {
			k = python
		}
		list = append(list, newPiece(k, m[4], content[m[4]:m[5]]))
	}
	return list
}

// near reports whether one of the words stands in the piece. Without words it is.
func (p *piece) near(list []string) bool {
	return list == nil || slices.ContainsFunc(list, func(w string) bool { return bytes.Contains(p.lower, []byte(w)) })
}

func (r *rule) in(of compiled, name string, content []byte, p piece) (found []Finding) {
	if of.with != nil && !of.with.Match(p.text) {
		return nil
	}
	for _, m := range of.pattern.FindAllIndex(p.text, maxPerRule) {
		if r.not != "" && bytes.HasPrefix(p.text[m[0]:], []byte(r.not)) {
			continue
		}
		line := 1 + bytes.Count(content[:p.at+m[0]], []byte("\n"))
		if p.text[m[0]] == '\n' {
			line++ // the pattern begins before the line
		}
		shown := "[redacted]"
		if !r.redacted {
			shown = evidence(strings.TrimSpace(string(p.text[m[0]:m[1]])))
		}
		found = append(found, Finding{
			Rule: r.id, Severity: r.severity, File: new(name), Line: new(line), Message: r.message, Remedy: r.remedy,
			Evidence: shown,
		})
	}
	return found
}
