"""The English words of a wish that something is not kept, as sources of patterns: `silence.py` puts them together with the Chinese ones.

A wish is made of a refusal, of a verb of keeping or a place where things are kept, and of what is not to be kept, within one clause.
Idioms that say it without any of them stand in `_IDIOM`.
"""

_OWN = r"what|my|our|mine|i|i'(?:m|ve|d)|we"
_THIS = (
    r"(?:(?:any|all|some|part|(?:a|one)\s+(?:single\s+)?(?:word|bit|thing))\s+of\s+)?(?:this(?!\s+(?:morning|afternoon"
    r"|evening|week|month|year|time)\b)|that|it"
    r"|these|those|them|th(?:is|at)\s+one|anything|everything"
    rf"|the\s+(?:above|following|next|previous|last|rest|conversation|chat|fact)|the\s+[\w'-]+\s+i\s+(?:just\s+)?(?:gave"
    rf"|told|sent|said|mentioned|shared)|{_OWN}|who|where|when|how)\b"
)
_OPEN = rf"(?:(?:\s+(?:from|of|on|about|to|down|onto))?\s+{_THIS}|\s*(?:$|[^\w\s'-]))"
"""What is meant stands before or after, or is one's own: not a thing that is named."""
_IT = (
    r"\b(?:(?:any(?:thing)?|none|nothing|all|some|parts?|bits?|everything|word)\s+of\s+)?(?:this|that|it|these|those)"
    r"(?:\s+(?:one|parts?|bit|piece|last|messages?|conversation|chat|talk|session|info(?:rmation)?|details?|stuff|things?|facts?"
    r"|sentence|lines?|exchange|secret|news|topic))?\b"
)
"""What was just said, and no thing that is called "this file"."""
_SPOKEN = (
    rf"(?:{_IT}|\b(?:what|anything|everything|whatever)\s+(?:i|we)\b(?:'\w+)?(?:\s+(?!(?:not|never)\b)\w+){{0,4}}?)"
)

