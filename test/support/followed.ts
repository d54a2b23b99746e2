import type { AuditLog } from 'daybook'

/** The type of the event that ends `follow`. */
export const OVER = 'test:over'

/** Follows the log until an event `test:over`. Resolves to the ids of the events before it. */
export async function follow(audit: AuditLog): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const event of audit.tail('', { after: '2000-01-01' })) {
    if (event.type === OVER) break
    ids.push(event.id)
  }
  return ids
}
