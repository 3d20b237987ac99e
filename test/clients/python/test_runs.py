"""Runs: wait, background, join, cancel, strategies, forks, stateless, errors."""

import threading

from base import AGENT, Case, answers, human, last_text, names, new_id, of, unittest


class Runs(Case):
    def test_wait(self):
        thread_id = self.thread()
        created = []
        values = self.c.runs.wait(thread_id, AGENT, input=human("look around"), on_run_created=created.append)
        self.assertEqual(answers(values), ["I look.", "I have looked around."])
        self.assertEqual(created[0]["thread_id"], thread_id)
        self.assertEqual(self.c.runs.get(thread_id, created[0]["run_id"])["status"], "success")

    def test_wait_of_a_failed_run(self):
        thread_id = self.thread()
        values = self.c.runs.wait(thread_id, AGENT, input=human("fail please"))
        self.assertEqual(values["messages"][0]["type"] in ("human", "system"), True)
        self.assertEqual(self.c.runs.list(thread_id)[0]["status"], "error")
        self.assertEqual(self.c.threads.get(thread_id)["status"], "error")

    def test_background_and_join(self):
        thread_id = self.thread()
        run = self.c.runs.create(thread_id, AGENT, input=human("a while"), metadata={"tag": "x"})
        self.assertIn(run["status"], ("pending", "running"))
        self.assertEqual(self.c.threads.get(thread_id)["status"], "busy")
        self.assertTrue(last_text(self.c.runs.join(thread_id, run["run_id"])).startswith("A while"))
        self.assertEqual(self.c.runs.get(thread_id, run["run_id"])["metadata"]["tag"], "x")
        self.assertEqual(len(self.c.runs.list(thread_id, status="success")), 1)
        self.c.runs.delete(thread_id, run["run_id"])
        self.refused(404, self.c.runs.get, thread_id, run["run_id"])

    def test_cancel(self):
        for wait in (False, True):
            thread_id = self.thread()
            run = self.started(thread_id)
            self.c.runs.cancel(thread_id, run["run_id"], wait=wait)
            self.assertEqual(self.ended(thread_id, run["run_id"])["status"], "interrupted")

    def test_cancel_with_rollback(self):
        thread_id = self.thread()
        self.c.runs.wait(thread_id, AGENT, input=human("hello"))
        before = self.c.threads.get_state(thread_id)["values"]["messages"]
        run = self.started(thread_id)
        self.c.runs.cancel(thread_id, run["run_id"], wait=True, action="rollback")
        self.assertEqual(self.ended(thread_id, run["run_id"])["status"], "error")
        self.assertEqual(self.c.threads.get_state(thread_id)["values"]["messages"], before)

    def test_strategies(self):
        for strategy, status in (("interrupt", "interrupted"), ("rollback", "error")):
            thread_id = self.thread()
            first = self.started(thread_id, "slow one")
            values = self.c.runs.wait(thread_id, AGENT, input=human("recall two"), multitask_strategy=strategy)
            self.assertEqual(self.ended(thread_id, first["run_id"])["status"], status)
            self.assertEqual("slow one" in last_text(values), strategy == "interrupt")
            self.assertIn("recall two", last_text(values))

    def test_reject(self):
        thread_id = self.thread()
        run = self.started(thread_id)
        self.refused(409, self.c.runs.create, thread_id, AGENT, input=human("hello"), multitask_strategy="reject")
        self.refused(409, self.c.runs.stream, thread_id, AGENT, input=human("hello"), multitask_strategy="reject")
        self.c.runs.cancel(thread_id, run["run_id"], wait=True)

    def test_enqueue_is_the_default(self):
        thread_id = self.thread()
        self.c.runs.create(thread_id, AGENT, input=human("a while"))
        second = self.c.runs.create(thread_id, AGENT, input=human("recall two"))
        self.assertEqual(self.c.runs.get(thread_id, second["run_id"])["status"], "pending")
        values = self.c.runs.wait(thread_id, AGENT, input=human("recall three"), multitask_strategy="enqueue")
        self.assertEqual(len(answers(values)), 3)
        self.assertIn("recall two", last_text(values))

    def test_steer(self):
        thread_id = self.thread()
        first = self.c.runs.create(thread_id, AGENT, input=human("a while"))
        said = self.c.runs.create(thread_id, AGENT, input=human("recall one"), multitask_strategy="steer")
        self.assertEqual(said["run_id"], first["run_id"])
        values = self.c.runs.wait(thread_id, AGENT, input=human("recall two"), multitask_strategy="steer")
        self.assertRegex(last_text(values), r"(?s)recall one.*recall two")

    def test_fork(self):
        thread_id = self.thread()
        self.c.runs.wait(thread_id, AGENT, input=human("hello"))
        at = self.c.threads.get_state(thread_id)["checkpoint"]
        self.c.runs.wait(thread_id, AGENT, input=human("recall left"))
        for fork in ({"checkpoint": at}, {"checkpoint_id": at["checkpoint_id"]}):
            values = self.c.runs.wait(thread_id, AGENT, input=human("recall right"), **fork)
            self.assertEqual(len(answers(values)), 2)
            self.assertNotIn("left", last_text(values))

    def test_stateless(self):
        self.assertEqual(last_text(self.c.runs.wait(None, AGENT, input=human("hello"))), "Hello from the script.")
        frames = list(self.c.runs.stream(None, AGENT, input=human("hello"), stream_mode="values"))
        self.assertEqual(names(frames), ["metadata", "values", "end"])
        self.assertTrue(self.c.runs.create(None, AGENT, input=human("hello"))["run_id"])
        batch = self.c.runs.create_batch([{"assistant_id": AGENT, "input": human(t)} for t in ("one", "two")])
        self.assertEqual(len({r["run_id"] for r in batch}), 2)

    def test_errors(self):
        thread_id = self.thread()
        self.refused(404, self.c.runs.wait, new_id(), AGENT, input=human("hello"))
        self.refused(404, self.c.runs.create, thread_id, "no_such_assistant", input=human("hello"))
        self.refused(404, self.c.runs.get, thread_id, new_id())
        self.refused(422, self.c.runs.create, thread_id, AGENT, input=human("hello"), stream_mode="nonsense")
        self.refused(422, self.c.runs.create, thread_id, AGENT, input=human("hello"), multitask_strategy="nonsense")
        self.refused(404, self.c.runs.cancel, thread_id, new_id())
        values = self.c.runs.wait(new_id(), AGENT, input=human("hello"), if_not_exists="create")
        self.assertEqual(last_text(values), "Hello from the script.")

    def test_options_of_the_api(self):
        """What the SDK sends beside, and what DeerFlow refuses, works."""
        thread_id = self.thread()
        frames = list(
            self.c.runs.stream(
                thread_id, AGENT, input=human("hello"), stream_mode="values", stream_resumable=True, durability="sync",
                after_seconds=0, config={"tags": ["t"], "configurable": {"colour": "red"}},
            )
        )
        self.assertEqual(last_text(of(frames, "values")[-1]), "Hello from the script.")

    def test_join_waits_for_a_run_that_others_started(self):
        thread_id = self.thread()
        run = self.c.runs.create(thread_id, AGENT, input=human("brief"))
        got = []
        threads = [threading.Thread(target=lambda: got.append(self.c.runs.join(thread_id, run["run_id"]))) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(30)
        self.assertEqual([g == got[0] for g in got], [True] * 3)


if __name__ == "__main__":
    unittest.main()
