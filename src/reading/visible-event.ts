import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { Grouping } from '../filter/ast.js'
import { compileFilter } from '../filter/evaluate.js'
import { sealedParts } from '../event/personal.js'
import type { LogReader, ReadGetOptions } from './log-reader.js'

/**
 * The event, if the user may see it, which its stored form decides as in a list. A damaged one may be hidden, so a restricted reader does not learn that it exists.
 * Otherwise rejects as `get` does.
 */
export async function visibleEvent(
  log: Pick<LogReader, 'get'>,
  id: string,
  visible: Grouping | undefined,
  options?: ReadGetOptions,
): Promise<AuditEvent | undefined> {
  try {
    const event = await log.get(id, visible ? { ...options, personal: 'stored' } : options)
    if (!event || !compileFilter(visible)(event)) return undefined
    const isShown = !visible || sealedParts(event.attributes) === undefined
    return isShown ? event : await log.get(id, options)
  } catch (error) {
    if (visible && error instanceof AuditLogError && error.code === 'DAMAGED') return undefined
    throw error
  }
}
