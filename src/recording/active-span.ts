import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'
import { moduleUrl } from '../store/module-url.js'

/** The place of code in a trace, as W3C Trace Context writes it. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  readonly trace_id: string
  /** 16 hexadecimal digits. */
  readonly span_id: string
}

/** All copies of version 1 of the package find what an SDK registers under this key of `globalThis`. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** `null` if the package cannot be loaded. */
let api: typeof OpenTelemetry | null | undefined

function load(): typeof OpenTelemetry | null {
  try {
    return createRequire(moduleUrl)('@opentelemetry/api') as typeof OpenTelemetry
  } catch (error) {
    const [reason] = String(error).split('\n', 1)
    process.emitWarning(
      `events get no ids of OpenTelemetry spans, because @opentelemetry/api cannot be loaded (${reason}): npm install @opentelemetry/api`,
    )
    return null
  }
}

/**
 * The ids of the active OpenTelemetry span; `undefined` without one. The package is loaded only once the
 * process has registered something with it, which takes some 20 ms less where it is installed and not used.
 */
export function activeSpan(): TraceIds | undefined {
  if (!(REGISTERED in globalThis)) return undefined
  if (api === undefined) api = load()
  const span = api?.trace.getSpanContext(api.context.active())
  if (!span || !api!.isSpanContextValid(span)) return undefined
  return { trace_id: span.traceId, span_id: span.spanId }
}
