import { changeQuery } from '../data/address.js'
import { listEvents } from '../data/api.js'
import { ALL_TIME, apiQuery, conditionOn } from '../data/query.js'
import { isolated } from '../data/isolated.js'
import { showNote } from '../ui/notes.js'
import { barTexts } from './bar-texts.js'

/** Sets the range to the time since the newest event of a type. */
export async function showSinceNewest(type: string): Promise<void> {
  const where = [conditionOn('type', 'eq', [type])]
  const { events } = await listEvents(apiQuery({ where, sorts: [], range: ALL_TIME }), 1)
  const from = events[0]?.created_at
  if (from === undefined) showNote(barTexts.noneOfType(isolated(type)))
  else changeQuery((query) => ({ ...query, range: { from } }))
}
