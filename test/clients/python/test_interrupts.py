"""Interrupts and commands, with the client and with RemoteGraph, LangGraph's own way to call a graph on a server."""

import json

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command

from base import AGENT, URL, Case, answers, asyncio, human, last_text, new_id, of, unittest

ANSWER = {"decisions": [{"type": "approve"}]}


def brief(interrupts):
    return [{"id": i["id"], "value": i["value"]} for i in interrupts]


class Interrupts(Case):
    def test_before_the_tools(self):
        for on in ({"input": None}, {"command": {"resume": True}}):
            thread_id = self.thread()
            frames = list(
                self.c.runs.stream(thread_id, AGENT, input=human("look around"), interrupt_before=["tools"], stream_mode="updates")
            )
            self.assertEqual(of(frames, "updates")[-1], {"__interrupt__": []})
            self.assertEqual(self.c.threads.get(thread_id)["status"], "interrupted")
            self.assertEqual(list(self.c.threads.get_state(thread_id)["next"]), ["tools"])
            values = self.c.runs.wait(thread_id, AGENT, **on)
            self.assertEqual(answers(values), ["I look.", "I have looked around."])

    def test_a_tool_asks(self):
        thread_id = self.thread()
        values = self.c.runs.wait(thread_id, AGENT, input=human("ask me"))
        [interrupt] = brief(values["__interrupt__"])
        self.assertEqual(interrupt["value"]["action_requests"][0]["name"], "delete")
        state = self.c.threads.get_state(thread_id)
        self.assertEqual(brief(state["interrupts"]), [interrupt])
        self.assertEqual(brief(i for t in state["tasks"] for i in t["interrupts"]), [interrupt])
        values = self.c.runs.wait(thread_id, AGENT, command={"resume": {interrupt["id"]: ANSWER}})
        self.assertEqual(json.loads(last_text(values).removeprefix("The human said: ")), ANSWER)

    def test_a_sub_agent_asks_two_things(self):
        thread_id = self.thread()
        context = {"subagent_enabled": True}
        values = self.c.runs.wait(thread_id, AGENT, input=human("delegate it"), context=context)
        first, second = both = brief(values["__interrupt__"])
        self.assertNotEqual(first["id"], second["id"])
        path = first["value"]["namespace"]
        self.assertEqual((len(path), second["value"]["namespace"]), (1, path))
        [task] = self.c.threads.get_state(thread_id)["tasks"]
        self.assertEqual(brief(task["interrupts"]), both)
        self.assertEqual(task["checkpoint"], {"thread_id": thread_id, "checkpoint_ns": "|".join(path)})
        self.assertIsNone(task["state"])
        deep = self.c.threads.get_state(thread_id, subgraphs=True)
        [inner] = deep["tasks"]
        self.assertIsNone(inner["checkpoint"])
        below = inner["state"]
        self.assertEqual((last_text(below["values"]), list(below["next"])), ("I write both.", ["tools"]))
        self.assertEqual([i["id"] for t in below["tasks"] for i in t["interrupts"]], [first["id"], second["id"]])
        above = {"": deep["checkpoint"]["checkpoint_id"]}
        at = below["checkpoint"]
        self.assertEqual((at["thread_id"], at["checkpoint_ns"]), (thread_id, path[0]))
        self.assertEqual(at["checkpoint_map"], above | {path[0]: at["checkpoint_id"]})
        self.assertEqual(below["metadata"]["parents"], above)
        self.assertEqual(self.c.threads.get_state(thread_id, checkpoint=task["checkpoint"]), below)
        self.assertEqual(self.c.threads.get_state(thread_id, checkpoint=deep["checkpoint"], subgraphs=True), deep)
        values = self.c.runs.wait(thread_id, AGENT, command={"resume": {second["id"]: ANSWER}}, context=context)
        [left] = values["__interrupt__"]
        self.assertEqual(left["id"], first["id"])
        reject = {"decisions": [{"type": "reject"}]}
        values = self.c.runs.wait(thread_id, AGENT, command={"resume": {first["id"]: reject}}, context=context)
        self.assertIn("Result: not one, two", last_text(values))
        self.assertEqual(self.c.threads.get_state(thread_id, subgraphs=True)["tasks"], [])

    def test_update_and_goto(self):
        thread_id = self.thread()
        self.c.runs.wait(thread_id, AGENT, input=human("hello"))
        update = {"title": "commanded", **human("recall the update")}
        values = self.c.runs.wait(thread_id, AGENT, command={"update": update, "goto": "model"})
        self.assertEqual(values["title"], "commanded")
        self.assertIn("recall the update", last_text(values))


