import { type AuditEvent, formatTimestamp, type JsonObject } from 'daybook'
import { numberedId, plainEvent } from '../../support/plain-events.js'

/** Events with these attributes, one second apart. */
export const events = (attributes: readonly object[]): AuditEvent[] =>
  attributes.map((one, n) =>
    plainEvent({
      id: numberedId(n),
      created_at: formatTimestamp(1_767_225_600_000_000 + n * 1_000_000),
      type: 'api:things:show',
      attributes: one as JsonObject,
    }),
  )
