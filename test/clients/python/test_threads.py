"""Threads, state, history, store, assistants."""

from base import AGENT, Case, answers, human, last_text, new_id, text_of, unittest


class Threads(Case):
    def test_create_get_update_delete(self):
        thread_id = new_id()
        made = self.c.threads.create(thread_id=thread_id, metadata={"colour": "red", "n": 1})
        self.assertEqual((made["thread_id"], made["status"]), (thread_id, "idle"))
        again = self.c.threads.create(thread_id=thread_id, if_exists="do_nothing")
        self.assertEqual(again["metadata"]["colour"], "red")
        patched = self.c.threads.update(thread_id, metadata={"n": 2})
        self.assertEqual((patched["metadata"]["colour"], patched["metadata"]["n"]), ("red", 2))
        self.assertEqual(self.c.threads.get(thread_id)["metadata"], patched["metadata"])
        self.c.threads.delete(thread_id)
        self.refused(404, self.c.threads.get, thread_id)

    def test_search_and_count(self):
        mark = new_id()
        ids = [self.thread(metadata={"mark": mark, "i": i}) for i in range(4)]
        found = self.c.threads.search(metadata={"mark": mark}, sort_by="created_at", sort_order="asc")
        self.assertEqual([t["thread_id"] for t in found], ids)
        page = self.c.threads.search(metadata={"mark": mark}, sort_by="created_at", sort_order="desc", limit=2, offset=1)
        self.assertEqual([t["thread_id"] for t in page], [ids[2], ids[1]])
        self.assertEqual(self.c.threads.count(metadata={"mark": mark}), 4)
        only = self.c.threads.search(metadata={"mark": mark, "i": 3}, select=["thread_id"])
        self.assertEqual(only, [{"thread_id": ids[3]}])

    def test_copy(self):
        thread_id = self.thread()
        self.c.runs.wait(thread_id, AGENT, input=human("hello"))
        copy = self.c.threads.copy(thread_id)
        copy_id = copy["thread_id"] if copy else None
        if copy_id is None:
            self.skipTest("this client does not return the copy")
        self.assertEqual(
            self.c.threads.get_state(copy_id)["values"]["messages"], self.c.threads.get_state(thread_id)["values"]["messages"]
        )

    def test_state(self):
        thread_id = self.thread()
        fresh = self.c.threads.get_state(thread_id)
        self.assertEqual(list(fresh["next"]), [])
        self.c.runs.wait(thread_id, AGENT, input=human("hello"))
        state = self.c.threads.get_state(thread_id)
        self.assertEqual(last_text(state["values"]), "Hello from the script.")
        for key in ("values", "next", "tasks", "metadata", "created_at", "checkpoint", "parent_checkpoint", "interrupts"):
            self.assertIn(key, state)
        updated = self.c.threads.update_state(thread_id, {"title": "A title"})
        self.assertEqual(updated["checkpoint"]["thread_id"], thread_id)
        self.assertEqual(self.c.threads.get_state(thread_id)["values"]["title"], "A title")
        for at in (
            {"checkpoint": state["checkpoint"]},
            {"checkpoint_id": state["checkpoint"]["checkpoint_id"]},
        ):
            old = self.c.threads.get_state(thread_id, **at)
            self.assertNotEqual(old["values"].get("title"), "A title")
            self.assertEqual(answers(old["values"]), ["Hello from the script."])

    def test_messages_are_added_replaced_removed(self):
        thread_id = self.thread(graph_id=AGENT)

        def put(message):
            self.c.threads.update_state(thread_id, {"messages": [message]}, as_node="model")
            return [(m["id"], text_of(m)) for m in self.c.threads.get_state(thread_id)["values"]["messages"]]

        self.assertEqual(put({"type": "human", "content": "one", "id": "h1"}), [("h1", "one")])
        self.assertEqual(put({"type": "ai", "content": "two", "id": "a1"}), [("h1", "one"), ("a1", "two")])
        self.assertEqual(put({"role": "user", "content": "ONE", "id": "h1"}), [("h1", "ONE"), ("a1", "two")])
        self.assertEqual(put({"type": "remove", "content": "", "id": "h1"}), [("a1", "two")])

    def test_history(self):
        thread_id = self.thread()
        self.c.runs.wait(thread_id, AGENT, input=human("look around"))
        states = self.c.threads.get_history(thread_id, limit=100)
        ids = [s["checkpoint"]["checkpoint_id"] for s in states]
        self.assertGreaterEqual(len(ids), 4)
        self.assertEqual(ids, sorted(ids, reverse=True))
        for before in (ids[1], {"checkpoint_id": ids[1]}, {"configurable": {"checkpoint_id": ids[1]}}):
            page = self.c.threads.get_history(thread_id, limit=2, before=before)
            self.assertEqual([s["checkpoint"]["checkpoint_id"] for s in page], ids[2:4], before)

    def test_update_at_a_checkpoint(self):
        """A change of an earlier state becomes the head; what was there stays a branch."""
        thread_id = self.thread()
        self.c.runs.wait(thread_id, AGENT, input=human("hello"))
        at = self.c.threads.get_state(thread_id)["checkpoint"]
        self.c.runs.wait(thread_id, AGENT, input=human("hello again"))
        left = self.c.threads.get_state(thread_id)["checkpoint"]
        for fork in ({"checkpoint": at}, {"checkpoint_id": at["checkpoint_id"]}):
            self.c.threads.update_state(thread_id, {"title": "forked"}, **fork)
            head = self.c.threads.get_state(thread_id)
            self.assertEqual((head["values"]["title"], len(answers(head["values"]))), ("forked", 1))
            self.assertEqual(head["parent_checkpoint"]["checkpoint_id"], at["checkpoint_id"])
        self.assertEqual(len(answers(self.c.threads.get_state(thread_id, checkpoint=left)["values"])), 2)
        self.assertEqual(len(answers(self.c.runs.wait(thread_id, AGENT, input=human("recall right")))), 2)

    def test_bin(self):
        """Who knows no bin does not see what is in it, cannot change it, and can delete it for good."""
        mark = new_id()
        thread_id = self.thread(metadata={"mark": mark})
        self.c.runs.wait(thread_id, AGENT, input=human("hello"))
        self.c.http.post(f"/threads/{thread_id}/trash", json={})
        self.assertEqual(self.c.threads.search(metadata={"mark": mark}), [])
        self.assertEqual(self.c.threads.count(metadata={"mark": mark}), 0)
        at = self.c.threads.get_history(thread_id, limit=100)[1]["checkpoint"]
        self.assertEqual(self.c.threads.get_state(thread_id, checkpoint=at)["checkpoint"], at)
        self.refused(409, self.c.threads.update_state, thread_id, {"title": "x"})
        self.refused(409, self.c.runs.create, thread_id, AGENT, input=human("hello"))
        self.c.http.post(f"/threads/{thread_id}/restore", json={})
        self.assertEqual([t["thread_id"] for t in self.c.threads.search(metadata={"mark": mark})], [thread_id])
        self.assertEqual(len(answers(self.c.runs.wait(thread_id, AGENT, input=human("hello")))), 2)
        self.c.http.post(f"/threads/{thread_id}/trash", json={})
        self.c.threads.delete(thread_id)
        self.refused(404, self.c.threads.get, thread_id)
        self.refused(404, self.c.http.post, f"/threads/{thread_id}/restore", json={})

    def test_supersteps(self):
        steps = [{"updates": [{"values": human("made"), "as_node": "__start__"}]}]
        thread_id = self.thread(graph_id=AGENT, supersteps=steps)
        messages = self.c.threads.get_state(thread_id)["values"]["messages"]
        self.assertEqual([text_of(m) for m in messages], ["made"])


