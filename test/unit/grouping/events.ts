import { type AuditEvent, formatTimestamp, type JsonObject } from 'daybook'

/** Events with these attributes, a second apart. */
export const events = (attributes: readonly object[]): AuditEvent[] =>
  attributes.map((one, n) => ({
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    created_at: formatTimestamp(1_767_225_600_000_000 + n * 1_000_000),
    username: null,
    system: true,
    type: 'api:things:show',
    source: null,
    attributes: one as JsonObject,
  }))
