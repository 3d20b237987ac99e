package golden

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// trace is an exchange as a trace file has it.
type trace struct {
	n                int
	began, ended     int // in ms; ended is -1 if the client left
	method, path     string
	headers          map[string]string
	body             string
	status           int
	heads            map[string]string
	answer           string
	cutShort, absent bool
}

var (
	exchangeLine = regexp.MustCompile(`(?m)^=+ exchange (\d+) =+$`)
	requestLine  = regexp.MustCompile(`(?m)^>>>>> request +t=(-?\d+).*$`)
	responseLine = regexp.MustCompile(`(?m)^<<<<< response(.*)$`)
	endOf        = regexp.MustCompile(`end=(\d+|-)`)
	// shortLine is an exchange in one line: its headers are the usual ones.
	shortLine = regexp.MustCompile(`(?m)^\[(\d+)\] \w+: ([A-Z]+) (\S+) (?:(.*?) )?-> (\d+) (.*?)(?:   # .*)?$`)
)

func parse(text string) ([]trace, error) {
	var list []trace
	at := exchangeLine.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		n, err := strconv.Atoi(text[m[2]:m[3]])
		if err != nil {
			return nil, err
		}
		t, err := parseOne(text[m[1]:end])
		if err != nil {
			return nil, fmt.Errorf("exchange %d: %w", n, err)
		}
		t.n = n
		list = append(append(list, t), parseShort(text[m[1]:end], t.ended)...)
	}
	return list, nil
}

// parseShort returns the exchanges in one line that stand behind another, which ended then. Of an answer that the trace
// cuts off the status is left.
func parseShort(text string, ended int) (list []trace) {
	for _, m := range shortLine.FindAllStringSubmatch(text, -1) {
		t := trace{began: ended, ended: ended, method: m[2], path: m[3], body: m[4], answer: m[6],
			headers: map[string]string{}}
		t.n, _ = strconv.Atoi(m[1])
		t.status, _ = strconv.Atoi(m[5])
		t.heads = map[string]string{"content-type": "application/json"}
		if t.body != "" {
			t.headers["content-type"] = "application/json"
		}
		if strings.Contains(t.answer, "<cut;") {
			t.answer, t.heads = "", map[string]string{}
		}
		list = append(list, t)
	}
	return list
}

func parseOne(text string) (trace, error) {
	req, resp := requestLine.FindStringSubmatchIndex(text), responseLine.FindStringSubmatchIndex(text)
	if req == nil || resp == nil {
		return trace{absent: true}, nil
	}
	var t trace
	var err error
	if t.began, err = strconv.Atoi(text[req[2]:req[3]]); err != nil {
		return t, err
	}
	t.ended = -1
	if end := endOf.FindStringSubmatch(text[resp[2]:resp[3]]); end != nil && end[1] != "-" {
		if t.ended, err = strconv.Atoi(end[1]); err != nil {
			return t, err
		}
	}
	t.cutShort = t.ended < 0 || strings.Contains(text[:req[0]], "closed by the client")
	first, headers, body := message(text[req[1]+1 : resp[0]])
	words := strings.Fields(first)
	t.method, t.path, t.headers, t.body = words[0], words[1], headers, body
	first, t.heads, t.answer = message(text[resp[1]+1:])
	t.status, err = strconv.Atoi(strings.Fields(first)[1])
	return t, err
}

// message takes an HTTP message apart. Header names become lower case.
func message(text string) (first string, headers map[string]string, body string) {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	headers = map[string]string{}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		headers[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	return lines[0], headers, strings.TrimSuffix(body, "\n")
}
