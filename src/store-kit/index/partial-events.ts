import { isOwnField } from '../../event/own-fields.js'
import { nameHash } from './other-names.js'
import { anyOfPostings, EMPTY, type FetchedPostings } from './postings.js'
import { ready, WAIT, type Wait } from './work.js'

/** Lists of a part with the events that may match any filter on a name. */
export interface PartialLists {
  /** Events whose values of the name are not all listed. */
  readonly own: () => FetchedPostings | Wait
  /** Events with a name without a column that has this hash. */
  readonly hashed: (hash: number) => FetchedPostings | Wait
  /** Events that may have any name without a column. */
  readonly others: () => FetchedPostings | Wait
  readonly hasColumn: () => boolean | Wait
}

/** The events of a part that may match any filter on the name: see `IndexPart.partial`. */
export function partialEvents(name: string, lists: PartialLists): FetchedPostings | Wait {
  if (isOwnField(name)) return EMPTY
  const sets = ready([lists.own(), lists.hashed(nameHash(name)), lists.others()])
  if (sets === WAIT) return WAIT
  const hasColumn = sets[2]!.size === 0 || lists.hasColumn()
  return hasColumn === WAIT ? WAIT : anyOfPostings(hasColumn ? sets.slice(0, 2) : sets)
}