class Remote(Case):
    def setUp(self):
        self.graph = RemoteGraph(AGENT, url=URL, sync_client=self.c)
        self.config = {"configurable": {"thread_id": new_id()}}

    def test_invoke_and_stream(self):
        values = self.graph.invoke(human("look around"), self.config)
        self.assertEqual(answers(values), ["I look.", "I have looked around."])
        chunks = list(self.graph.stream(human("look again"), self.config))
        self.assertTrue(any("tools" in chunk for chunk in chunks))
        both = list(self.graph.stream(human("hello"), self.config, stream_mode=["messages", "values"], subgraphs=True))
        self.assertEqual({mode for _, mode, _ in both}, {"messages", "values"})
        self.assertEqual(last_text(self.graph.invoke(human("hello"))), "Hello from the script.")

    def test_state_and_history(self):
        self.graph.invoke(human("look around"), self.config)
        state = self.graph.get_state(self.config)
        self.assertEqual((answers(state.values)[-1], state.next), ("I have looked around.", ()))
        history = list(self.graph.get_state_history(self.config))
        self.assertGreaterEqual(len(history), 4)
        self.assertEqual(history[0].config["configurable"]["checkpoint_id"], state.config["configurable"]["checkpoint_id"])
        self.assertEqual(history[0].parent_config["configurable"]["checkpoint_id"], history[1].config["configurable"]["checkpoint_id"])
        self.assertEqual(self.graph.get_state(history[-1].config).values, {})  # before the first message
        older = self.graph.get_state(history[-2].config)
        self.assertEqual(answers(older.values), [])
        before = list(self.graph.get_state_history(self.config, before=history[0].config, limit=2))
        self.assertEqual([s.config for s in before], [s.config for s in history[1:3]])
        self.assertEqual(len(list(self.graph.get_state_history(self.config, limit=1))), 1)

    def test_update_state(self):
        self.graph.invoke(human("hello"), self.config)
        where = self.graph.update_state(self.config, {"title": "remote"}, as_node="model")
        self.assertEqual(self.graph.get_state(self.config).values["title"], "remote")
        self.assertEqual(self.graph.get_state(where).values["title"], "remote")

    def test_interrupt_and_resume(self):
        values = self.graph.invoke(human("ask me"), self.config)
        self.assertEqual(values["__interrupt__"][0]["value"]["action_requests"][0]["args"], {"target": "report.md"})
        state = self.graph.get_state(self.config)
        self.assertEqual((state.next, len(state.interrupts)), (("tools",), 1))
        self.assertEqual(state.interrupts[0].value["action_requests"][0]["name"], "delete")
        values = self.graph.invoke(Command(resume=ANSWER), self.config)
        self.assertEqual(json.loads(last_text(values).removeprefix("The human said: ")), ANSWER)
        self.assertEqual(self.graph.get_state(self.config).next, ())

    def test_static_interrupt(self):
        self.graph.invoke(human("look around"), self.config, interrupt_before=["tools"])
        self.assertEqual(self.graph.get_state(self.config).next, ("tools",))
        self.assertEqual(last_text(self.graph.invoke(None, self.config)), "I have looked around.")

    def test_command_update_and_goto(self):
        self.graph.invoke(human("hello"), self.config)
        values = self.graph.invoke(Command(update=human("recall it"), goto="model"), self.config)
        self.assertIn("recall it", last_text(values))

    def test_async(self):
        async def main():
            graph = RemoteGraph(AGENT, url=URL)
            values = await graph.ainvoke(human("hello"), self.config)
            state = await graph.aget_state(self.config)
            return values, state

        values, state = asyncio.run(main())
        self.assertEqual(last_text(values), "Hello from the script.")
        self.assertEqual(last_text(state.values), "Hello from the script.")


if __name__ == "__main__":
    unittest.main()
