import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { Grouping } from '../filter/ast.js'
import { compileFilter } from '../filter/evaluate.js'
import type { ReadOptions } from '../store/store.js'
import type { LogReader } from './log-reader.js'

/**
 * The event, if the user may see it. A damaged one may be hidden, so a restricted reader does not learn that it exists.
 * Otherwise rejects as `get` does.
 */
export async function visibleEvent(
  log: Pick<LogReader, 'get'>,
  id: string,
  visible: Grouping | undefined,
  options?: ReadOptions,
): Promise<AuditEvent | undefined> {
  try {
    const event = await log.get(id, options)
    return event && compileFilter(visible)(event) ? event : undefined
  } catch (error) {
    if (visible && error instanceof AuditLogError && error.code === 'DAMAGED') return undefined
    throw error
  }
}
