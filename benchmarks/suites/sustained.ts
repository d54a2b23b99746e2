import fs from 'node:fs'
import { median } from 'simple-statistics'
import { megabytes, microseconds, percent, perSecond, ratios, whole } from '../harness/format.js'
import type { Size } from '../harness/options.js'
import { goalFor, type Goal, type Row, rowOf } from '../harness/results.js'
import { sampleEvents } from '../harness/sample-events.js'
import { type ChunkTimes, openLog } from '../targets/sqlite-log.js'

/*
 * `record` on SQLite for minutes, compared with raw rows of the same JSON, and the size of the file. Both
 * write chunks of 100,000 events in turn. A chunk ends when the index has caught up. No event is
 * generated in the measured time.
 */

const MILLION = 1e6
const TIMED_EVENTS = 10_000
const PASSES = 9

const rateOf = ({ events, record, index }: ChunkTimes): number => events / (record + index)

/** Seconds that `JSON.stringify` takes for the data of an event; the median of some passes over the same events. */
function stringifySeconds(): number {
  const events = sampleEvents(TIMED_EVENTS)
  let length = 0
  const passes = Array.from({ length: PASSES }, () => {
    const start = performance.now()
    for (const { data } of events) length += JSON.stringify(data).length
    return performance.now() - start
  })
  if (length === 0) throw new Error('the events have no JSON text')
  return median(passes) / 1000 / TIMED_EVENTS
}

export async function measure({ size }: { readonly size: Size }, folder: string): Promise<Row[]> {
  const log = await openLog(size, folder)
  const group = `Recording while the index keeps up, SQLite, ${whole(log.events)} events`
  const ours = log.chunks.map(rateOf)
  const raw = log.chunks.map(({ events, raw }) => events / raw)
  const share = ratios(ours, raw)
  const stringify = stringifySeconds()
  const stringified = log.chunks.map(({ events, raw }) => events / (raw + events * stringify))
  const shareOfStringified = ratios(ours, stringified)
  const bytes = fs.statSync(log.daybook).size
  const goals = (...all: Goal[]): Goal[] => (log.events >= MILLION ? all : [])
  const waiting = median(log.chunks.map(({ record, index }) => index / (record + index)))
  return [
    rowOf({
      group,
      name: '`record()`, 1,000 calls in flight, until all events are indexed',
      daybook: ours,
      reference: { name: 'raw rows, batches of 100', figures: raw },
      ratio: share,
      print: perSecond,
      note: `${percent(waiting)} of the time waiting for the index; built ${log.built}`,
      goals: goals(goalFor('atLeast', 0.35, share)),
    }),
    rowOf({
      group,
      name: 'the same, compared with raw rows whose JSON text is made too',
      daybook: ours,
      reference: { name: 'with `JSON.stringify`', figures: stringified },
      ratio: shareOfStringified,
      print: perSecond,
      note: `${microseconds(stringify * 1e6)} for each text`,
      goals: goals(goalFor('atLeast', 0.6, shareOfStringified)),
    }),
    rowOf({
      group,
      name: 'bytes on disk, compared with the JSON text of the attributes',
      daybook: [bytes],
      reference: { figures: [log.jsonBytes] },
      ratio: [bytes / log.jsonBytes],
      print: megabytes,
      goals: goals(goalFor('atMost', 1.8, [bytes / log.jsonBytes])),
    }),
  ]
}
