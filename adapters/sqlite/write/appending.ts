import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { EventStore } from '../../../src/store/store.js'
import { isDiskFailure } from '../connection/disk-failure.js'
import type { Tables } from '../schema/tables.js'
import { appendedEvents } from './appended-events.js'
import { recover, type Recovered } from './recover.js'
import type { Writer } from './writer.js'

export interface AppendingOptions {
  /** A time before every event that is appended from now on. */
  readonly floor: Microseconds
  /** Called when events have become visible. */
  readonly onStored: () => void
  /** Called when they are durable. */
  readonly onDurable: () => void
}

/** See `EventStore.append`. */
export function createAppending(
  tables: Tables,
  writer: Pick<Writer, 'append'>,
  { floor: start, onStored, onDurable }: AppendingOptions,
): EventStore['append'] {
  const { connection } = tables
  /** A time before every event that the next append stores. */
  let floor = start

  /** The drafts, if a commit that failed on the disk has stored them nevertheless. */
  const findKept = async (
    drafts: readonly EventDraft[],
    error: unknown,
  ): Promise<Recovered | undefined> => {
    if (!(error instanceof AuditLogError) || !isDiskFailure(error.cause)) return undefined
    const kept = await recover(tables, drafts, floor, {})
    return kept.events.size > 0 ? kept : undefined
  }

  return async (drafts, options = {}) => {
    const { since, onSuppressed } = options
    let recovered = since === undefined ? undefined : await recover(tables, drafts, since, options)
    for (;;) {
      const appended = await writer.append({ drafts, recovered }, options).catch(async (error) => {
        const kept = await findKept(drafts, error)
        if (!kept) throw error
        recovered ??= kept
      })
      onStored()
      if (appended) {
        if (drafts.length > appended.exceptions.length) floor = appended.first - 1
        options.onStored?.()
        // A caller that knows that the events are visible decides itself how long it waits.
        await connection.durable(options.onStored ? {} : options)
        onDurable()
        return appendedEvents(drafts, appended, onSuppressed)
      }
      await nextTurn()
    }
  }
}
