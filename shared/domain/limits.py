"""Every number of the service, once. Those a deployer may change are template parameters and arrive in `Settings`."""

from datetime import timedelta
from typing import Final

# Text, in full-width characters (a CJK character counts 1, others one half) unless said otherwise.
CONTENT_FULL_WIDTH: Final = 500
FACT_FULL_WIDTH: Final = 120
QUOTE_CHARACTERS: Final = 200
KEY_CHARACTERS: Final = 128
"""Project and agent names, session ids."""
TAGS: Final = 20
TAG_CHARACTERS: Final = 64
METADATA_BYTES: Final = 4_096
IDEMPOTENCY_KEY_CHARACTERS: Final = 255
QUERY_CHARACTERS: Final = 4_000
KEYWORDS: Final = 100
"""Custom and excluded keywords, per language."""
KEYWORD_CHARACTERS: Final = 64
DAYS_MAX: Final = 36_500
SCHEDULE_CHARACTERS: Final = 100

# Requests.
BODY_BYTES: Final = 5_500_000
"""Lambda takes 6 MB, with the event around the body; more is answered 413."""
JSON_DEPTH: Final = 32
MESSAGES: Final = 2_000
TOOL_CALLS: Final = 200
MESSAGE_CHARACTERS: Final = 200_000
"""Of the message a context is asked for; search reads its beginning and its end."""
PAGE_DEFAULT: Final = 50
PAGE_MAX: Final = 200
PAGE_SCAN: Final = 600
"""Memories opened for one list page at most, when sealed fields are filtered; the cursor goes on from there."""
RESULTS_DEFAULT: Final = 10
RESULTS_MAX: Final = 50
TOKEN_BUDGET_DEFAULT: Final = 1_500
TOKEN_BUDGET_MAX: Final = 32_000
CONTEXT_PROJECT: Final = 12
CONTEXT_USER: Final = 8

# Learning.
SHORT_MESSAGE_FULL_WIDTH: Final = 10
FACTS_TASK_COMPLETED: Final = 3
FACTS_OTHER: Final = 20
SESSION_END_MESSAGES: Final = 20
SAME_CONTENT_WINDOW: Final = timedelta(seconds=30)
ATTEMPTS: Final = 3
RETRY_VISIBILITY_SECONDS: Final = 30
RESEND_AFTER: Final = timedelta(minutes=5)
FAILED_KEPT: Final = timedelta(days=7)
TASK_KEPT: Final = timedelta(days=30)
COMPARISON_SET: Final = 200

# Sessions.
SESSION_SILENCE: Final = timedelta(minutes=30)
"""After which a session ends by itself."""
NOTE_CHARACTERS: Final = 4_000
NOTES: Final = 200
"""Notes of one session."""
KEY_POINTS: Final = 20
"""Of one note."""
NOTES_TOGETHER: Final = timedelta(minutes=10)
"""Notes that follow each other within it form one group."""
NOTES_ALIKE: Final = 0.8
"""How alike two notes are that become one: Dice's coefficient of their pairs of signs."""
DIGEST: Final = 10
"""Memories that a new session is told of."""

# Auditors and operators.
REASON_MIN: Final = 8
"""Signs of the reason for a look at another person's memory."""
REASON_CHARACTERS: Final = 300
AGENT_NOTES_CHARACTERS: Final = 300
SUBJECT_CHARACTERS: Final = 2_048

# Scenes.
SCENES: Final = 20
"""Scenes of an owner that are not archived."""
SCENE_TEXT_BYTES: Final = 2_048
"""Of a scene's summary or context, in UTF-8."""
SCENE_MEMORIES: Final = 500
"""Ids of memories that a scene shows, the newest ones."""
EXPORT_BYTES: Final = 3_500_000
"""Of one page, in UTF-8; as text within JSON it grows by its quotes, and a function answers 6 MB."""
EXPORT_TIME: Final = timedelta(seconds=12)
"""After which a page ends where it is."""
EXPORT_LASTS: Final = timedelta(hours=1)
"""From its first page on; then its cursors are refused."""
IMPORT_PAGES: Final = 1_000
"""Requests of one import."""
IMPORT_RECORDS: Final = 50_000
"""Lines of one page."""
IMPORT_BYTES: Final = 4_000_000
"""Of one page, in UTF-8: what can be looked through for secrets within the time of a request, whatever is in it."""
IMPORT_REPORT: Final = 1_000
"""Refused lines that an import tells of, the first ones."""
IMPORT_WAITS: Final = timedelta(hours=24)
"""For its next page; then an import that is not complete is given up."""
IMPORT_BATCH: Final = 100
"""Records that are compared with what stands at once."""
IMPORT_AT_ONCE: Final = 2_000
"""Memories that one visit of maintenance makes of imports, so that a new index is built in between."""
FORGET_IDS: Final = 1_000
FORGET_SHOWN: Final = 100
"""Memories that a dry run of forgetting shows."""
SCENE_NEWS: Final = 10
"""New facts of a project after which a model writes its context anew."""
SCENE_FACTS: Final = 40
"""Facts that a context is written from, the newest ones."""
DELETING_TIME: Final = timedelta(seconds=15)
"""After which a request that deletes many memories answers with what is left; the gateway waits 30 s."""

