"""Takes out of the persona what rests on memories that stand no more or say something else; the rest follows a consolidation."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.errors import SealBroken
from shared.keeping.maintenance.visits import Visit
from shared.observability import alarm
from shared.storage import basis, lines, names
from shared.storage.commit import Commits
from shared.storage.document_commits import DocumentCommits
from shared.storage.documents import Document, from_item
from shared.storage.persona import Persona, place
from shared.storage.vaults import Opened


@dataclass(frozen=True, slots=True)
class PersonaClearing:
    """A step of maintenance; it stands also before the change rows go that say what is gone."""

    commits: Commits
    name: str = "persona_clearing"

    def run(self, visit: Visit) -> Mapping[str, int]:
        item = visit.vaults.table.get(visit.owner, [names.PERSONA]).get(names.PERSONA)
        try:
            document = from_item(visit.opened.keys, lines.PERSONA, lines.PERSONA, item)
        except SealBroken:
            alarm("damaged", persona=True)
            return {"damaged": 1}
        persona = Persona.of(document)
        mended = persona.kept(basis.read_to_keep(visit.vaults, visit.opened, persona.bases, visit.unsaid))
        if mended == persona:
            return {}

        def changed(_opened: Opened, standing: Document) -> Mapping[str, object] | None:
            return mended.fields() if standing.latest == document.latest else None

        DocumentCommits(self.commits).write(visit.owner, place, changed, beyond_quota=True)
        return {"cleared": len(persona.statements) - len(mended.statements)}
