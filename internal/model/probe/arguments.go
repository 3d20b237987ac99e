package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// tripSchema has what weak models stumble over: objects in objects, an enum, integers, a list, nothing optional.
const tripSchema = `{"type":"object","properties":{` +
	`"traveller":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},` +
	`"required":["name","age"],"additionalProperties":false},` +
	`"class":{"type":"string","enum":["ECONOMY","BUSINESS","FIRST"]},` +
	`"stops":{"type":"array","items":{"type":"object","properties":{"city":{"type":"string"},` +
	`"nights":{"type":"integer","minimum":1}},"required":["city","nights"],"additionalProperties":false}},` +
	`"refundable":{"type":"boolean"}},"required":["traveller","class","stops","refundable"],` +
	`"additionalProperties":false}`

type trip struct {
	Traveller struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	} `json:"traveller"`
	Class string `json:"class"`
	Stops []struct {
		City   string `json:"city"`
		Nights int    `json:"nights"`
	} `json:"stops"`
	Refundable bool `json:"refundable"`
}

func (p *prober) schema(ctx context.Context) finding {
	const task = "Book a trip with the tool: Ada Lovelace, who is forty-one years old, travels in business class, " +
		"two nights in Rome and then three in Oslo. It must be refundable."
	a, err := p.call(ctx, ask(task, model.Tool{Name: "book_trip", Description: "Books a trip.",
		Parameters: json.RawMessage(tripSchema)}), shortRoom)
	if err != nil {
		return lost(err)
	}
	call, problem := p.only(&a, "book_trip")
	if problem != "" {
		return fail("%s", problem)
	}
	s, err := tool.ParseSchema(json.RawMessage(tripSchema))
	if err != nil {
		return fail("%v", err) // not reached: the schema is a constant, and a test reads it
	}
	fitting, err := s.Check(call.Args)
	if err != nil {
		return fail("%s", excerpt.Clip(strings.Join(strings.Fields(err.Error()), " "), maxDetail))
	}
	if wrong := wrongTrip(fitting); wrong != "" {
		return fail("fits the schema, but %s", wrong)
	}
	if !bytes.Equal(fitting, call.Args) {
		return fail("values of a wrong type, which Pudu puts right: %s", quote(string(call.Args)))
	}
	return pass("nested object, enum, integers and list")
}

// wrongTrip compares arguments that fit the schema with the task.
func wrongTrip(args json.RawMessage) string {
	var t trip
	if err := json.Unmarshal(args, &t); err != nil {
		return err.Error()
	}
	switch {
	case t.Traveller.Age != 41:
		return fmt.Sprintf("the age is %d instead of 41", t.Traveller.Age)
	case t.Class != "BUSINESS":
		return "the class is " + quote(t.Class)
	case !t.Refundable:
		return "it is not refundable"
	case len(t.Stops) != 2 || t.Stops[0].Nights != 2 || t.Stops[1].Nights != 3:
		return "the stops are not those of the task"
	}
	return ""
}

// fileLines is how long the file of the task arguments is.
const fileLines = 200

// specialLine is a line of the file that is not like the others: it has what must be escaped in JSON, or more bytes
// than characters.
type specialLine struct {
	at   int
	text string
}

func specialLines() []specialLine {
	return []specialLine{
		{50, `50: "quoted" and C:\new\table`},
		{100, `100: Grüße, 你好, 🦌`}, //nolint:gosmopolitan // what several bytes make is the point
		{150, `150: <tag a='b'> & {"json": [1, null]}`},
	}
}

// wantedFile is the file, line by line.
func wantedFile() []string {
	lines := make([]string, fileLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d: pudu", i+1)
	}
	for _, s := range specialLines() {
		lines[s.at-1] = s.text
	}
	return lines
}

func (p *prober) arguments(ctx context.Context) finding {
	var task strings.Builder
	fmt.Fprintf(&task, "Write the file list.txt with one call of the tool. It has exactly %d lines. Line N is \"N: "+
		"pudu\" (so the first is \"1: pudu\"), except these three, which must be exactly:\n", fileLines)
	for _, s := range specialLines() {
		task.WriteString(s.text + "\n")
	}
	task.WriteString("Write all lines out, leave none away.")
	write := model.Tool{Name: "write_file", Description: "Writes a text file.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path",` +
			`"content"],"additionalProperties":false}`)}
	a, err := p.call(ctx, ask(task.String(), write), longRoom)
	if err != nil {
		return lost(err)
	}
	call, problem := p.only(&a, write.Name)
	if problem != "" {
		return fail("%s", problem)
	}
	var args struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return fail("the content is no text")
	}
	if wrong := wrongFile(args.Content); wrong != "" {
		return fail("%s", wrong)
	}
	return pass("%d lines, %d bytes, nothing changed", fileLines, len(args.Content))
}

// wrongFile is the first thing that is wrong with the file.
func wrongFile(content string) string {
	got, want := strings.Split(strings.TrimRight(content, "\n"), "\n"), wantedFile()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("line %d is %s", i+1, quote(got[i]))
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d lines instead of %d", len(got), len(want))
	}
	return ""
}
