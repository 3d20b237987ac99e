package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
)

func TestSearch(t *testing.T) {
	databases.Run(t, feature.All(), []databases.Case{
		{Name: "languages", Test: languages}, {Name: "queries", Test: queries},
		{Name: "hostile queries", Test: hostile}, {Name: "what has changed", Test: changes},
		{Name: "order and pages", Test: order}, {Name: "filters", Test: filters}, {Name: "long messages", Test: long},
		{Name: "of others", Test: ofOthers}, {Name: "filled", Test: filled}, {Name: "cut off", Test: cutOff},
		{Name: "not in a dump", Test: kept}, {Name: "what is said to whom", Test: shown},
		{Name: "what stands in no list", Test: marked}, {Name: "the newest of many", Test: newest},
	})
}

var now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// kit has threads whose messages the test sets.
type kit struct {
	*databases.Fixture

	indexer  *search.Indexer
	messages map[string][]message.Message
	files    map[string][]string
}

func newKit(f *databases.Fixture) *kit {
	k := &kit{Fixture: f, messages: make(map[string][]message.Message), files: make(map[string][]string)}
	k.indexer = search.NewIndexer(search.Config{Store: f.Store, Content: k.content})
	return k
}

func (k *kit) content(ctx context.Context, u access.User, id string) (search.Content, error) {
	t, err := k.For(u).Thread(ctx, id)
	return search.Content{Thread: t, Messages: k.messages[id], Files: k.files[id]}, err
}

// thread makes a thread of a user, with messages of the user and the agent in turns, and indexes it.
func (k *kit) thread(u access.User, id, title string, texts ...string) {
	k.Helper()
	k.Must(k.For(u).CreateThread(k.Context(), store.Thread{ID: id, Title: title, CreatedAt: now, UpdatedAt: now}))
	for i, text := range texts {
		m := message.New([]message.Role{message.Human, message.AI}[i%2], text)
		m.ID = fmt.Sprintf("%s-%d", id, i)
		k.messages[id] = append(k.messages[id], m)
	}
	k.index(u, id)
}

func (k *kit) index(u access.User, id string) {
	k.Helper()
	k.Must(k.indexer.Index(k.Context(), u, id))
}

// find returns what is found: the forms of titles and files, the ids of messages.
func (k *kit) find(u access.User, q search.Query) []search.Hit {
	k.Helper()
	if q.Limit == 0 {
		q.Limit = 50
	}
	hits, _, err := search.New(k.Store, func() time.Time { return now.Add(time.Hour) }).For(u).Find(k.Context(), q)
	if err != nil {
		k.Fatalf("%q: %v", q.Words, err)
	}
	return hits
}

func refs(hits []search.Hit) string {
	var list []string
	for _, h := range hits {
		ref := h.Ref
		if h.Form == search.Title {
			ref = "title of " + h.ThreadID
		}
		list = append(list, ref)
	}
	return strings.Join(list, " ")
}

// is checks what a query finds of Ann's.
func (k *kit) is(words, want string) {
	k.Helper()
	k.Equal(words, refs(k.find(k.Ann(), search.Query{Words: words})), want)
}

func languages(f *databases.Fixture) {
	k := newKit(f)
	texts := []string{
		"关于机器学习的论文", "東京タワーへ行く", "한국어 검색 엔진", "Größe und Straße von Frau Müller", "L'été à Besançon",
		"ISPARTA ve İzmir", "a 🦌 in the wood", "call parse_config_file and loadUserData", "Go语言 and 東京 2024",
		"Ёлка стоит",
	}
	k.thread(f.Ann(), "t", "", texts...)
	for query, want := range map[string]int{
		"学习": 0, "机器学习": 0, "论": 0, "東京タワー": 1, "行く": 1, "검색": 2, "한국": 2, "grosse": 3, "GRÖSSE": 3, "strasse": 3,
		"mueller": 3, "mull": 3, "ETE": 4, "besancon": 4, "ısparta": 5, "izmir": 5, "🦌": 6, "config": 7,
		"parse_config_file": 7, "loaduserdata": 7, "user": 7, "语言": 8, "елка": 9,
	} {
		k.is(query, fmt.Sprintf("t-%d", want))
	}
	k.is("习机", "")
	k.is("東京 2024", "t-8")
	f.Sound()
}

