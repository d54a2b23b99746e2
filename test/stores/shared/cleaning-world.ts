import { type AuditEvent, AuditLog, type EventStore } from 'daybook'
import {
  type Cleaning,
  type CleaningContext,
  createCleaning,
} from '../../../src/cleaning/cleaning.js'
import type { CleaningOptions } from '../../../src/cleaning/rule.js'
import { createUndelivered } from '../../../src/subscriptions/undelivered.js'
import { NO_SEALED_NAMES } from '../../../src/filter/sealed-names.js'
import { suffixSource } from '../../../src/event/event-id.js'

/** A log on the store, and its cleaning. */
export interface World {
  readonly audit: AuditLog
  readonly cleaning: Cleaning
  /** All events of the store, oldest first. */
  all(): Promise<AuditEvent[]>
  /** The events that cleaning has recorded. */
  cleaningEvents(): Promise<AuditEvent[]>
  close(): Promise<void>
}

export function openWorld(
  store: EventStore,
  options: CleaningOptions = { rules: [] },
  context: Partial<CleaningContext> = {},
): World {
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const nextSuffix = suffixSource()
  const cleaning = createCleaning(
    {
      store,
      sealedNames: NO_SEALED_NAMES,
      undelivered: createUndelivered(store, { links: [], sealedNames: NO_SEALED_NAMES }),
      described: audit,
      record: (type, data) => audit.recordSystem(type, data),
      suppressedDraft(counts) {
        const attributes = { types: counts.map(({ type }) => type) }
        return {
          suffix: nextSuffix(),
          username: null,
          system: true,
          type: 'warn:audit_log:gap',
          source: null,
          attributes,
          json: JSON.stringify(attributes),
        }
      },
      ...context,
    },
    options,
  )
  const all = async (): Promise<AuditEvent[]> => {
    const events: AuditEvent[] = []
    for await (const page of audit.pages('filter[sorts]=created_at')) events.push(...page)
    return events
  }
  return {
    audit,
    cleaning,
    all,
    cleaningEvents: async () => (await all()).filter(({ type }) => type.includes(':data_cleanup:')),
    async close() {
      await cleaning.close()
      await audit.close()
    },
  }
}
