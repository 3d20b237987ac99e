"""Streams: every mode, several at once, late readers, and connections that are cut at random bytes."""

import os
import random
import warnings

import httpx
from base import AGENT, URL, Case, answers, asyncio, check_stream, get_client, get_sync_client, human, last_text, names, of, text_of, unittest
from proxy import Cutting

MODES = ["values", "updates", "messages-tuple", "custom"]
SEED = int(os.environ.get("PUDU_SEED") or random.randrange(1_000_000))


class Streams(Case):
    def stream(self, text, mode, **options):
        thread_id = self.thread()
        created = []
        frames = list(
            self.c.runs.stream(thread_id, AGENT, input=human(text), stream_mode=mode, on_run_created=created.append, **options)
        )
        check_stream(frames)
        self.assertEqual(created[0], {"thread_id": thread_id, "run_id": frames[0].data["run_id"]})
        return thread_id, frames

    def test_each_mode(self):
        event_of = {"messages-tuple": "messages"}
        for mode in ("values", "updates", "messages-tuple", "tasks", "checkpoints", "debug"):
            with self.subTest(mode):
                _, frames = self.stream("look around", mode)
                self.assertEqual(names(frames), ["metadata", event_of.get(mode, mode), "end"])

    def test_values(self):
        _, frames = self.stream("look around", "values")
        self.assertEqual(answers(of(frames, "values")[-1]), ["I look.", "I have looked around."])

    def test_custom(self):
        _, frames = self.stream("retry please", "custom")
        self.assertEqual(of(frames, "custom")[0]["type"], "llm_retry")

    def test_a_refused_mode_says_why(self):
        with self.assertRaises(httpx.HTTPStatusError) as caught:
            list(self.c.runs.stream(self.thread(), AGENT, input=human("hello"), stream_mode="events"))
        self.assertIn('stream mode "events" is not supported; choose among values, updates', str(caught.exception))

    def test_messages(self):
        thread_id, frames = self.stream("look around", "messages-tuple")
        texts = {}
        for message, metadata in of(frames, "messages"):
            texts[message["id"]] = texts.get(message["id"], "") + text_of(message)
            self.assertIn("langgraph_node", metadata)
        for message in self.c.threads.get_state(thread_id)["values"]["messages"]:
            if message["type"] in ("ai", "tool"):
                self.assertEqual(texts[message["id"]], text_of(message))

    def test_several_modes_and_subgraphs(self):
        _, frames = self.stream("both please", [*MODES, "tasks", "checkpoints", "debug"], stream_subgraphs=True)
        self.assertTrue({"values", "updates", "messages", "tasks", "checkpoints", "debug"} <= {f.event for f in frames})
        self.assertFalse([f.event for f in frames if "|" in f.event])

    def test_version_2_of_the_client(self):
        parts = list(self.c.runs.stream(self.thread(), AGENT, input=human("hello"), stream_mode=["values", "updates"], version="v2"))
        self.assertIn("values", {p["type"] for p in parts})

    def test_readers_see_the_same(self):
        thread_id = self.thread()
        run_id = self.c.runs.create(thread_id, AGENT, input=human("tokens please"), stream_mode=MODES)["run_id"]

        def join(**options):
            return list(self.c.runs.join_stream(thread_id, run_id, stream_mode=MODES, **options))

        live = join(last_event_id="-1")
        check_stream(live)
        self.same_frames(join(), live)
        for part in (0, 0.2, 0.5, 0.9):
            at = int(len(live) * part)
            self.same_frames(join(last_event_id=live[at].id), live[at + 1 :])

    def test_async_client(self):
        async def main():
            async with get_client(url=URL, api_key=None) as c:
                thread = await c.threads.create()
                streams = [
                    [f async for f in c.runs.stream(None, AGENT, input=human("hello"), stream_mode="values")] for _ in range(2)
                ]
                values = await c.runs.wait(thread["thread_id"], AGENT, input=human("hello"))
                return streams, values

        streams, values = asyncio.run(main())
        for frames in streams:
            self.assertEqual(last_text(of(frames, "values")[-1]), "Hello from the script.")
        self.assertEqual(last_text(values), "Hello from the script.")


class Reconnect(Case):
    """The SDK follows Location by itself when a connection is cut."""

    def through(self, cuts):
        thread_id = self.thread()
        created = []
        with Cutting(URL, cuts) as proxy, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a cut before the first id
            with get_sync_client(url=proxy.url, api_key=None) as c:
                frames = list(
                    c.runs.stream(thread_id, AGENT, input=human("tokens please"), stream_mode=MODES, on_run_created=created.append)
                )
            self.assertEqual(proxy.cut, len(cuts))
        want = list(self.c.runs.join_stream(thread_id, created[0]["run_id"], stream_mode=MODES, last_event_id="-1"))
        check_stream(want)
        self.same_frames(frames, want)

    def test_no_cut(self):
        self.through([])

    def test_cut_at_random_bytes(self):
        pick = random.Random(SEED)
        for _ in range(4):
            cuts = [int(pick.random() ** 2 * 30_000) for _ in range(pick.randint(1, 3))]
            with self.subTest(f"cuts {cuts}, PUDU_SEED={SEED}"):
                self.through(cuts)

    def test_cut_before_the_first_event(self):
        for bytes_ in (0, 1, 25):
            self.through([bytes_])

    def test_wait_goes_on_by_the_join(self):
        thread_id = self.thread()
        with Cutting(URL, [10]) as proxy, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with get_sync_client(url=proxy.url, api_key=None) as c:
                values = c.runs.wait(thread_id, AGENT, input=human("brief"))
            self.assertEqual(proxy.cut, 1)
        self.assertTrue(last_text(values).startswith("A brief pause"))


if __name__ == "__main__":
    unittest.main()