func queries(f *databases.Fixture) {
	k := newKit(f)
	k.thread(f.Ann(), "t", "", "the red deer runs", "a deer that is red", "the red fox", "deer-stalking")
	k.is("red deer", "t-0 t-1")
	k.is(`"red deer"`, "t-0")
	k.is("red -deer", "t-2")
	k.is("deer -red-fox", "t-3 t-1 t-0")
	k.is("-deer", "")
	k.is("", "")
	k.is("fo", "t-2")
	k.is("fo ", "")
	k.is("dee red", "")
	hit := k.find(f.Ann(), search.Query{Words: "fox"})[0]
	f.Equal("excerpt", fmt.Sprint(hit.Excerpt), "[{the red  false} {fox true}]")
	f.Equal("hit", hit.ThreadID+hit.Role+hit.At.String(), "t"+"human"+now.String())
}

// hostile: no text is a query in the language of a database.
func hostile(f *databases.Fixture) {
	k := newKit(f)
	k.thread(f.Ann(), "t", "", "near or and not deer")
	for _, q := range []string{
		`"`, `'`, `*`, `a*`, `^deer`, `deer:*`, `terms:deer`, `{terms} : deer`, `deer <-> near`, `deer & ! near`,
		`NEAR(deer near, 5)`, `(((`, `deer)`, `\`, `\'`, "deer\x00near", "\xff\xfe", `deer OR fox`, `AND`, `NOT`,
		`'; DROP TABLE search_docs; --`, `%s`, `§title`, `-- -"`, strings.Repeat("(", 5000),
		strings.Repeat("deer ", 5000), strings.Repeat("a -b ", 100), strings.Repeat("é", 3000), `"" "" -""`,
	} {
		k.find(f.Ann(), search.Query{Words: q})
	}
	k.is("AND NOT deer OR near", "t-0")
	k.is("§title", "")
}

func changes(f *databases.Fixture) {
	k := newKit(f)
	k.thread(f.Ann(), "t", "About herons", "first question", "first answer", "second question", "second answer")
	k.is("question", "t-2 t-0")
	all := k.messages["t"]
	k.messages["t"] = all[:2] // rolled back
	k.index(f.Ann(), "t")
	k.is("second", "")
	edited := message.New(message.Human, "changed question")
	edited.ID = "t-0"
	k.messages["t"] = []message.Message{edited}
	k.index(f.Ann(), "t")
	k.is("first", "")
	k.is("changed", "t-0")
	k.is("herons", "title of t")
	title := "About deer"
	_, err := f.For(f.Ann()).PatchThread(f.Context(), "t", store.ThreadPatch{Title: &title})
	f.Must(err)
	k.index(f.Ann(), "t")
	k.is("herons", "")
	k.is("deer", "title of t")
	k.files["t"] = []string{"/mnt/user-data/outputs/deer_report-2024.pdf", "/mnt/user-data/workspace/a/b.txt"}
	k.index(f.Ann(), "t")
	k.is("report", "/mnt/user-data/outputs/deer_report-2024.pdf")
	k.is("outputs", "")
	f.Sound()
	f.Must(f.For(f.Ann()).DeleteThread(f.Context(), "t"))
	k.is("deer", "")
	k.index(f.Ann(), "t") // which is gone
	f.Sound()
}

