"""The parts of the demo, in their order. Each shows something and says what must be so."""

import time
from typing import Any

from local.demo import remains, story
from local.demo.client import Answer, Client
from local.demo.screen import Screen
from local.stack import Stack
from shared.text import sentences

PATIENCE = 30.0
"""Seconds that a task may take before the demo gives it up."""
SEARCH_STEPS = 4


def cost(answer: Answer) -> str:
    """What a request took, in a few words."""
    one = answer.cost
    return f"{answer.milliseconds:.0f} ms, {one.calls} AWS calls in {one.steps} steps"


def consent(screen: Screen, ann: Client) -> None:
    """Nothing is learned by itself until its owner says so."""
    screen.title("先由本人同意", "Consent first")
    first = story.CONVERSATIONS[0]
    skipped = ann.send("POST", "/v1/conversations", _conversation(first))
    screen.expect(
        skipped.body.get("reason") == "auto_capture_off",
        f"POST /v1/conversations → {skipped.status} {skipped.body.get('status')}: {skipped.body.get('reason')}",
    )
    switched = ann.send("PATCH", "/v1/settings", {"auto_capture": True})
    screen.expect(switched.body.get("auto_capture"), "PATCH /v1/settings → auto_capture is on")


def learn(screen: Screen, ann: Client, told: story.Told) -> None:
    """Hand a conversation in, watch its task, and show what was learned and what was left out."""
    screen.title(f"一段对话（{told.language}）", f"A conversation ({told.language}), project {told.project}")
    for role, text in told.messages:
        screen.line(f"  {role + ':':<11}{_masked(text)}", "dim")
    sent = ann.send("POST", "/v1/conversations", _conversation(told))
    screen.line(f"  POST /v1/conversations → {sent.status} in {cost(sent)}")
    task = _finished(screen, ann, sent.body.get("task_id", ""))
    screen.expect(task.get("status") == "done", f"the task is {task.get('status')}: {_counts(task)}")
    memories = [ann.send("GET", f"/v1/memories/{one}").body for one in task.get("memory_ids", [])]
    screen.line("  学到的 · learned: category, importance, content", "strong")
    for memory in memories:
        mark = "  (masked)" if memory["masked"] else ""
        screen.line(f"    {memory['category']:<11} {memory['importance']:>2}  {memory['content']}{mark}")
    screen.line("  没有记下的 · left out", "strong")
    quotes = [memory["origin"]["quote"] or "" for memory in memories]
    for role, text in told.messages:
        for sentence in sentences.split(text):
            if not _kept(sentence, quotes):
                screen.line(f"    {role:<11} {sentence}")
    _expect_learned(screen, memories)


def _expect_learned(screen: Screen, memories: list[dict[str, Any]]) -> None:
    kinds = {memory["category"] for memory in memories}
    screen.expect({"decision", "preference", "credential"} <= kinds, "a decision, a preference and a credential")
    screen.expect(len(memories) == 3, "no chatter, no question, nothing that the assistant said")
    screen.expect(
        not any(password in str(memories) for password in story.PASSWORDS), "the password is masked in every answer"
    )


def ask(screen: Screen, ann: Client) -> None:
    """Three questions in each language: what was found, why, and at what cost."""
    screen.title("提问", "Questions: what was found, why, at what cost")
    for asked in story.QUESTIONS:
        body = {"query": asked.query, "project": asked.project, "limit": 1, "explain": True}
        answer = ann.send("POST", "/v1/search", body)
        hits = answer.body.get("memories", [])
        screen.line(f"  {asked.query}", "strong")
        for hit in hits:
            why = ", ".join(
                f"{name} {hit['signals'][name]:.2f}" for name in ("text", "coverage", "recency", "category")
            )
            screen.line(f"    {hit['category']}: {hit['content']}")
            screen.line(f"    {why}; words: {', '.join(hit['matched'])}", "dim")
        good = hits and asked.first in hits[0]["content"] and answer.cost.steps <= SEARCH_STEPS
        screen.expect(good, f"{answer.body.get('took_ms')} ms in the function; {cost(answer)}")
    screen.line("  Of the 3 steps 2 find and 1 counts the access. The first question started the function.", "dim")


