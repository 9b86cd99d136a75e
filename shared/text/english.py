"""English words that carry no topic or little of one, and forms with their base where no stemmer joins them.

Data only; it knows nothing of tokens.
"""

from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a about above after again against all also am an and any are aren't as at be because been before being
    below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down
    during each few for from further had hadn't has hasn't have haven't having he he'd he'll her here here's
    hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't it it's its itself just
    let's me more most my myself no nor not of off on once only or other our ours ourselves out over own same
    she she'd she'll should shouldn't so some such than that that's the their theirs them themselves then
    there there's these they they'd they'll they're they've this those through to too under until up us very
    was wasn't we we'd we'll we're we've were weren't what what's when when's where where's which while who
    who's whom whose why why's will with won't would wouldn't you you'd you'll you're you've your yours
    yourself yourselves may might must shall upon via per ever yet arent cant couldnt didnt doesnt dont hadnt
    hasnt havent im isnt ive lets shouldnt thats theyre wasnt werent whats whos wont wouldnt youre
    """.split()  # noqa: SIM905  (a list of 200 literals reads worse)
)

ASKING_WORDS: Final = frozenset(
    """
    kind kinds type types sort sorts many much long often likely recently lately currently according mention mentioned
    name names named called thing things specific particular
    """.split()  # noqa: SIM905  (a list of literals reads worse)
)
"""Words of questions about the answer rather than about the topic ("what kind of…"): they weigh half in a query."""

_FORMS: Final = """
be: been being; become: became; begin: began begun; bend: bent; bind: bound; bite: bit bitten; bleed: bled;
blow: blew blown; break: broke broken; breed: bred; bring: brought; build: built; burn: burnt; buy: bought;
catch: caught; choose: chose chosen; cling: clung; come: came; creep: crept; deal: dealt; dig: dug; draw: drew
drawn; dream: dreamt; drink: drank drunk; drive: drove driven; eat: ate eaten; fall: fell fallen; feed: fed;
feel: felt; fight: fought; find: found; flee: fled; fly: flew flown; forbid: forbade forbidden; forget: forgot
forgotten; forgive: forgave forgiven; freeze: froze frozen; get: got gotten; give: gave given; go: went gone
goes; grind: ground; grow: grew grown; hang: hung; hear: heard; hide: hid hidden; hold: held; keep: kept;
kneel: knelt; know: knew known; lead: led; learn: learnt; leave: left; lend: lent; lie: lain; light: lit;
lose: lost; make: made; mean: meant; meet: met; pay: paid; prove: proven; quit: quitted; ride: rode ridden;
ring: rang rung; rise: rose risen; run: ran; say: said; see: saw seen; seek: sought; sell: sold; send: sent;
sew: sewn; shake: shook shaken; shine: shone; shoot: shot; show: shown; shrink: shrank shrunk; sing: sang
sung; sink: sank sunk; sit: sat; sleep: slept; slide: slid; speak: spoke spoken; speed: sped; spend: spent;
spin: spun; spring: sprang sprung; stand: stood; steal: stole stolen; stick: stuck; sting: stung; strike:
struck; strive: strove striven; swear: swore sworn; sweep: swept; swell: swollen; swim: swam swum; swing:
swung; take: took taken; teach: taught; tear: tore torn; tell: told; think: thought; throw: threw thrown;
understand: understood; wake: woke woken; wear: wore worn; weave: wove woven; weep: wept; win: won; wind:
wound; withdraw: withdrew withdrawn; write: wrote written; child: children; person: people persons; man: men;
woman: women; foot: feet; tooth: teeth; goose: geese; mouse: mice; wife: wives; life: lives; knife: knives;
leaf: leaves; shelf: shelves; half: halves; wolf: wolves; thief: thieves; loaf: loaves; self: selves; good:
better best; bad: worse worst; crisis: crises; criterion: criteria; phenomenon: phenomena;
index: indices; datum: data; medium: media; hero: heroes; matrix: matrices; vertex: vertices; die: died dying
dies; lie: lied lying lies;
allergy: allergic; asthma: asthmatic; decide: decision decisions; choose: choice choices; marry: marriage; die: death;
employ: employment; fly: flight flights; analyze: analysis analyses analyse analysed; configure: config configs; repository:
repo repos; database: db dbs; maintain: maintenance; explain: explanation explanations; favor: favour favours;
favorite: favourite favourites; color: colour colours; behavior: behaviour behaviours; organize: organise
organised organisation organization; center: centre centres; license: licence licences;
grandmother: grandma grandmas granny; grandfather: grandpa grandpas; mother: mom moms mum mums mommy; father: dad dads daddy;
child: kid kids childhood; photo: photograph photographs pic pics; television: tv tvs; bicycle: bike bikes;
relieve: relief; injury: injure injured injures injuring; diet: dietary; health: healthy healthier healthiest; music: musician
musicians musical; recommend: recommendation recommendations; believe: belief beliefs; succeed: success successes; advise: advice;
authentication: auth; production: prod; environment: env envs; document: docs; administrator: admin admins; specification: spec specs;
parameter: param params; library: lib libs; information: info; directory: dir dirs; kubernetes: k8s; postgresql: postgres;
javascript: js; january: jan; february: feb; april: apr; june: jun; july: jul; august: aug; september: sep sept; october: oct;
november: nov; december: dec; 2: two; 3: three; 4: four; 5: five; 6: six; 7: seven; 8: eight; 9: nine; 10: ten; 11: eleven;
12: twelve
"""


def _irregular() -> dict[str, str]:
    forms: dict[str, str] = {}
    for entry in _FORMS.replace("\n", " ").split(";"):
        base, _, variants = entry.partition(":")
        for variant in variants.split():
            forms[variant] = base.strip()
    return forms


IRREGULAR: Final = _irregular()
