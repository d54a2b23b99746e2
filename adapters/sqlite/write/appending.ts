import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import type { EventStore } from '../../../src/store/store.js'
import { isDiskFailure } from '../connection/disk-failure.js'
import type { Tables } from '../schema/tables.js'
import { appendedEvents } from './appended-events.js'
import type { Attempts } from './attempts.js'
import { recover, type Recovered } from './recover.js'

/** See `EventStore.append`. `onAttempt` is called when events may have become visible. */
export function createAppending(
  tables: Tables,
  attempts: Attempts,
  onAttempt: () => void,
): EventStore['append'] {
  /** The drafts, if a commit that failed on the disk has stored them nevertheless. */
  const findKept = async (
    drafts: readonly EventDraft[],
    error: unknown,
  ): Promise<Recovered | undefined> => {
    if (!(error instanceof AuditLogError) || !isDiskFailure(error.cause)) return undefined
    const kept = await recover(tables, drafts, attempts.floor(), {})
    return kept.events.size > 0 ? kept : undefined
  }

  return async (drafts, options = {}) => {
    const { since, onSuppressed } = options
    let recovered = since === undefined ? undefined : await recover(tables, drafts, since, options)
    for (;;) {
      const attempt = attempts.append(drafts, options, recovered)
      const appended = await attempt.catch(async (error: unknown) => {
        const kept = await findKept(drafts, error)
        if (!kept) throw error
        recovered ??= kept
      })
      onAttempt()
      if (appended) return appendedEvents(drafts, appended, onSuppressed)
      await nextTurn()
    }
  }
}