func order(f *databases.Fixture) {
	k := newKit(f)
	k.thread(f.Ann(), "old", "All about red deer", "x")
	for i := range 40 {
		texts := make([]string, 10)
		for j := range texts {
			texts[j] = fmt.Sprintf("deer number %d of %d", j, i)
		}
		k.thread(f.Ann(), fmt.Sprint("t", i), "", texts...)
	}
	hits := k.find(f.Ann(), search.Query{Words: "deer", Limit: 10})
	f.Equal("first", refs(hits[:1]), "title of old") // though 400 newer messages match
	seen := make(map[string]bool)
	for offset := 0; offset < search.MaxHits; offset += 50 {
		page, more, err := search.New(f.Store, nil).For(f.Ann()).
			Find(f.Context(), search.Query{Words: "deer", Limit: 50, Offset: offset})
		f.Must(err)
		f.Equal("page", len(page), 50)
		f.Equal("more", more, offset < search.MaxHits-50)
		for _, h := range page {
			seen[h.ThreadID+h.Ref] = true
		}
	}
	f.Equal("different hits", len(seen), search.MaxHits)
	for _, q := range []search.Query{{Words: "x"}, {Words: "x", Limit: 201}, {Words: "x", Limit: 100, Offset: 101},
		{Words: "x", Limit: 1, Offset: -1}} {
		if _, _, err := search.New(f.Store, nil).For(f.Ann()).Find(f.Context(), q); err == nil {
			f.Errorf("%+v is taken", q)
		}
	}
}

func filters(f *databases.Fixture) {
	k := newKit(f)
	for i := range 3 {
		id := fmt.Sprint("t", i)
		at := now.Add(time.Duration(i) * time.Hour)
		f.Must(f.For(f.Ann()).CreateThread(f.Context(), store.Thread{ID: id, Title: "deer", CreatedAt: at,
			UpdatedAt: at}))
		k.index(f.Ann(), id)
	}
	is := func(q search.Query, want string) {
		f.Helper()
		q.Words = "deer"
		f.Equal(fmt.Sprint(q), refs(k.find(f.Ann(), q)), want)
	}
	is(search.Query{Threads: []string{"t1", "none", `"`}}, "title of t1")
	is(search.Query{Threads: []string{}}, "")
	is(search.Query{Since: now.Add(time.Hour)}, "title of t2 title of t1")
	is(search.Query{Until: now.Add(time.Hour)}, "title of t0")
}

// long: a message of 10,000 lines is found by its middle too; what is beyond the bound is not, and says nothing.
func long(f *databases.Fixture) {
	k := newKit(f)
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "line%d of the log\n", i)
	}
	k.thread(f.Ann(), "t", "", b.String(), strings.Repeat("x", 1<<20)+" behind", strings.Repeat("deer ", 100_000)+
		"heron")
	k.is("line7777", "t-0")
	k.is("log", "t-0") // once
	k.is("behind", "")
	k.is("heron", "t-2")
}

func ofOthers(f *databases.Fixture) {
	k := newKit(f)
	k.thread(f.Ann(), "hers", "secret deer", "secret deer")
	k.thread(f.Bob(), "his", "deer", "deer")
	f.Equal("his", refs(k.find(f.Bob(), search.Query{Words: "deer"})), "title of his his-0")
	f.Equal("hers", len(k.find(f.Bob(), search.Query{Words: "secret"})), 0)
	f.Equal("by its id", len(k.find(f.Bob(), search.Query{Words: "deer", Threads: []string{"hers"}})), 0)
	if _, _, err := search.New(f.Store, nil).For(access.User{}).
		Find(f.Context(), search.Query{Words: "deer", Limit: 1}); err == nil {
		f.Error("nobody may search")
	}
	k.index(f.Bob(), "hers") // which is not his
	f.Equal("after he asked for it", refs(k.find(f.Ann(), search.Query{Words: "secret"})), "title of hers hers-0")
	_, err := f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	k.is("deer", "")
	f.Sound()
}

