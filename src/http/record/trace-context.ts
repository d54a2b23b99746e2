import type { TraceIds } from '../../recording/actor.js'

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/
const ZEROS = /^0+$/

/**
 * The ids of a `traceparent` header, whose span is the caller's; `undefined` if it is missing or invalid.
 *
 * See W3C Trace Context, "traceparent Header" and "Versioning of traceparent": later versions may
 * append fields.
 */
export function parseTraceparent(header: string): TraceIds | undefined {
  const [, version, trace_id = '', span_id = '', more] = TRACEPARENT.exec(header) ?? []
  if (version === undefined || version === 'ff') return undefined
  if (version === '00' && more !== undefined) return undefined
  return ZEROS.test(trace_id) || ZEROS.test(span_id) ? undefined : { trace_id, span_id }
}