# Consolidation.
CONSOLIDATE_ACTIVE: Final = 150
"""Active memories of an owner above which every group is consolidated."""
USER_TARGET: Final = 30
PROJECT_TARGET: Final = 60
"""Active memories of one group above which that group is."""
CONSOLIDATE_AFTER: Final = timedelta(hours=24)
GROUP_LINES: Final = 200
"""Memories of a group that are offered at once, the last changed ones."""
MERGE_SOURCES: Final = 10
UNDO_KEPT: Final = timedelta(days=7)

# Persona and suggestions.
DOCUMENT_ROOM: Final = 16_384
"""Bytes of the quota that must be left before a persona, a context or suggestions are made: no model is asked in vain."""
PERSONA_NEWS: Final = 30
"""New facts after which the persona is refreshed."""
PERSONA_FACTS: Final = 200
"""Facts that it is made from, the last confirmed ones."""
PERSONA_BYTES: Final = 2_048
"""Of all of its statements, in UTF-8."""
PERSONA_BASIS: Final = 100
"""Memories that its statements rest on, all together: they are read in one batch whenever it is told."""
PATTERN_MEMORIES: Final = 600
"""Active memories that patterns are looked for in, the last confirmed ones."""
PATTERN_REPEATS: Final = 3
"""Similar memories that make a pattern."""
PATTERN_BASIS: Final = 10
"""Memories that a suggestion rests on, the last confirmed ones of its pattern."""
SUGGESTIONS: Final = 50
"""Suggestions of an owner that are proposed or accepted."""
SUGGESTION_CHARACTERS: Final = 500
SUGGESTION_TITLE_CHARACTERS: Final = 80

# Storage.
IDEMPOTENCY_KEPT: Final = timedelta(hours=24)
AUDIT_KEPT: Final = timedelta(days=400)
HISTORY_VERSIONS: Final = 20
CHANGE_ROWS: Final = 300
"""Change rows after which a build of the index is asked for."""
TOMBSTONES_KEPT: Final = timedelta(days=30)
FOLD_AFTER: Final = timedelta(hours=1)
FOLD_BYTES: Final = 4_000_000
BLOCK_BYTES: Final = 128_000
"""Plain bytes after which a block of a folded object is closed."""
REPAIR_AFTER: Final = timedelta(minutes=15)
"""Longer than any function runs: a younger line may still be on its way."""
ERASING_TIME: Final = timedelta(minutes=10)
"""After which one run of maintenance leaves the rest of an erasure to the next; a function runs 15."""
LEASE: Final = timedelta(minutes=16)
VISIT: Final = timedelta(minutes=10)
"""For the steps of one visit; the rest of the function's fifteen minutes is for fold and index."""
MAINTENANCE_DELAY: Final = timedelta(minutes=5)
STEP_AGAIN: Final = timedelta(minutes=30)
"""Until an owner is visited again for whom a step of maintenance failed, or whose message was sent and not seen to arrive."""
EMBED_AGAIN: Final = timedelta(hours=6)
"""Until the next try when an embedding model gave nothing; whoever writes or searches is looked at sooner."""
DUE_SHARDS: Final = 8
KEY_CACHED: Final = timedelta(minutes=5)
AGENT_NOTES_CACHED: Final = timedelta(minutes=1)
"""For which a process tells an agent the notes that it has read."""
CANDIDATES: Final = 100
TRANSACTION_WRITES: Final = 100
"""What DynamoDB does in one transaction."""