def context(screen: Screen, ann: Client) -> None:
    """The block that an agent puts before its prompt."""
    screen.title("上下文", "Context for the agent")
    answer = ann.send("POST", "/v1/context", {"message": story.CONTINUE, "project": "shop-api", "token_budget": 300})
    screen.line(f"  {story.CONTINUE}  (intent {answer.body['intent']}; {cost(answer)})", "strong")
    screen.text(answer.body["text"])
    screen.expect(
        "FastAPI" in answer.body["text"] and answer.body["tokens"] <= 300,
        f"{answer.body['tokens']} tokens of 300, the decision is in it",
    )
    screen.expect(not _betrays(answer.body["text"]), "no password in it")


def handle(screen: Screen, ann: Client) -> None:
    """A person's own hand: reveal, edit, delete."""
    screen.title("自己管理", "By hand: reveal, edit, delete")
    secret = _first(ann, "staging password")
    shown = ann.send("POST", f"/v1/memories/{secret['id']}/reveal")
    screen.line(f"  {secret['content']}  →  reveal  →  {shown.body.get('content')}")
    screen.expect(story.PASSWORDS[1] in str(shown.body), "the owner can read the password")
    looks = ann.send("GET", "/v1/audit").body["entries"]
    screen.expect([one["memory_id"] for one in looks] == [secret["id"]], "and the look is in GET /v1/audit")
    memory = _first(ann, "deploy")
    path = f"/v1/memories/{memory['id']}"
    edited = ann.send("PATCH", path, {"content": story.EDITED}, {"if-match": f'"{memory["version"]}"'})
    screen.line(f"  edit   → version {edited.body.get('version')}: {edited.body.get('content')}")
    screen.line(f"           {cost(edited)}", "dim")
    stale = ann.send("PATCH", path, {"content": "lost"}, {"if-match": f'"{memory["version"]}"'})
    screen.expect(stale.status == 412, "a second edit of the old version is refused (412)")
    screen.expect(_first(ann, "canary")["id"] == memory["id"], "the new words find it at once")
    gone = ann.send("DELETE", path)
    screen.line(f"  delete → {gone.status}  ({cost(gone)})")
    screen.expect(_nowhere(ann, memory["id"]), "it is not found any more")


def stranger(screen: Screen, ann: Client, bob: Client) -> None:
    """Another user of the same service: what is not yours is as if it were not there."""
    screen.title("另一个人", "Another user, with a token of his own")
    hers = ann.send("GET", "/v1/memories").body["memories"]
    screen.expect(hers, f"ann lists {len(hers)} memories of her own")
    seen = bob.send("GET", f"/v1/memories/{hers[0]['id']}")
    screen.expect(seen.status == 404, f"bob asks for one of them by its id → {seen.status}")
    listed = bob.send("GET", "/v1/memories").body.get("memories")
    screen.expect(listed == [], f"bob's list → {listed}")
    body = {"query": hers[0]["content"], "project": "*"}
    own, found = (one.send("POST", "/v1/search", body).body.get("memories", []) for one in (ann, bob))
    screen.expect(own and not found, f"the same search in her own words → {len(own)} for ann, {len(found)} for bob")


def tidy(screen: Screen, ann: Client, stack: Stack) -> None:
    """Maintenance: repair, fold, index."""
    screen.title("维护", "Maintenance")
    before = _indexed(ann)
    started = time.perf_counter()
    ran = stack.run_maintenance()
    milliseconds = (time.perf_counter() - started) * 1000
    times = ", ".join(f"{name} × {count}" for name, count in ran["functions"].items())
    screen.line(f"  repair, fold, index: {milliseconds:.0f} ms ({times})")
    screen.expect(ran["idle"] and ran["dead_letters"] == 0, "the queues are empty, the dead-letter queues too")
    after = _indexed(ann)
    screen.expect(before == 0 < after, f"the search index is built: {after} sealed bytes")
    fresh = ann.send("POST", "/v1/search", {"query": story.QUESTIONS[0].query, "project": "shop-api", "limit": 1})
    screen.line(f"  {story.QUESTIONS[0].query}  from the index: {cost(fresh)}")
    screen.expect("FastAPI" in str(fresh.body), "what was learned is found in the index")
    found = ann.send("POST", "/v1/search", {"query": story.EDITED, "project": "*"}).body["memories"]
    screen.expect(not any("release" in one["content"] for one in found), "what was deleted is not in it")