_VERB = (
    r"(?:save|store|remember|memori[sz]e|retain|record|log|note|keep|capture|archive|persist|track|learn|(?:hold"
    r"|hang)\s+on\s*to|keep\s+(?:hold|track)\s+of"
    r"|file\s+(?:this|that|it)\s+away)"
)
_ING = (
    r"(?:saving|storing|remembering|memori[sz]ing|retaining|recording|logging|noting|keeping|capturing|archiving"
    r"|persisting|tracking|learning)"
)
_DONE = (
    r"(?:saved|stored|remembered|memori[sz]ed|retained|recorded|logged|noted|kept|captured|archived|persisted"
    r"|tracked|written\s+down|learned)"
)
_KEPT = r"(?:memor(?:y|ies)|notes?|records?|profile)"
_YOURS = rf"(?:your|my|our|long-term|permanent)\s+(?:long-term\s+|permanent\s+)?{_KEPT}"
_MEMORY = rf"(?:your|the|my|our|any|long-term|permanent)?\s*{_KEPT}"
_ENDS = (
    r"(?=\s*(?:$|[^\w\s'-])|\s+(?:please|pls|at|about|for|and|or|but|either|any\w*|ever|forever|if|because|when|where|so"
    r"|thanks?|too|as|ok(?:ay)?"
    r"|now|then|with|since|again|today|tonight|in|on|should|must|may)\b)"
)
"""The noun phrase is over: no "notes app", no "this page"."""
_PLACE = (
    rf"(?:{_MEMORY}|(?:your|my)\s+(?:[\w'-]+\s+)?(?:files?|history|logs?|notebook|chart|dossier|archives?|database|journal"
    rf"|storage|books|system)|files?|(?:the|your)\s+books)\b{_ENDS}"
)
"""Where a person's words are kept. What a system keeps in memory is meant by its name: only "this" and what is "yours" reach there."""
_DOWN = (
    r"(?:(?:write|jot|put|note|take|get)\s+(?:[\w'-]+\s+){0,6}?down"
    rf"|(?:put|add|commit|save|store|write|enter|file|record|keep)\s+(?:[\w'-]+\s+){{0,8}}?(?:in|into|to|on)\s+{_YOURS}"
    rf"|(?:put|add|commit|save|store|write|enter|file|record|keep|have|get|let|leave|want|include|stick)\s+{_SPOKEN}"
    rf"(?:\s+(?:up|anywhere|ever|end|go|get|land|stay|be|to|make|its|way|stick|slip|come)){{0,4}}\s+(?:in|into|to|on|onto)\s+{_PLACE}"
    rf"|(?:let|leave|want)\s+(?:this|that|it|these|those|what|anything|any|my|the\s+fact)\s+(?:[\w'-]+\s+){{0,9}}?(?:in"
    rf"|into|on|onto)\s+your\s+(?:long-term\s+)?{_KEPT}|commit\s+to\s+memory"
    r"|(?:take|make|keep)\s+(?:a\s+|any\s+)?(?:notes?|records?|cop(?:y|ies)|memor(?:y|ies)))\b"
)
_DONT = r"(?:do\s+not|don'?t|never(?:\s+ever)?)"
_WHO = (
    r"(?P<who>\b(?:i|we|they|he|she|people|users|who|which)\s+(?:(?:\w+ly|just|also|still|often|always|do|will"
    r"|would|can)\s+)?)?"
)
_STEPS = (
    r"(?:\s+(?:you\s+(?:dare|go|ever|even|start)|ever|even|just|please|go|start|try\s+to|bother\s+to"
    r"|dare(?:\s+to)?|be)){0,4}+"
)
_OWED = (
    r"(?:you(?:'re|\s+are)\s+not\s+to|you\s+(?:do\s+not|don'?t)\s+(?:need|have)\s+to|you\s+need(?:n't|\s+not)(?:\s+to)?|you\s+(?:must"
    r"|should)(?:n't|\s+not|\s+never))"
)
_NO_NEED = (
    r"(?:no\s+(?:need|reason|point)|(?:not|\w+n't)\s+(?:necessary|needed|worth)|unnecessary|needn't|need\s+not"
    r"|(?:must|should|ought)(?:n't|\s+not))"
    r"(?:\s+for\s+you)?(?:\s+(?:to|in|of))?"
)
_HOPED = (
    r"(?:rather|prefer(?:\s+it)?|hope|wish|want|better|best|nice|great|fine|happier|grateful|(?:'d|would)\s+(?:like|love)(?:\s+it)?"
    r"|appreciate(?:\s+it)?|(?:make|be)\s+(?:sure|certain)|ensure|careful|let)(?:\s+(?:if|that|when))?"
)
_WISH = (
    r"(?:(?:do\s+not|don'?t|wouldn't)\s+(?:want|like|wish|need)\s+you\s+to"
    rf"|{_HOPED}\s+you\s+(?:did|would|do|will|wo)(?:\s*n[o']t|\s+not)|you\s+(?:would\s*n't|would\s+not|not)|(?:could|can|would"
    r"|will)\s+you\s+(?:please\s+)?not|let'?s\s+not|(?:better|please|rather|prefer)\s+(?:you\s+)?not(?:\s+to)?)"
)
_ASKED = r"(?=\s+(?:consent|agree|want|ask|allow|permit)\b)"
_NEVER = (
    r"(?:(?<!did\s)(?<!does\s)(?<!was\s)(?<!were\s)(?<!has\s)(?<!had\s)(?<!could\s)\bnot\b"
    r"|(?<!\bis\s)(?<!\bwas\s)(?<!\bhas\s)(?<!\bhave\s)(?<!\bhad\s)(?<!found\s)(?<!there\s)\bno\b|\bno(?=\s+(?:permission"
    r"|right|authority)\b)|\b(?:never|none|nothing|nobody"
    rf"|without|skip|dont|refuse|forbid)\b|\b(?:do|should|must|need|would|shall|may|ought)n't\b|\b\w+(?:n't|\s+not){_ASKED})"
)
"""A negation that may refuse: what "did not" and "does not" happen is told, not asked for."""
_ANY = (
    rf"(?P<whose>\b(?:i|we|they|he|she|people|users|who|which)\s+(?:(?!you\b|this\b|these\b)[\w'-]+\s+){{0,3}}?)?{_NEVER}"
    r"(?!\s+(?:you|we|they|i)\b[^.;!?\n]{0,60}\?)"
    rf"(?P<room>(?:\s+(?!(?:forget|fail|hesitate|lose|miss|delete|remove|erase|wipe|drop|discard|purge|strike|overwrite|only"
    rf"|and|but|so|or|because|then|please)\b)[\w'-]+){{0,6}}?)\s+(?:(?<!\bthe\s)(?<!\bthis\s){_VERB}|{_ING}){_OPEN}"
)
"""A negation anywhere before the verb in one breath; no question why it is so, and nothing that is to be kept from loss."""
_ENDS_UP = (
    r"(?:be|ends?\s+up|winds?\s+up|turns?\s+up|shows?\s+up|goes|go|lands?|gets?|appears?|stays?|remains?|belongs?|sits?"
    r"|makes?\s+it|finds?\s+its\s+way)\s+(?:\w+\s+)?(?:in|into|on|onto|to)"
)
_LANDS = rf"(?:(?:be(?:en|ing)?|get|gets|getting)\s+(?:\w+ly\s+)?{_DONE}\b|{_ENDS_UP}\s+{_PLACE})"
_MUST_NOT = (
    r"(?:(?:should|must|may|shall|need|ought)(?:n't|\s+not|\s+never)"
    r"|(?:do|does)(?:n't|\s+not)(?=\s+(?:need|have\s+to|belong|go)\b))"
)
_NOT_TO_LAND = (
    rf"{_SPOKEN}\s+(?:\w+ly\s+)?{_MUST_NOT}\s+(?:(?:really|ever|even|actually|need|have|to)\s+){{0,3}}{_LANDS}"
    rf"|\bi(?:'d|\s+would|\s+really)?\s+(?:hate|dislike)\s+(?:it\s+)?(?:(?:if|for|to|with|having|to\s+have)\s+)?{_SPOKEN}\s+"
    rf"(?:(?:being|to\s+be|were|was|is|be|got|gets)\s+)?{_DONE}\b"
    rf"|\bmy\s+(?:[\w'-]+\s+){{1,3}}?{_MUST_NOT}\s+(?:(?:ever|need|have|to)\s+){{0,3}}{_ENDS_UP}\s+your\s+{_KEPT}\b"
    rf"|\b(?:want|like|need|prefer|get)\s+{_SPOKEN}\s+(?:gone|out|removed|deleted|erased|wiped|struck)\s+(?:from|of|off)\s+{_YOURS}\b"
    rf"|{_IT}(?:'s\s+not|\s+is\s*n't|\s+is\s+not)\s+(?:going|(?:meant\s+)?for|to\s+(?:go|be|end\s+up|stay))\s+(?:(?:in"
    rf"|into|on|to)\s+)?{_PLACE}"
    rf"|\b(?:i(?:'d|\s+would)?\s+)?{_HOPED}\s+{_SPOKEN}\s+(?:(?:is|was|were|does|did|would|will|to|are)\s*)?(?:n't|not"
    rf"|never|no)\s+(?:to\s+)?"
    rf"(?:(?:ever|to|be)\s+)?(?:{_LANDS}|{_DONE}\b|(?:in|into|on|to)\s+{_PLACE})"
    rf"|\b(?:none|nothing|no\s+part|not\s+a\s+word|no\s+word)\s+(?:(?:of|from|in|about)\s+(?:this|that|it|these|what|my|today)|i|we|here)\b"
    rf"[^.,;!?\n]{{0,24}}?\b(?:{_DONE}|{_LANDS})"
)
"""What was said must not end up where words are kept: "this shouldn't end up in your notes", "I'd rather this wasn't remembered"."""
_NO_MEMORY = (
    r"(?:(?:^|[^\w\s'-])\s{0,4}|\b(?:please|pls|want|prefer|leave|keep|make|take|be|so|but|and)\s+)(?:no|zero)\s+"
    rf"(?:memor(?:y|ies)|notes?|records?|traces?|cop(?:y|ies)|logs?|recollection|note-?\s?taking)\s+(?:(?:of|about|on"
    rf"|from)\s+(?:{_SPOKEN}|my\s+[\w'-]+){_ENDS})"
)
_KEEPS = r"(?P<keeps>(?:\w+n't|not|never|dont)\s+(?:[\w'-]+\s+){0,2}?)?"
_OUT = (
    rf"{_KEEPS}\b(?:(?:delete|erase|wipe|purge|discard|remove|strike|scrub|expunge|drop|cross|take|clear|scratch)\s+"
    rf"(?:(?:[\w'-]+\s+){{1,4}}?(?:from\s+{_YOURS}|i\s+(?:just\s+)?(?:said|told)\b)"
    rf"|my\s+(?:[\w'-]+\s+){{1,3}}?from\s+memory\b|{_SPOKEN}\s+(?:back\s+)?(?:from|off|out\s+of)\s+{_PLACE})"
    rf"|(?:keep|leave|hold|stay|remain)s?\s+(?:(?:[\w'-]+\s+){{0,5}}?(?:out\s+of|off|from)\s+{_MEMORY}"
    rf"|(?:{_SPOKEN}\s+)?(?:out\s+of|off)\s+{_PLACE})"
    rf"|(?:(?:leave|keep)\s+{_SPOKEN}|{_SPOKEN}\s+(?:\w+\s+){{0,2}}?(?:stay|remain|go|be\s+left))\s+un(?:recorded|saved"
    rf"|logged|stored|written|noted)\b"
    rf"|un(?:remember|save|learn|record)\s+{_THIS}"
    r"|forget\s+(?:about\s+)?(?:(?:this|that|the|my)\s+)?(?:last|previous)\s+(?:message|thing|sentence|line|bit|part|one)"
    r"(?=\s*(?:$|[^\w\s])|\s+(?:i|we|about|please)\b)"
    r"|(?:please|just|can)\s+forget\s+(?:about\s+)?the\s+(?:part|bit|thing)\s+(?:about|where|i|that)\b"
    r"|please\s+forget\s+(?:this|that)(?=\s*(?:$|[^\w\s'-]))"
    r"|forget\s+(?:that\s+)?(?:(?:what|everything|anything"
    r"|all)\s+)?(?:i|we)\s+(?:ever\s+|just\s+)?(?:said|told|mentioned|wrote)\b)"
)
"""Take it out again, or leave it out; whoever does not want that ("don't delete this from your notes") wants it kept."""
_US = r"(?:us|ourselves|you\s+and\s+(?:me|i)|me\s+and\s+you|the\s+two\s+of\s+us|you,?\s+me)\b(?!\s+(?:and|or|two|three)\b)"
_IDIOM = (
    rf"\bkeep\s+{_SPOKEN}\s+(?:\w+ly\s+|just\s+)?(?:between\s+(?:you|{_US})|to\s+yourself|under\s+(?:your|the)\s+hat|quiet)\b"
    rf"|{_IT}(?:'s|\s+(?:is|stays|remains|(?:should|must|has\s+to|needs\s+to|can|will)\s+(?:stay|remain|be))|\s*,)\s+"
    rf"(?:(?:just|only|strictly|purely|all)\s+)?between\s+{_US}"
    rf"|\b(?:just|only|strictly"
    rf"|secret)\s+between\s+{_US}"
    r"|\b(?:be|is|stays?|remains?|'s)\s+our\s+(?:little\s+)?secret(?=\s*(?:$|[^\w\s]))|\bconsider\s+(?:this|that|it)\s+unsaid\b"
    r"|\bwhat\s+(?:happens|is\s+said|i\s+say|we\s+say)\s+(?:in\s+)?(?:this\s+\w+|here)\s+stays\s+(?:in\s+this|here|between)\b"
    r"|\b(?:for\s+)?your\s+(?:ears|eyes)\s+only(?=\s*(?:$|[^\w\s]))|\b(?:off|not\s+(?:for|on))\s+the\s+record\b"
    r"|\byou\s+(?:never|didn'?t|did\s+not)\s+(?:hear|heard)\s+(?:this|that|it|anything)(?:\s+from\s+me)?(?=\s*(?:$|[^\w\s?]))"
    r"|\b(?:pretend|(?:act|treat\s+(?:this|that|it))\s+(?:like|as\s+(?:if|though)))\s+(?:that\s+)?(?:(?:i|we"
    r"|you(?=\s+\S+\s+(?:not\s+)?hea))\s+(?:never|did\s*n'?t|did\s+not|had\s*n'?t)"
    rf"\s+(?:say|said|mention|mentioned|tell|told|hear|heard|talk|talked|discuss|discussed|bring|brought|ask|asked|write"
    rf"|wrote|send|sent)|{_IT}\s+(?:never|did\s*n'?t|did\s+not)\s+happen)"
    rf"|\b(?:do\s+not|don'?t|never)\s+(?:tell|repeat|mention|breathe|share)\s+(?:a\s+word\s+of\s+)?(?:(?:anyone"
    rf"|anybody)\s+(?:about\s+|else\s+)?)?{_IT}"
    r"\s+(?:to|with)\s+(?:anyone|anybody)\b|\bnot\s+a\s+word\s+(?:of|about)\s+(?:this|that|it)\s+to\s+any(?:one|body)\b"
    r"|\b(?:tell|telling|told|say|saying|share|sharing)\s+(?:[\w'-]+\s+){0,3}?in\s+(?:\w+\s+)?confidence(?=\s*(?:$"
    r"|[^\w\s])|\s+that\b)|\bin\s+strict(?:est)?\s+confidence\b"
    r"|\bmemory\s+off\s+(?:for\s+(?:this|that|now|the\s+next)|please)\b|\b(?:turn|switch)\s+off\s+(?:your\s+|the\s+)?memory\s+for\s+this\b"
)
"""Short, fixed ways to say it that name neither keeping nor a place."""
_ALONE = (
    rf"(?:^|[^\w\s'-])\s{{0,4}}(?:(?:(?:just|only|strictly)\s+)?between\s+{_US}"
    r"|burn\s+(?:this\s+)?after\s+reading)(?=\s*(?:$|[^\w\s]))"
)
"""Idioms that are a clause by themselves."""
SAID = (
    rf"\b(?:{_WHO}\b{_DONT}{_STEPS}\s+(?:(?:{_VERB}|{_ING}){_OPEN}|{_DOWN})"
    rf"|\b{_OWED}\s+(?:{_VERB}\b|{_DOWN})|\b{_NO_NEED}\s+(?:(?:{_VERB}|{_ING}){_OPEN}|{_DOWN})"
    rf"|\b{_WISH}\s+(?:{_VERB}\b|{_DOWN})"
    rf"|\b(?:stop|quit|avoid|skip|without|no|from|not)\s+{_ING}{_OPEN}"
    rf"|\b(?:this|that|it|these|those|which|what\s+i)\b[^.,;!?\n]{{0,24}}?\b(?:should|must|may|need|ought)(?:n't"
    rf"|\s+not|\s+never)\s+(?:to\s+)?be\s+{_DONE}"
    rf"|(?:not|never|\w+n't)\s+(?:to\s+be|be)\s+{_DONE}\b(?=\s*(?:$|[^\w\s]))|(?:not|\w+n't|never)\s+(?:want|like"
    rf"|wish|need)\s+{_THIS}\s+(?:[\w'-]+\s+){{0,3}}?(?:to\s+be\s+|being\s+)?{_DONE}"
    rf"|\b(?:this|that|these)\s+(?:is|are)(?:n't|\s+not|\s+never)\s+{_DONE}\b"
    rf"|{_NEVER}(?:\s+[\w'-]+){{0,4}}?\s+(?:in|into|to)\s+(?:your|long-term)\s+(?:long-term\s+)?memory\b"
    rf"|{_NOT_TO_LAND}|{_OUT}|{_IDIOM})|{_NO_MEMORY}|{_ALONE}"
)
BROAD = _ANY
NAMED = r"\b(?:do\s+not|don'?t)\s+(?:save|remember|memori[sz]e)\b"
_ITSELF = (
    r"(?=\s*(?:$|[^\w\s'-])|\s+(?:please|at\s+all|any\s*more|either|ever|because|and|or|but|so|thanks?"
    rf"|(?:in|into|to)\s+{_MEMORY})\b)"
)
"""The conversation is meant, not what is called after one or is in it: a session token."""
WHOLE = (
    r"\b(?:do\s+not|don'?t|never|no\s+need\s+to)\s+(?:save|store|remember|memori[sz]e|record|keep"
    rf"|log)\s+(?:any\s+of\s+)?(?:this|the|our)\s+(?:whole\s+|entire\s+)?(?:conversation|chat|session){_ITSELF}"
)
MAYBE = (
    r"n't|dont|\bno[tn]?|never|without|stop|quit|avoid|skip|refus|forbid|unnecessary|\b(?:off|keep|leave|stay|remain"
    r"|forget|erase|delete|wipe|purge|discard|remove|strikes?|zero|memory|treat|hate|dislike)\b|\bun[rslwn]"
    r"|from|out\s+of|between|\bonly\b|confidence|pretend|\bact\b|burn|secret|unsaid|\bstays\b|gone|out\b|removed|erased|wiped|struck"
)
