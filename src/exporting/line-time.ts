import { parseEventId } from '../event/event-id.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import type { ExportFormat } from './formats.js'

type Json = Readonly<Record<string, unknown>>

const asObject = (value: unknown): Json => Object(value) as Json

const timeText = (value: unknown): string | undefined =>
  typeof value === 'string' && parseTimestamp(value) !== undefined ? value : undefined

/** OCSF has milliseconds, but the ids that a log gives contain the microseconds. */
function ocsfTime({ metadata }: Json): string | undefined {
  const { uid, logged_time } = asObject(metadata)
  const time = typeof uid === 'string' ? parseEventId(uid)?.time : undefined
  return time !== undefined && Math.floor(time / 1000) === logged_time
    ? formatTimestamp(time)
    : undefined
}

function otlpTime({ resourceLogs }: Json): string | undefined {
  const [resource] = Array.isArray(resourceLogs) ? (resourceLogs as unknown[]) : []
  const { scopeLogs } = asObject(resource)
  const [scope] = Array.isArray(scopeLogs) ? (scopeLogs as unknown[]) : []
  const { logRecords } = asObject(scope)
  const record = Array.isArray(logRecords) ? (logRecords as unknown[]).at(-1) : undefined
  const { observedTimeUnixNano } = asObject(record)
  if (typeof observedTimeUnixNano !== 'string' || !/^\d+$/.test(observedTimeUnixNano))
    return undefined
  return formatTimestamp(Number(BigInt(observedTimeUnixNano) / 1000n))
}

const TIMES: Readonly<Partial<Record<ExportFormat, (line: Json) => string | undefined>>> = {
  ndjson: ({ created_at }) => timeText(created_at),
  cloudevents: ({ recordedtime }) => timeText(recordedtime),
  ocsf: ocsfTime,
  otlp: otlpTime,
}

/**
 * `created_at` of the event in a whole line of an export, after which the export can continue. `undefined` for a line
 * without it: another text, the heading of CSV, or an event of OCSF whose id was imported.
 */
export function lineTime(format: ExportFormat, line: string): string | undefined {
  if (format === 'csv') return timeText(line.slice(0, line.indexOf(',')))
  try {
    return TIMES[format]?.(asObject(JSON.parse(line)))
  } catch {
    return undefined
  }
}