// filled: what no job was enqueued for is found by going through the threads, and that looks at what has changed
// alone.
func filled(f *databases.Fixture) {
	k := newKit(f)
	for i := range 250 {
		f.Must(f.For(f.Ann()).CreateThread(f.Context(),
			store.Thread{ID: fmt.Sprint("t", i), Title: fmt.Sprint("deer", i), UpdatedAt: now}))
	}
	asked := 0
	k.indexer = search.NewIndexer(search.Config{Store: f.Store,
		Content: func(ctx context.Context, u access.User, id string) (search.Content, error) {
			asked++
			if id == "t7" {
				return search.Content{}, fmt.Errorf("a broken thread")
			}
			return k.content(ctx, u, id)
		}})
	if err := k.indexer.Fill(f.Context(), access.User{}); err == nil ||
		!strings.Contains(err.Error(), `"t7": a broken thread`) {
		f.Error(err)
	}
	k.is("deer249", "title of t249")
	asked = 0
	title := "herons"
	_, err := f.For(f.Ann()).PatchThread(f.Context(), "t9", store.ThreadPatch{Title: &title})
	f.Must(err)
	_ = k.indexer.Fill(f.Context(), f.Bob())
	f.Equal("threads of another", asked, 0)
	_ = k.indexer.Fill(f.Context(), f.Ann())
	f.Equal("threads that had changed", asked, 2)
	k.is("herons", "title of t9")
}

// cutOff: an indexing that ends in the middle is done again, and leaves nothing twice.
func cutOff(f *databases.Fixture) {
	k := newKit(f)
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprintf("deer %d", i)
	}
	ctx, cancel := context.WithCancel(f.Context())
	broken := search.NewIndexer(search.Config{Store: cutStore{f.Store, cancel}, Content: k.content})
	f.Must(f.For(f.Ann()).CreateThread(f.Context(), store.Thread{ID: "t"}))
	for i, text := range texts {
		m := message.New(message.Human, text)
		m.ID = fmt.Sprint(i)
		k.messages["t"] = append(k.messages["t"], m)
	}
	if err := broken.Index(ctx, f.Ann(), "t"); err == nil {
		f.Fatal("it was not cut off")
	}
	f.Equal("a part", len(k.find(f.Ann(), search.Query{Words: "deer", Limit: 200})) > 0, true)
	f.Must(k.indexer.Fill(f.Context(), access.User{}))
	for _, i := range []int{0, 99, 100, 555, 999} {
		k.is(fmt.Sprintf("deer %d ", i), fmt.Sprint(i))
	}
	f.Sound()
}

// cutStore cancels after a few writes.
type cutStore struct {
	database.Store

	cancel func()
}

func (s cutStore) Feature(name string) database.DB { return cutDB{s.Store.Feature(name), s.cancel} }

type cutDB struct {
	database.DB

	cancel func()
}

func (d cutDB) For(u access.User) database.Bound { return &cutBound{d.DB.For(u), d.cancel, 0} }

type cutBound struct {
	database.Bound

	cancel func()
	writes int
}

func (b *cutBound) Write(ctx context.Context, size int, do func(database.Tx) error) error {
	if b.writes++; b.writes == 4 {
		b.cancel()
	}
	return b.Bound.Write(ctx, size, do)
}

// kept: a dump has no index, and from what it has the index is made again.
func kept(f *databases.Fixture) {
	k := newKit(f)
	k.thread(f.Ann(), "t", "deer", "heron")
	var all strings.Builder
	n, err := f.Store.System().Dump(f.Context(), &all)
	f.Must(err)
	f.Equal("dump", n, store.Holding{Threads: 1, Rows: 1}) // of its news
	f.Equal("no trace of it", strings.Contains(all.String(), "search"), false)
	_, err = f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	_, err = f.Store.System().Load(f.Context(), strings.NewReader(all.String()), nil)
	f.Must(err)
	k.is("deer", "")
	f.Must(k.indexer.Fill(f.Context(), access.User{}))
	k.is("heron", "t-0")
	f.Sound()
}

