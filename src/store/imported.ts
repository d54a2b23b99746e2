import type { JsonValue } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from './store.js'

/** A note about imports of the command line into a log without other events. */
export interface Imported {
  /**
   * `created_at` of the newest event at the end of the import. Null until the import ends, empty in a log that had
   * other events.
   */
  readonly newest: string | null
}

const KEY = 'imported'

/** The note of the last import, and the time of the store. */
export async function readImported(
  store: Pick<EventStore, 'updateState'>,
  options?: WaitOptions,
): Promise<{ readonly imported: Imported | undefined; readonly now: Microseconds }> {
  let now: Microseconds = 0
  const read = (value: JsonValue | undefined, time: Microseconds): JsonValue | undefined => {
    now = time
    return value
  }
  const imported = (await store.updateState(KEY, read, options)) as Imported | undefined
  return { imported, now }
}

export async function writeImported(
  store: Pick<EventStore, 'updateState'>,
  imported: Imported,
): Promise<void> {
  await store.updateState(KEY, () => ({ ...imported }))
}