class Store(Case):
    def test_items(self):
        space = ["tests", new_id()]
        self.c.store.put_item(space, "k", {"n": 1})
        item = self.c.store.get_item(space, "k")
        self.assertEqual((item["namespace"], item["key"], item["value"]), (space, "k", {"n": 1}))
        found = self.c.store.search_items(space, filter={"n": 1})
        self.assertEqual([i["key"] for i in found["items"]], ["k"])
        self.assertEqual(self.c.store.list_namespaces(prefix=space)["namespaces"], [space])
        self.c.store.delete_item(space, "k")
        self.assertEqual(self.c.store.search_items(space)["items"], [])

    def test_query(self):
        space = ["tests", new_id()]
        for key, text in [("food", "Ann likes pizza"), ("city", "Ann lives in Bern"), ("sport", "skiing")]:
            self.c.store.put_item(space, key, {"text": text})
        found = self.c.store.search_items(space, query="What pizza does Ann like?")["items"]
        self.assertEqual([i["key"] for i in found], ["food", "city"])
        self.assertGreater(found[0]["score"], found[1]["score"])
        self.assertEqual(self.c.store.search_items(space, query="moose")["items"], [])

    def test_time_to_live(self):
        space = ["tests", new_id()]
        self.c.store.put_item(space, "soon", {}, ttl=0.005)
        self.c.store.put_item(space, "later", {}, ttl=60)
        self.until("the end of the item", lambda: self.c.store.get_item(space, "soon", refresh_ttl=False) is None)
        found = self.c.store.search_items(space, refresh_ttl=True)
        self.assertEqual([i["key"] for i in found["items"]], ["later"])


class Assistants(Case):
    def test_the_built_in_one(self):
        found = self.c.assistants.search(graph_id=AGENT, metadata={"created_by": "system"})
        self.assertEqual([a["graph_id"] for a in found], [AGENT])
        assistant_id = found[0]["assistant_id"]
        self.assertEqual(self.c.assistants.get(assistant_id)["graph_id"], AGENT)
        self.assertIn("nodes", self.c.assistants.get_graph(assistant_id))
        self.assertEqual(self.c.assistants.get_schemas(assistant_id)["graph_id"], AGENT)
        self.assertIsInstance(self.c.assistants.get_subgraphs(assistant_id), dict)
        self.assertGreaterEqual(self.c.assistants.count(graph_id=AGENT), 1)

    def test_create_update_delete(self):
        made = self.c.assistants.create(AGENT, name="mine", metadata={"mark": new_id()})
        second = self.c.assistants.update(made["assistant_id"], name="ours")
        self.assertEqual((made["version"], second["version"], second["name"]), (1, 2, "ours"))
        self.assertEqual(len(self.c.assistants.get_versions(made["assistant_id"])), 2)
        self.assertEqual(self.c.assistants.set_latest(made["assistant_id"], 1)["name"], "mine")
        values = self.c.runs.wait(self.thread(), made["assistant_id"], input=human("hello"))
        self.assertEqual(last_text(values), "Hello from the script.")
        self.c.assistants.delete(made["assistant_id"])
        self.refused(404, self.c.assistants.get, made["assistant_id"])


if __name__ == "__main__":
    unittest.main()