// shown: what people do not see is not found, and each message has the time of its run.
func shown(f *databases.Fixture) {
	k := newKit(f)
	f.Must(f.For(f.Ann()).CreateThread(f.Context(), store.Thread{ID: "t", CreatedAt: now, UpdatedAt: now}))
	_, err := f.For(f.Ann()).Admit(f.Context(), store.Admission{Thread: store.Thread{ID: "t"},
		Run: store.Run{ID: "r", ThreadID: "t", CreatedAt: now.Add(time.Minute),
			UpdatedAt: now.Add(time.Minute)}})
	f.Must(err)
	add := func(id string, m message.Message, kwargs message.Fields) {
		m.ID, m.Kwargs = id, kwargs
		k.messages["t"] = append(k.messages["t"], m)
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	add("a", message.New(message.System, "deer"), nil)
	add("b", message.New(message.Human, "deer"), message.Fields{"hide_from_ui": raw("true")})
	add("c", message.New(message.Human, "<context> deer </context> heron"),
		message.Fields{"original_user_content": raw(`"heron"`), "run_id": raw(`"r"`)})
	add("d", message.New(message.Tool, "deer of a tool"), nil)
	add("", message.New(message.AI, "deer without a name"), nil)
	add("e", message.Message{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Text: "deer"},
		message.Text("fox")}}, nil)
	add("e", message.New(message.AI, "deer again"), nil)
	k.index(f.Ann(), "t")
	k.is("deer", "d")
	k.is("fox", "e")
	f.Equal("time", k.find(f.Ann(), search.Query{Words: "heron"})[0].At, now.Add(time.Minute))
}

// marked: what is temporary or in the bin is not found, what is archived when it is asked for.
func marked(f *databases.Fixture) {
	k := newKit(f)
	for _, id := range []string{"listed", "archived", "temporary", "trashed"} {
		k.thread(f.Ann(), id, "a heron")
	}
	for id, mark := range map[string]store.Marks{"archived": store.Archived, "temporary": store.Temporary,
		"trashed": store.Trashed} {
		_, err := f.For(f.Ann()).PatchThread(f.Context(), id, store.ThreadPatch{Set: mark, TrashedAt: now})
		f.Must(err)
	}
	for archived, want := range map[bool]int{false: 1, true: 2} {
		f.Equal("found", len(k.find(f.Ann(), search.Query{Words: "heron", Archived: archived})), want)
	}
}

// newest: of what many messages have, the newest are found, however many do, and whatever stands between them.
func newest(f *databases.Fixture) {
	k := newKit(f)
	var all []string
	for i, n := range []int{500, 500, 240} { // PostgreSQL looks into 1,024 at once
		texts := make([]string, n)
		for j := range texts {
			at := len(all)
			texts[j] = fmt.Sprintf("deer %d", at)
			if at%3 == 0 {
				texts[j] += " hare"
			}
			if at%40 == 0 {
				texts[j] += " fox"
			}
			all = append(all, fmt.Sprintf("t%d-%d", i, j))
		}
		k.thread(f.Bob(), fmt.Sprint("his", i), "", "deer", "hare", "fox")
		k.thread(f.Ann(), fmt.Sprint("t", i), "", texts...)
	}
	same := func(words string, threads []string, matches func(int) bool) {
		f.Helper()
		var want []string
		for at := len(all) - 1; at >= 0 && len(want) < search.MaxHits; at-- {
			if all[at] != "" && matches(at) {
				want = append(want, all[at])
			}
		}
		hits := k.find(f.Ann(), search.Query{Words: words, Threads: threads, Limit: search.MaxHits})
		got := strings.Fields(refs(hits))
		slices.Sort(got)
		slices.Sort(want)
		f.Equal(words, got, want)
	}
	look := func() {
		f.Helper()
		same("deer", nil, func(int) bool { return true })
		same("deer hare", nil, func(at int) bool { return at%3 == 0 })
		same("fox", nil, func(at int) bool { return at%40 == 0 })
		same("deer -hare", nil, func(at int) bool { return at%3 != 0 })
		same("fox -hare", nil, func(at int) bool { return at%40 == 0 && at%3 != 0 })
		same("dee", nil, func(int) bool { return true })
		same("deer", []string{"t0"}, func(at int) bool { return at < 500 })
	}
	look()
	f.Must(f.For(f.Ann()).DeleteThread(f.Context(), "t2"))
	for at := 1000; at < len(all); at++ {
		all[at] = ""
	}
	look()
}
