import { isOwnField } from '../../event/own-fields.js'
import { nameHash } from './other-names.js'
import { anyOfPostings, EMPTY, type Postings } from './postings.js'

/** Lists of a part with the events that may match any filter on a name. */
export interface PartialLists {
  /** Events whose values of the name are not all listed. */
  readonly own: () => Postings
  /** Events with a name without a column that has this hash. */
  readonly hashed: (hash: number) => Postings
  /** Events that may have any name without a column. */
  readonly others: () => Postings
  readonly hasColumn: () => boolean
}

/** The events of a part that may match any filter on the name: see `IndexPart.partial`. */
export function partialEvents(name: string, lists: PartialLists): Postings {
  if (isOwnField(name)) return EMPTY
  const others = lists.others()
  const isOther = others.size > 0 && !lists.hasColumn()
  return anyOfPostings([lists.own(), lists.hashed(nameHash(name)), isOther ? others : EMPTY])
}