def prove(screen: Screen, stack: Stack, wire: remains.Wire) -> None:
    """Read every raw byte as the owner of the account could, and see the same look find what is in the clear."""
    screen.title("证明", "Proof: nobody else can read it")
    sent = list(wire.pieces)
    texts = story.canaries()
    lying = {"bucket": remains.bucket(stack), "table": remains.table(stack), "queue": remains.queues(stack)}
    for place, pieces in {**lying, "wire": sent}.items():
        size = sum(len(piece.raw) for piece in pieces)
        found = remains.search(pieces, texts)
        for one in found:
            screen.line(f"    readable: {one.text} ({one.form})", "bad")
        what = {
            "bucket": "bucket, all versions",
            "table": "table, all items",
            "queue": "queues and dead letters",
            "wire": "every request ever sent to AWS",
        }[place]
        screen.expect(not found, f"{what:<31} {size:>9,} bytes in {len(pieces):>5,} pieces: none of {len(texts)} texts")
    screen.line(
        "  In UTF-8, UTF-16, base64, hex, JSON, URL; deflated too. The same look at a control in the clear:", "dim"
    )
    remains.plant(stack, story.CONTROL)
    planted = [*remains.bucket(stack), *remains.table(stack), *remains.queues(stack)]
    places: dict[str, str] = {}
    for one in remains.search(planted, [story.CONTROL]):
        places.setdefault(one.place, one.form)
    told = ", ".join(f"{place} ({form})" for place, form in places.items())
    screen.expect(places.keys() == {"bucket", "table", "queue"}, f"found in {told}")


def _conversation(told: story.Told) -> dict[str, Any]:
    messages = [{"role": role, "content": text} for role, text in told.messages]
    return {"messages": messages, "project": told.project, "trigger": "session_end"}


def _finished(screen: Screen, ann: Client, task_id: str) -> dict[str, Any]:
    """Poll the task and show each new state with its time."""
    started, seen = time.perf_counter(), list[str]()
    task: dict[str, Any] = {}
    while time.perf_counter() - started < PATIENCE:
        task = ann.send("GET", f"/v1/tasks/{task_id}").body
        status = task.get("status", "missing")
        milliseconds = (time.perf_counter() - started) * 1000
        if not seen or not seen[-1].startswith(status):
            seen.append(f"{status} ({milliseconds:.0f} ms)")
        if status in {"done", "failed", "missing"}:
            break
        time.sleep(0.02)
    screen.line(f"  GET /v1/tasks/{task_id}: {' → '.join(seen)}")
    return task


def _counts(task: dict[str, Any]) -> str:
    return ", ".join(f"{count} {name}" for name, count in task.get("learned", {}).items())


def _masked(text: str) -> str:
    for password in story.PASSWORDS:
        text = text.replace(password, "●" * 8)
    return text


def _kept(sentence: str, quotes: list[str]) -> bool:
    """Whether a memory quotes the sentence; a quote shows *** where a secret is."""
    return any(all(part in sentence for part in quote.split("***")) for quote in quotes if quote)


def _betrays(text: str) -> bool:
    return any(password in text for password in story.PASSWORDS)


def _first(ann: Client, query: str) -> dict[str, Any]:
    """The best memory for a query in the English project. Raises IndexError when there is none."""
    found = ann.send("POST", "/v1/search", {"query": query, "project": "atlas", "limit": 1})
    memory: dict[str, Any] = found.body["memories"][0]
    return memory


def _nowhere(ann: Client, memory_id: str) -> bool:
    found = [ann.send("POST", "/v1/search", {"query": query, "project": "*"}) for query in ("deploy", story.EDITED)]
    listed = ann.send("GET", "/v1/memories")
    answers = [one["id"] for answer in [*found, listed] for one in answer.body["memories"]]
    return memory_id not in answers and ann.send("GET", f"/v1/memories/{memory_id}").status == 404


def _indexed(ann: Client) -> int:
    return int(ann.send("GET", "/v1/usage").body["index_bytes"])
