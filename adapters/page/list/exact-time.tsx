import type { AuditEvent } from '../../../src/event/event.js'
import { formatAgo } from '../data/more-formats.js'

/** `2026-11-20T13:05:52.418114Z, 8 min. ago`. */
export const exactTimeOf = ({ created_at }: AuditEvent): string =>
  `${created_at}, ${formatAgo(created_at)}`

export function ExactTime({ event }: { event: AuditEvent }) {
  return <span class="exact-time">{exactTimeOf(event)}</span>
}
