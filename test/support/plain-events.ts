import type { AuditEvent, EventDraft } from 'daybook'

/** A system event without a user and attributes, apart from the given members. */
export const plainEvent = (members: Partial<AuditEvent> = {}): AuditEvent => ({
  id: numberedId(0),
  created_at: '2026-01-01T00:00:00.000000Z',
  username: null,
  system: true,
  type: 'a:b:c',
  source: null,
  attributes: {},
  ...members,
})

/** The id of an event that was imported. */
export const numberedId = (n: number): string =>
  `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** A draft of a system event without a user, apart from the given members. */
export function plainDraft(members: Partial<EventDraft> = {}): EventDraft {
  const { attributes = {} } = members
  return {
    suffix: '8000000000000000',
    username: null,
    system: true,
    type: 'a:b:c',
    source: null,
    attributes,
    json: JSON.stringify(attributes),
    ...members,
  }
}
