import type { Names } from '../schema/names.js'
import { rowToIndexed } from '../schema/rows.js'
import type { Moment, RecentEvents, RecentLimits } from './recent-events.js'
import {
  countLate,
  eventsAt,
  type Known,
  type LateRow,
  moreLate,
  readLateRow,
  type Refreshed,
} from './refresh-statements.js'

/** Adds late events: closed live events, which may be older than events that were added before. */
export interface LateEvents {
  /** `late` is the first slice. False if there are too many of them; no more are added then. */
  add(first: Pick<Refreshed, 'late' | 'running'>, moment: Moment): Promise<boolean>
  /** Which late events were added. */
  known(): Pick<Known, 'before' | 'added'>
  /** Drops all late events. */
  drop(): void
}

export function createLateEvents(
  names: Names,
  recent: RecentEvents,
  { slice, max }: RecentLimits,
): LateEvents {
  const { index } = recent
  let count = 0
  /** Transactions of late events that were added and may be read again, by id. */
  let added = new Map<string, bigint>()
  /** All late events of earlier transactions were added. */
  let addedBefore = 0n

  /** Adds the late events that were not added yet and still exist. */
  const addSlice = async (rows: readonly LateRow[], moment: Moment): Promise<void> => {
    const some = rows.filter(({ id }) => !added.has(id))
    if (some.length === 0) return
    const times = some.map(({ time }) => time)
    const events = await moment.ask(eventsAt(names), times)
    await recent.addRows(
      events,
      (row) => index.addLate(Number(row[0]), rowToIndexed(row, recent.listing.lists)),
      moment.checkTime,
    )
    for (const { id, transaction } of some) added.set(id, transaction)
    count += some.length
  }

  return {
    async add({ late, running }, moment) {
      for (let rows = late; ;) {
        const last = rows.at(-1)
        const place = last && ([String(last.transaction), last.id] as const)
        if (place && rows.length === slice) {
          const [row] = await moment.ask(countLate(names), ...place, max)
          if (count + slice + Number(row![0]) > max) return false
        }
        await addSlice(rows, moment)
        if (rows.length < slice) break
        if (recent.isFullOfLate()) return false
        rows = (await moment.ask(moreLate(names, slice), ...place!)).map(readLateRow)
      }
      // Late events that commit from now on belong to these transactions or to later ones.
      if (running > addedBefore) addedBefore = running
      for (const [id, transaction] of added) if (transaction < addedBefore) added.delete(id)
      return true
    },
    known: () => ({ before: addedBefore, added: [...added.keys()] }),
    drop() {
      index.dropLate()
      count = 0
      added = new Map()
      addedBefore = 0n
    },
  }
}
