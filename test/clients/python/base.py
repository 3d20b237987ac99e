"""What the suites share: the server under test, its clients, and what they expect of a stream."""

import asyncio
import json
import math
import os
import re
import time
import unittest
import uuid

import httpx
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import APIStatusError

URL = os.environ.get("PUDU_URL", "http://127.0.0.1:2024")
AGENT = "lead_agent"


def human(text):
    return {"messages": [{"type": "human", "content": text}]}


def text_of(message):
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def last_text(values):
    return text_of(values["messages"][-1])


def answers(values):
    return [text_of(m) for m in values["messages"] if m["type"] == "ai"]


def of(frames, event):
    return [f.data for f in frames if f.event == event]


def names(frames):
    """The events of a stream, repetitions put together."""
    out = []
    for f in frames:
        if not out or out[-1] != f.event:
            out.append(f.event)
    return out


def parse_id(text):
    """Reads an id. The frames of one event are 1-3.1, 1-3.2 and so on; the last of them is 1-3."""
    found = re.fullmatch(r"(\d+)-(\d+)(?:\.(\d+))?", text or "")
    if not found:
        raise AssertionError(f"frame id {text!r} is not of the form <attempt>-<n>[.<k>]")
    return tuple(int(n) if n else math.inf for n in found.groups())


def check_stream(frames):
    """What holds for the stream of every run: ids grow, metadata comes first and end last."""
    ids = [parse_id(f.id) for f in frames]
    for old, new in zip(ids, ids[1:]):
        if new <= old:
            raise AssertionError(f"the ids do not grow: {new} after {old}")
    assert frames[0].event == "metadata", names(frames)
    assert frames[0].data["run_id"]
    assert frames[-1].event == "end", names(frames)


class Case(unittest.TestCase):
    """A test with a synchronous client."""

    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.c = get_sync_client(url=URL, api_key=None, timeout=60)
        cls.addClassCleanup(cls.c.close)

    def thread(self, **options):
        return self.c.threads.create(**options)["thread_id"]

    def started(self, thread_id, text="slow", **options):
        """Begins a run in the background and waits until it speaks."""
        run = self.c.runs.create(thread_id, AGENT, input=human(text), stream_mode=["messages-tuple", "values"], **options)
        for frame in self.c.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"):
            if frame.event == "messages" and frame.data[0]["type"] != "human" and text_of(frame.data[0]):
                return run
        self.fail("the run ended without a word")

    def ended(self, thread_id, run_id):
        return self.until("the end of the run", lambda: self.over(self.c.runs.get(thread_id, run_id)))

    @staticmethod
    def over(run):
        return None if run["status"] in ("pending", "running") else run

    def until(self, what, condition, seconds=20):
        end = time.monotonic() + seconds
        while True:
            if value := condition():
                return value
            if time.monotonic() > end:
                self.fail(f"waited {seconds} s for {what}")
            time.sleep(0.02)

    def refused(self, status, call, *args, **kwargs):
        """Asserts that a call fails with an HTTP status, and returns the error's detail."""
        with self.assertRaises((APIStatusError, httpx.HTTPStatusError)) as caught:
            value = call(*args, **kwargs)
            if hasattr(value, "__next__"):
                list(value)
        response = caught.exception.response
        self.assertEqual(response.status_code, status)
        try:
            return response.json()["detail"]
        except httpx.ResponseNotRead:
            return None

    def same_frames(self, got, want):
        self.assertEqual([f"{f.id} {f.event}" for f in got], [f"{f.id} {f.event}" for f in want])
        self.assertEqual(got, want)


def new_id():
    return str(uuid.uuid4())


__all__ = [
    "AGENT", "URL", "Case", "answers", "asyncio", "check_stream", "get_client", "get_sync_client", "httpx", "human", "json",
    "last_text", "names", "new_id", "of", "text_of", "unittest",
]
